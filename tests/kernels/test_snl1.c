/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold of the source term whatever its rounding, and what its calls refuse. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract/bounds.h"
#include "tests/exact.h"
#include "tests/kernels/snl1_case.h"
#include "tests/perturb/near.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define FAST_LAM_MIN 0.1f /* snl1.h */
#define COMPACT      55   /* the case of compact support, nothing leaves the grid */

static struct snl1_group group_of(int g)
{
    struct snl1_group group;
    ck_assert_int_eq(snl1_group_load(DATA_FOLDER "/snl1", g, &group), 0);
    return group;
}

/* Cases whose values are neither tiny nor huge. */
static int is_plain(int p)
{
    return p < 34 || p > 40;
}

/* Largest |x - y| over the largest |y| of a point. */
static double distance(const float *x, const float *y, long count)
{
    double largest = 0.0;
    double difference = 0.0;
    for (long i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)y[i]));
        difference = fmax(difference, fabs((double)x[i] - (double)y[i]));
    }
    return largest > 0.0 ? difference / largest : difference;
}

START_TEST(fast_stays_within_its_bound_and_is_another_kernel)
{
    double worst = 0.0;
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = group_of(g);
        struct snl1 *const parity = snl1_handle(&group, SNL1_PARITY, NULL);
        struct snl1_results right;
        ck_assert_int_eq(snl1_run(parity, &group, 1000, 0, &right), 0);
        ck_assert_int_eq(snl1_wrong_points(&group, &right), 0);
        for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
            struct snl1 *const fast = snl1_handle(&group, SNL1_FAST, *isa);
            struct snl1_results results;
            if (fast == NULL)
                continue;
            ck_assert_int_eq(snl1_run(fast, &group, 1000, 1, &results), 0);
            ck_assert_int_gt(snl1_different(&group, &results, &right), 0);
            for (int p = 0; p < group.npts; p++) {
                const long at = (long)p * group.nspec;
                const double s = distance(results.s + at, right.s + at, group.nspec);
                const double d = distance(results.d + at, right.d + at, group.nspec);
                if (!is_plain(p))
                    continue;
                ck_assert_msg(s <= bound(BOUND_snl1_fast) && d <= bound(BOUND_snl1_fast),
                              "%s point %d: S %g D %g of the largest", group.name, p, s, d);
                worst = fmax(worst, fmax(s, d));
            }
            snl1_results_clear(&results);
            snl1_destroy(fast);
        }
        snl1_results_clear(&right);
        snl1_destroy(parity);
        snl1_group_clear(&group);
    }
    printf("fast: worst %.2g of the largest value\n", worst);
    perturb_record_norm("snl1_fast", worst, bound(BOUND_snl1_fast));
}
END_TEST

START_TEST(a_fast_point_is_the_same_in_any_batch)
{
    static const long chunks[] = {1, 5, 16, 17};
    for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
        struct snl1_group group = group_of(0);
        struct snl1 *const fast = snl1_handle(&group, SNL1_FAST, *isa);
        struct snl1_results whole;
        struct snl1_results results;
        if (fast != NULL) {
            ck_assert_int_eq(snl1_run(fast, &group, 1000, 0, &whole), 0);
            for (int i = 0; i < 4; i++) {
                ck_assert_int_eq(snl1_run(fast, &group, chunks[i], i, &results), 0);
                ck_assert_int_eq(snl1_different(&group, &whole, &results), 0);
                snl1_results_clear(&results);
            }
            snl1_results_clear(&whole);
        }
        snl1_destroy(fast);
        snl1_group_clear(&group);
    }
}
END_TEST

/* Symmetries: the spectra of a group moved over the directions */

typedef int move(int t, int nth, int by);

static int turn(int t, int nth, int by)
{
    return (t + by) % nth;
}

static int mirror(int t, int nth, int by)
{
    return (nth - t + by) % nth;
}

static void move_all(const struct snl1_group *group, move *to, int by, const float *from,
                     float *out)
{
    const int nth = group->config.nth;
    const long rows = (long)group->npts * group->config.nk;
    for (long r = 0; r < rows; r++)
        for (int t = 0; t < nth; t++)
            out[r * nth + to(t, nth, by)] = from[r * nth + t];
}

/* Points that are not moved with their spectra. */
static int moved_wrongly(struct snl1 *handle, const struct snl1_group *group, move *to, int by)
{
    const size_t bytes = sizeof(float) * (size_t)group->npts * (size_t)group->nspec;
    struct snl1_group moved = *group;
    struct snl1_results before;
    struct snl1_results after;
    struct snl1_results expected;
    moved.a = malloc(bytes);
    move_all(group, to, by, group->a, moved.a);
    ck_assert_int_eq(snl1_run(handle, group, 1000, 0, &before), 0);
    ck_assert_int_eq(snl1_run(handle, group, 1000, 0, &expected), 0);
    ck_assert_int_eq(snl1_run(handle, &moved, 1000, 0, &after), 0);
    move_all(group, to, by, before.s, expected.s);
    move_all(group, to, by, before.d, expected.d);
    const int wrong = snl1_different(group, &after, &expected);
    snl1_results_clear(&before);
    snl1_results_clear(&after);
    snl1_results_clear(&expected);
    free(moved.a);
    return wrong;
}

START_TEST(a_turned_or_mirrored_spectrum_has_a_turned_or_mirrored_term)
{
    for (int g = 0; g < SNL1_GROUPS; g++) {
        struct snl1_group group = group_of(g);
        struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
        for (int by = 1; by < group.config.nth; by += g < 2 ? 5 : 7)
            ck_assert_int_eq(moved_wrongly(handle, &group, turn, by), 0);
        ck_assert_int_eq(moved_wrongly(handle, &group, mirror, 0), 0);
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
}
END_TEST

static bool is_scaled(const struct snl1_results *before, const struct snl1_results *after,
                      int power, long k)
{
    return exactly((double)ldexpf(before->s[k], 3 * power), (double)after->s[k])
           && exactly((double)ldexpf(before->d[k], 2 * power), (double)after->d[k]);
}

START_TEST(a_spectrum_times_a_power_of_two_scales_in_bits)
{
    static const int powers[] = {3, 1, -2};
    struct snl1_group group = group_of(1);
    struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
    struct snl1_results before;
    ck_assert_int_eq(snl1_run(handle, &group, 1000, 0, &before), 0);
    for (int i = 0; i < 3; i++) {
        struct snl1_group scaled = group;
        struct snl1_results after;
        const long count = (long)group.npts * group.nspec;
        int wrong = 0;
        scaled.a = malloc(sizeof(float) * (size_t)count);
        for (long k = 0; k < count; k++)
            scaled.a[k] = ldexpf(group.a[k], powers[i]);
        ck_assert_int_eq(snl1_run(handle, &scaled, 1000, 0, &after), 0);
        /* noise and the compact case: nothing leaves the normal range */
        for (long k = 23L * group.nspec; k < 31L * group.nspec; k++)
            wrong += !is_scaled(&before, &after, powers[i], k);
        for (long k = (long)COMPACT * group.nspec; k < count; k++)
            wrong += !is_scaled(&before, &after, powers[i], k);
        ck_assert_int_eq(wrong, 0);
        snl1_results_clear(&after);
        free(scaled.a);
    }
    snl1_results_clear(&before);
    snl1_destroy(handle);
    snl1_group_clear(&group);
}
END_TEST

/* |sum| over sum of |.| of S_E times a weight. */
static double balance(const struct snl1_group *group, const struct snl1_numbers *n,
                      const float *s, int kind)
{
    const double pi = acos(-1.0);
    const int nth = group->config.nth;
    double sum = 0.0;
    double size = 0.0;
    for (int f = 0; f < n->nk; f++) {
        const double sigma = (double)n->sig[f];
        const double con = (double)group->cg[COMPACT * n->nk + f] / (2.0 * pi * sigma);
        for (int t = 0; t < nth; t++) {
            const double angle = 2.0 * pi * t / nth;
            const double weights[4] = {1.0, sigma, sigma * sigma * cos(angle),
                                       sigma * sigma * sin(angle)};
            const double term = (double)s[f * nth + t] / con * weights[kind];
            sum += term;
            size += fabs(term);
        }
    }
    return fabs(sum) / size;
}

static void check_balance(double balance, const char *family, double limit)
{
    ck_assert_msg(balance <= limit, "%s: %g of %g", family, balance, limit);
    perturb_record_norm(family, balance, limit);
}

START_TEST(action_energy_and_momentum_are_conserved_where_nothing_leaves)
{
    static const int compact[] = {0, 1, 3, 5};
    for (int arithmetic = SNL1_PARITY; arithmetic <= SNL1_FAST; arithmetic++)
        for (int i = 0; i < 4; i++) {
            struct snl1_group group = group_of(compact[i]);
            struct snl1 *const handle = snl1_handle(&group, arithmetic, NULL);
            const struct snl1_numbers *const n = snl1_numbers(handle);
            struct snl1_results results;
            ck_assert_int_eq(snl1_run(handle, &group, 1000, 0, &results), 0);
            const float *const s = results.s + (long)COMPACT * group.nspec;
            check_balance(balance(&group, n, s, 0), "snl1_conserved",
                          bound(BOUND_snl1_conserved));
            check_balance(balance(&group, n, s, 1), "snl1_conserved",
                          bound(BOUND_snl1_conserved));
            check_balance(balance(&group, n, s, 2), "snl1_momentum",
                          bound(BOUND_snl1_momentum));
            check_balance(balance(&group, n, s, 3), "snl1_momentum",
                          bound(BOUND_snl1_momentum));
            snl1_results_clear(&results);
            snl1_destroy(handle);
            snl1_group_clear(&group);
        }
}
END_TEST

/* Other grids */

/* Spectra without a pattern, of a configuration. */
static struct snl1_group noise_group(struct snl1_config config, int npts)
{
    struct snl1_group group = {
        .name = "noise", .config = config, .npts = npts, .nspec = config.nk * config.nth};
    uint64_t seed = 7;
    const long count = (long)npts * group.nspec;
    group.a = malloc(sizeof(float) * (size_t)count);
    group.cg = malloc(sizeof(float) * (size_t)(npts * config.nk));
    group.kdmean = malloc(sizeof(float) * (size_t)npts);
    for (long i = 0; i < count; i++)
        group.a[i] = snl1_random(&seed);
    for (long i = 0; i < (long)npts * config.nk; i++)
        group.cg[i] = 1.0f + 9.0f * snl1_random(&seed);
    for (int p = 0; p < npts; p++)
        group.kdmean[p] = 4.0f * snl1_random(&seed);
    return group;
}

static void check_grid(struct snl1_config config)
{
    struct snl1_group group = noise_group(config, 19);
    struct snl1_results first;
    int have = 0;
    for (int arithmetic = SNL1_PARITY; arithmetic <= SNL1_FAST; arithmetic++)
        for (const char *const *isa = snl1_isas; *isa != NULL; isa++) {
            struct snl1 *const handle = snl1_handle(&group, arithmetic, *isa);
            struct snl1_results results;
            if (handle == NULL)
                continue;
            /* where the partners nearly coincide, the sums cancel: no bound for fast there */
            const double limit = arithmetic == SNL1_PARITY    ? 0.0
                                 : config.lam >= FAST_LAM_MIN ? bound(BOUND_snl1_fast)
                                                              : 1e-4;
            ck_assert_int_eq(snl1_run(handle, &group, 1000, 3, &results), 0);
            if (!have)
                ck_assert_int_eq(snl1_run(handle, &group, 1, 0, &first), 0);
            have = 1;
            for (int p = 0; p < group.npts; p++) {
                const long at = (long)p * group.nspec;
                ck_assert_int_eq(results.flags[p], 0);
                ck_assert_norm(distance(results.s + at, first.s + at, group.nspec), limit);
                ck_assert_norm(distance(results.d + at, first.d + at, group.nspec), limit);
            }
            snl1_results_clear(&results);
            snl1_destroy(handle);
        }
    snl1_results_clear(&first);
    snl1_group_clear(&group);
}

/* Turned by each step, a spectrum keeps its term. */
static void check_turns(struct snl1_config config)
{
    struct snl1_group group = noise_group(config, 3);
    struct snl1 *const handle = snl1_handle(&group, SNL1_PARITY, NULL);
    ck_assert_ptr_nonnull(handle);
    for (int by = 1; by < config.nth; by++)
        ck_assert_int_eq(moved_wrongly(handle, &group, turn, by), 0);
    snl1_destroy(handle);
    snl1_group_clear(&group);
}

/* A 1-based address by rows and directions without an end; rows below the first are the pad. */
static int32_t address_of(const struct snl1_numbers *n, int32_t row, int32_t direction)
{
    const int32_t nth = n->nth;
    return ((direction % nth) + nth) % nth + 1 + ((row > 0 ? row : 0) - 1) * nth;
}

/* Rows and directions of the four neighbours of a partner, far ones first. */
struct stencil {
    int32_t rows[4], turn[4];
};

static struct stencil stencil_of(int32_t row_far, int32_t row_near, int32_t near)
{
    return (struct stencil){{row_far, row_far, row_near, row_near},
                            {near + 1, near, near + 1, near}};
}

/* Entries of [4] tables that are not where the stencil says, or in no row up to the last. */
static long wrong_entries(const struct snl1_numbers *n, const struct stencil *stencil, int side,
                          const int32_t *table, long between, int32_t rows, int32_t last)
{
    long wrong = 0;
    for (int j = 0; j < 4; j++)
        for (int32_t q = 0; q < rows * n->nth; q++) {
            const int32_t there = table[j * between + q];
            wrong += there
                     != address_of(n, 1 + q / n->nth + stencil->rows[j],
                                   q % n->nth + side * stencil->turn[j]);
            wrong += there < (stencil->rows[j] < 0 ? 1 - n->nth : 1) || there > last * n->nth;
        }
    return wrong;
}

/* Gathering is the inverse of handing out: signs of rows and directions are the opposite. */
static void check_addresses(struct snl1_config config)
{
    struct snl1 *handle;
    ck_assert_int_eq(snl1_create(&config, NULL, &handle, NULL), 0);
    const struct snl1_numbers *const n = snl1_numbers(handle);
    const long nspecx = (long)n->nfrchg * n->nth;
    const long nspec = (long)n->nk * n->nth;
    int32_t *const ip = malloc(sizeof(int32_t) * 8 * (size_t)nspecx);
    int32_t *const im = malloc(sizeof(int32_t) * 8 * (size_t)nspecx);
    int32_t *const ic = malloc(sizeof(int32_t) * 16 * (size_t)nspec);
    const struct stencil plus = stencil_of(n->ifrp + 1, n->ifrp, n->ithp);
    const struct stencil minus = stencil_of(n->ifrm - 1, n->ifrm, n->ithm);
    const struct stencil back = stencil_of(-n->ifrp - 1, -n->ifrp, n->ithp);
    const struct stencil up = stencil_of(1 - n->ifrm, -n->ifrm, n->ithm);
    snl1_addresses(handle, ip, im, ic);
    for (int o = 0; o < 2; o++) {
        const int side = o == 0 ? 1 : -1;
        ck_assert_int_eq(
            wrong_entries(n, &plus, side, ip + 4 * o * nspecx, nspecx, n->nfrchg, n->nfrhgh),
            0);
        ck_assert_int_eq(
            wrong_entries(n, &minus, -side, im + 4 * o * nspecx, nspecx, n->nfrchg, n->nfrchg),
            0);
        ck_assert_int_eq(
            wrong_entries(n, &back, -side, ic + o * nspec, 2 * nspec, n->nk, n->nfrchg), 0);
        ck_assert_int_eq(
            wrong_entries(n, &up, side, ic + (8 + o) * nspec, 2 * nspec, n->nk, n->nfrchg), 0);
    }
    free(ip);
    free(im);
    free(ic);
    snl1_destroy(handle);
}

START_TEST(other_grids_work_as_well)
{
    static const float xfr[] = {1.05f, 1.1f, 1.25f, 1.4f};
    static const int nth[] = {1, 2, 5, 7, 10, 16, 17, 30, 72};
    static const float lam[] = {0.25f, 0.33f, 0.49f, 0.1f, 0.02f};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 9; j++) {
            struct snl1_config config;
            ck_assert_int_eq(snl1_defaults(SNL1_ST4, &config), 0);
            config.xfr = xfr[i];
            config.nth = nth[j];
            config.nk = 6 + 5 * i;
            config.lam = lam[(i + j) % 5];
            check_grid(config);
            check_turns(config);
            check_addresses(config);
        }
}
END_TEST

START_TEST(a_ratio_of_one_plus_lam_reaches_the_next_row_exactly)
{
    struct snl1_config config;
    struct snl1 *handle;
    ck_assert_int_eq(snl1_defaults(SNL1_ST4, &config), 0);
    config.xfr = 1.25f;
    ck_assert_int_eq(snl1_create(&config, NULL, &handle, NULL), 0);
    ck_assert_int_eq(snl1_numbers(handle)->ifrp, 1);
    ck_assert(is_zero((double)snl1_numbers(handle)->wfrp));
    snl1_destroy(handle);
    config.xfr = 1.4f; /* beyond 1 / (1 - lam) */
    ck_assert_int_eq(snl1_create(&config, NULL, &handle, NULL), 0);
    ck_assert_int_eq(snl1_numbers(handle)->ifrp, 0);
    ck_assert_int_eq(snl1_numbers(handle)->ifrm, 0);
    snl1_destroy(handle);
}
END_TEST

static Suite *snl1_suite(void)
{
    Suite *const suite = suite_create("snl1");
    TCase *const tests = tcase_create("snl1");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, fast_stays_within_its_bound_and_is_another_kernel);
    tcase_add_test(tests, a_fast_point_is_the_same_in_any_batch);
    tcase_add_test(tests, a_turned_or_mirrored_spectrum_has_a_turned_or_mirrored_term);
    tcase_add_test(tests, a_spectrum_times_a_power_of_two_scales_in_bits);
    tcase_add_test(tests, action_energy_and_momentum_are_conserved_where_nothing_leaves);
    tcase_add_test(tests, other_grids_work_as_well);
    tcase_add_test(tests, a_ratio_of_one_plus_lam_reaches_the_next_row_exactly);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(snl1_suite());
}
