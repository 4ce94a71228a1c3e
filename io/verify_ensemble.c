/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of /ensemble, computed anew from the planes of the members. Whole numbers are equal;
 * sums may have been made by another build: with M members and gamma of bounds.h
 *
 *     mean      gamma(M + 3) mean, twice: both sides are rounded
 *     std       gamma(M + 8) (mean + std), twice: the l2 norm of deviations from a rounded mean
 *     snr       mean / std with both errors
 *     g12       gamma(2M + 8) (M + 1)/(M - 1), twice twice: |S|^2 <= M Q cancels against Q
 *     coherence as g12, and the weighted sum over the bins
 *     errors    jackknife_row of the row's largest
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/reduce.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

/* One point. */
struct look {
    struct verify_report *report;
    long bins;    /* of the spectra seen last */
    double *mean; /* [bins] of the plane, computed */
    double *std;  /* [bins] */
};

/* Bounds of one row. */
struct limits {
    double sum;    /* relative, of the mean */
    double spread; /* relative, of mean + std */
    double g;      /* absolute */
    double coherence;
    double largest; /* finite value of the row */
};

static int find_limits(const struct look *look, const struct reduce_row *row,
                       struct limits *out)
{
    const double m = (double)row->members;
    const double *const right = row->right;
    double g = 0;
    double bins = 0;
    TRY(bound_gamma(m + 3, PRECISION_F64, &out->sum));
    TRY(bound_gamma(m + 8, PRECISION_F64, &out->spread));
    TRY(bound_gamma(2 * m + 8, PRECISION_F64, &g));
    TRY(bound_gamma((double)look->bins + 8, PRECISION_F64, &bins));
    out->sum *= 2;
    out->spread *= 2;
    out->g = m > 1 ? 4 * g * (m + 1) / (m - 1) : 0;
    out->coherence = out->g + 2 * bins;
    out->largest = 0;
    for (long i = 0; i < row->n; i++)
        if (isfinite(right[i]))
            out->largest = fmax(out->largest, fabs(right[i]));
    return 0;
}

static bool is(const struct reduce_row *row, const char *name)
{
    return strcmp(row->name, name) == 0;
}

/* How far element i may be off. */
static double allowed_at(const struct look *look, const struct reduce_row *row,
                         const struct limits *limits, long i)
{
    const double value = ((const double *)row->right)[i];
    const bool known = look->mean != NULL && i < look->bins;
    const double mean = known ? look->mean[i] : 0;
    const double std = known ? look->std[i] : 0;
    if (is(row, "mean_spectrum"))
        return limits->sum * value;
    if (is(row, "std_spectrum"))
        return limits->spread * (mean + std);
    if (is(row, "snr"))
        return fabs(value) * (limits->sum + limits->spread * (mean + std) / std);
    if (is(row, "g12"))
        return limits->g;
    if (is(row, "coherence"))
        return limits->coherence;
    if (is(row, "peak_power_edges"))
        return limits->sum * limits->largest;
    return bound(BOUND_jackknife_row) * limits->largest;
}

/* Identical shots have a deviation of rounding alone, and any ratio to it. */
static bool is_open(const struct reduce_row *row, double allowed)
{
    return is(row, "snr") && !isfinite(allowed);
}

/* @return the element that is farthest off for what is allowed, -1: each is equal */
static int find_worst(const struct look *look, const struct reduce_row *row,
                      struct verify_offender *worst)
{
    const double *const stored = row->stored;
    const double *const right = row->right;
    struct limits limits;
    TRY(find_limits(look, row, &limits));
    for (long i = 0; i < row->n; i++) {
        const double allowed = allowed_at(look, row, &limits, i);
        const bool same = stored[i] == right[i] || (isnan(stored[i]) && isnan(right[i]));
        const double off = fabs(stored[i] - right[i]);
        if (same || is_open(row, allowed))
            continue;
        const double margin = isfinite(off) && allowed > 0 ? off / allowed : (double)INFINITY;
        if (margin > worst->margin) {
            worst->margin = margin;
            worst->observed = off;
            worst->allowed = allowed;
            worst->index = i;
        }
    }
    return 0;
}

static void say(struct verify_report *report, const struct reduce_row *row,
                const struct verify_offender *worst)
{
    if (row->plane < 0)
        verify_break(report, VERIFY_ENSEMBLE,
                     "ensemble/%s of point %" PRId64 " is not what its members give", row->name,
                     row->point);
    else
        verify_break(report, VERIFY_ENSEMBLE,
                     "ensemble/%s of point %" PRId64 ", plane %ld, index %ld is not what its "
                     "members give: %.3g off, %.3g allowed",
                     row->name, row->point, row->plane, worst->index, worst->observed,
                     worst->allowed);
}

static long first_difference(const struct reduce_row *row)
{
    return comparison_bits(row->stored, row->right, row->size, row->n);
}

static int keep(struct look *look, const struct reduce_row *row, double **out)
{
    mem_free(*out);
    *out = NULL;
    TRY(MEM_NEW(row->n, out));
    memcpy(*out, row->right, (size_t)row->n * sizeof **out);
    look->bins = row->n;
    return 0;
}

static int see_row(void *context, const struct reduce_row *row)
{
    struct look *const look = context;
    struct verify_offender worst = {.kind = VERIFY_ENSEMBLE,
                                    .member = -1,
                                    .point = row->point,
                                    .plane = row->plane,
                                    .index = -1};
    look->report->kind[VERIFY_ENSEMBLE].checked++;
    snprintf(worst.what, sizeof worst.what, "%.47s", row->name);
    if (is(row, "mean_spectrum"))
        TRY(keep(look, row, &look->mean));
    if (is(row, "mean_spectrum") || is(row, "std_spectrum"))
        TRY(keep(look, row, &look->std));
    if (row->is_double) {
        TRY(find_worst(look, row, &worst));
        if (worst.margin > 0)
            verify_offend(look->report, &worst);
    } else {
        worst.index = first_difference(row);
        worst.margin = worst.index >= 0 ? (double)INFINITY : 0;
        worst.observed = worst.index >= 0 ? 1 : 0;
    }
    if (worst.margin > 1)
        say(look->report, row, &worst);
    return 0;
}

static int verify_point(struct store *store, int64_t point, struct verify_report *report)
{
    struct look look = {.report = report};
    const struct reduce_look by = {.row = see_row, .context = &look};
    const int rc = reduce_look_at(store, point, &by);
    mem_free(look.mean);
    mem_free(look.std);
    return rc;
}

/* Members of a point that are done. */
static int count_done(struct store *store, int64_t point, int64_t *done)
{
    *done = 0;
    for (int64_t r = 0; r < store->realisations; r++) {
        double state = 0;
        TRY(read_rows(store, "member/state", point * store->realisations + r, 1, 1, &state));
        *done += (int)state == MEMBER_DONE;
    }
    return 0;
}

/* A row is made anew when more members of its point are done: until then, in a file that is not
 * complete, it speaks of those that were. */
static int is_stale(struct store *store, int64_t point, int64_t n, bool *stale)
{
    const int64_t none = 0;
    double complete = 0;
    int64_t done = 0;
    TRY(read_block(store, "complete", &none, &none, &complete));
    TRY(count_done(store, point, &done));
    *stale = complete == 0 && n != done;
    return 0;
}

int verify_ensemble(struct store *store, struct verify_report *report)
{
    if (!read_exists(store, "ensemble/reduced")) {
        verify_skip(report, VERIFY_ENSEMBLE, "the file holds no ensemble");
        return 0;
    }
    for (int64_t p = 0; p < store->points; p++) {
        uint8_t reduced = 0;
        int64_t n = 0;
        bool stale = false;
        TRY(reduce_read_rows(store, p, 1, &reduced, &n));
        if (reduced == 0)
            continue;
        TRY(is_stale(store, p, n, &stale));
        if (!stale)
            TRY(verify_point(store, p, report));
    }
    return 0;
}
