/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_VERDICTS_H
#define RUNNER_STATUS_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/store.h"

#define STATUS_VERDICTS_MAX 10

/* A member that is outside the envelope, or was judged in vain. */
struct status_verdict {
    int64_t member;
    bool outside; /* false: there is no verdict */
    double margin;
    char text[STORE_REASON_SIZE + 1];
};

/* How the members of a file stand to the scan's envelope. */
struct status_verdicts {
    bool any;       /* the file has room for verdicts */
    int64_t chosen; /* members that are to be judged: those that may still be done, and are */
    int64_t within;
    int64_t outside;
    int64_t none;     /* judgments that ended without a verdict */
    int64_t waiting;  /* not judged yet */
    int64_t windowed; /* judged on windows that gains allow (class N) … */
    int64_t cut;      /* … which end before the last plane … */
    double reach[2];  /* … least and largest progress at their ends, SI */
    char unit[16];    /* of it */
    int bad;
    struct status_verdict list[STATUS_VERDICTS_MAX]; /* [bad] the first ones */
};

/** Read them of members [first, first + count). @param state [count] their states */
int status_verdicts_read(struct store *store, int64_t first, int64_t count,
                         const uint8_t *state, struct status_verdicts *out);

/** Add those of another file, the first ones of both by member. */
void status_verdicts_add(struct status_verdicts *sum, const struct status_verdicts *more);

/** "12 chosen: 10 within, 1 outside, 1 without a verdict", "" without an envelope. */
void status_verdicts_count(const struct status_verdicts *verdicts, char *text, size_t size);

/** A line of counts; nothing without an envelope. */
void status_verdicts_text(const struct status_verdicts *verdicts, FILE *out);

/** Lines for the members of the list. */
void status_verdicts_list(const struct status_verdicts *verdicts, FILE *out);

/** As a part of a JSON object: ,"envelope":{…}; nothing without an envelope. */
void status_verdicts_json(const struct status_verdicts *verdicts, FILE *out);

#endif
