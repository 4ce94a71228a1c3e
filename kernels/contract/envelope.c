/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/envelope.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/status.h"

/* The perturbation that gains are measured with: the largest, the smallest, and what it may
 * grow to. */
#define PERTURBATION_MOST  1e-4
#define PERTURBATION_LEAST 1e-10
#define LINEAR             1e-2

const char *envelope_reference_name(enum envelope_reference_kind kind)
{
    static const char *const names[] = {[REFERENCE_NONE] = "none",
                                        [REFERENCE_TIGHTER] = "tighter",
                                        [REFERENCE_STORED] = "stored"};
    return names[kind];
}

int envelope_bound(const struct envelope *envelope, double *out)
{
    const double e = envelope->tolerance + envelope->other_tolerance;
    if (!(envelope->tolerance > 0.0) || !(envelope->other_tolerance >= 0.0) || !isfinite(e))
        FAIL(ERR_ARGUMENT, "an envelope of %g beside a reference of %g: it must be positive",
             envelope->tolerance, envelope->other_tolerance);
    if (!(envelope->safety >= 1.0) || !isfinite(envelope->safety * e))
        FAIL(ERR_ARGUMENT, "a safety factor of %g: it must be at least 1", envelope->safety);
    *out = envelope->safety * e;
    return 0;
}

/* The worst plane; a distance that is not finite is worse than any other. */
static int find_worst(const struct envelope *envelope, struct envelope_judgment *out)
{
    out->observed = -1.0;
    for (long i = 0; i < envelope->planes; i++) {
        const double observed = envelope->observed[i];
        if (observed < 0.0)
            FAIL(ERR_ARGUMENT, "a distance of %g at judged plane %ld", observed, i);
        if (!isfinite(observed)) {
            out->observed = observed;
            out->worst = i;
            return 0;
        }
        if (observed > out->observed) {
            out->observed = observed;
            out->worst = i;
        }
    }
    return 0;
}

static void write_reason(const struct envelope *envelope, struct envelope_judgment *out)
{
    char place[48] = "";
    if (envelope->position != NULL)
        snprintf(place, sizeof place, " at %g", envelope->position[out->worst]);
    snprintf(out->reason, sizeof out->reason,
             "%s is %.3g from the %s reference in judged plane %ld%s, %.3g times what is "
             "allowed: %g x %g",
             envelope->norm, out->observed, envelope_reference_name(envelope->reference),
             out->worst, place, out->margin, envelope->safety,
             envelope->tolerance + envelope->other_tolerance);
}

int envelope_judge(const struct envelope *envelope, struct envelope_judgment *out)
{
    *out = (struct envelope_judgment){
        .verdict = VERDICT_UNJUDGED, .worst = -1, .observed = 0.0, .margin = 0.0};
    if (envelope->reference == REFERENCE_NONE || envelope->planes < 1) {
        snprintf(out->reason, sizeof out->reason, "%s",
                 envelope->reference == REFERENCE_NONE ? "no reference"
                                                       : "no plane was judged");
        return 0;
    }
    TRY(envelope_bound(envelope, &out->bound));
    TRY(find_worst(envelope, out));
    out->margin = isfinite(out->observed) ? out->observed / out->bound : (double)INFINITY;
    out->verdict = out->margin <= 1.0 ? VERDICT_WITHIN : VERDICT_OUTSIDE;
    if (out->verdict == VERDICT_OUTSIDE)
        write_reason(envelope, out);
    return 0;
}

void envelope_narrow(const double *gain, bool *judged, long planes, double limit,
                     struct envelope_reach *out)
{
    *out = (struct envelope_reach){.last = -1, .first = -1};
    for (long k = 0; k < planes; k++) {
        if (!judged[k])
            continue;
        if (out->first < 0 && !(gain[k] <= limit)) /* a NaN too */
            out->first = k;
        if (out->first >= 0) {
            judged[k] = false;
            out->beyond++;
            continue;
        }
        out->gain = fmax(out->gain, gain[k]);
        out->last = k;
        out->judged++;
    }
}

double envelope_perturbation(double limit)
{
    return fmax(fmin(PERTURBATION_MOST, LINEAR / limit), PERTURBATION_LEAST);
}
