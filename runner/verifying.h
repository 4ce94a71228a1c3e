/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_VERIFYING_H
#define RUNNER_VERIFYING_H

#include "io/verify.h"
#include "runner/selection.h"
#include "runner/spec.h"

/* One file while `scanfarm verify` looks at it. Private to runner/verify*.c. */

/* What the command line asked for. */
struct verify_choice {
    bool json;
    long recompute;        /* members to compute again */
    const char *members;   /* these, NULL: chosen by their identities */
    const char *scan_path; /* scan file with inputs or envelope, NULL: not given */
    double tolerance; /* error of a member in field_l2 where no envelope says it, 0: none */
};

/* What was found of one member, beside what is broken. */
enum verify_again { AGAIN_NOT, AGAIN_WITHIN, AGAIN_OUTSIDE };

/* Per member, [members of the file]. */
struct verify_members {
    uint8_t *bad;
    uint8_t *again; /* enum verify_again */
    double *margin; /* of the members computed again, the largest */
    int64_t first, count;
};

/* The file, the scan that it says it holds, and what was found. */
struct verifying {
    const char *path;
    const struct verify_choice *choice;
    struct store *store;
    struct scan *scan;  /* of the file's configuration; NULL: not understood */
    struct scan *given; /* of --scan, NULL: none */
    struct spec *spec;
    bool foreign;    /* that is not the file's */
    bool identities; /* this program has the numerics version of the file's model */
    struct verify_report *report;
    struct verify_members members;
    char matched[400]; /* why members computed again are held to rounding, or to the envelope */
};

/** The scan whose envelope and inputs count: --scan, else the file's own. */
const struct scan *verifying_scan(const struct verifying *v);

/** Layout, identities, points, verdicts: what the configuration says. ERR_MEMORY, ERR_IO */
int verify_told(struct verifying *v);

/** Compute the chosen members again and compare. 0, ERR_ARGUMENT, ERR_MEMORY, ERR_IO */
int verify_recompute(struct verifying *v);

/** The findings as text. @return 0, ERR_IO, ERR_MEMORY */
int verify_write_text(struct verifying *v);

/** The same as one JSON object. */
int verify_write_json(struct verifying *v);

/** Broken things of all kinds. */
int64_t verify_broken(const struct verify_report *report);

#endif
