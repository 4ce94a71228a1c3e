/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker holds, against one mark for each id. */
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/holding.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

enum { TOTAL = 400 };

static struct message_give range(int64_t first, int64_t length)
{
    return (struct message_give){.pass = PASS_MEMBER, .first = first, .length = length};
}

static int add_tasks(struct holding *h, const struct message_give *give, int64_t number,
                     double seconds)
{
    const struct holding_lot lot = {.give = number, .seconds = seconds};
    return holding_add(h, give, &lot);
}

static int remove_tasks(struct holding *h, int64_t first, int64_t count)
{
    struct holding_lot lot;
    char text[200];
    status_capture(text, sizeof text);
    const int rc = holding_remove(h, PASS_MEMBER, first, count, &lot);
    status_capture(NULL, 0);
    return rc;
}

static void assert_holds(const struct holding *h, const unsigned char *held)
{
    unsigned char found[TOTAL] = {0};
    for (int i = 0; i < h->spans; i++) {
        ck_assert_int_gt(h->span[i].count, 0);
        for (int64_t id = h->span[i].first; id < h->span[i].first + h->span[i].count; id++)
            found[id]++;
    }
    ck_assert(equal_bits(found, held, TOTAL));
}

START_TEST(tasks_removed_in_any_order_leave_exactly_the_others)
{
    struct holding h = {0};
    unsigned char held[TOTAL];
    unsigned state = 7;
    memset(held, 1, sizeof held);
    for (int64_t first = 0; first < TOTAL; first += 100) {
        const struct message_give give = range(first, 100);
        ck_assert_int_eq(add_tasks(&h, &give, first, 0), 0);
    }
    for (int i = 0; i < 2000; i++) {
        state = state * 1103515245U + 12345U;
        const int64_t first = (int64_t)(state >> 16) % TOTAL;
        int64_t count = 0;
        while (count < 9 && first + count < TOTAL && held[first + count])
            count++;
        if (count == 0)
            continue;
        ck_assert_int_eq(remove_tasks(&h, first, count), 0);
        memset(held + first, 0, (size_t)count);
        assert_holds(&h, held);
    }
    for (int i = 0; i < TOTAL; i++)
        if (held[i])
            ck_assert_int_eq(remove_tasks(&h, i, 1), 0);
    ck_assert_int_eq(h.spans, 0);
    holding_clear(&h);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_report_across_two_gives_is_taken_from_both)
{
    struct holding h = {0};
    const struct message_give one = range(0, 10);
    const struct message_give two = range(10, 10);
    struct holding_lot lot;
    ck_assert_int_eq(add_tasks(&h, &one, 4, 3), 0);
    ck_assert_int_eq(add_tasks(&h, &two, 9, 0.5), 0);
    ck_assert_exactly(holding_seconds(&h), 35);
    ck_assert_int_eq(holding_oldest(&h), 10);
    ck_assert_int_eq(holding_remove(&h, PASS_MEMBER, 5, 10, &lot), 0);
    ck_assert_int_eq(lot.give, 4);
    ck_assert_exactly(lot.seconds, 5 * 3 + 5 * 0.5);
    ck_assert_int_eq(holding_oldest(&h), 5);
    ck_assert_int_eq(holding_remove(&h, PASS_MEMBER, 0, 5, &lot), 0);
    ck_assert_int_eq(holding_oldest(&h), 5);
    ck_assert_int_eq(holding_remove(&h, PASS_MEMBER, 15, 5, &lot), 0);
    ck_assert_int_eq(lot.give, 9);
    ck_assert_int_eq(holding_oldest(&h), 0);
    holding_clear(&h);
}
END_TEST

START_TEST(ids_that_do_not_lie_side_by_side_are_held_in_their_order)
{
    struct holding h = {0};
    struct message_give give = {.pass = PASS_MEMBER, .count = 5, .id = {30, 31, 7, 2, 3}};
    ck_assert_int_eq(add_tasks(&h, &give, 1, 0), 0);
    ck_assert_int_eq(h.spans, 3);
    ck_assert_int_eq(h.span[0].first, 30);
    ck_assert_int_eq(h.span[0].count, 2);
    ck_assert_int_eq(h.span[1].first, 7);
    ck_assert_int_eq(holding_oldest(&h), 5);
    holding_clear(&h);
}
END_TEST

START_TEST(what_is_not_held_is_refused)
{
    struct holding h = {0};
    const struct message_give give = range(5, 3);
    struct holding_lot lot;
    char text[200];
    ck_assert_int_eq(add_tasks(&h, &give, 1, 0), 0);
    ck_assert_int_eq(remove_tasks(&h, 4, 1), ERR_BUG);
    ck_assert_int_eq(remove_tasks(&h, 7, 2), ERR_BUG);
    status_capture(text, sizeof text);
    ck_assert_int_eq(holding_remove(&h, PASS_REDUCE, 5, 1, &lot), ERR_BUG);
    status_capture(NULL, 0);
    holding_clear(&h);
}
END_TEST

static Suite *holding_suite(void)
{
    Suite *suite = suite_create("holding");
    TCase *tests = tcase_create("holding");
    tcase_add_test(tests, tasks_removed_in_any_order_leave_exactly_the_others);
    tcase_add_test(tests, a_report_across_two_gives_is_taken_from_both);
    tcase_add_test(tests, ids_that_do_not_lie_side_by_side_are_held_in_their_order);
    tcase_add_test(tests, what_is_not_held_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(holding_suite());
}
