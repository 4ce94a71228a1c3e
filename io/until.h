/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_UNTIL_H
#define IO_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"

/*
 * Ensembles that stop themselves: what a point's stored members say of its error, look by look
 * (kernels/contract/sequential.h). Which members count is a function of the rule and of the
 * stored data of the last plane, in the order of the realisations: it does not depend on who
 * computed what when, nor on members beyond the look. Formulas: docs/run-file.md, "Ensemble".
 */

/* `ensemble/stopped` */
enum until_stop {
    UNTIL_OPEN = 0,    /* a look is to come */
    UNTIL_REACHED = 1, /* the error is small enough */
    UNTIL_ALL = 2      /* max realisations, and it is not */
};

/* How a point stands. */
struct until_end {
    enum until_stop stopped;
    int looks;            /* that were taken */
    int64_t realisations; /* of the last one; those below it count */
    double value;         /* NaN: none, or fewer than two members are done */
    double error;         /* as the wanted one: widened, relative but for g12; NaN likewise */
};

/** Whether the ensembles of a file stop themselves. */
bool until_is_on(struct store *store);

/** The rule of a file. ERR_CONFLICT when it is damaged */
int until_read_rule(struct store *store, struct store_until *out);

/**
 * Take the looks of a point, in their order, as far as all their members have ended.
 *
 * @param state  [realisations] of the point's members
 */
int until_decide(struct store *store, int64_t point, const uint8_t *state,
                 struct until_end *out);

/** Rows of points as they are stored. @param end [count] */
int until_read_rows(struct store *store, int64_t first, int64_t count, struct until_end *end);

/** Write the row of a point. */
int until_write_row(struct store *store, int64_t point, const struct until_end *end);

/** Pending members of a point from a realisation on are not needed: their states. */
int until_drop_members(struct store *store, int64_t point, int64_t realisation,
                       const uint8_t *state);

/** Realisations that the next look waits for, after so many looks. */
int64_t until_next_count(const struct store_until *rule, int looks);

/**
 * Whether a point has stopped for good: its row is whole and says so, and the members that it
 * counts are those that entered.
 *
 * @param state  [realisations]
 * @param end    receives the stored row
 */
int until_is_settled(struct store *store, int64_t point, const uint8_t *state, bool *settled,
                     struct until_end *end);

/**
 * Before a run: of points that have not stopped for good, members that were not needed are
 * pending again and the row counts no more. Single writer.
 *
 * @param reopened  receives the number of members
 */
int until_prepare(struct store *store, int64_t *reopened);

#endif
