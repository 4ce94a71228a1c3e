/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_SEQUENTIAL_H
#define KERNELS_CONTRACT_SEQUENTIAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When an ensemble may stop growing. It is looked at after min, 2 min, 4 min, ... and max
 * realisations, never in between. With K looks, each has an interval of level 1 - alpha / K
 * (Student's t), so that all K intervals hold together with a probability of at least 1 - alpha
 * whatever the dependence between them (Bonferroni). The interval of the look at which the
 * ensemble stops therefore covers with at least 1 - alpha, by whatever rule it stops.
 *
 * A widened standard error is the half-width of such an interval in units of the normal
 * quantile: estimate +- z(1 - alpha/2) * widened covers with at least 1 - alpha, as the plain
 * standard error of a large ensemble of fixed size does.
 *
 * Exact for normal values; for others as good as Student's t of `min` values is.
 * Source: C. Jennison and B. W. Turnbull, Group Sequential Methods, 1999, ch. 9 (repeated
 * confidence intervals); Y. S. Chow and H. Robbins, Ann. Math. Stat. 36, 457 (1965), for stops
 * at a fixed width.
 */

#define SEQUENTIAL_LEAST     8    /* realisations of the first look */
#define SEQUENTIAL_ALPHA     0.05 /* what all intervals together may miss */
#define SEQUENTIAL_LOOKS_MAX 64

/* The rule of an ensemble. */
struct sequential_rule {
    double error; /* wanted of the widened standard error */
    int64_t min;  /* realisations of the first look */
    int64_t max;  /* of the last one */
};

/** Whether a rule can be followed: 0 < error, SEQUENTIAL_LEAST <= min <= max. ERR_ARGUMENT */
int sequential_check(const struct sequential_rule *rule);

/** Number of looks, at least 1. */
int sequential_looks(const struct sequential_rule *rule);

/** Realisations of a look: min 2^look, of the last one max. @param look from 0 */
int64_t sequential_count(const struct sequential_rule *rule, int look);

/**
 * What a standard error is multiplied with at any look of the rule: the quantile of Student's t
 * with count - 1 degrees of freedom at 1 - alpha / (2 looks), over the normal one at
 * 1 - alpha / 2.
 *
 * @param count  realisations that the standard error is made of, which may be fewer than those
 *               of the look; below 2: infinite
 */
double sequential_widening(const struct sequential_rule *rule, int64_t count);

/** Whether no further look is needed: the widened error is small enough, or this look is the
 * last one. @param widened  NaN: not known */
bool sequential_stops(const struct sequential_rule *rule, int look, double widened);

#endif
