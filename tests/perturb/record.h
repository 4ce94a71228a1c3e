/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PERTURB_RECORD_H
#define TESTS_PERTURB_RECORD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * What a loosened comparison catches. Each family of comparisons (tests/perturb/families) says
 * here how small a perturbation it still sees; tests/perturb/perturb collects the records,
 * prints the table and fails when one passes that must not. Without SCANFARM_PERTURB, the file
 * of a program's records, nothing is written.
 */

/** Whether records are asked for: looking for the smallest perturbation takes time. */
static inline bool perturb_wanted(void)
{
    return getenv("SCANFARM_PERTURB") != NULL;
}

/** Forget the records of an earlier run. */
static inline void perturb_begin(void)
{
    if (perturb_wanted())
        remove(getenv("SCANFARM_PERTURB"));
}

/**
 * Add a record.
 *
 * @param family  row of tests/perturb/families
 * @param size    smallest perturbation that was seen, in the family's unit; INFINITY: none was
 * @param margin  observed error over its bound, without a perturbation
 */
static inline void perturb_record(const char *family, double size, double margin)
{
    if (!perturb_wanted())
        return;
    FILE *const out = fopen(getenv("SCANFARM_PERTURB"), "a");
    if (out == NULL)
        return; /* the collector misses it */
    fprintf(out, "%s|%.3g|%.3g\n", family, size, margin);
    fclose(out);
}

/** A comparison within a tolerance that stands where it is used (tests/perturb/near.h). */
struct perturb_place {
    const char *file;
    int line;
    double moved;  /* by its fault, in tolerances */
    double margin; /* observed error over the tolerance */
    const char *fault;
};

/** Add a record of a place. */
static inline void perturb_record_place(const struct perturb_place *place)
{
    if (!perturb_wanted())
        return;
    FILE *const out = fopen(getenv("SCANFARM_PERTURB"), "a");
    if (out == NULL)
        return; /* the collector misses it */
    fprintf(out, "@%s:%d|%.3g|%.3g|%s\n", place->file, place->line, place->moved, place->margin,
            place->fault);
    fclose(out);
}

/**
 * The same for an error that is a norm or the distance of two numbers: one more than `limit` +
 * `observed` away is seen whatever its direction (triangle inequality).
 */
static inline void perturb_record_norm(const char *family, double observed, double limit)
{
    perturb_record(family, limit + observed, observed / limit);
}

#endif
