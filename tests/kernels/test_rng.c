/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/rng.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { N = 100000 };

/* The known answers of Random123's kat_vectors for philox4x32 with 10 rounds. */
START_TEST(philox_gives_the_known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        uint32_t out[4];
        rng_philox(known[k].key, known[k].counter, out);
        for (int i = 0; i < 4; i++)
            ck_assert_uint_eq(out[i], known[k].out[i]);
    }
}
END_TEST

START_TEST(numbers_depend_on_the_stream_and_bin_only)
{
    const struct rng_stream stream = {.seed = 1, .point_key = 2, .realisation = 3};
    double forward[100][2];
    for (int bin = 0; bin < 100; bin++)
        rng_uniform2(&stream, (uint64_t)bin, forward[bin]);
    for (int bin = 99; bin >= 0; bin--) {
        double again[2];
        rng_uniform2(&stream, (uint64_t)bin, again);
        ck_assert(exactly(again[0], forward[bin][0]) && exactly(again[1], forward[bin][1]));
    }
}
END_TEST

/* Two 64-bit fields that differ in one bit, low or high, and the component: all other streams.
 */
START_TEST(every_part_of_a_stream_changes_its_numbers)
{
    const struct rng_stream streams[] = {
        {.seed = 1, .point_key = 2, .realisation = 3, .component = 0},
        {.seed = 1 | 1ULL << 40, .point_key = 2, .realisation = 3},
        {.seed = 3, .point_key = 2, .realisation = 3},
        {.seed = 1, .point_key = 3, .realisation = 3},
        {.seed = 1, .point_key = 2 | 1ULL << 63, .realisation = 3},
        {.seed = 1, .point_key = 3, .realisation = 2},
        {.seed = 1, .point_key = 2, .realisation = 4},
        {.seed = 1, .point_key = 2, .realisation = 3 | 1ULL << 33},
        {.seed = 1, .point_key = 2, .realisation = 3, .component = 1},
    };
    enum { STREAMS = sizeof streams / sizeof streams[0] };
    double first[STREAMS + 1][2];
    for (int s = 0; s < STREAMS; s++)
        rng_uniform2(&streams[s], 5, first[s]);
    rng_uniform2(&streams[0], 5 | 1ULL << 35, first[STREAMS]);
    for (int a = 0; a <= STREAMS; a++)
        for (int b = 0; b < a; b++)
            ck_assert_msg(!exactly(first[a][0], first[b][0])
                              && !exactly(first[a][1], first[b][1]),
                          "%d and %d", a, b);
}
END_TEST

/* Mean 1/2 and variance 1/12 within 5 standard errors; each half of the bits is used. */
START_TEST(uniform_numbers_fill_the_interval)
{
    const struct rng_stream stream = {.seed = 42};
    double sum = 0.0;
    double square = 0.0;
    double product = 0.0;
    for (int bin = 0; bin < N; bin++) {
        double u[2];
        rng_uniform2(&stream, (uint64_t)bin, u);
        ck_assert(u[0] > 0.0 && u[0] <= 1.0 && u[1] > 0.0 && u[1] <= 1.0);
        sum += u[0] + u[1];
        square += (u[0] - 0.5) * (u[0] - 0.5) + (u[1] - 0.5) * (u[1] - 0.5);
        product += (u[0] - 0.5) * (u[1] - 0.5);
    }
    const double n = 2.0 * N;
    ck_assert_near(sum / n, 0.5, 5.0 * sqrt(1.0 / 12.0 / n), 0.5 + 10.0 * sqrt(1.0 / 12.0 / n),
                   "a mean off by ten standard errors");
    ck_assert_near(square / n, 1.0 / 12.0, 5.0 * sqrt(1.0 / 180.0 / n),
                   1.0 / 12.0 + 10.0 * sqrt(1.0 / 180.0 / n),
                   "a variance off by ten standard errors");
    ck_assert_near(product / N, 0.0, 5.0 / 12.0 / sqrt((double)N),
                   10.0 / 12.0 / sqrt((double)N), "a covariance of ten standard errors");
}
END_TEST

/* Moments 0, 1, 0, 3 of a standard normal; the variances of their estimates are 1, 2, 15, 96.
 */
START_TEST(normal_numbers_have_the_moments_of_a_standard_normal)
{
    static const double moments[4] = {0.0, 1.0, 0.0, 3.0};
    static const double variances[4] = {1.0, 2.0, 15.0, 96.0};
    const struct rng_stream stream = {.seed = 42, .component = 1};
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    double product = 0.0;
    for (int bin = 0; bin < N; bin++) {
        double x[2];
        rng_normal2(&stream, (uint64_t)bin, x);
        ck_assert(isfinite(x[0]) && isfinite(x[1]));
        product += x[0] * x[1];
        for (int i = 0; i < 2; i++)
            for (int power = 1; power <= 4; power++)
                sums[power - 1] += pow(x[i], power);
    }
    for (int m = 0; m < 4; m++)
        ck_assert_near(sums[m] / (2.0 * N), moments[m], 5.0 * sqrt(variances[m] / (2.0 * N)),
                       moments[m] + 10.0 * sqrt(variances[m] / (2.0 * N)),
                       "a moment off by ten standard errors");
    ck_assert_near(product / N, 0.0, 5.0 / sqrt((double)N), 10.0 / sqrt((double)N),
                   "a covariance of ten standard errors");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("rng");
    tcase_add_test(tests, philox_gives_the_known_answers);
    tcase_add_test(tests, numbers_depend_on_the_stream_and_bin_only);
    tcase_add_test(tests, every_part_of_a_stream_changes_its_numbers);
    tcase_add_test(tests, uniform_numbers_fill_the_interval);
    tcase_add_test(tests, normal_numbers_have_the_moments_of_a_standard_normal);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
