/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of members, longest first. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/order.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { TOTAL = 1000 };

static void add_member(struct order *o, int64_t member, double cost, int64_t key)
{
    const struct order_node node = {.first = member,
                                    .count = 1,
                                    .point = member,
                                    .key = key,
                                    .work = (float)cost,
                                    .planes = 1,
                                    .rank = (float)log(cost)};
    order_add(o, &node);
}

/* 1 to 100, in no order. */
static double cost_of(int64_t member)
{
    return exp(log(100.0) * (double)(member * 617 % TOTAL) / TOTAL);
}

START_TEST(members_come_longest_first_each_once)
{
    struct order o;
    unsigned char seen[TOTAL] = {0};
    struct message_give give = {0};
    double last = (double)INFINITY;
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    for (int64_t m = 0; m < TOTAL; m++)
        add_member(&o, m, cost_of(m), 0);
    ck_assert_int_eq(o.members, TOTAL);
    while (order_take(&o, 1, (double)INFINITY, &give) == 1) {
        const double cost = cost_of(give.first);
        ck_assert_double_le(cost, 1.11 * last); /* a class is 10 % wide */
        last = fmin(last, cost);
        ck_assert_int_eq(seen[give.first]++, 0);
    }
    for (int m = 0; m < TOTAL; m++)
        ck_assert_int_eq(seen[m], 1);
    ck_assert_int_eq(o.members, 0);
    ck_assert_exactly(o.sum, 0);
    order_clear(&o);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(neighbours_of_equal_cost_travel_as_a_range)
{
    struct order o;
    struct message_give give = {0};
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    for (int64_t m = 0; m < TOTAL; m++)
        add_member(&o, m, 2, 0);
    ck_assert_int_eq(order_take(&o, 300, (double)INFINITY, &give), 300);
    ck_assert_int_eq(give.count, 0);
    ck_assert_int_eq(give.first, 0);
    ck_assert_int_eq(give.length, 300);
    ck_assert_int_eq(order_take(&o, TOTAL, (double)INFINITY, &give), 700);
    ck_assert_int_eq(give.first, 300);
    order_clear(&o);
}
END_TEST

START_TEST(a_give_has_one_structural_key)
{
    struct order o;
    unsigned char seen[TOTAL] = {0};
    struct message_give give = {0};
    int64_t sum = 0;
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    for (int64_t m = 0; m < TOTAL; m++)
        add_member(&o, m, m % 2 == 0 ? 1 : 3, m % 3);
    for (int64_t n; (n = order_take(&o, 40, (double)INFINITY, &give)) > 0; sum += n) {
        ck_assert_int_eq(give_count(&give), n);
        for (int64_t i = 0; i < n; i++) {
            ck_assert_int_eq(give_id(&give, i) % 3, give_id(&give, 0) % 3);
            ck_assert_int_eq(seen[give_id(&give, i)]++, 0);
        }
    }
    ck_assert_int_eq(sum, TOTAL);
    order_clear(&o);
}
END_TEST

START_TEST(realisations_of_a_point_are_one_node_and_can_be_cut)
{
    struct order o;
    struct message_give give = {0};
    const struct order_node node = {.first = 500, .count = 400, .planes = 1};
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    order_add(&o, &node);
    ck_assert_int_eq(order_take(&o, 10, (double)INFINITY, &give), 10);
    ck_assert_int_eq(give.first, 500);
    ck_assert_int_eq(order_take(&o, 10, (double)INFINITY, &give), 10);
    ck_assert_int_eq(give.first, 510);
    ck_assert_int_eq(o.members, 380);
    order_clear(&o);
}
END_TEST

START_TEST(what_does_not_fit_a_limit_is_passed_over)
{
    struct order o;
    struct message_give give = {0};
    double rank = 0;
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    add_member(&o, 1, 50, 0);
    add_member(&o, 2, 5, 0);
    add_member(&o, 3, 20, 0);
    const struct order_node planes = {
        .first = 4, .count = 1, .planes = 100, .rank = (float)log(1000)};
    order_add(&o, &planes); /* 10 for each plane */
    ck_assert_int_eq(order_take(&o, 1, log(15), &give), 1);
    ck_assert_int_eq(give.first, 4);
    ck_assert_int_eq(order_take(&o, 1, log(15), &give), 1);
    ck_assert_int_eq(give.first, 2);
    ck_assert_int_eq(order_take(&o, 1, log(15), &give), 0);
    ck_assert(!order_peek(&o, -(double)INFINITY, &rank));
    ck_assert(order_peek(&o, (double)INFINITY, &rank));
    ck_assert_near(rank, log(50), 1e-6, log(50.001), "a thousandth of a second more");
    ck_assert_int_eq(order_take(&o, 1, (double)INFINITY, &give), 1);
    ck_assert_int_eq(give.first, 1);
    order_clear(&o);
}
END_TEST

START_TEST(a_new_estimate_sorts_anew_and_loses_nothing)
{
    const char *text = "scan: s\nmodel: probe\n"
                       "axes: [a: {from: 1, to: 1000, points: 1000}]\n";
    struct scan *scan = NULL;
    struct cost *cost = NULL;
    struct order o;
    struct message_give give = {0};
    unsigned char seen[TOTAL] = {0};
    ck_assert_int_eq(MEM_NEW(1, &cost), 0);
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &scan), 0);
    ck_assert_int_eq(cost_open(scan, 0, scan_points(scan), cost), 0);
    ck_assert_int_eq(order_init(&o, TOTAL), 0);
    for (int64_t m = 0; m < TOTAL; m++)
        add_member(&o, m, 1, 0);
    ck_assert_int_eq(order_take(&o, 1, (double)INFINITY, &give), 1);
    ck_assert_int_eq(give.first, 0); /* file order while all cost the same */
    for (int64_t m = 0; m < TOTAL; m++)
        cost_learn(cost, m, (double)(m + 1));
    cost_fit(cost);
    order_sort(&o, cost);
    ck_assert_int_eq(o.members, TOTAL - 1);
    for (int i = 0; i < TOTAL - 1; i++) {
        ck_assert_int_eq(order_take(&o, 1, (double)INFINITY, &give), 1);
        ck_assert_int_eq(seen[give.first]++, 0);
        if (i == 0)
            ck_assert_int_gt(give.first, 850); /* of the last class */
    }
    ck_assert_int_eq(seen[0], 0);
    order_clear(&o);
    cost_clear(cost);
    mem_free(cost);
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(the_window_has_an_end)
{
    struct order o;
    int64_t added = 0;
    ck_assert_int_eq(order_init(&o, 1000000), 0);
    while (order_room(&o) > 0)
        add_member(&o, added++, 1, 0);
    ck_assert_int_eq(added, ORDER_WINDOW);
    order_clear(&o);
    ck_assert_int_eq(order_room(&o), 0);
}
END_TEST

static Suite *order_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("order");
    tcase_add_test(tests, members_come_longest_first_each_once);
    tcase_add_test(tests, neighbours_of_equal_cost_travel_as_a_range);
    tcase_add_test(tests, a_give_has_one_structural_key);
    tcase_add_test(tests, realisations_of_a_point_are_one_node_and_can_be_cut);
    tcase_add_test(tests, what_does_not_fit_a_limit_is_passed_over);
    tcase_add_test(tests, a_new_estimate_sorts_anew_and_loses_nothing);
    tcase_add_test(tests, the_window_has_an_end);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(order_suite());
}
