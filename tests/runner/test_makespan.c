/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How well members of costs 1:100 fill eight workers, in virtual time: the dispatch as it is,
 * workers that are a number. No schedule ends before total/8 or before the longest member.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/cost_cache.h"
#include "runner/dispatch.h"
#include "runner/worker.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { WORKERS = 8, MEMBERS_MAX = 4096 };

/* A scan and what its members really take. */
struct workload {
    const char *text;
    double (*seconds)(const struct workload *load, int64_t member);
    struct scan *scan;
    struct params params;
    int members;
};

struct simulated {
    struct dispatch_worker held;
    struct message_give give[WORKER_GIVES_MAX];
    int gives;
    double free_at; /* when its first chunk is done */
};

static double value_of(const struct workload *load, int64_t member, const char *name)
{
    struct params *params = (struct params *)&load->params;
    scan_point(load->scan, member / scan_realisations(load->scan), params);
    return params_real(params, name);
}

/* The model knows: `sleep` is the time. */
static double seconds_of_sleep(const struct workload *load, int64_t member)
{
    return value_of(load, member, "sleep");
}

/* The model says nothing, and is wrong by a power of two scanned numbers; some noise besides.
 */
static double seconds_of_powers(const struct workload *load, int64_t member)
{
    const double noise = (double)((uint64_t)member * 2654435761U % 1000) / 1000;
    const double a = value_of(load, member, "a");
    const double b = value_of(load, member, "b");
    return 0.05 * a * sqrt(b) * (1 + 0.05 * noise);
}

static void open_load(struct workload *load)
{
    ck_assert_int_eq(scan_parse(load->text, strlen(load->text), "text", NULL, 0, &load->scan),
                     0);
    ck_assert_int_eq(scan_params_init(load->scan, &load->params), 0);
    load->members = (int)scan_members(load->scan);
    ck_assert_int_le(load->members, MEMBERS_MAX);
}

static void close_load(struct workload *load)
{
    params_clear(&load->params);
    scan_destroy(load->scan);
    ck_assert_int_eq(mem_live(), 0);
}

/* No schedule is shorter. */
static double lower_bound(const struct workload *load)
{
    double total = 0;
    double longest = 0;
    for (int m = 0; m < load->members; m++) {
        total += load->seconds(load, m);
        longest = fmax(longest, load->seconds(load, m));
    }
    return fmax(total / WORKERS, longest);
}

/* Members one by one in file order to whoever is free. */
static double file_order(const struct workload *load)
{
    double free_at[WORKERS] = {0};
    double end = 0;
    for (int m = 0; m < load->members; m++) {
        int first = 0;
        for (int w = 1; w < WORKERS; w++)
            first = free_at[w] < free_at[first] ? w : first;
        free_at[first] += load->seconds(load, m);
        end = fmax(end, free_at[first]);
    }
    return end;
}

static double chunk_seconds(const struct workload *load, const struct message_give *give)
{
    double sum = 0;
    for (int64_t i = 0; i < give_count(give); i++)
        sum += load->seconds(load, give_id(give, i));
    return sum;
}

static void feed(const struct workload *load, struct dispatch *d, struct simulated *w,
                 double now)
{
    struct message_give give;
    while (dispatch_take(d, &w->held, &give)) {
        ck_assert_int_lt(w->gives, WORKER_GIVES_MAX);
        if (w->gives == 0)
            w->free_at = now + chunk_seconds(load, &give);
        w->give[w->gives++] = give;
    }
}

static void finish_chunk(const struct workload *load, struct dispatch *d, struct simulated *w,
                         unsigned char *seen)
{
    const struct message_give *give = &w->give[0];
    for (int64_t i = 0; i < give_count(give); i++) {
        struct message_report report = {.runs = 1};
        const int64_t id = give_id(give, i);
        ck_assert_int_eq(seen[id]++, 0);
        report.run[0] = (struct report_run){
            .first = id, .count = 1, .state = MEMBER_DONE, .seconds = load->seconds(load, id)};
        ck_assert_int_eq(dispatch_report(d, &w->held, &report), 0);
    }
    w->gives--;
    memmove(&w->give[0], &w->give[1], (size_t)w->gives * sizeof w->give[0]);
}

static struct simulated *next_free(struct simulated *worker)
{
    struct simulated *next = NULL;
    for (int w = 0; w < WORKERS; w++)
        if (worker[w].gives > 0 && (next == NULL || worker[w].free_at < next->free_at))
            next = &worker[w];
    return next;
}

/* The time at which the last worker is done. */
static double makespan(const struct workload *load, struct dispatch *d)
{
    struct simulated worker[WORKERS];
    unsigned char seen[MEMBERS_MAX] = {0};
    double now = 0;
    memset(worker, 0, sizeof worker);
    for (int w = 0; w < WORKERS; w++)
        worker[w].held.capacity = 1;
    for (int w = 0; w < WORKERS; w++)
        feed(load, d, &worker[w], now);
    while (!dispatch_ended(d)) {
        struct simulated *next = next_free(worker);
        ck_assert_ptr_nonnull(next);
        now = next->free_at;
        finish_chunk(load, d, next, seen);
        if (next->gives > 0)
            next->free_at = now + chunk_seconds(load, &next->give[0]);
        for (int w = 0; w < WORKERS; w++)
            feed(load, d, &worker[w], now);
    }
    for (int m = 0; m < load->members; m++)
        ck_assert_int_eq(seen[m], 1);
    for (int w = 0; w < WORKERS; w++)
        dispatch_worker_clear(&worker[w].held);
    return now;
}

/* One scan from its beginning. @param cache folder of earlier times, "" for none */
static double run_scan(const struct workload *load, const char *cache)
{
    struct dispatch *d = NULL;
    ck_assert_int_eq(MEM_NEW(1, &d), 0);
    d->scan = load->scan;
    d->chunk_time = 0.05;
    d->workers = WORKERS;
    d->counts.total = load->members;
    d->keys = (struct queue_keys){.block = scan_realisations(load->scan)};
    d->progress.quiet = true;
    snprintf(d->cache, sizeof d->cache, "%s", cache);
    ck_assert_int_eq(queue_init(&d->members, load->members, true), 0);
    const double end = makespan(load, d);
    dispatch_remember(d);
    dispatch_clear(d);
    mem_free(d);
    return end;
}

static struct workload known_costs(void)
{
    /* The longest last: 0.1 s to 10 s, in file order. */
    return (struct workload){
        .text = "scan: known\nmodel: probe\n"
                "axes: [sleep: {from: 0.1 s, to: 10 s, points: 400, spacing: log}]\n"
                "save: {planes: last}\n",
        .seconds = seconds_of_sleep};
}

static struct workload hidden_costs(void)
{
    return (struct workload){.text = "scan: hidden\nmodel: probe\n"
                                     "axes: [a: {from: 1, to: 10, points: 20},\n"
                                     "       b: {from: 1, to: 100, points: 20}]\n"
                                     "save: {planes: last}\n",
                             .seconds = seconds_of_powers};
}

/* Few members, so that the order of the last ones counts. */
static struct workload few_members(void)
{
    return (struct workload){
        .text = "scan: few\nmodel: probe\n"
                "axes: [sleep: {from: 0.5 s, to: 50 s, points: 48, spacing: log}]\n"
                "save: {planes: last}\n",
        .seconds = seconds_of_sleep};
}

/* The figures, for whoever wants them. */
static void say(const struct workload *load, const char *run, double end)
{
    const double bound = lower_bound(load);
    printf("%s costs, %s: %.3f of the bound, file order %.3f\n", scan_name(load->scan), run,
           end / bound, file_order(load) / bound);
}

START_TEST(costs_that_the_model_knows_fill_the_workers_at_once)
{
    struct workload load = known_costs();
    open_load(&load);
    const double bound = lower_bound(&load);
    const double end = run_scan(&load, "");
    say(&load, "first scan", end);
    ck_assert_norm(fmax(0.0, 1.0 - end / bound), 1e-9);
    ck_assert_double_le(end, 1.1 * bound);
    ck_assert_double_lt(end, file_order(&load));
    close_load(&load);
}
END_TEST

START_TEST(a_few_long_members_do_not_come_last)
{
    struct workload load = few_members();
    open_load(&load);
    const double bound = lower_bound(&load);
    ck_assert_double_gt(file_order(&load), 1.2 * bound);
    const double end = run_scan(&load, "");
    say(&load, "first scan", end);
    ck_assert_double_le(end, 1.1 * bound);
    close_load(&load);
}
END_TEST

START_TEST(costs_that_the_model_does_not_know_are_learned)
{
    struct workload load = hidden_costs();
    char folder[] = "/tmp/scanfarm-cost-XXXXXX";
    char path[200];
    open_load(&load);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const double bound = lower_bound(&load);
    const double first = run_scan(&load, folder);
    const double second = run_scan(&load, folder);
    say(&load, "first scan", first);
    say(&load, "second scan", second);
    ck_assert_double_lt(first, file_order(&load));
    ck_assert_double_le(second, 1.1 * bound);
    struct cost *cost = NULL;
    ck_assert_int_eq(MEM_NEW(1, &cost), 0);
    ck_assert_int_eq(cost_open(load.scan, 0, scan_points(load.scan), cost), 0);
    cost_cache_path(folder, cost, path, sizeof path);
    cost_clear(cost);
    mem_free(cost);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    close_load(&load);
}
END_TEST

static Suite *makespan_suite(void)
{
    Suite *suite = suite_create("makespan");
    TCase *tests = tcase_create("makespan");
    tcase_add_test(tests, costs_that_the_model_knows_fill_the_workers_at_once);
    tcase_add_test(tests, a_few_long_members_do_not_come_last);
    tcase_add_test(tests, costs_that_the_model_does_not_know_are_learned);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(makespan_suite());
}
