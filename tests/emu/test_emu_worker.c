/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker does when its device fails between two planes of a member. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/batch.h"
#include "runner/spec.h"
#include "runner/worker.h"
#include "scans/internal.h"
#include "tests/emu/machine.h"
#include "tests/unit_main.h"

#define FILE_NAME "device.h5"
#define MEMBERS   4

/* The farm's side: what it gave and heard. */
struct farm {
    struct worker *worker;
    int gives;
    int looks;   /* whether the file may still be written */
    int fail_at; /* of them: then the device fails */
    int reports, failures, ended;
    struct message_report last;
    int64_t n_saved[MEMBERS]; /* when it heard of the failure */
    uint8_t state[MEMBERS];
};

/* The first half of the members; the other half comes when the device has failed already. */
static int give(void *context, struct worker *worker, bool idle)
{
    struct farm *const farm = context;
    const struct message_give half = {
        .pass = PASS_MEMBER, .first = farm->gives * (MEMBERS / 2), .length = MEMBERS / 2};
    if (farm->gives == 0 || (farm->gives == 1 && farm->failures > 0)) {
        ck_assert_int_eq(worker_give(worker, &half), 0);
        farm->gives++;
    } else if (idle) {
        worker->quit = true;
    }
    return 0;
}

static int may_write(void *context)
{
    struct farm *const farm = context;
    if (++farm->looks == farm->fail_at)
        emu_fail_at(-1, false);
    return 0;
}

static int hear(void *context, const struct message_report *report)
{
    struct farm *const farm = context;
    farm->reports++;
    farm->last = *report;
    for (int i = 0; i < report->runs; i++)
        farm->ended += report->run[i].state == MEMBER_DONE ? (int)report->run[i].count : 0;
    if (!report->device_failed)
        return 0;
    farm->failures++;
    return store_read_states(farm->worker->store, 0, MEMBERS, farm->state, farm->n_saved);
}

static struct scan *make_file(void)
{
    static const char text[] = "scan: device\nmodel: probe\naxes: [a: [0, 1, 2, 3]]\n"
                               "save: {planes: 6}\nstore: {history: 0}\n";
    struct scan *scan = NULL;
    struct spec *spec = NULL;
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &scan), 0);
    unlink(FILE_NAME);
    ck_assert_int_eq(spec_create(scan, &spec), 0);
    ck_assert_int_eq(store_define(FILE_NAME, &spec->store), 0);
    spec_destroy(spec);
    return scan;
}

/* Members one at a time, until the device fails at a look. */
static void work(struct farm *farm)
{
    static struct worker worker;
    struct run_options options = {
        .file = FILE_NAME, .chunk_time = 10, .rows = 1, .backend = {.name = "emu"}};
    char batch[BATCH_TEXT_SIZE];
    struct scan *const scan = make_file();
    memset(&worker, 0, sizeof worker);
    farm->worker = &worker;
    worker.scan = scan;
    worker.options = &options;
    worker.link = (struct worker_link){
        .poll = give, .report = hear, .may_write = may_write, .context = farm};
    worker.placement.capacity = worker.placement.threads = 1;
    worker.device = (struct device_choice){.backend = "emu", .sharers = 1};
    ck_assert_int_eq(batch_open(&worker, batch), 0);
    ck_assert_int_eq(worker_open(&worker), 0);
    ck_assert_int_eq(worker_run(&worker), 0);
    ck_assert_int_eq(worker_close(&worker), 0);
    emu_fail_at(0, false);
    scan_destroy(scan);
    unlink(FILE_NAME);
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

/* Behind a plane of a member that came: that one counts, the next does not. */
static void check_failure(struct farm *farm, int planes)
{
    const int whole = planes / 6;
    ck_assert_int_eq(farm->failures, 1);
    ck_assert_int_eq(farm->last.device_failed, 1); /* nothing was said after it */
    ck_assert_int_eq(farm->last.runs, 0);
    ck_assert_int_eq(farm->last.error, 0);
    ck_assert_str_eq(
        farm->last.text,
        "emulated device, PCI 0000:e0:00.0 has failed: emu: waiting for a transfer "
        "failed: unspecified launch failure");
    ck_assert_int_eq(farm->gives, 2);
    ck_assert_int_eq(farm->ended, whole);
    for (int m = 0; m < MEMBERS; m++) {
        const int wanted = m < whole ? 6 : m == whole ? planes % 6 : 0;
        ck_assert_int_eq(farm->n_saved[m], wanted);
        ck_assert_int_eq(farm->state[m], m < whole ? MEMBER_DONE : MEMBER_PENDING);
    }
}

START_TEST(what_came_before_is_in_the_file_before_anybody_hears_of_the_failure)
{
    for (int planes = 1; planes < 12; planes++) {
        struct farm farm = {.fail_at = planes};
        work(&farm);
        check_failure(&farm, planes);
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("a worker whose device fails");
    TCase *const tests = tcase_create("worker");
    tcase_add_test(tests, what_came_before_is_in_the_file_before_anybody_hears_of_the_failure);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
