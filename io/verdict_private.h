/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERDICT_PRIVATE_H
#define IO_VERDICT_PRIVATE_H

#include "io/store_private.h"

/* Columns of /member/contract, for io's own files. */
#define VERDICT_LIST(X)                                                                        \
    X(VERDICT_CHOSEN, "chosen", H5_U8)                                                         \
    X(VERDICT_OUTCOME, "outcome", H5_U8)                                                       \
    X(VERDICT_VERDICT, "verdict", H5_U8)                                                       \
    X(VERDICT_ENVELOPE, "envelope", H5_U64)                                                    \
    X(VERDICT_ATTEMPTS, "attempts", H5_I32)                                                    \
    X(VERDICT_CLASS, "class", H5_U8)                                                           \
    X(VERDICT_NORM, "norm", H5_TEXT)                                                           \
    X(VERDICT_REFERENCE, "reference", H5_TEXT)                                                 \
    X(VERDICT_WINDOW, "window", H5_TEXT)                                                       \
    X(VERDICT_REASON, "reason", H5_TEXT)                                                       \
    X(VERDICT_BOUND, "bound", H5_F64)                                                          \
    X(VERDICT_OBSERVED, "observed", H5_F64)                                                    \
    X(VERDICT_MARGIN, "margin", H5_F64)                                                        \
    X(VERDICT_WALL, "wall_s", H5_F64)                                                          \
    X(VERDICT_RHS_CALLS, "rhs_calls", H5_I64)                                                  \
    X(VERDICT_ERROR, "error", H5_F64)

enum verdict_column {
#define VERDICT_ENUM(column, name, kind) column,
    VERDICT_LIST(VERDICT_ENUM)
#undef VERDICT_ENUM
        VERDICT_COLUMNS
};

/* The open columns. */
struct store_verdicts {
    struct h5_dataset column[VERDICT_COLUMNS];
};

/** Open the columns of a file that has them. ERR_IO where one is not as it should be. */
int verdict_open(struct store *store);

/** Close them; legal without. */
void verdict_close(struct store *store);

/** What was judged of a member of one file goes to a member of another, and whether it is
 * chosen. A file without room for it takes nothing. */
int verdict_copy(struct store *from, int64_t there, struct store *to, int64_t here);

#endif
