/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_SECTIONS_H
#define SCANS_SECTIONS_H

#include "scans/internal.h"

/* One key of a section: how it is read, and how its value stands in the canonical form (a write
 * that adds nothing leaves the key out). */
struct section_key {
    const char *section;
    const char *key;
    int (*read)(struct reader *r, const char *where, const struct node *node);
    void (*write)(const struct scan *scan, struct text *out);
};

/* until.c */

/** {quantity: …, error: …, band: […]} */
int until_read(struct reader *r, const char *where, const struct node *node);
/** Realisations of the first look. */
int until_read_min(struct reader *r, const char *where, const struct node *node);
/** Realisations of the last look. */
int until_read_max(struct reader *r, const char *where, const struct node *node);
/** Whether realisations can be decided as `ensemble.until` asks for: ERR_PARSE. Sections and
 * model are read, points are not yet counted. */
int until_check(struct scan *scan);
/** Canonical value of ensemble.until. */
void until_write(const struct scan *scan, struct text *out);
/** Canonical value of ensemble.min. */
void until_write_min(const struct scan *scan, struct text *out);
/** Canonical value of ensemble.max. */
void until_write_max(const struct scan *scan, struct text *out);

/* envelope.c */

/** tighter | stored FILE | none */
int envelope_read_reference(struct reader *r, const char *where, const struct node *node);
/** Tolerance of the reference: this factor tighter. */
int envelope_read_factor(struct reader *r, const char *where, const struct node *node);
/** Safety factor of the envelope. */
int envelope_read_safety(struct reader *r, const char *where, const struct node *node);
/** field_l2 | spectrum_l2 | energy | observable NAME */
int envelope_read_norm(struct reader *r, const char *where, const struct node *node);
/** The error that is expected of a member; times the safety it is the largest that passes. */
int envelope_read_tolerance(struct reader *r, const char *where, const struct node *node);
/** all | 5 % | N | points [0, 3, …] */
int envelope_read_sample(struct reader *r, const char *where, const struct node *node);

/** Gain beyond which noise-seeded members are not judged. */
int envelope_read_gain(struct reader *r, const char *where, const struct node *node);
/** What follows where `gain` is not given. @param written by hand: not a canonical form */
void envelope_finish(struct scan *scan, bool written);
/** Whether what `envelope:` asks for can be judged: ERR_PARSE. The scan is read whole. */
int envelope_check(const struct scan *scan);
/** Canonical value of envelope.reference. */
void envelope_write_reference(const struct scan *scan, struct text *out);
/** Canonical value of envelope.factor. */
void envelope_write_factor(const struct scan *scan, struct text *out);
/** Canonical value of envelope.safety. */
void envelope_write_safety(const struct scan *scan, struct text *out);
/** Canonical value of envelope.norm. */
void envelope_write_norm(const struct scan *scan, struct text *out);
/** Canonical value of envelope.tolerance. */
void envelope_write_tolerance(const struct scan *scan, struct text *out);
/** Canonical value of envelope.sample. */
void envelope_write_sample(const struct scan *scan, struct text *out);
/** Canonical value of envelope.gain. */
void envelope_write_gain(const struct scan *scan, struct text *out);

#endif
