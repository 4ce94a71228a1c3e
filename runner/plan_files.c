/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a run of a scan would go on with, looked at beforehand. */
#include <stdio.h>

#include "io/store.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "runner/plan.h"
#include "runner/run.h"

#define HINT "remove it or take another --output"

/* The result itself: of one job what it goes on with, of shards what they are collected into,
 * which may be compressed. */
static int check_result(struct spec *spec, const char *result, long shards)
{
    const struct store_window whole = {0, scan_members(spec->scan), 1, 1};
    if (!store_exists(result))
        return 0;
    spec_set_window(spec, &whole);
    return spec_compare(spec, result, shards < 2, HINT);
}

static int check_shard(struct spec *spec, const char *result, const struct shard_division *d,
                       long k)
{
    char file[RUN_PATH_SIZE];
    const struct store_window window = {d->first[k - 1], d->first[k] - d->first[k - 1], k,
                                        d->shards};
    TRY(shard_file_name(result, k, d->shards, file, sizeof file));
    if (!store_exists(file))
        return 0;
    spec_set_window(spec, &window);
    return spec_compare(spec, file, true, HINT);
}

int plan_check_files(const struct plan *plan, const char *result)
{
    char name[RUN_PATH_SIZE];
    struct spec *spec = NULL;
    const struct shard_division *const d = &plan->division;
    if (result == NULL) {
        snprintf(name, sizeof name, "%s.h5", scan_name(plan->scan));
        result = name;
    }
    TRY(spec_create(plan->scan, &spec));
    int rc = check_result(spec, result, d->shards);
    for (long k = 1; rc == 0 && d->shards > 1 && k <= d->shards; k++)
        rc = check_shard(spec, result, d, k);
    spec_destroy(spec);
    return rc;
}
