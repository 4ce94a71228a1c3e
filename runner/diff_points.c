/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Class N: means of independent realisations with their standard errors, at the last plane that
 * both have. */
#include <math.h>
#include <stdio.h>

#include "io/read.h"
#include "io/reduce.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "runner/diffing.h"

/* What one side keeps of a point. */
struct mean {
    double *spectrum;
    double *error; /* standard errors: deviation over the root of the number */
    long bins;
    long runs;
    double coherence, coherence_error;
};

static void mean_clear(struct mean *m)
{
    mem_free(m->spectrum);
    mem_free(m->error);
    *m = (struct mean){.bins = 0};
}

static int read_row(struct diff_side *s, const char *path, int64_t point, long plane, long n,
                    double *out)
{
    const int64_t start[3] = {point, plane, 0};
    const int64_t count[3] = {1, 1, n};
    return read_block(s->store, path, start, count, out);
}

static int read_mean(struct diff_side *s, int64_t point, long plane, struct mean *out)
{
    struct read_dataset data;
    uint8_t reduced = 0;
    int64_t n = 0;
    TRY(reduce_read_rows(s->store, point, 1, &reduced, &n));
    out->runs = reduced ? (long)n : 0;
    TRY(read_describe(s->store, "ensemble/mean_spectrum", &data));
    out->bins = (long)data.length[2];
    TRY(MEM_NEW(out->bins, &out->spectrum));
    TRY(MEM_NEW(out->bins, &out->error));
    TRY(read_row(s, "ensemble/mean_spectrum", point, plane, out->bins, out->spectrum));
    TRY(read_row(s, "ensemble/std_spectrum", point, plane, out->bins, out->error));
    for (long k = 0; k < out->bins && out->runs > 0; k++)
        out->error[k] /= sqrt((double)out->runs);
    TRY(read_row(s, "ensemble/coherence", point, plane, 1, &out->coherence));
    return read_row(s, "ensemble/coherence_error", point, plane, 1, &out->coherence_error);
}

/* A member of a point that is done: it says where planes are. */
static int read_positions(struct diff_side *s, int64_t point, double *position, long *planes)
{
    const int64_t realisations = scan_realisations(s->scan);
    *planes = 0;
    for (int64_t r = 0; r < realisations && *planes == 0; r++) {
        uint8_t state = 0;
        TRY(store_read_states(s->store, point * realisations + r, 1, &state, NULL));
        if (state != MEMBER_DONE)
            continue;
        TRY(read_rows(s->store, s->progress, point * realisations + r, 1, s->planes, position));
        *planes = s->planes;
    }
    return 0;
}

/* The last planes at one position. */
static int find_planes(struct diffing *d, struct diff_point *p)
{
    double *position[2] = {NULL, NULL};
    long planes[2] = {0};
    int rc = 0;
    p->plane[0] = p->plane[1] = -1;
    for (int s = 0; s < 2; s++) {
        TRY_OR(rc, done, MEM_NEW(d->side[s].planes, &position[s]));
        TRY_OR(rc, done, read_positions(&d->side[s], p->point[s], position[s], &planes[s]));
    }
    for (long i = planes[0] - 1; i >= 0 && p->plane[0] < 0; i--)
        for (long j = planes[1] - 1; j >= 0 && p->plane[0] < 0; j--)
            if (fabs(position[0][i] - position[1][j])
                <= bound(BOUND_same_grid) * fabs(position[0][planes[0] - 1])) {
                p->plane[0] = i;
                p->plane[1] = j;
            }
done:
    mem_free(position[0]);
    mem_free(position[1]);
    return rc;
}

/* Overall coherences in units of the error of their difference. */
static double coherence_excess(const struct diff_point *p)
{
    const double error = hypot(p->coherence_error[0], p->coherence_error[1]);
    const double off = fabs(p->coherence[0] - p->coherence[1]);
    return error > 0 && isfinite(off) ? off / error : 0;
}

static int compare_means(const struct mean m[2], struct diff_point *p)
{
    char text[200] = "";
    const struct ensemble_mean a = {m[0].spectrum, m[0].error, m[0].runs};
    const struct ensemble_mean b = {m[1].spectrum, m[1].error, m[1].runs};
    for (int s = 0; s < 2; s++) {
        p->coherence[s] = m[s].coherence;
        p->coherence_error[s] = m[s].coherence_error;
    }
    if (m[0].bins != m[1].bins)
        FAIL(ERR_BUG, "spectra of %ld and %ld bins at one point", m[0].bins, m[1].bins);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = ensemble_compare(&a, &b, m[0].bins, &p->spectrum);
    status_capture_restore(saved);
    if (rc != 0 && rc != ERR_ARGUMENT)
        FAIL(rc, "%s", text);
    p->judged = rc == 0;
    snprintf(p->reason, sizeof p->reason, "%s", text);
    if (p->judged)
        p->excess = fmax(ensemble_excess(&p->spectrum), coherence_excess(p));
    return 0;
}

static int compare_point(struct diffing *d, struct diff_point *p)
{
    struct mean m[2] = {{.bins = 0}, {.bins = 0}};
    int rc = 0;
    TRY(find_planes(d, p));
    if (p->plane[0] < 0) {
        snprintf(p->reason, sizeof p->reason, "no plane in common");
        return 0;
    }
    for (int s = 0; s < 2; s++)
        TRY_OR(rc, done, read_mean(&d->side[s], p->point[s], p->plane[s], &m[s]));
    rc = compare_means(m, p);
done:
    mean_clear(&m[0]);
    mean_clear(&m[1]);
    return rc;
}

int diff_points(struct diffing *d)
{
    d->limit = ensemble_limit((double)d->points);
    for (int64_t i = 0; i < d->points; i++) {
        TRY(compare_point(d, &d->point[i]));
        d->points_open += !d->point[i].judged;
        d->points_outside += d->point[i].judged && d->point[i].excess > d->limit;
    }
    return 0;
}
