/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_ENVELOPE_H
#define KERNELS_CONTRACT_ENVELOPE_H

#include <stdbool.h>

#include "kernels/contract/contract.h"

/*
 * Accuracy envelopes (numerics.md §1 class T, §2): an adaptive run against a reference, in a
 * named norm, at named planes. The target is the exact solution of the discretised problem.
 */

#define ENVELOPE_REASON_SIZE 240

/* Where the reference comes from. */
enum envelope_reference_kind {
    REFERENCE_NONE,    /* nothing is judged */
    REFERENCE_TIGHTER, /* the same member at a tighter tolerance */
    REFERENCE_STORED   /* a converged result that was stored */
};

/** "none", "tighter" or "stored". */
const char *envelope_reference_name(enum envelope_reference_kind kind);

/* An envelope and what was observed. */
struct envelope {
    enum envelope_reference_kind reference;
    const char *norm;       /* "field_l2", ...: named in the reason */
    double tolerance;       /* E of the member, in the norm's unit, > 0; fixed beforehand */
    double other_tolerance; /* E of the reference where it is a run of the same kind, else 0 */
    double safety;          /* >= 1; fixed beforehand */
    long planes;            /* judged ones */
    const double *observed; /* [planes] distance from the reference, in the norm's unit */
    const double *position; /* [planes] of the planes, for the reason; may be NULL */
};

/* Judgment of an envelope. */
struct envelope_judgment {
    enum verdict verdict;
    double bound;    /* safety (E + E of the reference) */
    double observed; /* largest of the planes */
    double margin;   /* observed / bound; INFINITY where an observed one is not finite */
    long worst;      /* plane of it, an index into observed; -1: none */
    char reason[ENVELOPE_REASON_SIZE]; /* why not within; why not judged; "" when within */
};

/**
 * Largest distance that passes: safety (E + E of the reference).
 *
 * @return 0, or ERR_ARGUMENT for a tolerance that is not positive, a safety below 1, or numbers
 *         that are not finite
 */
int envelope_bound(const struct envelope *envelope, double *out);

/**
 * Judge a member: within when each observed distance is finite and at most the bound. A member
 * without reference or without planes stays unjudged, with the reason.
 *
 * @return as envelope_bound; ERR_ARGUMENT also for a distance below zero
 *
 * Source: numerics.md §1 (pairwise E_a + E_b), §2.
 */
int envelope_judge(const struct envelope *envelope, struct envelope_judgment *out);

/*
 * Class N (numerics.md §1): where the dynamics amplify, no tighter run agrees with a member
 * plane by plane. The gain of a plane is the distance there, in the norm of the envelope,
 * between a run and the same run from a perturbed input, in units of the perturbation. Planes
 * are judged up to the first one whose gain is above a limit that was declared beforehand. The
 * gain is that of the reference run, and not taken from the errors that are judged: a member
 * that is wrong does not shorten its window.
 */

/* How far a member is judged. */
struct envelope_reach {
    long judged; /* planes within the window … */
    long last;   /* … and the last of them, -1: none */
    long beyond; /* planes that were to be judged, and lie beyond it */
    long first;  /* the first of those, -1: none */
    double gain; /* the largest within; 0 without */
};

/**
 * Narrow the planes that are to be judged to the window before the first one whose gain is
 * above the limit or is not a number.
 *
 * @param gain    [planes]
 * @param judged  [planes] whether they are to be judged; those beyond the window no more
 * @param limit   > 0
 */
void envelope_narrow(const double *gain, bool *judged, long planes, double limit,
                     struct envelope_reach *out);

/**
 * Size of the perturbation that a gain is measured with, relative to the field in l2: 1e-4,
 * less where a gain of the limit would make more than 1 % of it, so that the growth stays
 * linear; 1e-10 at least, above rounding.
 */
double envelope_perturbation(double limit);

#endif
