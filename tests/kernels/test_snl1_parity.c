/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parity kernels give the bits of WAVEWATCH III, whatever surrounds a point. */
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/models/snl1/tables.h"
#include "tests/exact.h"
#include "tests/kernels/snl1_case.h"
#include "tests/unit_main.h"

void snl1_parity_watched(const struct snl1_tables *tables, const struct snl1_block *block,
                         void *scratch);

/* The kernel's parts one by one, for the intermediate arrays. */
#define SNL1_LANES 4
#define SNL1_NAME  snl1_parity_watched
#include "kernels/models/snl1/parity.inc"

static struct snl1_group group_of(int g)
{
    struct snl1_group group;
    ck_assert_int_eq(snl1_group_load(DATA_FOLDER "/snl1", g, &group), 0);
    return group;
}

static void *repeated(const void *from, size_t one, int have, int wanted, int arrays)
{
    char *const all = malloc(one * (size_t)wanted * (size_t)arrays);
    for (int k = 0; k < arrays; k++)
        for (int p = 0; p < wanted; p++)
            memcpy(all + one * (size_t)(k * wanted + p),
                   (const char *)from + one * (size_t)(k * have + p % have), one);
    return all;
}

/* The points of a group again and again. */
static struct snl1_group long_group_of(int g, int npts)
{
    struct snl1_group group = group_of(g);
    const struct snl1_group one = group;
    const int have = group.npts;
    group.npts = npts;
    group.a = repeated(one.a, sizeof(float) * (size_t)group.nspec, have, npts, 1);
    group.cg = repeated(one.cg, sizeof(float) * (size_t)group.config.nk, have, npts, 1);
    group.kdmean = repeated(one.kdmean, sizeof(float), have, npts, 1);
    group.results = repeated(one.results, sizeof(uint64_t), have, npts, 2);
    free(one.a);
    free(one.cg);
    free(one.kdmean);
    free(one.results);
    return group;
}

START_TEST(a_thousand_points_in_one_call_have_the_bits_of_the_reference)
{
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = long_group_of(g, 1000);
        for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
            struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, *isa);
            struct snl1_results results;
            if (handle == NULL)
                continue;
            ck_assert_int_eq(snl1_run(handle, &group, 1000, 3, &results), 0);
            ck_assert_int_eq(snl1_wrong_points(&group, &results), 0);
            snl1_results_clear(&results);
            snl1_destroy(handle);
        }
        snl1_group_clear(&group);
    }
}
END_TEST

START_TEST(tables_and_weights_have_the_bits_of_the_reference)
{
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = group_of(g);
        struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
        ck_assert_int_eq(snl1_wrong_tables(handle, &group), 0);
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
}
END_TEST

/* A host may trap on these. The reference raises them for the spectrum times 1e20 alone, the
 * one with infinities in its results. */
START_TEST(no_point_with_finite_results_raises_a_floating_point_exception)
{
    const int watched = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = group_of(g);
        for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
            struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, *isa);
            for (int p = 0; handle != NULL && p < group.npts; p++) {
                struct snl1_group one = group;
                struct snl1_results results;
                one.npts = 1;
                one.a += (long)p * group.nspec;
                one.cg += (long)p * group.config.nk;
                one.kdmean += p;
                feclearexcept(FE_ALL_EXCEPT);
                ck_assert_int_eq(snl1_run(handle, &one, 1, 0, &results), 0);
                const int raised = fetestexcept(watched);
                const int expected =
                    (results.flags[0] & SNL1_NONFINITE) != 0 ? FE_INVALID | FE_OVERFLOW : 0;
                ck_assert_msg(raised == expected, "%s %s point %d: %#x in place of %#x",
                              group.name, snl1_kernel(handle), p, raised, expected);
                snl1_results_clear(&results);
            }
            snl1_destroy(handle);
        }
        snl1_group_clear(&group);
    }
}
END_TEST

START_TEST(every_point_has_the_bits_of_the_reference)
{
    static const long chunks[] = {1, 5, 16, 17, 1000};
    int runs = 0;
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = group_of(g);
        for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
            struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, *isa);
            for (int i = 0; handle != NULL && i < 5; i++) {
                struct snl1_results results;
                ck_assert_int_eq(snl1_run(handle, &group, chunks[i], i, &results), 0);
                ck_assert_msg(snl1_wrong_points(&group, &results) == 0,
                              "%s %s in calls of %ld: %d points differ", group.name,
                              snl1_kernel(handle), chunks[i],
                              snl1_wrong_points(&group, &results));
                snl1_results_clear(&results);
                runs++;
            }
            snl1_destroy(handle);
        }
        snl1_group_clear(&group);
    }
    ck_assert_int_ge(runs, 2 * 5 * SNL1_GROUPS);
}
END_TEST

START_TEST(two_instruction_sets_are_two_kernels)
{
    struct snl1_group group = group_of(4);
    struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
    ck_assert_ptr_nonnull(handle);
    ck_assert_ptr_nonnull(strstr(snl1_kernel(handle), "snl1-parity/"));
    ck_assert_int_eq(snl1_choose(handle, SNL1_FAST, NULL), 0);
    ck_assert_ptr_nonnull(strstr(snl1_kernel(handle), "snl1-fast/"));
    snl1_destroy(handle);
    snl1_group_clear(&group);
}
END_TEST

/* Words of an intermediate array that differ. */
static long different_words(const float *reference, const float *values, long count)
{
    long n = 0;
    for (long i = 0; i < count; i++)
        n += snl1_hash(reference + i, 1, 1) != snl1_hash(values + i, 1, 1);
    return n;
}

/* Arrays of one point in the order of the reference, from lane 0. */
static void watch_point(const struct snl1_group *group, const struct snl1_tables *tables, int p,
                        vec *scratch, float *out)
{
    static const enum product order[8] = {SA1, SA2, DA1C, DA1P, DA1M, DA2C, DA2P, DA2M};
    const struct snl1_numbers *const n = &tables->n;
    const struct snl1_block block = {1,
                                     group->a + (long)p * group->nspec,
                                     group->cg + (long)p * n->nk,
                                     group->kdmean + p,
                                     NULL,
                                     NULL};
    const struct parts parts = parts_of(n, scratch);
    const long nth = n->nth;
    const long padded = nth * (1 + n->nfrchg);
    spectrum_load(n, &block, &parts);
    *out++ = depth_strength(n, *block.kdmean);
    for (int32_t f = 1; f <= n->nk; f++)
        for (long t = 0; t < nth; t++)
            *out++ = row_conversion(n, &block, f)[0];
    for (long i = 0; i < nth * (1 + n->nfrhgh); i++)
        *out++ = parts.spectrum[i][0];
    for (int32_t f = 0; f <= n->nfrchg; f++) {
        if (f > 0)
            centres_fill(tables, &parts, f, all(depth_strength(n, *block.kdmean)));
        const vec *const row = centre_row(n, &parts, f);
        for (long t = 0; t < nth; t++)
            for (int k = 0; k < 8; k++)
                out[k * padded + f * nth + t] = row[t * SNL1_PRODUCTS + (long)order[k]][0];
    }
}

/* The columns of a stencil, from the definition. */
static void columns_of(const struct snl1_numbers *n, int32_t (*column)[SNL1_COLUMNS])
{
    const int32_t turn[4] = {n->ithp + 1, n->ithp, n->ithm + 1, n->ithm};
    static const int up[4] = {SNL1_UP_P1, SNL1_UP_P, SNL1_UP_M1, SNL1_UP_M};
    static const int dn[4] = {SNL1_DN_P1, SNL1_DN_P, SNL1_DN_M1, SNL1_DN_M};
    for (int32_t t = 0; t < n->nth; t++)
        for (int k = 0; k < 4; k++) {
            column[t][up[k]] = (t + turn[k]) % n->nth;
            column[t][dn[k]] = (t + n->nth - turn[k]) % n->nth;
        }
}

START_TEST(intermediate_arrays_have_the_bits_of_the_reference)
{
    static const int watched[] = {2, 4};
    for (int i = 0; i < 2; i++) {
        struct snl1_group group = group_of(watched[i]);
        struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
        struct snl1_tables tables = {.n = *snl1_numbers(handle)};
        const struct snl1_numbers *const n = &tables.n;
        const long length =
            1 + group.nspec + (long)n->nth * (1 + n->nfrhgh) + 8L * n->nth * (1 + n->nfrchg);
        int32_t(*column)[SNL1_COLUMNS] = calloc((size_t)n->nth, sizeof *column);
        vec *const scratch = aligned_alloc(64, (snl1_scratch_bytes(handle) + 63) / 64 * 64);
        float *const values = calloc((size_t)length, sizeof *values);
        float *const reference = snl1_file(DATA_FOLDER "/snl1", group.name, "intermediate.f32",
                                           4 * length * group.npts);
        ck_assert_ptr_nonnull(reference);
        columns_of(n, column);
        tables.column = (const int32_t(*)[SNL1_COLUMNS])column;
        for (int p = 0; p < group.npts; p++) {
            watch_point(&group, &tables, p, scratch, values);
            ck_assert_msg(different_words(reference + p * length, values, length) == 0,
                          "%s: point %d: %ld words differ", group.name, p,
                          different_words(reference + p * length, values, length));
        }
        free(reference);
        free(values);
        free(scratch);
        free(column);
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
}
END_TEST

/* The unoptimised build's chain x3 x8 is not ours (tests/data has none of it). */
START_TEST(the_power_is_the_chain_of_optimised_builds)
{
    struct snl1_group group = group_of(1);
    struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
    const struct snl1_numbers *const n = snl1_numbers(handle);
    int other = 0;
    for (int32_t f = 0; f < n->nk; f++) {
        const float x = n->sig[f] * (1.0f / (2.0f * 3.141592653589793f));
        const float x2 = x * x;
        const float x3 = x * x2;
        const float x4 = x2 * x2;
        other += !exactly((double)(x3 * (x4 * x4)), (double)n->af11[f]);
    }
    ck_assert_int_gt(other, 5);
    snl1_destroy(handle);
    snl1_group_clear(&group);
}
END_TEST

/* Threads on one handle */

struct share {
    struct snl1 *handle;
    struct snl1_group part;
    struct snl1_results results;
    int rc;
};

static void *compute_share(void *argument)
{
    struct share *const share = argument;
    share->rc = 0;
    for (int again = 0; again < 20 && share->rc == 0; again++) {
        if (again > 0)
            snl1_results_clear(&share->results);
        share->rc = snl1_run(share->handle, &share->part, 5, 1, &share->results);
    }
    return NULL;
}

START_TEST(threads_on_one_handle_give_the_same_bits)
{
    struct snl1_group group = group_of(5);
    struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
    for (int threads = 1; threads <= 8; threads++) {
        pthread_t thread[8];
        struct share share[8];
        for (int t = 0; t < threads; t++) {
            const int first = group.npts * t / threads;
            share[t] = (struct share){.handle = handle, .part = group};
            share[t].part.npts = group.npts * (t + 1) / threads - first;
            share[t].part.a = group.a + (long)first * group.nspec;
            share[t].part.cg = group.cg + (long)first * group.config.nk;
            share[t].part.kdmean = group.kdmean + first;
            pthread_create(&thread[t], NULL, compute_share, &share[t]);
        }
        for (int t = 0; t < threads; t++)
            pthread_join(thread[t], NULL);
        for (int t = 0; t < threads; t++) {
            const int first = group.npts * t / threads;
            ck_assert_int_eq(share[t].rc, 0);
            for (int p = 0; p < share[t].part.npts; p++) {
                const long at = (long)p * group.nspec;
                ck_assert_uint_eq(snl1_hash(share[t].results.s + at, group.nspec, 1),
                                  group.results[first + p]);
                ck_assert_uint_eq(snl1_hash(share[t].results.d + at, group.nspec, 1),
                                  group.results[group.npts + first + p]);
            }
            snl1_results_clear(&share[t].results);
        }
    }
    snl1_destroy(handle);
    snl1_group_clear(&group);
}
END_TEST

START_TEST(a_bin_that_is_no_number_stays_with_its_point)
{
    for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
        struct snl1_group group = group_of(1);
        struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, *isa);
        struct snl1_results results;
        long wrong = 0;
        if (handle != NULL) {
            group.a[3L * group.nspec + 15L * 36 + 10] = NAN;
            ck_assert_int_eq(snl1_run(handle, &group, 1000, 0, &results), 0);
            ck_assert_int_eq(snl1_wrong_points(&group, &results), 1);
            for (int i = 0; i < group.nspec; i++)
                wrong += isnan(results.s[3L * group.nspec + i]) != 0;
            ck_assert_int_eq(wrong, 77); /* bins that a bin reaches in this group */
            ck_assert_int_eq(results.flags[3], SNL1_NONFINITE | SNL1_INPUT_NONFINITE);
            ck_assert_int_eq(results.flags[2], 0);
            snl1_results_clear(&results);
        }
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
}
END_TEST

START_TEST(ready_numbers_give_the_same_bits)
{
    struct snl1_group group = group_of(0);
    struct snl1 *const first = snl1_handle(&group, SNL1_PARITY, NULL);
    struct snl1 *handle = NULL;
    struct snl1_results results;
    ck_assert_int_eq(snl1_create_ready(snl1_numbers(first), &handle, NULL), 0);
    snl1_destroy(first);
    ck_assert_int_eq(snl1_run(handle, &group, 1000, 0, &results), 0);
    ck_assert_int_eq(snl1_wrong_points(&group, &results), 0);
    snl1_results_clear(&results);
    snl1_destroy(handle);
    snl1_group_clear(&group);
}
END_TEST

static Suite *parity_suite(void)
{
    Suite *const suite = suite_create("snl1_parity");
    TCase *const tests = tcase_create("snl1_parity");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_point_has_the_bits_of_the_reference);
    tcase_add_test(tests, a_thousand_points_in_one_call_have_the_bits_of_the_reference);
    tcase_add_test(tests, tables_and_weights_have_the_bits_of_the_reference);
    tcase_add_test(tests, no_point_with_finite_results_raises_a_floating_point_exception);
    tcase_add_test(tests, two_instruction_sets_are_two_kernels);
    tcase_add_test(tests, intermediate_arrays_have_the_bits_of_the_reference);
    tcase_add_test(tests, the_power_is_the_chain_of_optimised_builds);
    tcase_add_test(tests, threads_on_one_handle_give_the_same_bits);
    tcase_add_test(tests, a_bin_that_is_no_number_stays_with_its_point);
    tcase_add_test(tests, ready_numbers_give_the_same_bits);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(parity_suite());
}
