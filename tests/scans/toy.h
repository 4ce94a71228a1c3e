/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCANS_TOY_H
#define TESTS_SCANS_TOY_H

#include "scans/internal.h"

/*
 * A model that exists as tables only, with a parameter of every kind, and what the tests of
 * scans/ share. Its defaults have no units: few tests read the units database.
 */

/** The models "toy" (with stepper and noise) and "bare" (without), NULL-terminated. */
extern const struct model_ops *const toy_models[];

/** Head of a scan file of the toy model with its required parameters; the rest follows it. */
#define TOY_HEAD       "scan: test\nmodel: toy\n"
#define TOY_PARAMETERS "parameters: {length: 1}\n"
#define TOY            TOY_HEAD TOY_PARAMETERS

/** Parse a scan of the toy models; fails the running test when that fails. Free it. */
struct scan *toy_scan(const char *text);

/** As toy_scan with overrides. */
struct scan *toy_scan_set(const char *text, const struct scan_override *overrides, int count);

/**
 * Check that a text is refused with one line that has all the parts.
 *
 * @param overrides [count]
 * @param parts     NULL-terminated
 */
void toy_refused(const char *text, const struct scan_override *overrides, int count,
                 const char *const *parts);

/* toy_refuses(text, "file:3:5: …", "another part", …) */
#define toy_refuses(text, ...)                                                                 \
    toy_refused((text), NULL, 0, (const char *const[]){__VA_ARGS__, NULL})

/** Value of a parameter of a point, SI. */
double toy_value(const struct scan *scan, int64_t point, const char *name);

/** Fail the running test unless the canonical form has this line. */
void toy_has_line(const struct scan *scan, const char *line);

/** Parse the canonical form again and compare: form, every text, every bit of up to 5000
 * points. */
void toy_check_canonical(const struct model_ops *const *models, const struct scan *scan);

#endif
