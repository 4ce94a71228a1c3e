/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms and passes of gnlse are those of the design: counted where they happen. */
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/unit_main.h"

/* What a right-hand side may cost (docs/performance.md); the stepper's own passes are 7 a
 * trial: entry, four turns, last and close; 2 before the first. */
struct cost {
    bool raman, absorber;
    int transforms, passes;
};

static const struct cost costs[] = {{false, false, 2, 1}, /* |A|^2 A */
                                    {true, false, 4, 3},  /* |A|^2; filter; R A */
                                    {false, true, 3, 3},  /* and the edge; its spectrum added */
                                    {true, true, 5, 5}};

static void check(const struct cost *cost, const char *norm)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1000.0);
    case_set(&c, "length", 0.05);
    case_set(&c, "stepper.atol", 1e-6); /* the weakest bins need no relative accuracy */
    case_planes(&c, (const double[]){0.05}, 1);
    if (cost->raman)
        case_raman(&c);
    if (cost->absorber) {
        case_set(&c, "absorber.edge", 0.1);
        case_set(&c, "absorber.length", 0.05);
    }
    case_set(&c, "stepper.norm", norm[0] == 'l' ? 0.0 : 1.0);
    struct gnlse_planes p = case_run(&c);
    const struct row_status *row = &p.row;
    const long long trials = row->steps + row->rejected;
    const int own = norm[0] == 'l' ? 7 : 8; /* norms of single bins take one pass more */
    ck_assert_int_gt(trials, 3);
    ck_assert_int_eq(row->rhs_calls, 1 + 6 * trials);
    ck_assert_int_eq(row->transforms, cost->transforms * row->rhs_calls);
    ck_assert_int_eq(row->passes, 2 + own * trials + cost->passes * row->rhs_calls);
    planes_free(&p, &c);
}

START_TEST(transforms_and_passes_are_those_of_the_design)
{
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        check(&costs[i], "l2");
        check(&costs[i], "rms_bin");
    }
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse counts");
    TCase *const tests = tcase_create("counts");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, transforms_and_passes_are_those_of_the_design);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
