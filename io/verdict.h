/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERDICT_H
#define IO_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"
#include "kernels/contract/contract.h"

/*
 * What judging a member by the scan's envelope left in the file: /member/contract. The columns
 * of a judgment are written one by one, its `outcome` last: only a member whose outcome is not
 * 0 has been judged. Members are called by their ids in the scan.
 */

/* What readers and the dispatch want to know of a judgment. */
struct verdict_state {
    uint8_t chosen;    /* the member is to be judged */
    uint8_t outcome;   /* MEMBER_PENDING: not ended; MEMBER_DONE: there is a verdict; else it
                          ended without one (enum member_state) */
    uint8_t verdict;   /* enum verdict */
    uint64_t envelope; /* key of the envelope that it belongs to */
};

/* What a judgment found. */
struct verdict_end {
    const char *reason; /* "" with a verdict */
    enum verdict verdict;
    const char *norm;
    const char *reference;
    const char *window;
    double bound; /* of the largest error, in the unit of the norm */
    double observed;
    double margin; /* observed / bound */
    uint64_t envelope;
    double wall; /* s */
    int64_t rhs_calls;
    const double *error; /* [planes of the file] NaN: not judged; NULL: none */
    const double *gain;  /* [planes of the file] NaN: not measured; NULL: the whole length was
                            judged (class T), else this is class N … */
    double reach;        /* … with the progress at its last judged plane, NaN: none … */
    int64_t beyond;      /* … and so many planes beyond the window */
};

/** Whether the file has room for judgments. */
bool verdict_has_room(const struct store *store);

/** Whether it has room for gains too. */
bool verdict_has_gains(const struct store *store);

/* The window that a member was judged on. */
struct verdict_window {
    double *gain; /* [planes of the file]; the caller's, NULL: not wanted */
    double reach;
    int64_t beyond;
};

/**
 * The window of a member of class N.
 *
 * @param known  receives false where the file has no room for gains, or the member was judged
 *               over its whole length, or not at all
 */
int verdict_read_window(struct store *store, int64_t member, struct verdict_window *out,
                        bool *known);

/** The states of members [first, first + count); all zero in a file without room. ERR_IO */
int verdict_read(struct store *store, int64_t first, int64_t count, struct verdict_state *out);

/** Say which of the members [first, first + count) are to be judged. @param chosen [count] */
int verdict_choose(struct store *store, int64_t first, int64_t count, const uint8_t *chosen);

/** A judgment is begun: counted before anything of it can end the process. */
int verdict_begin(struct store *store, int64_t member);

/** The columns of a judgment that has ended; it counts from verdict_commit. */
int verdict_put(struct store *store, int64_t member, const struct verdict_end *end);

/* That a judgment has ended. */
struct verdict_word {
    int64_t member;
    enum member_state outcome;
};

/** What was put of these members through to the disk, where the file syncs, and makes it
 * count. @param word [count] */
int verdict_commit(struct store *store, const struct verdict_word *word, int count);

/** What was judged of a member counts no more: it is computed anew, or the envelope is
 * another. Legal on a file without room. */
int verdict_forget(struct store *store, int64_t member);

#endif
