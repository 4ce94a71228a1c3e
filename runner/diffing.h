/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_DIFFING_H
#define RUNNER_DIFFING_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"
#include "kernels/contract/ensemble.h"
#include "scans/scan.h"

/* Two result files while `scanfarm diff` compares them. Private to runner/diff*.c. */

#define DIFF_WORST_MAX 10

/* What a pair of members is held to. */
enum diff_class {
    DIFF_EQUAL,    /* P: their numbers are equal, bit for bit */
    DIFF_MATCHED,  /* R: one program, the same steps: within rounding */
    DIFF_ADAPTIVE, /* T: within the sum of both envelopes, or --tolerance */
    DIFF_NOTHING,  /* they differ, and nothing says by how much they may */
    DIFF_CLASSES
};

/* One of the files. */
struct diff_side {
    const char *path;
    struct store *store;
    struct scan *scan; /* of its configuration */
    char progress[96];
    long planes;
};

/* A member of the first file and its counterpart. */
struct diff_pair {
    int64_t member[2];
    bool identical; /* their identities are equal */
};

/* How far a pair is apart. */
struct diff_finding {
    struct diff_pair pair;
    enum diff_class class;
    long plane[2]; /* of the largest difference */
    long index;    /* element, -1: of a number or a whole plane */
    char what[48];
    double observed, allowed, margin;
};

/* Means of one point, of independent realisations. */
struct diff_point {
    int64_t point[2];
    long plane[2];
    bool judged; /* there was enough to compare */
    char reason[200];
    struct ensemble_difference spectrum;
    double coherence[2], coherence_error[2];
    double
        excess; /* standard deviations beyond chance, the largest of spectrum and coherence */
};

/* All of it. */
struct diffing {
    struct diff_side side[2];
    double tolerance; /* --tolerance, 0: none */
    char build[120];  /* why the files are not of one program, "" when they are */
    struct diff_pair *pair;
    int64_t pairs;
    int64_t only[2]; /* done members without counterpart */
    int64_t count[DIFF_CLASSES];
    int64_t outside[DIFF_CLASSES];
    double margin[DIFF_CLASSES]; /* the largest */
    struct diff_finding worst[DIFF_WORST_MAX];
    int worsts;
    struct diff_point *point;
    int64_t points;
    int64_t points_outside;
    int64_t points_open; /* that could not be judged */
    double limit;        /* standard deviations that the largest of all points may have */
};

/** Open both files and find the pairs of members and of points. Free with diff_close. */
int diff_open(struct diffing *d, const char *a, const char *b);

/** Close and free; legal on a zeroed object. */
void diff_close(struct diffing *d);

/** Compare all pairs. */
int diff_members(struct diffing *d);

/** Compare the ensembles of points that have independent realisations. */
int diff_points(struct diffing *d);

/** Name of a class for people: "equal bits", … */
const char *diff_class_name(enum diff_class class);

#endif
