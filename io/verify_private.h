/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERIFY_PRIVATE_H
#define IO_VERIFY_PRIVATE_H

#include "io/store_private.h"
#include "io/verify.h"

/*
 * Whether the rows of a file are the members that they say they are; private to io, for verify
 * and for collect, so that neither takes what the other calls broken.
 */

/* The datasets that tell, of one file: identity, ids, seeds, grids, points, scanned values,
 * lengths. */
struct verify_facts {
    struct h5_dataset *dataset; /* [count] owned */
    int count;
};

/** Open them as a configuration asks for them. @param out close with verify_facts_close, also
 *  after an error */
int verify_facts_open(const struct store *store, const struct store_spec *spec,
                      struct verify_facts *out);

/** Close; legal on a zeroed object. */
void verify_facts_close(struct verify_facts *facts);

/* Counters of a member, and what is kept of its history. */
struct verify_counts {
    int64_t member;
    bool done;
    bool whole; /* all its steps are kept; false: the first ones of them */
    int64_t steps, rejected, rhs_calls, transforms;
    int64_t kept;
    const struct step_record *step; /* [kept] */
};

/** The history against the counters (of a part of it that they are not fewer), and each step
 * against the one before. @param law may be NULL. ERR_ARGUMENT for numbers that are none */
int verify_counts_check(const struct verify_counts *counts, const struct verify_law *law,
                        struct verify_report *report);

/** Scales in the root: each value is the one that the configuration gives, an index its place.
 */
int verify_scales(struct store *store, const struct store_spec *spec,
                  struct verify_report *report);

/* A member's judgment, and what it should be. */
struct verify_judged {
    int64_t member;
    uint8_t state;
    const struct verify_envelope *envelope;
    uint64_t key; /* of the envelope that the file's judgments were made by */
    bool other;   /* that is not the configuration's: bound and planes are taken as stored */
    const struct verify_planes *planes;
    double *error; /* [planes of the file] scratch … */
    double *gain;  /* … and more of it */
};

/** Bound, largest error, margin and verdict of a member from its stored errors. ERR_IO */
int verify_verdict(struct store *store, const struct verify_judged *judged,
                   struct verify_report *report);

/** Layout: every dataset that the configuration asks for has its type and shape. */
int verify_layout(const struct store *store, const struct store_spec *spec,
                  struct verify_report *report);

/** What readers go by: units and dimensions of each dataset, what it is of a plane, names of
 * scan and model. The layout is as it should be. ERR_IO, ERR_MEMORY */
int verify_labels(const struct store *store, const struct store_spec *spec,
                  struct verify_report *report);

/* Which member a row should be. */
enum verify_order {
    VERIFY_BY_PLACE, /* the one that stands there in an ordinary file */
    VERIFY_BY_CLAIM  /* the one that its point and realisation name: rows may be in any order */
};

/* Room for a block of rows. */
struct verify_rows;

/** Make it, for files of a scan with so many axes. Free with verify_rows_destroy. ERR_MEMORY */
int verify_rows_create(int axes, struct verify_rows **out);

/** Free; NULL is legal. */
void verify_rows_destroy(struct verify_rows *rows);

/* A file and what it is compared with. */
struct verify_subject {
    struct store *store;
    const struct verify_facts *facts;
    const struct store_spec *spec; /* with the file's window */
    enum verify_order order;
    bool identities; /* false: they are not judged */
};

/** Identities and points of all rows. @return 0, ERR_CONFLICT, ERR_IO, ERR_MEMORY */
int verify_rows_check(struct verify_rows *rows, const struct verify_subject *subject,
                      struct verify_report *report);

/** Whether points stopped where their stored members say. ERR_IO, ERR_CONFLICT, ERR_MEMORY */
int verify_stops(struct store *store, struct verify_report *report);

#endif
