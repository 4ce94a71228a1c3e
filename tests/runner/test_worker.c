/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker makes of a model that cannot do its work: whose fault it was decides. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/resume.h"
#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/spec.h"
#include "runner/worker.h"
#include "scans/internal.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

#define FILE_NAME "worker.h5"
#define MEMBERS   3

#ifdef __SANITIZE_ADDRESS__
#    define IS_SANITIZED true
#else
#    define IS_SANITIZED false
#endif

/* The probe, with one function that fails. */
static struct model_ops broken;
static int failing_code;
static const char *more_text; /* of the scan file */

static int fail_layout(const struct params *point, struct plane_layout *out)
{
    if (failing_code != 0 && exactly(params_real(point, "a"), 1))
        FAIL(failing_code, "layout fails");
    return model_find("probe")->layout(point, out);
}

static int fail_create(const struct params *point, struct backend *backend, int capacity,
                       struct model **out)
{
    (void)point;
    (void)backend;
    (void)capacity;
    *out = NULL;
    FAIL(failing_code, "create fails");
}

static int fail_load(struct model *m, int row, const struct params *point,
                     const struct seed *seed, const struct state_in *resume,
                     struct row_status *st)
{
    (void)m;
    (void)row;
    (void)point;
    (void)seed;
    (void)resume;
    (void)st;
    FAIL(failing_code, "load fails");
}

/* Takes memory that the layout did not tell of. */
static int greedy_load(struct model *m, int row, const struct params *point,
                       const struct seed *seed, const struct state_in *resume,
                       struct row_status *st)
{
    void *block = NULL;
    if (exactly(params_real(point, "a"), 1))
        TRY(mem_alloc(1L << 34, 1, &block));
    mem_free(block);
    return model_find("probe")->load(m, row, point, seed, resume, st);
}

/* The probe's own load, which takes no states. */
static int refuse_states(struct model *m, int row, const struct params *point,
                         const struct seed *seed, const struct state_in *resume,
                         struct row_status *st)
{
    if (resume != NULL)
        FAIL(ERR_ARGUMENT, "no such state");
    return model_find("probe")->load(m, row, point, seed, NULL, st);
}

/* What the worker reported, and whether it was given its work. */
struct told {
    bool given;
    int error;
    char text[STORE_REASON_SIZE];
};

static int give_all(void *context, struct worker *worker, bool idle)
{
    struct told *told = context;
    const struct message_give give = {.pass = PASS_MEMBER, .length = MEMBERS};
    if (!told->given)
        ck_assert_int_eq(worker_give(worker, &give), 0);
    else if (idle)
        worker->quit = true;
    told->given = true;
    return 0;
}

static int take_report(void *context, const struct message_report *report)
{
    struct told *told = context;
    if (report->text[0] != '\0') {
        told->error = report->error;
        snprintf(told->text, sizeof told->text, "%s", report->text);
    }
    return 0;
}

static struct scan *read_scan(void)
{
    char text[256];
    snprintf(text, sizeof text,
             "scan: worker\nmodel: probe\naxes: [a: [0, 1, 2]]\nsave: {planes: 2}\n"
             "store: {history: 0}\n%s",
             more_text != NULL ? more_text : "");
    static const struct model_ops *const models[] = {&broken, NULL};
    struct scan *scan = NULL;
    ck_assert_int_eq(scan_parse_models(models, text, strlen(text), "text", NULL, 0, &scan), 0);
    return scan;
}

static void make_file(struct scan *scan)
{
    struct spec *spec = NULL;
    const int code = failing_code;
    failing_code = 0; /* the file is made without a failure */
    unlink(FILE_NAME);
    ck_assert_int_eq(spec_create(scan, &spec), 0);
    ck_assert_int_eq(store_define(FILE_NAME, &spec->store), 0);
    spec_destroy(spec);
    failing_code = code;
}

/* Run the three members of the file; their states, tries, and what was reported. */
static void work(struct scan *scan, const struct backend_options *backend,
                 const struct resume_table *table, uint8_t state[MEMBERS], int tries[MEMBERS],
                 struct told *told)
{
    struct worker worker;
    struct run_options options = {.file = FILE_NAME, .chunk_time = 1, .backend = *backend};
    memset(told, 0, sizeof *told);
    memset(&worker, 0, sizeof worker);
    worker.scan = scan;
    worker.options = &options;
    worker.link =
        (struct worker_link){.poll = give_all, .report = take_report, .context = told};
    worker.placement.capacity = 1;
    worker.placement.threads = 1;
    worker.checkpoints.table = table;
    ck_assert_int_eq(worker_open(&worker), 0);
    ck_assert_int_eq(worker_run(&worker), 0);
    ck_assert_int_eq(store_read_states(worker.store, 0, MEMBERS, state, NULL), 0);
    for (int m = 0; m < MEMBERS; m++)
        ck_assert_int_eq(store_read_attempts(worker.store, m, &tries[m]), 0);
    ck_assert_int_eq(worker_close(&worker), 0);
}

static void run_members(const struct backend_options *backend, uint8_t state[MEMBERS],
                        struct told *told)
{
    int tries[MEMBERS];
    struct scan *scan = read_scan();
    make_file(scan);
    work(scan, backend, NULL, state, tries, told);
    scan_destroy(scan);
    unlink(FILE_NAME);
}

static const struct backend_options cpu = {
    .name = "cpu", .isa = "auto", .threads = 1, .rigour = FFT_ESTIMATE};

static void expect_run_error(const struct backend_options *backend, const char *text)
{
    uint8_t state[MEMBERS];
    struct told told;
    run_members(backend, state, &told);
    ck_assert_int_ne(told.error, 0);
    ck_assert_int_eq(status_exit_code(told.error), 3);
    ck_assert_ptr_nonnull(strstr(told.text, text));
    for (int m = 0; m < MEMBERS; m++)
        ck_assert_int_eq(state[m], MEMBER_PENDING);
}

static void begin(void)
{
    broken = *model_find("probe");
    failing_code = 0;
}

START_TEST(a_backend_that_cannot_be_made_ends_the_run_and_fails_no_member)
{
    struct backend_options options = cpu;
    begin();
    options.name = "cuda";
    expect_run_error(&options, "cuda");
    options.name = "cpu";
    options.isa = "z80";
    expect_run_error(&options, "z80");
}
END_TEST

START_TEST(a_model_object_that_cannot_be_made_ends_the_run_whatever_the_code)
{
    static const int codes[] = {ERR_ARGUMENT, ERR_UNSUPPORTED};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        begin();
        failing_code = codes[i];
        broken.create = fail_create;
        expect_run_error(&cpu, "create fails");
        begin();
        failing_code = codes[i];
        broken.load = fail_load;
        expect_run_error(&cpu, "load fails");
    }
}
END_TEST

START_TEST(parameters_that_the_model_refuses_fail_their_member_only)
{
    static const int codes[] = {ERR_ARGUMENT, ERR_UNSUPPORTED};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        uint8_t state[MEMBERS];
        struct told told;
        begin();
        failing_code = codes[i];
        broken.layout = fail_layout;
        run_members(&cpu, state, &told);
        ck_assert_int_eq(told.error, 0);
        ck_assert_int_eq(state[0], MEMBER_DONE);
        ck_assert_int_eq(state[1], MEMBER_FAILED);
        ck_assert_int_eq(state[2], MEMBER_DONE);
    }
}
END_TEST

START_TEST(a_member_that_takes_more_memory_than_a_worker_may_fails_alone)
{
    uint8_t state[MEMBERS];
    struct told told;
    begin();
    more_text = "resources: {memory: 300 MB}\n";
    broken.load = greedy_load;
    run_members(&cpu, state, &told);
    more_text = NULL;
    ck_assert_int_eq(told.error, 0);
    ck_assert_int_eq(state[0], MEMBER_DONE);
    ck_assert_int_eq(state[1], MEMBER_FAILED);
    ck_assert_int_eq(state[2], MEMBER_DONE);
    ck_assert_ptr_nonnull(strstr(told.text, "resources.memory"));
}
END_TEST

START_TEST(a_checkpoint_that_the_model_refuses_costs_no_more_than_its_work)
{
    uint8_t state[MEMBERS];
    int tries[MEMBERS];
    struct told told;
    struct store *store = NULL;
    struct resume_table table;
    const char bytes[16] = "no state";
    const struct resume_head head = {
        .member = 1, .seq = 7, .tries = 1, .steps = 99, .length = sizeof bytes};
    begin();
    broken.load = refuse_states;
    struct scan *scan = read_scan();
    make_file(scan);
    ck_assert_int_eq(store_open(FILE_NAME, &store), 0);
    ck_assert_int_eq(resume_write(store, 3, 0, &head, bytes), 0);
    ck_assert_int_eq(resume_survey(store, &table), 0);
    ck_assert_int_eq(table.count, 1);
    ck_assert_int_eq(store_close(store), 0);
    work(scan, &cpu, &table, state, tries, &told);
    ck_assert_int_eq(told.error, 0);
    for (int m = 0; m < MEMBERS; m++) {
        ck_assert_int_eq(state[m], MEMBER_DONE);
        ck_assert_int_eq(tries[m], 1);
    }
    resume_table_clear(&table);
    scan_destroy(scan);
    unlink(FILE_NAME);
}
END_TEST

START_TEST(a_worker_holds_a_chunk_of_one_for_each_row_and_some_more)
{
    struct worker worker;
    char text[256];
    memset(&worker, 0, sizeof worker);
    worker.placement.capacity = 40;
    for (int i = 0; i < 40 + WORKER_GIVES_MAX; i++) {
        const struct message_give give = {.pass = PASS_MEMBER, .first = i, .length = 1};
        ck_assert_int_eq(worker_give(&worker, &give), 0);
    }
    const struct message_give more = {.pass = PASS_MEMBER, .first = 99, .length = 1};
    status_capture(text, sizeof text);
    ck_assert_int_eq(worker_give(&worker, &more), ERR_BUG);
    status_capture(NULL, 0);
    mem_free(worker.give);
}
END_TEST

static Suite *worker_suite(void)
{
    Suite *suite = suite_create("worker");
    TCase *tcase = tcase_create("blame");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, a_backend_that_cannot_be_made_ends_the_run_and_fails_no_member);
    tcase_add_test(tcase, a_model_object_that_cannot_be_made_ends_the_run_whatever_the_code);
    tcase_add_test(tcase, parameters_that_the_model_refuses_fail_their_member_only);
    if (!IS_SANITIZED) /* it ends a process that asks for too much */
        tcase_add_test(tcase, a_member_that_takes_more_memory_than_a_worker_may_fails_alone);
    tcase_add_test(tcase, a_checkpoint_that_the_model_refuses_costs_no_more_than_its_work);
    tcase_add_test(tcase, a_worker_holds_a_chunk_of_one_for_each_row_and_some_more);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(worker_suite());
}
