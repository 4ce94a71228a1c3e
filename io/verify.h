/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERIFY_H
#define IO_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"

/* Whether a result file is what it says: read only, plane by plane. */

#define VERIFY_WORST_MAX 10
#define VERIFY_TEXT_SIZE 400

/* What is looked at. */
#define VERIFY_LIST(X)                                                                         \
    X(VERIFY_FORMAT, "format", "format 1, opens, has what readers need")                       \
    X(VERIFY_LAYOUT, "layout", "datasets as the configuration asks for")                       \
    X(VERIFY_IDENTITIES, "identities", "recomputed from the configuration")                    \
    X(VERIFY_POINTS, "points", "indices, scanned values and seeds of members")                 \
    X(VERIFY_STATES, "states", "known, and in keeping with the saved planes")                  \
    X(VERIFY_PLANES, "planes", "counted planes have their checksums")                          \
    X(VERIFY_STEPS, "steps", "counters are the sums of whole histories")                       \
    X(VERIFY_STOPS, "stops", "ensembles stopped where their members say")                      \
    X(VERIFY_SHARD, "shard", "the members are those of this part of the scan")

/* A kind of check: a row of the list. */
enum verify_kind {
#define VERIFY_ENUM(kind, name, doc) kind,
    VERIFY_LIST(VERIFY_ENUM)
#undef VERIFY_ENUM
        VERIFY_KINDS
};

/* One kind of check. */
struct verify_result {
    char skipped[VERIFY_TEXT_SIZE]; /* why it was not made; "" when it was */
    int64_t checked;
    int64_t broken;
    int worst;                                     /* texts kept */
    char text[VERIFY_WORST_MAX][VERIFY_TEXT_SIZE]; /* of the first broken ones */
};

/* All of one file. */
struct verify_report {
    struct verify_result kind[VERIFY_KINDS];
};

/** "format", "layout", … */
const char *verify_kind_name(enum verify_kind kind);

/** What is looked at. */
const char *verify_kind_text(enum verify_kind kind);

/** Count a broken thing, with a text where there is room for one. */
void verify_break(struct verify_report *report, enum verify_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Say why a kind of check is not made. */
void verify_skip(struct verify_report *report, enum verify_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** What can be told from the file alone: states, planes and steps. ERR_IO, ERR_MEMORY */
int verify_store(struct store *store, struct verify_report *report);

/**
 * What the configuration says of the file: layout, identities, points.
 *
 * @param spec        of the stored configuration, with the file's window
 * @param identities  false: they are not judged (another numerics version)
 */
int verify_spec(struct store *store, const struct store_spec *spec, bool identities,
                struct verify_report *report);

#endif
