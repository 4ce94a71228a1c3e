/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/reduce.h"

#include <math.h>
#include <stdbool.h>

#include "io/read.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"

enum { ROW_POINT };

static const struct option_row reduce_options[] = {
    [ROW_POINT] = {"point", 'p', "K", "only this point; default: all"}, {NULL, 0, NULL, NULL}};

static int reduce_one(struct store *store, int64_t point)
{
    struct reduce_result result;
    TRY(reduce_point(store, point, &result));
    printf("point %lld: %lld members", (long long)point, (long long)result.n);
    if (result.failed > 0)
        printf(", %lld left out: not done", (long long)result.failed);
    if (isfinite(result.coherence))
        printf(", coherence %.4f ± %.4f", result.coherence, result.error);
    if (result.until.looks > 0)
        printf(", %s after %lld realisations with an error of %.3g %%",
               result.until.stopped == UNTIL_OPEN ? "open" : "stopped",
               (long long)result.until.realisations, 100 * result.until.error);
    printf("\n");
    return 0;
}

static int reduce_points(struct store *store, const char *path, long point)
{
    const int64_t points = store_points(store);
    TRY(store_refuse_shard(store, "points are reduced over all their members"));
    if (!read_exists(store, "ensemble"))
        FAIL(ERR_ARGUMENT,
             "%s: holds no ensemble: its scan has no 'ensemble' or kept no fields", path);
    if (point >= points)
        FAIL(ERR_ARGUMENT, "%s: point %ld does not exist; the points are 0 to %lld", path,
             point, (long long)points - 1);
    const int64_t first = point < 0 ? 0 : point;
    const int64_t end = point < 0 ? points : first + 1;
    for (int64_t p = first; p < end; p++)
        TRY(reduce_one(store, p));
    return 0;
}

static int reduce_file(const struct command *self, int argc, char **argv)
{
    struct options o;
    long point = -1;
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        TRY(options_integer(&o, "point", 0, 1000000000000000, &point));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, 1));
    TRY(options_check_file(o.argument[0]));
    /* Opened for reading first: a foreign or newer file must not be touched. */
    struct store *store = NULL;
    TRY(store_open_read(o.argument[0], &store));
    TRY(store_close(store));
    TRY(store_open(o.argument[0], &store));
    const int rc = reduce_points(store, o.argument[0], point);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

static int run_reduce(const struct command *self, int argc, char **argv)
{
    return options_exit(reduce_file(self, argc, argv));
}

const struct command reduce_command = {
    .name = "reduce",
    .arguments = "FILE",
    .doc = "Compute the ensemble observables again from the stored planes",
    .details =
        "A run computes them itself. Members that are done enter, in the order of their\n"
        "realisations; where ensembles stop themselves, those up to the stop. The file must\n"
        "not be in use by a run.\n",
    .options = reduce_options,
    .run = run_reduce,
};
