/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/batch.h"

#include <stdio.h>

void batch_script(const struct batch *batch, enum submission_kind kind, char path[PLACE_SIZE])
{
    const char *const part = kind == SUBMISSION_COLLECT ? ".collect"
                             : kind == SUBMISSION_PLOT  ? ".plot"
                                                        : "";
    snprintf(path, PLACE_SIZE, "%s%s.sbatch", batch->stem, part);
}

bool batch_has(const struct batch *batch, enum submission_kind kind)
{
    const struct choice *const choice = batch->choice;
    switch (kind) {
    case SUBMISSION_RETRY:
        return choice->retry;
    case SUBMISSION_COLLECT:
        return choice->collect && choice->shards > 1;
    case SUBMISSION_PLOT:
        return choice->plots.count > 0;
    default:
        return true;
    }
}

long batch_tasks(const struct batch *batch, long offset)
{
    const long left = batch->choice->shards - offset;
    if (batch->choice->shards == 1)
        return 0;
    return left < batch->piece ? left : batch->piece;
}

/* Several arrays share what may run; each needs one. */
long batch_throttle(const struct batch *batch)
{
    const long pieces = (batch->choice->shards + batch->piece - 1) / batch->piece;
    const long each = batch->choice->max_running / pieces;
    if (batch->choice->max_running == 0)
        return 0;
    return each > 0 ? each : 1;
}
