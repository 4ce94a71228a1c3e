/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the calls of the installed header refuse, and how they say it. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/models/snl1/snl1.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

#define NK  6
#define NTH 8
#define N   (NK * NTH)
#define PTS 3

/* A small case that computes. */
struct small {
    struct snl1 *handle;
    float a[PTS * N];
    float cg[PTS * NK];
    float kdmean[PTS];
    float s[PTS * N];
    float d[PTS * N];
    unsigned char flags[PTS];
    void *scratch;
    struct snl1_batch batch;
};

static struct snl1_config small_config(void)
{
    struct snl1_config config;
    ck_assert_int_eq(snl1_defaults(SNL1_ST4, &config), 0);
    config.nk = NK;
    config.nth = NTH;
    return config;
}

static void small_make(struct small *c)
{
    const struct snl1_config config = small_config();
    ck_assert_int_eq(snl1_create(&config, NULL, &c->handle, NULL), 0);
    c->scratch = malloc(snl1_scratch_bytes(c->handle));
    for (int i = 0; i < PTS * N; i++)
        c->a[i] = 1.0f + 0.1f * (float)(i % 7);
    for (int i = 0; i < PTS * NK; i++)
        c->cg[i] = 5.0f;
    for (int p = 0; p < PTS; p++)
        c->kdmean[p] = 2.0f;
    c->batch = (struct snl1_batch){.npts = PTS,
                                   .nspec = N,
                                   .nk = NK,
                                   .a = c->a,
                                   .cg = c->cg,
                                   .kdmean = c->kdmean,
                                   .s = c->s,
                                   .d = c->d,
                                   .scratch = c->scratch,
                                   .scratch_bytes = snl1_scratch_bytes(c->handle),
                                   .flags = c->flags};
}

static void small_clear(struct small *c)
{
    snl1_destroy(c->handle);
    free(c->scratch);
    ck_assert_int_eq((int)mem_live(), 0);
}

/* A refused call: its code, a text with a word in it, and no number that looks like a result.
 */
static void refused(struct small *c, int code, const char *word)
{
    char text[SNL1_TEXT_SIZE];
    memset(c->s, 0, sizeof c->s);
    memset(c->d, 0, sizeof c->d);
    ck_assert_int_eq(snl1_compute(c->handle, &c->batch), code);
    snl1_message(c->handle, text);
    ck_assert_msg(strstr(text, word) != NULL, "'%s' is not in '%s'", word, text);
    for (int i = 0; i < PTS * N; i++)
        ck_assert(isnan(c->s[i]) && isnan(c->d[i]));
    for (int p = 0; p < PTS; p++)
        ck_assert_int_eq(c->flags[p], SNL1_NONFINITE);
}

START_TEST(a_batch_that_does_not_fit_is_refused)
{
    struct small c;
    small_make(&c);
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    c.batch.nk = NK + 1;
    refused(&c, SNL1_ARGUMENT, "group velocities of 7");
    c.batch.nk = NK;
    c.cg[2 * NK + 3] = 0.0f;
    refused(&c, SNL1_ARGUMENT, "point 3, frequency 4");
    c.cg[2 * NK + 3] = NAN;
    refused(&c, SNL1_ARGUMENT, "cg");
    c.cg[2 * NK + 3] = 5.0f;
    c.batch.scratch_bytes--;
    refused(&c, SNL1_SCRATCH, "scratch of");
    c.batch.scratch_bytes++;
    c.batch.kdmean = NULL;
    refused(&c, SNL1_ARGUMENT, "missing");
    c.batch.kdmean = c.kdmean;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    for (int i = 0; i < PTS * N; i++)
        ck_assert(isfinite(c.s[i]) && isfinite(c.d[i]));
    small_clear(&c);
}
END_TEST

START_TEST(a_wrong_length_writes_no_further_than_told)
{
    struct small c;
    small_make(&c);
    c.batch.nspec = N - 1;
    memset(c.s, 0, sizeof c.s);
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), SNL1_ARGUMENT);
    for (int i = 0; i < PTS * N; i++)
        ck_assert(isnan(c.s[i]) == (i < PTS * (N - 1)));
    c.batch.nspec = N;
    c.batch.npts = -1;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), SNL1_ARGUMENT);
    c.batch.npts = 0;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    small_clear(&c);
}
END_TEST

START_TEST(points_are_flagged)
{
    struct small c;
    small_make(&c);
    c.a[5] = -0.5f;
    c.a[2 * N + 1] = INFINITY;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    ck_assert_int_eq(c.flags[0], SNL1_NEGATIVE);
    ck_assert_int_eq(c.flags[1], 0);
    ck_assert_int_eq(c.flags[2], SNL1_NONFINITE | SNL1_INPUT_NONFINITE);
    c.a[2 * N + 1] = 1e30f;
    c.kdmean[1] = INFINITY;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    ck_assert_int_eq(c.flags[2], SNL1_NONFINITE);
    ck_assert_int_eq(c.flags[1], SNL1_NONFINITE | SNL1_INPUT_NONFINITE);
    for (int i = 0; i < N; i++)
        ck_assert(isnan(c.s[N + i]) && isnan(c.d[N + i]));
    small_clear(&c);
}
END_TEST

START_TEST(a_spectrum_of_zeros_has_a_term_of_positive_zeros)
{
    struct small c;
    small_make(&c);
    memset(c.a, 0, sizeof c.a);
    c.kdmean[1] = 0.0f;
    c.kdmean[2] = NAN; /* acts as the least relative depth */
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    for (int i = 0; i < PTS * N; i++) {
        ck_assert_exactly((double)c.s[i], 0.0);
        ck_assert_exactly((double)c.d[i], 0.0);
    }
    small_clear(&c);
}
END_TEST

START_TEST(a_relative_depth_that_is_no_number_acts_as_the_least)
{
    struct small c;
    small_make(&c);
    c.kdmean[0] = 0.5f / 0.75f; /* kdmin over kdcon */
    c.kdmean[1] = NAN;
    c.kdmean[2] = -3.0f;
    for (int i = 0; i < N; i++)
        c.a[N + i] = c.a[2 * N + i] = c.a[i];
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    ck_assert(c.s[N / 2] < 0.0f || c.s[N / 2] > 0.0f);
    for (int p = 1; p < PTS; p++)
        for (int i = 0; i < N; i++) {
            ck_assert_exactly((double)c.s[p * N + i], (double)c.s[i]);
            ck_assert_exactly((double)c.d[p * N + i], (double)c.d[i]);
        }
    small_clear(&c);
}
END_TEST

/* What a caller forgets must not end the caller's program. */
START_TEST(pointers_that_are_missing_are_refused)
{
    char text[SNL1_TEXT_SIZE] = "";
    const struct snl1_config config = small_config();
    struct small c;
    struct snl1 *handle = NULL;
    small_make(&c);
    ck_assert_int_eq(snl1_defaults(SNL1_ST4, NULL), SNL1_ARGUMENT);
    ck_assert_int_eq(snl1_create(NULL, NULL, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "configuration"));
    ck_assert_int_eq(snl1_create(&config, NULL, NULL, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "place"));
    ck_assert_int_eq(snl1_create_ready(NULL, &handle, text), SNL1_ARGUMENT);
    ck_assert_int_eq(snl1_create_ready(snl1_numbers(c.handle), NULL, NULL), SNL1_ARGUMENT);
    struct snl1_numbers numbers = *snl1_numbers(c.handle);
    numbers.sig = NULL;
    ck_assert_int_eq(snl1_create_ready(&numbers, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "sig"));
    numbers = *snl1_numbers(c.handle);
    numbers.af11 = NULL;
    ck_assert_int_eq(snl1_create_ready(&numbers, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_null(handle);
    ck_assert_int_eq(snl1_choose(NULL, SNL1_FAST, NULL), SNL1_ARGUMENT);
    ck_assert_str_eq(snl1_kernel(NULL), "");
    ck_assert_ptr_null(snl1_numbers(NULL));
    ck_assert_uint_eq(snl1_scratch_bytes(NULL), 0);
    snl1_message(NULL, text);
    ck_assert_ptr_nonnull(strstr(text, "handle"));
    snl1_message(c.handle, NULL);
    snl1_note_failure(NULL, "nothing");
    snl1_note_failure(c.handle, NULL);
    snl1_addresses(NULL, NULL, NULL, NULL);
    snl1_addresses(c.handle, NULL, NULL, NULL);
    snl1_frequencies(NULL, 1, NULL);
    snl1_destroy(NULL);
    ck_assert_int_eq(snl1_compute(c.handle, NULL), SNL1_ARGUMENT);
    snl1_message(c.handle, text);
    ck_assert_ptr_nonnull(strstr(text, "batch"));
    ck_assert_int_eq(snl1_compute(NULL, NULL), SNL1_ARGUMENT);
    ck_assert_int_eq(snl1_compute(NULL, &c.batch), SNL1_ARGUMENT);
    for (int i = 0; i < PTS * N; i++)
        ck_assert(isnan(c.s[i]) && isnan(c.d[i]));
    small_clear(&c);
}
END_TEST

START_TEST(each_array_of_a_batch_is_needed)
{
    static const size_t arrays[] = {
        offsetof(struct snl1_batch, a),      offsetof(struct snl1_batch, cg),
        offsetof(struct snl1_batch, kdmean), offsetof(struct snl1_batch, s),
        offsetof(struct snl1_batch, d),      offsetof(struct snl1_batch, scratch)};
    struct small c;
    small_make(&c);
    const struct snl1_batch whole = c.batch;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        char text[SNL1_TEXT_SIZE] = "";
        c.batch = whole;
        memset((char *)&c.batch + arrays[i], 0, sizeof(void *));
        ck_assert_int_eq(snl1_compute(c.handle, &c.batch), SNL1_ARGUMENT);
        snl1_message(c.handle, text);
        ck_assert_ptr_nonnull(strstr(text, "missing"));
    }
    c.batch = whole;
    c.batch.flags = NULL;
    ck_assert_int_eq(snl1_compute(c.handle, &c.batch), 0);
    small_clear(&c);
}
END_TEST

START_TEST(a_text_of_another_language_is_kept)
{
    char text[SNL1_TEXT_SIZE];
    char longer[2 * SNL1_TEXT_SIZE];
    struct small c;
    small_make(&c);
    snl1_message(c.handle, text);
    ck_assert_str_eq(text, "");
    snl1_note_failure(c.handle, "shapes");
    snl1_message(c.handle, text);
    ck_assert_str_eq(text, "shapes");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    snl1_note_failure(c.handle, longer);
    snl1_message(c.handle, text);
    ck_assert_uint_eq(strlen(text), SNL1_TEXT_SIZE - 1);
    small_clear(&c);
}
END_TEST

/* Rounding makes the cosine of an angle greater than 1 for some lam below 3e-4. */
START_TEST(each_lam_has_angles_or_is_refused_by_name)
{
    int refusals = 0;
    struct snl1_config config = small_config();
    for (float lam = 1e-9f; lam < 0.5f; lam = nextafterf(lam * 1.0007f, 1.0f)) {
        char text[SNL1_TEXT_SIZE];
        struct snl1 *handle;
        config.lam = lam;
        const int code = snl1_create(&config, NULL, &handle, text);
        if (code != 0) {
            ck_assert_int_eq(code, SNL1_ARGUMENT);
            ck_assert_ptr_nonnull(strstr(text, "too small"));
            ck_assert_ptr_null(handle);
            ck_assert(lam < 3e-4f);
            refusals++;
            continue;
        }
        const struct snl1_numbers *const n = snl1_numbers(handle);
        for (int j = 0; j < SNL1_WEIGHTS; j++)
            ck_assert(n->awg[j] >= -1e-3f && n->awg[j] <= 1.001f);
        snl1_destroy(handle);
    }
    config.lam = nextafterf(0.5f, 0.0f);
    struct snl1 *last;
    ck_assert_int_eq(snl1_create(&config, NULL, &last, NULL), 0);
    snl1_destroy(last);
    ck_assert_int_gt(refusals, 0);
}
END_TEST

START_TEST(frequencies_beyond_binary32_are_refused)
{
    char text[SNL1_TEXT_SIZE];
    struct snl1 *handle;
    struct snl1_config config = small_config();
    config.nk = 1000;
    config.xfr = 1.2f; /* 1.2^1000 is 1e79 */
    ck_assert_int_eq(snl1_create(&config, NULL, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "beyond binary32"));
    config = small_config();
    config.fr1 = 1e-45f;
    config.xfr = 16.0f;
    ck_assert_int_eq(snl1_create(&config, NULL, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "beyond binary32"));
    ck_assert_ptr_null(handle);
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

/* A value that a configuration must not have. */
static const struct {
    const char *word;
    size_t offset;
    int whole;
    double value;
    int code;
} wrong_values[] = {
#define FIELD(name) offsetof(struct snl1_config, name)
    {"nk", FIELD(nk), 1, 0, SNL1_ARGUMENT},
    {"nk", FIELD(nk), 1, 5000, SNL1_ARGUMENT},
    {"nth", FIELD(nth), 1, 0, SNL1_ARGUMENT},
    {"nth", FIELD(nth), 1, -4, SNL1_ARGUMENT},
    {"xfr", FIELD(xfr), 0, 1.0, SNL1_ARGUMENT},
    {"xfr", FIELD(xfr), 0, 0.9, SNL1_ARGUMENT},
    {"xfr", FIELD(xfr), 0, (double)NAN, SNL1_ARGUMENT},
    {"rows apart", FIELD(xfr), 0, 1.00002, SNL1_ARGUMENT},
    {"fr1", FIELD(fr1), 0, 0.0, SNL1_ARGUMENT},
    {"lam", FIELD(lam), 0, 0.0, SNL1_ARGUMENT},
    {"lam", FIELD(lam), 0, 0.5, SNL1_ARGUMENT},
    {"lam", FIELD(lam), 0, -0.25, SNL1_ARGUMENT},
    {"nlprop", FIELD(nlprop), 0, -1.0, SNL1_ARGUMENT},
    {"kdmin", FIELD(kdmin), 0, 0.0, SNL1_ARGUMENT},
    {"kdcon", FIELD(kdcon), 0, (double)INFINITY, SNL1_ARGUMENT},
    {"IQTYPE -2", FIELD(iqtype), 1, -2, SNL1_UNSUPPORTED},
};

START_TEST(a_configuration_outside_of_its_ranges_is_refused)
{
    for (size_t i = 0; i < sizeof wrong_values / sizeof wrong_values[0]; i++) {
        char text[SNL1_TEXT_SIZE];
        struct snl1 *handle = (void *)text;
        struct snl1_config config = small_config();
        const int32_t whole = wrong_values[i].whole ? (int32_t)wrong_values[i].value : 0;
        const float real = (float)wrong_values[i].value;
        memcpy((char *)&config + wrong_values[i].offset,
               wrong_values[i].whole ? (const void *)&whole : (const void *)&real, 4);
        ck_assert_int_eq(snl1_create(&config, NULL, &handle, text), wrong_values[i].code);
        ck_assert_ptr_null(handle);
        ck_assert_msg(strstr(text, wrong_values[i].word) != NULL, "%s: '%s'",
                      wrong_values[i].word, text);
    }
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

START_TEST(frequencies_that_begin_a_row_early_are_refused)
{
    char text[SNL1_TEXT_SIZE];
    const struct snl1_config config = small_config();
    float sig[NK + 1];
    struct snl1 *handle;
    snl1_frequencies(&config, NK, sig + 1);
    sig[0] = sig[1] / 1.1f;
    ck_assert_int_eq(snl1_create(&config, sig + 1, &handle, text), 0);
    ck_assert_str_eq(text, "");
    snl1_destroy(handle);
    ck_assert_int_eq(snl1_create(&config, sig, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "sig(1)"));
}
END_TEST

START_TEST(packages_differ_in_their_constant)
{
    /* 2.5e7, 3.0e7, 2.78e7 and 1.0e7 over 9.806^4, rounded to binary32 */
    static const uint32_t bits[] = {[SNL1_ST2] = 0x4487307a,
                                    [SNL1_ST4] = 0x4528fc98,
                                    [SNL1_ST6] = 0x454ac8b6,
                                    [SNL1_WAM] = 0x453be9c8};
    for (int package = SNL1_ST2; package <= SNL1_WAM; package++) {
        struct snl1_config config;
        struct snl1 *handle;
        uint32_t word;
        ck_assert_int_eq(snl1_defaults(package, &config), 0);
        ck_assert_int_eq(snl1_create(&config, NULL, &handle, NULL), 0);
        memcpy(&word, &snl1_numbers(handle)->snlc1, sizeof word);
        ck_assert_uint_eq(word, bits[package]);
        snl1_destroy(handle);
    }
    struct snl1_config config;
    ck_assert_int_eq(snl1_defaults(SNL1_WAM + 1, &config), SNL1_ARGUMENT);
}
END_TEST

START_TEST(unknown_kernels_are_refused_and_the_old_one_stays)
{
    char text[SNL1_TEXT_SIZE];
    struct small c;
    small_make(&c);
    const char *const before = snl1_kernel(c.handle);
    ck_assert_int_eq(snl1_choose(c.handle, SNL1_PARITY, "z80"), SNL1_UNSUPPORTED);
    snl1_message(c.handle, text);
    ck_assert_ptr_nonnull(strstr(text, "z80"));
    ck_assert_int_eq(snl1_choose(c.handle, 9, NULL), SNL1_ARGUMENT);
    ck_assert_str_eq(snl1_kernel(c.handle), before);
    small_clear(&c);
}
END_TEST

START_TEST(ready_numbers_that_do_not_fit_together_are_refused)
{
    char text[SNL1_TEXT_SIZE];
    struct small c;
    struct snl1 *handle;
    small_make(&c);
    struct snl1_numbers numbers = *snl1_numbers(c.handle);
    numbers.nfrchg--;
    ck_assert_int_eq(snl1_create_ready(&numbers, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "nfrchg"));
    numbers = *snl1_numbers(c.handle);
    numbers.ithm = numbers.nth;
    ck_assert_int_eq(snl1_create_ready(&numbers, &handle, text), SNL1_ARGUMENT);
    numbers = *snl1_numbers(c.handle);
    numbers.ifrm = 1;
    ck_assert_int_eq(snl1_create_ready(&numbers, &handle, text), SNL1_ARGUMENT);
    ck_assert_ptr_null(handle);
    small_clear(&c);
}
END_TEST

static Suite *calls_suite(void)
{
    Suite *const suite = suite_create("snl1_calls");
    TCase *const tests = tcase_create("snl1_calls");
    tcase_add_test(tests, a_batch_that_does_not_fit_is_refused);
    tcase_add_test(tests, a_wrong_length_writes_no_further_than_told);
    tcase_add_test(tests, points_are_flagged);
    tcase_add_test(tests, a_spectrum_of_zeros_has_a_term_of_positive_zeros);
    tcase_add_test(tests, a_relative_depth_that_is_no_number_acts_as_the_least);
    tcase_add_test(tests, pointers_that_are_missing_are_refused);
    tcase_add_test(tests, each_array_of_a_batch_is_needed);
    tcase_add_test(tests, a_text_of_another_language_is_kept);
    tcase_add_test(tests, each_lam_has_angles_or_is_refused_by_name);
    tcase_add_test(tests, frequencies_beyond_binary32_are_refused);
    tcase_add_test(tests, a_configuration_outside_of_its_ranges_is_refused);
    tcase_add_test(tests, frequencies_that_begin_a_row_early_are_refused);
    tcase_add_test(tests, packages_differ_in_their_constant);
    tcase_add_test(tests, unknown_kernels_are_refused_and_the_old_one_stays);
    tcase_add_test(tests, ready_numbers_that_do_not_fit_together_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(calls_suite());
}
