/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a stepper together, with the blocks and threads of each launch in other orders. */
#include <string.h>

#include "tests/emu/machine.h"
#include "tests/kernels/team_case.h"
#include "tests/unit_main.h"

#define ROWS 4

static void batch(struct backend *be, unsigned long seed, int group, int terms,
                  struct team_result *out)
{
    static const int members[ROWS] = {3, 1, 2, 4};
    static struct team_run run;
    emu_shuffle(seed);
    team_open(&run, be, ROWS, group, terms);
    for (int r = 0; r < ROWS; r++) {
        const struct team_member m = team_member_of(members[r], terms);
        team_load(&run, r, &m);
    }
    team_finish(&run);
    memcpy(out, run.result, ROWS * sizeof *out);
    team_close(&run);
}

static void check_orders(struct backend *be, int group, int terms)
{
    static struct team_result by_number[ROWS];
    static struct team_result shuffled[ROWS];
    batch(be, 0, group, terms, by_number);
    for (unsigned long seed = 31; seed < 34; seed++) {
        batch(be, seed, group, terms, shuffled);
        for (int r = 0; r < ROWS; r++)
            team_check_same(&shuffled[r], &by_number[r], "another order");
    }
}

START_TEST(a_batch_has_the_same_bits_in_any_order_of_blocks_and_threads)
{
    struct backend *const be = team_backend();
    check_orders(be, 1, 2);
    check_orders(be, 2, 4);
    backend_destroy(be);
}
END_TEST

int main(void)
{
    setenv("SCANFARM_TEST_BACKEND", "emu", 1);
    Suite *const suite = suite_create("rows together on the emulated device");
    TCase *const tests = tcase_create("orders");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_batch_has_the_same_bits_in_any_order_of_blocks_and_threads);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
