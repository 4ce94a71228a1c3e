/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The controller's decisions, with simulated workers. */
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch.h"
#include "runner/worker.h"
#include "tests/unit_main.h"

#define MEMBERS 20000
#define WORKERS 8

static struct scan *scan;

/* A dispatch over MEMBERS of a scan, without file and journal. */
static void make_dispatch(struct dispatch *d)
{
    const char *text = "scan: simulated\nmodel: probe\naxes: [a: {from: 0, to: 19999, points: "
                       "20000}]\n";
    memset(d, 0, sizeof *d);
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &scan), 0);
    ck_assert_int_eq(scan_members(scan), MEMBERS);
    d->scan = scan;
    d->chunk_time = 0.05;
    d->workers = WORKERS;
    d->counts.total = MEMBERS;
    d->keys = (struct queue_keys){.block = 1};
    d->progress.quiet = true;
    ck_assert_int_eq(queue_init(&d->members, MEMBERS, true), 0);
}

static void drop_dispatch(struct dispatch *d)
{
    dispatch_clear(d);
    scan_destroy(scan);
}

/* A worker of the simulation: chunks in order, one member at a time. */
struct simulated {
    struct dispatch_worker held;
    struct message_give give[WORKER_GIVES_MAX];
    int gives;
    double free_at; /* when its first chunk will be done */
    double busy;
};

static double cost_of(int64_t member, double spread)
{
    return 1e-3 * (1 + spread * (double)((uint64_t)member * 2654435761U % 1000) / 1000);
}

static double chunk_cost(const struct message_give *give, double spread)
{
    double sum = 0;
    for (int64_t i = 0; i < give_count(give); i++)
        sum += cost_of(give_id(give, i), spread);
    return sum;
}

static void feed(struct dispatch *d, struct simulated *w, double now, double spread)
{
    struct message_give give;
    while (dispatch_take(d, &w->held, &give)) {
        ck_assert_int_lt(w->gives, WORKER_GIVES_MAX);
        if (w->gives == 0)
            w->free_at = now + chunk_cost(&give, spread);
        w->give[w->gives++] = give;
    }
}

/* The first chunk of a worker is done. */
static void finish_chunk(struct dispatch *d, struct simulated *w, unsigned char *seen,
                         double spread)
{
    struct message_report report = {0};
    const double cost = chunk_cost(&w->give[0], spread);
    const struct report_run run = {.first = w->give[0].first,
                                   .count = w->give[0].length,
                                   .state = MEMBER_DONE,
                                   .seconds = cost};
    ck_assert_int_eq(w->give[0].count, 0); /* neighbours: a range */
    for (int64_t i = 0; i < run.count; i++)
        ck_assert_int_eq(seen[run.first + i]++, 0);
    report_add(&report, &run);
    ck_assert_int_eq(dispatch_report(d, &w->held, &report), 0);
    w->busy += cost;
    w->gives--;
    memmove(&w->give[0], &w->give[1], (size_t)w->gives * sizeof w->give[0]);
}

/* Run to the end; the time at which the last worker is done. */
static double simulate(struct dispatch *d, struct simulated *workers, double spread)
{
    unsigned char *seen = NULL;
    double now = 0;
    ck_assert_int_eq(MEM_NEW(MEMBERS, &seen), 0);
    for (int w = 0; w < WORKERS; w++) {
        workers[w].held.capacity = 1;
        feed(d, &workers[w], 0, spread);
    }
    while (!dispatch_ended(d)) {
        struct simulated *next = NULL;
        for (int w = 0; w < WORKERS; w++)
            if (workers[w].gives > 0 && (next == NULL || workers[w].free_at < next->free_at))
                next = &workers[w];
        ck_assert_ptr_nonnull(next);
        now = next->free_at;
        finish_chunk(d, next, seen, spread);
        if (next->gives > 0)
            next->free_at = now + chunk_cost(&next->give[0], spread);
        for (int w = 0; w < WORKERS; w++)
            feed(d, &workers[w], now, spread);
    }
    for (int m = 0; m < MEMBERS; m++)
        ck_assert_int_eq(seen[m], 1);
    mem_free(seen);
    return now;
}

static void assert_balanced(double spread)
{
    struct dispatch d;
    struct simulated workers[WORKERS];
    double total = 0;
    memset(workers, 0, sizeof workers);
    make_dispatch(&d);
    const double end = simulate(&d, workers, spread);
    for (int m = 0; m < MEMBERS; m++)
        total += cost_of(m, spread);
    ck_assert_double_lt(end, 1.05 * total / WORKERS);
    ck_assert_int_eq(d.counts.done, MEMBERS);
    ck_assert_int_eq(d.counts.running, 0);
    for (int w = 0; w < WORKERS; w++)
        dispatch_worker_clear(&workers[w].held);
    drop_dispatch(&d);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(short_equal_members_keep_all_workers_busy_to_the_end)
{
    assert_balanced(0);
}
END_TEST

START_TEST(members_of_very_different_cost_end_together)
{
    assert_balanced(99);
}
END_TEST

START_TEST(long_members_are_not_hoarded)
{
    struct dispatch d;
    struct message_give give;
    struct dispatch_worker worker = {.capacity = 2};
    make_dispatch(&d);
    d.recent_seconds = 50;
    d.recent_count = 1; /* 50 s a member */
    ck_assert(dispatch_take(&d, &worker, &give));
    ck_assert_int_eq(give_count(&give), 2);
    ck_assert(!dispatch_take(&d, &worker, &give));
    dispatch_worker_clear(&worker);
    drop_dispatch(&d);
}
END_TEST

START_TEST(a_worker_with_fewer_rows_than_it_hoped_for_gets_less)
{
    struct dispatch d;
    struct message_give give;
    struct dispatch_worker worker = {.capacity = 8};
    struct message_report report = {.runs = 1, .rows = 3};
    make_dispatch(&d);
    d.recent_seconds = 50;
    d.recent_count = 1; /* 50 s a member */
    ck_assert(dispatch_take(&d, &worker, &give));
    ck_assert_int_eq(give_count(&give), 8);
    ck_assert_int_eq(d.rows, 8);
    report.run[0] = (struct report_run){
        .first = give_id(&give, 0), .count = 4, .state = MEMBER_DONE, .seconds = 200};
    ck_assert_int_eq(dispatch_report(&d, &worker, &report), 0);
    ck_assert_int_eq(d.rows, 3);
    ck_assert(!dispatch_take(&d, &worker, &give)); /* it holds four */
    report.run[0].first += 4;
    report.run[0].count = 2;
    report.rows = 0; /* as it said */
    ck_assert_int_eq(dispatch_report(&d, &worker, &report), 0);
    ck_assert(dispatch_take(&d, &worker, &give));
    ck_assert_int_eq(give_count(&give), 1);
    dispatch_worker_clear(&worker);
    drop_dispatch(&d);
}
END_TEST

START_TEST(a_report_of_tasks_that_a_worker_does_not_hold_is_refused)
{
    struct dispatch d;
    struct dispatch_worker worker = {.capacity = 1};
    struct message_report report = {.runs = 1, .run = {{.first = 5, .count = 3}}};
    char text[256];
    make_dispatch(&d);
    status_capture(text, sizeof text);
    ck_assert_int_eq(dispatch_report(&d, &worker, &report), ERR_BUG);
    status_capture(NULL, 0);
    drop_dispatch(&d);
}
END_TEST

/* Take and report one chunk. @return its members */
static int64_t pass_chunk(struct dispatch *d, struct dispatch_worker *worker)
{
    struct message_give give;
    if (!dispatch_take(d, worker, &give))
        return 0;
    for (int64_t i = 0; i < give_count(&give); i++) {
        struct message_report report = {.runs = 1};
        report.run[0] = (struct report_run){
            .first = give_id(&give, i), .count = 1, .state = MEMBER_DONE, .seconds = 1e-3};
        ck_assert_int_eq(dispatch_report(d, worker, &report), 0);
    }
    return give_count(&give);
}

START_TEST(a_million_members_pass_in_flat_memory)
{
    const char *text = "scan: large\nmodel: probe\n"
                       "axes: [a: {from: 0, to: 999999, points: 1000000}]\n";
    enum { LARGE = 1000000 };
    struct dispatch d = {0};
    struct dispatch_worker worker = {.capacity = 1};
    int64_t passed = 0;
    long blocks = 0;
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &scan), 0);
    d.scan = scan;
    d.chunk_time = 0.05;
    d.workers = WORKERS;
    d.counts.total = LARGE;
    d.keys = (struct queue_keys){.block = 1};
    d.progress.quiet = true;
    ck_assert_int_eq(queue_init(&d.members, LARGE, true), 0);
    for (int64_t n; (n = pass_chunk(&d, &worker)) > 0;) {
        passed += n;
        if (passed > 1000 && blocks == 0)
            blocks = mem_live();
        if (blocks > 0)
            ck_assert_int_eq(mem_live(), blocks);
        ck_assert_int_eq(dispatch_pending(&d), LARGE - passed);
    }
    ck_assert_int_eq(passed, LARGE);
    ck_assert(dispatch_ended(&d));
    dispatch_worker_clear(&worker);
    drop_dispatch(&d);
}
END_TEST

START_TEST(exit_codes_follow_the_outcome)
{
    struct dispatch d;
    char text[200];
    make_dispatch(&d);
    ck_assert_int_eq(dispatch_code(&d, text, sizeof text), EXIT_STOPPED);
    ck_assert_ptr_nonnull(strstr(text, "20000 of 20000"));
    queue_set(&d.members, 0, MEMBERS, false);
    ck_assert_int_eq(dispatch_code(&d, text, sizeof text), 0);
    d.failed_before = 1;
    ck_assert_int_eq(dispatch_code(&d, text, sizeof text), EXIT_MEMBERS_FAILED);
    dispatch_fail(&d, ERR_IO, "disk full");
    dispatch_fail(&d, ERR_MPI, "a later one does not count");
    ck_assert_int_eq(dispatch_code(&d, text, sizeof text), 3);
    ck_assert_str_eq(text, "disk full");
    drop_dispatch(&d);
}
END_TEST

static Suite *dispatch_suite(void)
{
    Suite *suite = suite_create("dispatch");
    TCase *tests = tcase_create("dispatch");
    tcase_add_test(tests, short_equal_members_keep_all_workers_busy_to_the_end);
    tcase_add_test(tests, members_of_very_different_cost_end_together);
    tcase_add_test(tests, long_members_are_not_hoarded);
    tcase_add_test(tests, a_worker_with_fewer_rows_than_it_hoped_for_gets_less);
    tcase_add_test(tests, a_report_of_tasks_that_a_worker_does_not_hold_is_refused);
    tcase_add_test(tests, a_million_members_pass_in_flat_memory);
    tcase_add_test(tests, exit_codes_follow_the_outcome);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(dispatch_suite());
}
