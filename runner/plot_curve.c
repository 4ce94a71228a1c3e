/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plot_curve.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot_frame.h"

static int allocate(struct plot_curve *curve, struct plot_source *source, int64_t member,
                    enum plot_x x)
{
    *curve = (struct plot_curve){.source = source, .shots = 1, .member = member};
    TRY(plot_axis_init(source, member, x, &curve->axis));
    return MEM_NEW(curve->axis.n, &curve->density);
}

/* Bins of a member's stored spectrum; those of negative frequency are not on its axis. */
static int count_bins(struct plot_source *source, int64_t member, long *n)
{
    double *omega = NULL;
    TRY(plot_source_scale(source, "omega", member, &omega, n));
    mem_free(omega);
    return 0;
}

static int load_member(struct plot_curve *curve, const struct plot_request *request,
                       int64_t member)
{
    long saved = 0;
    long plane = 0;
    long n = 0;
    double *power = NULL;
    TRY(plot_source_saved(curve->source, member, &saved));
    TRY(plot_source_plane(curve->source, request->plane, saved, &plane));
    TRY(count_bins(curve->source, member, &n));
    TRY(MEM_NEW(n, &power));
    curve->plane = plane;
    snprintf(curve->what, sizeof curve->what, "member %lld", (long long)member);
    const int rc = plot_source_power(curve->source, member, plane, n, power);
    if (rc == 0)
        plot_axis_density(&curve->axis, power, curve->density);
    mem_free(power);
    return rc;
}

int plot_curve_member(struct plot_source *source, const struct plot_request *request,
                      int64_t member, struct plot_curve *out)
{
    long saved = 0;
    *out = (struct plot_curve){0};
    TRY(plot_source_require_field(source, "spectrum"));
    TRY(plot_source_saved(source, member, &saved));
    int rc = allocate(out, source, member, request->x);
    rc = rc == 0 ? load_member(out, request, member) : rc;
    rc = rc == 0 ? plot_check_window(source, &out->axis, request) : rc;
    if (rc != 0)
        plot_curve_clear(out);
    return rc;
}

bool plot_curve_has_ensemble(const struct plot_source *source)
{
    return read_exists(source->store, "ensemble/mean_spectrum");
}

static int check_point(struct plot_source *source, int64_t point)
{
    double reduced = 0;
    int64_t done = 0;
    if (!plot_curve_has_ensemble(source))
        FAIL(ERR_ARGUMENT,
             "%s: holds no ensemble spectra; they need 'ensemble: {realisations: N}' and "
             "'save: {field: true}' in the scan",
             source->path);
    TRY(plot_source_first_done(source, point, &done));
    TRY(read_rows(source->store, "ensemble/reduced", point, 1, 1, &reduced));
    if (reduced == 0)
        FAIL(ERR_ARGUMENT,
             "%s: point %lld is not reduced yet; 'scanfarm reduce' or the end of the run does "
             "it",
             source->path, (long long)point);
    return 0;
}

/* One row of /ensemble onto the axis; weighted to a density or as it is. */
static int load_row(struct plot_curve *curve, const char *path, const int64_t start[3], long n,
                    bool weighted, double *out)
{
    double *row = NULL;
    const int64_t count[3] = {1, 1, n};
    TRY(MEM_NEW(n, &row));
    const int rc = read_block(curve->source->store, path, start, count, row);
    for (long i = 0; i < curve->axis.n && rc == 0; i++)
        out[i] = row[curve->axis.index[i]] * (weighted ? curve->axis.density[i] : 1);
    mem_free(row);
    return rc;
}

static int describe_ensemble(struct plot_curve *curve, int64_t point, bool coherence)
{
    struct plot_source *s = curve->source;
    double shots = 0;
    double value[2] = {(double)NAN, (double)NAN};
    const int64_t start[2] = {point, curve->plane};
    const int64_t one[2] = {1, 1};
    const size_t size = sizeof curve->what;
    TRY(read_rows(s->store, "ensemble/n", point, 1, 1, &shots));
    curve->shots = (int64_t)shots;
    if (coherence) {
        TRY(read_block(s->store, "ensemble/coherence", start, one, &value[0]));
        TRY(read_block(s->store, "ensemble/coherence_error", start, one, &value[1]));
    }
    const long long count = (long long)curve->shots;
    if (isfinite(value[0]) && isfinite(value[1])) {
        const double places = 1 - floor(log10(fmax(value[1], 1e-7)));
        const int digits = places < 3 ? 3 : (int)places; /* one or two of the error */
        snprintf(curve->what, size, "overall %.*f ± %.*f, %lld shots", digits, value[0], digits,
                 value[1], count);
    } else if (isfinite(value[0]))
        snprintf(curve->what, size, "overall %.3f, %lld shots", value[0], count);
    else
        snprintf(curve->what, size, "mean of %lld shots", count);
    return 0;
}

static int load_ensemble(struct plot_curve *curve, int64_t point, long plane, bool g12)
{
    struct plot_source *s = curve->source;
    const int64_t start[3] = {point, plane, 0};
    long n = 0;
    TRY(count_bins(s, point * s->realisations, &n));
    TRY(load_row(curve, "ensemble/mean_spectrum", start, n, true, curve->density));
    if (g12) {
        TRY(MEM_NEW(curve->axis.n, &curve->g12));
        TRY(load_row(curve, "ensemble/g12", start, n, false, curve->g12));
    }
    curve->plane = plane;
    curve->mean = true;
    return describe_ensemble(curve, point, g12);
}

int plot_curve_ensemble(struct plot_source *source, const struct plot_request *request,
                        int64_t point, bool g12, struct plot_curve *out)
{
    long plane = 0;
    *out = (struct plot_curve){0};
    TRY(check_point(source, point));
    TRY(plot_source_plane(source, request->plane, source->planes, &plane));
    int rc = allocate(out, source, point * source->realisations, request->x);
    rc = rc == 0 ? load_ensemble(out, point, plane, g12) : rc;
    rc = rc == 0 ? plot_check_window(source, &out->axis, request) : rc;
    if (rc != 0)
        plot_curve_clear(out);
    return rc;
}

void plot_curve_clear(struct plot_curve *curve)
{
    plot_axis_clear(&curve->axis);
    mem_free(curve->density);
    mem_free(curve->g12);
    *curve = (struct plot_curve){0};
}

int plot_curves_choose(struct plot_request *request, struct plot_choice *choice, int *count)
{
    const int points = request->points > 0 ? request->points : 1;
    *count = 0;
    if (request->files * points > PLOT_CURVES_MAX)
        FAIL(ERR_ARGUMENT, "%d files and %d points make %d curves; at most %d are drawn",
             request->files, points, request->files * points, PLOT_CURVES_MAX);
    for (int f = 0; f < request->files; f++) {
        for (int p = 0; p < points; p++) {
            struct plot_source *s = &request->source[f];
            const int64_t point = request->points > 0 ? request->point_list[p] : 0;
            choice[(*count)++] = (struct plot_choice){s, point};
        }
    }
    return 0;
}

void plot_curves_clear(struct plot_curves *curves)
{
    for (int c = 0; c < PLOT_CURVES_MAX; c++)
        plot_curve_clear(&curves->curve[c]);
}

int plot_curves_check(const struct plot_curves *curves, struct plot_window window, double top)
{
    const struct plot_curve *first = &curves->curve[0];
    if (top > 0)
        return 0;
    FAIL(ERR_ARGUMENT, "%s: nothing to draw: no power between %.6g and %.6g %s",
         first->source->path, window.low, window.high, first->axis.unit);
}

double plot_curves_top(const struct plot_curves *curves, struct plot_window window)
{
    double top = 0;
    for (int c = 0; c < curves->count; c++) {
        const struct plot_curve *curve = &curves->curve[c];
        for (long i = 0; i < curve->axis.n; i++)
            if (isfinite(curve->density[i]) && curve->axis.x[i] >= window.low
                && curve->axis.x[i] <= window.high)
                top = fmax(top, curve->density[i]);
    }
    return top;
}

struct plot_window plot_curves_window(const struct plot_curves *curves,
                                      const struct plot_request *request)
{
    struct plot_window all = {(double)INFINITY, -(double)INFINITY};
    if (request->window_set)
        return (struct plot_window){request->window[0], request->window[1]};
    for (int c = 0; c < curves->count; c++) {
        const struct plot_curve *curve = &curves->curve[c];
        const struct plot_window one =
            plot_find_window(curve->axis.n, curve->axis.x, curve->density, request->range);
        all.low = fmin(all.low, one.low);
        all.high = fmax(all.high, one.high);
    }
    return all;
}

int plot_curve_write(const struct plot_curve *curve, struct gnuplot *gnuplot, const char *name,
                     const double *y, struct plot_window window, double top)
{
    FILE *out = NULL;
    TRY(gnuplot_data(gnuplot, name, &out));
    for (long i = 0; i < curve->axis.n; i++) {
        const double x = curve->axis.x[i];
        if (x < window.low || x > window.high || !isfinite(y[i]))
            continue;
        if (top > 0 && y[i] <= 0)
            continue;
        fprintf(out, "%.8g %.6g\n", x, top > 0 ? 10 * log10(y[i] / top) : y[i]);
    }
    return gnuplot_data_close(out, name);
}
