/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "runner/adaptive.h"
#include "runner/batch.h"
#include "runner/commands.h"
#include "runner/judging.h"
#include "runner/options.h"
#include "runner/text.h"
#include "runner/transform.h"

enum { ROW_SET, ROW_SHARDS, ROW_FILES, ROW_JSON, ROW_NO_MEASURE };

static const struct option_row plan_options[] = {
    [ROW_SET] = {"set", 's', "KEY=VALUE", "override a fixed parameter; may be repeated"},
    [ROW_SHARDS] = {"shards", 0, "N", "show the parts of `run --shard K/N`"},
    [ROW_FILES] =
        {"files", 0, "[=OUT.h5]",
         "refuse the scan when the result file, or files of its shards, are there and "
         "hold another; default: the scan's name and .h5"},
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    [ROW_NO_MEASURE] = {"no-measure", 0, NULL, "do not time a transform on this machine"},
    {NULL, 0, NULL, NULL}};

/* A scan may be planned that is too large to run: say so, it is no error here. */
static void note_refusal(struct plan *plan)
{
    status_capture(plan->refusal, sizeof plan->refusal);
    if (spec_check(plan->scan) == 0
        && device_check("auto", scan_model(plan->scan)->info, scan_get_resources(plan->scan))
               == 0)
        plan->refusal[0] = '\0';
    status_capture(NULL, 0);
}

static int check_memory(struct plan *plan)
{
    const struct scan_resources *resources = scan_get_resources(plan->scan);
    const struct plane_layout *largest = &plan->survey.largest;
    plan->rows = resources->worker == WORKER_THREADS  ? resources->threads
                 : resources->worker == WORKER_SOCKET ? 0
                                                      : 1;
    const double shared = (double)largest->shared_bytes + (double)scan_input_bytes(plan->scan);
    const double rows = (double)largest->row_bytes * (plan->rows > 0 ? plan->rows : 1);
    plan->worker_bytes = shared + rows;
    if (resources->memory == 0 || plan->worker_bytes <= resources->memory)
        return 0;
    char wanted[TEXT_SIZE];
    char largest_part[TEXT_SIZE];
    char limit[TEXT_SIZE];
    text_bytes(plan->worker_bytes, wanted);
    text_bytes(fmax(shared, rows), largest_part);
    text_bytes(resources->memory, limit);
    char message[300];
    snprintf(message, sizeof message,
             "a worker needs %s (largest: %s for %s); resources.memory allows %s", wanted,
             largest_part, shared > rows ? "tables shared by its rows" : "its rows", limit);
    return scan_fail(plan->scan, ERR_ARGUMENT, message);
}

/* The first device of this machine that the scan's model would take, were all of it free. */
static int look_at_device(struct plan *plan)
{
    char why[DEVICE_TEXT_SIZE];
    const char *const backend = backend_auto(why, sizeof why);
    if (strcmp(backend, "cpu") == 0 || !scan_model(plan->scan)->info->on_devices)
        return 0;
    TRY(backend_describe_device(backend, 0, &plan->device));
    plan->batch = (struct batch_ledger){.all = (double)plan->device.memory,
                                        .left = (double)plan->device.memory,
                                        .shares = batch_objects(plan->scan),
                                        .shared = (double)plan->survey.largest.shared_bytes,
                                        .row = (double)plan->survey.largest.row_bytes,
                                        .limit = scan_get_resources(plan->scan)->memory,
                                        .most = scan_members(plan->scan)};
    plan->batch.reserve = plan->batch.all / BATCH_RESERVE;
    const struct status_saved saved = status_capture_save();
    status_capture(why, sizeof why);
    const int rc = batch_fit(&plan->batch, &plan->survey.largest, backend, plan->device.name);
    status_capture_restore(saved);
    if (rc != 0 && plan->refusal[0] == '\0')
        snprintf(plan->refusal, sizeof plan->refusal, "%s", why);
    return 0;
}

/* Only a small, quick measurement: nobody waits for `plan`. */
static int measure_transform(struct plan *plan)
{
    const long longest = 1L << 22;
    if (plan->fft_length < 2 || plan->fft_length > longest)
        return 0;
    return transform_time(plan->fft_length, &plan->fft_seconds);
}

/* What the command line asks for. */
struct plan_wish {
    const char *scan_path;
    bool measure;
    bool json;
    bool files;
    const char *result; /* of --files; NULL: the scan's name */
    long shards;        /* 0: no table of them */
};

static int divide(struct plan *plan, long shards)
{
    struct shard_division *const d = &plan->division;
    struct store_window largest = {.shard = 1, .shards = shards};
    TRY(shard_divide(plan->scan, shards, d));
    for (long k = 0; k < shards; k++)
        if (d->first[k + 1] - d->first[k] > largest.count)
            largest = (struct store_window){d->first[k], d->first[k + 1] - d->first[k], k + 1,
                                            shards};
    return spec_bytes(plan->scan, &plan->survey.largest, &largest, &plan->shard_size);
}

static int make_plan(struct scan *scan, const struct plan_wish *wish, struct plan *plan)
{
    *plan = (struct plan){.scan = scan};
    TRY(survey_scan(scan, &plan->survey));
    TRY(judging_check_layout(scan, &plan->survey.largest));
    TRY(adaptive_check_layout(scan, &plan->survey.largest));
    TRY(adaptive_check_shards(scan, wish->shards));
    TRY(spec_bytes(scan, &plan->survey.largest, NULL, &plan->size));
    TRY(spec_number_names(scan, &plan->survey.largest, &plan->numbers));
    TRY(canonical_hash(scan_canonical(scan), plan->configuration));
    if (wish->shards > 0)
        TRY(divide(plan, wish->shards));
    note_refusal(plan);
    if (plan->refusal[0] == '\0')
        TRY(judging_check_plan(scan, wish->scan_path));
    if (wish->files && plan->refusal[0] == '\0')
        TRY(plan_check_files(plan, wish->result));
    TRY(check_memory(plan));
    TRY(look_at_device(plan));
    plan->transforms = plan->survey.transforms_mean * (double)scan_members(scan);
    if (plan->transforms > 0)
        plan->fft_length = plan->survey.largest.transform_length;
    return wish->measure ? measure_transform(plan) : 0;
}

/* One plan is large (its notes): it lives on the heap. */
static int plan_and_write(struct scan *scan, const struct plan_wish *wish)
{
    struct plan *plan = NULL;
    TRY(MEM_NEW(1, &plan));
    const int rc = make_plan(scan, wish, plan);
    if (rc == 0 && wish->json)
        plan_write_json(plan, stdout);
    else if (rc == 0)
        plan_write_text(plan, stdout);
    shard_division_clear(&plan->division);
    mem_free(plan->numbers);
    mem_free(plan);
    return rc;
}

static int plan_scan(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct scan_override overrides[OPTIONS_OVERRIDES_MAX];
    struct plan_wish wish = {.measure = true};
    int count = 0;
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        if (row == ROW_SET && count == OPTIONS_OVERRIDES_MAX)
            FAIL(ERR_ARGUMENT, "more than %d --set", OPTIONS_OVERRIDES_MAX);
        if (row == ROW_SET)
            overrides[count++].text = o.value;
        if (row == ROW_SHARDS)
            TRY(options_integer(&o, "shards", 1, SHARDS_MAX, &wish.shards));
        if (row == ROW_FILES)
            wish.result = o.value;
        wish.files = wish.files || row == ROW_FILES;
        wish.json = wish.json || row == ROW_JSON;
        wish.measure = wish.measure && row != ROW_NO_MEASURE;
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, 1));
    struct scan *scan = NULL;
    TRY(options_read_scan(o.argument[0], overrides, count, &scan));
    wish.scan_path = o.argument[0];
    const int rc = plan_and_write(scan, &wish);
    scan_destroy(scan);
    return rc;
}

static int run_plan(const struct command *self, int argc, char **argv)
{
    return options_exit(plan_scan(self, argc, argv));
}

const struct command plan_command = {
    .name = "plan",
    .arguments = "SCAN.yaml",
    .doc =
        "Expand a scan: members, shapes, memory, bytes on disk, cost; find errors; run nothing",
    .options = plan_options,
    .run = run_plan,
};
