/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "runner/queue.h"
#include "tests/unit_main.h"

static const struct queue_keys alike = {.key = NULL, .block = 1};

static int64_t key_modulo_3(const void *context, int64_t id)
{
    (void)context;
    return id % 3;
}

/* Each id of a GIVE is marked; one that was marked before fails the test. */
static void mark(unsigned char *seen, const struct message_give *give, int64_t taken)
{
    ck_assert_int_eq(give_count(give), taken);
    for (int64_t i = 0; i < taken; i++)
        ck_assert_int_eq(seen[give_id(give, i)]++, 0);
}

START_TEST(every_task_is_given_exactly_once)
{
    enum { TOTAL = 1000 };
    unsigned char seen[TOTAL] = {0};
    struct queue queue;
    struct message_give give;
    unsigned state = 1;
    int64_t sum = 0;
    ck_assert_int_eq(queue_init(&queue, TOTAL, true), 0);
    for (;;) {
        state = state * 1103515245U + 12345U;
        const int64_t taken =
            queue_take(&queue, 1 + (int64_t)(state >> 16) % 100, &alike, &give);
        if (taken == 0)
            break;
        mark(seen, &give, taken);
        sum += taken;
        ck_assert_int_eq(queue.pending, TOTAL - sum);
    }
    ck_assert_int_eq(sum, TOTAL);
    queue_clear(&queue);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_part_of_the_ids_is_given_as_the_whole_is)
{
    enum { FIRST = 1000000000 + 37, COUNT = 300 };
    unsigned char seen[COUNT] = {0};
    struct queue queue;
    struct message_give give;
    const int64_t end = FIRST + COUNT;
    ck_assert_int_eq(queue_init_part(&queue, FIRST, end, true), 0);
    ck_assert_int_eq(queue.pending, COUNT);
    ck_assert_int_eq(queue_next(&queue, 0), FIRST);
    ck_assert(!queue_has(&queue, FIRST - 1) && queue_has(&queue, FIRST));
    ck_assert(queue_has(&queue, end - 1) && !queue_has(&queue, end) && !queue_has(&queue, 5));
    queue_set(&queue, FIRST + 30, 100, false);
    ck_assert_int_eq(queue_next(&queue, FIRST + 30), FIRST + 130);
    queue_set(&queue, FIRST + 30, 100, true);
    for (int64_t taken = 1; taken > 0;) {
        taken = queue_take(&queue, 77, &alike, &give);
        for (int64_t i = 0; i < taken; i++)
            ck_assert_int_eq(seen[give_id(&give, i) - FIRST]++, 0);
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(seen[i], 1);
    ck_assert_int_eq(queue_next(&queue, FIRST), end);
    queue_clear(&queue);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(ranges_across_words_equal_single_bits)
{
    enum { TOTAL = 200 };
    struct queue queue;
    for (int64_t first = 0; first < TOTAL; first += 7) {
        for (int64_t count = 0; first + count <= TOTAL; count += 13) {
            ck_assert_int_eq(queue_init(&queue, TOTAL, true), 0);
            queue_set(&queue, first, count, false);
            ck_assert_int_eq(queue.pending, TOTAL - count);
            for (int64_t id = 0; id < TOTAL; id++)
                ck_assert_int_eq(queue_has(&queue, id), id < first || id >= first + count);
            queue_set(&queue, first, count, true);
            ck_assert_int_eq(queue.pending, TOTAL);
            queue_clear(&queue);
        }
    }
}
END_TEST

START_TEST(a_chunk_has_one_structural_key)
{
    enum { TOTAL = 500 };
    unsigned char seen[TOTAL] = {0};
    const struct queue_keys keys = {.key = key_modulo_3, .block = 1};
    struct queue queue;
    struct message_give give;
    int64_t sum = 0;
    ck_assert_int_eq(queue_init(&queue, TOTAL, true), 0);
    for (int64_t taken; (taken = queue_take(&queue, 40, &keys, &give)) > 0; sum += taken) {
        mark(seen, &give, taken);
        for (int64_t i = 0; i < taken; i++)
            ck_assert_int_eq(give_id(&give, i) % 3, give_id(&give, 0) % 3);
    }
    ck_assert_int_eq(sum, TOTAL);
    queue_clear(&queue);
}
END_TEST

START_TEST(ids_of_one_key_that_do_not_lie_side_by_side_travel_together)
{
    const struct queue_keys keys = {.key = key_modulo_3, .block = 1};
    struct queue queue;
    struct message_give give;
    ck_assert_int_eq(queue_init(&queue, 300, true), 0);
    ck_assert_int_eq(queue_take(&queue, 10, &keys, &give), 10);
    ck_assert_int_eq(give.count, 10);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(give.id[i], 3 * i);
    queue_clear(&queue);
}
END_TEST

START_TEST(tasks_given_back_are_given_again)
{
    struct queue queue;
    struct message_give give;
    ck_assert_int_eq(queue_init(&queue, 100, true), 0);
    ck_assert_int_eq(queue_take(&queue, 100, &alike, &give), 100);
    queue_set(&queue, 20, 5, true);
    ck_assert_int_eq(queue_take(&queue, 100, &alike, &give), 5);
    ck_assert_int_eq(give.first, 20);
    ck_assert_int_eq(give.length, 5);
    ck_assert_int_eq(queue_take(&queue, 100, &alike, &give), 0);
    queue_clear(&queue);
}
END_TEST

START_TEST(a_chunk_holds_about_the_wanted_time)
{
    const struct chunk_request request = {.chunk_time = 0.05,
                                          .member_seconds = 1e-3,
                                          .pending = 1000000,
                                          .workers = 64,
                                          .capacity = 1};
    ck_assert_int_eq(chunk_size(&request), 50);
}
END_TEST

START_TEST(long_members_travel_one_for_each_row)
{
    struct chunk_request request = {
        .chunk_time = 0.05, .member_seconds = 60, .pending = 1000, .workers = 4, .capacity = 1};
    ck_assert_int_eq(chunk_size(&request), 1);
    request.capacity = 8;
    ck_assert_int_eq(chunk_size(&request), 8);
    request.member_seconds = 0; /* nothing measured yet */
    ck_assert_int_eq(chunk_size(&request), 8);
}
END_TEST

START_TEST(chunks_shrink_towards_the_end_and_never_vanish)
{
    struct chunk_request request = {
        .chunk_time = 1, .member_seconds = 1e-4, .workers = 8, .capacity = 1};
    int64_t before = INT64_MAX;
    for (int64_t pending = 100000; pending > 0; pending -= chunk_size(&request)) {
        request.pending = pending;
        const int64_t size = chunk_size(&request);
        ck_assert_int_ge(size, 1);
        ck_assert_int_le(size, before);
        ck_assert_int_le(size, 1 + pending / 16);
        before = size;
    }
    ck_assert_int_eq(before, 1);
}
END_TEST

START_TEST(a_million_members_take_little_memory)
{
    struct queue queue;
    struct message_give give;
    ck_assert_int_eq(queue_init(&queue, 1000000, true), 0);
    ck_assert_int_eq(queue.pending, 1000000);
    queue_set(&queue, 0, 999999, false);
    ck_assert_int_eq(queue_take(&queue, 10, &alike, &give), 1);
    ck_assert_int_eq(give.first, 999999);
    queue_clear(&queue);
}
END_TEST

static Suite *queue_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *tests = tcase_create("queue");
    tcase_add_test(tests, every_task_is_given_exactly_once);
    tcase_add_test(tests, a_part_of_the_ids_is_given_as_the_whole_is);
    tcase_add_test(tests, ranges_across_words_equal_single_bits);
    tcase_add_test(tests, a_chunk_has_one_structural_key);
    tcase_add_test(tests, ids_of_one_key_that_do_not_lie_side_by_side_travel_together);
    tcase_add_test(tests, tasks_given_back_are_given_again);
    tcase_add_test(tests, a_chunk_holds_about_the_wanted_time);
    tcase_add_test(tests, long_members_travel_one_for_each_row);
    tcase_add_test(tests, chunks_shrink_towards_the_end_and_never_vanish);
    tcase_add_test(tests, a_million_members_take_little_memory);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(queue_suite());
}
