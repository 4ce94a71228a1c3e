/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WISDOM_H
#define RUNNER_WISDOM_H

#include <stdbool.h>
#include <sys/stat.h>

#include "kernels/backend.h"
#include "runner/run.h"

/*
 * FFTW wisdom of a run. A plan is looked for in the text that the result file has stored (a
 * resumed run has the plans of the first), in the user's cache (`scanfarm tune`) and in the
 * node's file `<file>.wisdom.<host>`, in this order. Where none has it, one worker of the node
 * claims the search, plans and writes the node's file; the others wait for it, 5 s at most,
 * then plan themselves. So all workers of a node use the same plans.
 */

#define WISDOM_LENGTHS_MAX 32

/* One worker's sources of wisdom. */
struct wisdom {
    char path[RUN_PATH_SIZE + 80]; /* the node's file */
    char claim[RUN_PATH_SIZE + 88];
    char cache[RUN_PATH_SIZE];           /* the user's folder, "" without */
    char from[RUN_PATH_SIZE + 256];      /* name of the text given last */
    char complaint[RUN_PATH_SIZE + 400]; /* the first, said by whoever writes the node's file */
    bool claimed;                        /* by this process */
    bool asked;                          /* since the last wisdom_share */
    bool cache_looked;                   /* the cache folder has been looked for */
    bool stored_given;                   /* each text is given once */
    const char *stored;                  /* of the result file, borrowed; "" without */
    int lengths;
    long length[WISDOM_LENGTHS_MAX]; /* that the cache was asked for */
    struct timespec seen;            /* the node's file as it was given last … */
    ino_t seen_inode;
    double limit; /* … until when a new one is waited for … */
    bool gave_up; /* … and that it was waited for in vain: once is enough */
    char *text;   /* given last, owned */
};

/** Name the files. Free with wisdom_clear. @param stored borrowed, "" without */
void wisdom_init(struct wisdom *wisdom, const char *file, const char *host, const char *stored);

/** Free; drops a claim. Legal on a zeroed object. */
void wisdom_clear(struct wisdom *wisdom);

/** For struct backend_options. */
struct wisdom_source wisdom_source(struct wisdom *wisdom);

/** Remove a claim that a killed run left behind; before the workers of the node start. */
void wisdom_unclaim(struct wisdom *wisdom);

/**
 * After a model object was made: the wisdom in use goes into the node's file, and from there
 * into the result file. Put off while another worker has the claim. A folder that takes no file
 * costs the others their time only.
 *
 * @return 0 or ERR_MEMORY
 */
int wisdom_share(struct wisdom *wisdom, struct backend *be);

/** The same at the end of a worker: what was put off waits for the claim, 5 s at most. */
int wisdom_share_last(struct wisdom *wisdom, struct backend *be);

/** The node's file, "" when there is none. @param text receives memory to mem_free */
int wisdom_read(const struct wisdom *wisdom, char **text);

#endif
