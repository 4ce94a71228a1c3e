/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PREPARE_H
#define RUNNER_PREPARE_H

#include <sys/stat.h>

#include "io/journal.h"
#include "io/resume.h"
#include "runner/dispatch.h"
#include "runner/lease.h"
#include "runner/run.h"
#include "runner/selection.h"
#include "runner/spec.h"
#include "scans/scan.h"

/*
 * What comes before the farm, in the process that the user started (or rank 0 of a mpirun by
 * hand): the scan is read and judged, the file made or compared, what is left to do counted.
 * A mistake ends here, before anything has run.
 */
struct prepared {
    const struct run_options *options;
    struct scan *scan;
    struct spec *spec;
    struct survey *survey;      /* NULL: the scan was judged by another process */
    struct selection selection; /* of --only */
    struct reuse *reuse;        /* of --reuse, until the members have been taken over */
    struct dispatch dispatch;
    char *wisdom;               /* FFTW wisdom text of the file, "" without */
    struct resume_table resume; /* checkpoints that members can go on from */
    struct journal *journal;
    struct lease *lease; /* of the file; NULL: none */
    struct stat file;    /* as prepare_check_file saw it first; st_nlink 0: not yet */
    double next_check;   /* when it looks again */
    char run[JOURNAL_RUN_SIZE];
};

/**
 * Read the scan and look at all that can be judged without the file: shapes, memory. Fills in
 * options->file when it is "".
 *
 * @param out  zeroed; free with prepare_clear, also after an error
 */
int prepare_scan(struct run_options *options, struct prepared *out);

/**
 * Make the file, or compare the one that is there; take hold of it; count what is left.
 *
 * @return 0; ERR_CONFLICT when another run holds the file or it is of another configuration;
 *         ERR_IO
 */
int prepare_file(struct prepared *prepared);

/** Seconds that the last writing of a run takes: a plane and a checkpoint of each member that
 * is computed, at the speed of a busy file system. The file is prepared. */
double prepare_closing(const struct prepared *prepared);

/** Warn of what the model finds doubtful; when something is going to run. */
void prepare_warn(const struct prepared *prepared);

/** Free everything and let go of the file; legal on a zeroed object. */
void prepare_clear(struct prepared *prepared);

/**
 * Whether the result file is still the one that the workers write into; looks once a second.
 *
 * @return 0, or ERR_IO when it was removed or replaced
 */
int prepare_check_file(struct prepared *prepared);

/** Read the dispatch of a file that another process has prepared (rank 0 under a launcher). */
int prepare_dispatch(struct prepared *prepared);

#endif
