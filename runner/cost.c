/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/survey.h"

enum { CONSTANT = 0, WORK = 1, SCANNED = 2 };

#define LEAST_PART    1e-6 /* of the largest work seen: less counts as this */
#define LEAST_SECONDS 1e-7
#define PULL          0.5   /* of a coefficient to its beginning: so many members' worth */
#define LEAST_SPREAD  0.3   /* of a logarithm; of a number, as a part of it */
#define FORGET        0.999 /* of the sums at each member */
#define FIRST_FIT     4     /* members; then whenever a quarter has been added */
#define ORDER_CHANGE  0.05  /* of ln(seconds) over the scan's spread: worth a new order */
#define SLOPES_MOST   64.0  /* members that an earlier scan's slopes count as, at most */
#define SCALE_MOST    0.1   /* and its scale */
#define VARIANCE      0.25  /* of ln(seconds) before anything is known: a factor 1.6 */

static bool is_number(const struct scan *scan, const struct scan_axis *axis, int param)
{
    const enum param_kind kind = scan_model(scan)->info->params[axis->param[param].param].kind;
    return axis->length > 1 && (kind == PARAM_REAL || kind == PARAM_INT || kind == PARAM_BOOL);
}

/* Logarithms where all values are positive: times go with powers. */
static void add_feature(struct cost *c, int axis, int param)
{
    const struct scan_axis_param *info = &scan_get_axis(c->scan, axis)->param[param];
    struct cost_feature *f = &c->feature[c->features++];
    int64_t ends[2];
    survey_axis_extremes(c->scan, axis, ends);
    const double a = scan_axis_value(c->scan, axis, param, ends[0]);
    const double b = scan_axis_value(c->scan, axis, param, ends[1]);
    const double least = a < b ? a : b;
    *f = (struct cost_feature){.axis = axis, .param = param, .logarithm = least > 0};
    snprintf(f->name, sizeof f->name, "%s%s", least > 0 ? "ln " : "", info->name);
}

static void find_features(struct cost *c)
{
    c->features = SCANNED;
    for (int a = 0; a < scan_axes(c->scan); a++) {
        const struct scan_axis *axis = scan_get_axis(c->scan, a);
        for (int p = 0; p < axis->params && c->features < COST_FEATURES_MAX; p++)
            if (is_number(c->scan, axis, p))
                add_feature(c, a, p);
    }
}

static double limit_work(const struct cost *c, double work)
{
    return work > c->least_work ? work : c->least_work;
}

void cost_look_again(const struct cost *c, int64_t point, double work, struct cost_input *out)
{
    int64_t index[SCAN_AXES_MAX];
    scan_point_indices(c->scan, point, index);
    out->work = work;
    out->x[CONSTANT] = 1;
    out->x[WORK] =
        c->least_work > 0 ? log(limit_work(c, work)) - c->feature[WORK].reference : 0;
    for (int i = SCANNED; i < c->features; i++) {
        const struct cost_feature *f = &c->feature[i];
        const double value = scan_axis_value(c->scan, f->axis, f->param, index[f->axis]);
        const double x = (f->logarithm ? log(value) : value) - f->reference;
        out->x[i] = isfinite(x) ? x : 0;
    }
}

void cost_look(struct cost *c, int64_t point, struct cost_input *out)
{
    struct plane_layout layout = {0};
    char text[256];
    *out = (struct cost_input){0};
    scan_point(c->scan, point, &c->params);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = scan_model(c->scan)->layout(&c->params, &layout);
    status_capture_restore(saved);
    const bool usable = rc == 0 && isfinite(layout.work) && layout.work > 0;
    cost_look_again(c, point, usable ? layout.work : 0, out);
    out->planes = rc == 0 && layout.planes > 2 ? (double)(layout.planes - 1) : 1;
}

/* Points spread evenly whatever their number: multiples of the golden ratio fill [0, 1). */
static void take_samples(struct cost *c, int64_t first, int64_t points)
{
    c->samples = points < COST_SAMPLES ? (int)points : COST_SAMPLES;
    for (int i = 0; i < c->samples; i++) {
        const double golden = 0.6180339887498949 * i;
        const int64_t spread = (int64_t)((double)points * (golden - floor(golden)));
        c->sample[i] = first + (points <= COST_SAMPLES ? i : spread);
        cost_look(c, c->sample[i], &c->input[i]);
    }
}

static void measure_work(struct cost *c)
{
    double most = 0;
    for (int i = 0; i < c->samples; i++)
        most = fmax(most, c->input[i].work);
    c->least_work = LEAST_PART * most;
    for (int i = 0; i < c->samples; i++)
        cost_look_again(c, c->sample[i], c->input[i].work, &c->input[i]);
}

/* References become the means over the samples, so that the constant is a typical member's. */
static void measure_spread(struct cost *c)
{
    for (int f = WORK; f < c->features; f++) {
        double sum = 0;
        double square = 0;
        for (int i = 0; i < c->samples; i++)
            sum += c->input[i].x[f];
        const double mean = sum / c->samples;
        for (int i = 0; i < c->samples; i++) {
            c->input[i].x[f] -= mean;
            square += c->input[i].x[f] * c->input[i].x[f];
        }
        c->feature[f].reference += mean;
        c->feature[f].spread = sqrt(square / c->samples);
    }
}

int cost_open(const struct scan *scan, int64_t first, int64_t points, struct cost *out)
{
    memset(out, 0, sizeof *out);
    out->scan = scan;
    out->again = FIRST_FIT;
    TRY(scan_params_init(scan, &out->params));
    find_features(out);
    take_samples(out, first, points);
    measure_work(out);
    measure_spread(out);
    cost_fit(out);
    return 0;
}

void cost_clear(struct cost *c)
{
    params_clear(&c->params);
    memset(c, 0, sizeof *c);
}

double cost_rank(const struct cost *c, const struct cost_input *input)
{
    double sum = 0;
    for (int i = WORK; i < c->features; i++)
        sum += c->coefficient[i] * input->x[i];
    return sum;
}

double cost_seconds(const struct cost *c, double rank)
{
    return c->known ? exp(c->coefficient[CONSTANT] + rank) : 0;
}

/* Part: least squares. */

static double beginning(int feature)
{
    return feature == WORK ? 1 : 0;
}

/*
 * How strongly a coefficient is held. What hardly varies over these members, as in a shard of
 * one value, is held as if it varied by LEAST_SPREAD: else the times of other values, seen
 * earlier, would say nothing of it and anything would be possible.
 */
static double pull(const struct cost *c, int feature)
{
    const struct cost_feature *f = &c->feature[feature];
    const bool logarithm = feature == WORK || f->logarithm;
    const double least = LEAST_SPREAD * (logarithm ? 1 : fabs(f->reference));
    const double spread = fmax(f->spread, least);
    return feature == CONSTANT ? 1e-9 : PULL * spread * spread + 1e-12;
}

/* Lower triangle L with L L^T = A; A is positive definite by the pull. */
static void factorise(int n, double (*a)[COST_FEATURES_MAX])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            a[j][j] -= a[j][k] * a[j][k];
        a[j][j] = sqrt(fmax(a[j][j], 1e-300));
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
}

static void solve_lower(const struct cost *c, double *b)
{
    for (int i = 0; i < c->features; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= c->factor[i][k] * b[k];
        b[i] /= c->factor[i][i];
    }
}

static void solve_upper(const struct cost *c, double *b)
{
    for (int i = c->features - 1; i >= 0; i--) {
        for (int k = i + 1; k < c->features; k++)
            b[i] -= c->factor[k][i] * b[k];
        b[i] /= c->factor[i][i];
    }
}

/* Mean square of what the fit leaves, with a member's worth of the first guess. */
static double residual(const struct cost *c)
{
    const struct cost_sums *s = &c->sums;
    double sum = s->square;
    for (int i = 0; i < c->features; i++) {
        sum -= 2 * c->coefficient[i] * s->moment[i];
        for (int j = 0; j < c->features; j++)
            sum += c->coefficient[i] * s->normal[i][j] * c->coefficient[j];
    }
    return (fmax(sum, 0) + VARIANCE) / (s->weight + 1);
}

void cost_fit(struct cost *c)
{
    const int n = c->features;
    for (int i = 0; i < n; i++) {
        c->coefficient[i] = c->sums.moment[i] + pull(c, i) * beginning(i);
        for (int j = 0; j < n; j++)
            c->factor[i][j] = c->sums.normal[i][j] + (i == j ? pull(c, i) : 0);
    }
    factorise(n, c->factor);
    solve_lower(c, c->coefficient);
    solve_upper(c, c->coefficient);
    c->variance = residual(c);
    c->known = c->sums.normal[CONSTANT][CONSTANT] > 0;
}

static void add_sums(struct cost *c, const struct cost_input *input, double seconds)
{
    const double y = log(fmax(seconds, LEAST_SECONDS));
    struct cost_sums *s = &c->sums;
    s->weight = FORGET * s->weight + 1;
    s->square = FORGET * s->square + y * y;
    for (int i = 0; i < c->features; i++) {
        s->moment[i] = FORGET * s->moment[i] + input->x[i] * y;
        for (int j = 0; j < c->features; j++)
            s->normal[i][j] = FORGET * s->normal[i][j] + input->x[i] * input->x[j];
    }
}

/* Largest change of a coefficient in the time of members that are one spread apart. */
static double change(const struct cost *c, const double *before)
{
    double most = 0;
    for (int i = WORK; i < c->features; i++)
        most = fmax(most, fabs(c->coefficient[i] - before[i]) * c->feature[i].spread);
    return most;
}

bool cost_learn(struct cost *c, int64_t point, double seconds)
{
    struct cost_input input;
    double before[COST_FEATURES_MAX];
    cost_look(c, point, &input);
    add_sums(c, &input, seconds);
    c->seen++;
    if (c->seen > 1 && c->seen < c->again && c->known)
        return false;
    c->again = c->seen < FIRST_FIT ? FIRST_FIT : c->seen + c->seen / 4;
    memcpy(before, c->coefficient, sizeof before);
    cost_fit(c);
    return change(c, before) > ORDER_CHANGE;
}

double cost_deviation(const struct cost *c, const double *x, double members)
{
    double z[COST_FEATURES_MAX];
    double sum = 0;
    memcpy(z, x, sizeof z);
    solve_lower(c, z);
    for (int i = 0; i < c->features; i++)
        sum += z[i] * z[i];
    return sqrt(c->variance * (sum + 1 / fmax(members, 1)));
}

void cost_kind(const struct cost *c, char *text, size_t size)
{
    const struct model_info *info = scan_model(c->scan)->info;
    size_t used = (size_t)snprintf(text, size, "%s %d", info->name, info->numerics_version);
    for (int i = SCANNED; i < c->features && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "; %s", c->feature[i].name);
}

/* Sums of the same members about another reference, and no reference for what is constant. */
static void shift(const struct cost *c, struct cost_sums *s, const double *by)
{
    const int n = c->features;
    struct cost_sums old = *s;
    for (int i = WORK; i < n; i++) {
        s->moment[i] -= by[i] * old.moment[CONSTANT];
        s->normal[i][CONSTANT] -= by[i] * old.normal[CONSTANT][CONSTANT];
        s->normal[CONSTANT][i] = s->normal[i][CONSTANT];
    }
    for (int i = WORK; i < n; i++)
        for (int j = WORK; j < n; j++)
            s->normal[i][j] -= by[i] * old.normal[CONSTANT][j] + by[j] * old.normal[i][CONSTANT]
                               - by[i] * by[j] * old.normal[CONSTANT][CONSTANT];
}

/*
 * Keep `slopes` of what is known about the mean of the members, and `scale` of the mean itself.
 * The constant's own sum says how much the mean weighs.
 */
static void weaken(const struct cost *c, struct cost_sums *s, double slopes, double scale)
{
    const int n = c->features;
    const double w = s->normal[CONSTANT][CONSTANT];
    const double y = s->moment[CONSTANT] / w;
    double x[COST_FEATURES_MAX];
    for (int i = 0; i < n; i++)
        x[i] = s->normal[CONSTANT][i] / w;
    s->square = slopes * (s->square - w * y * y) + scale * w * y * y;
    for (int i = 0; i < n; i++) {
        s->moment[i] = slopes * (s->moment[i] - w * x[i] * y) + scale * w * x[i] * y;
        for (int j = 0; j < n; j++)
            s->normal[i][j] =
                slopes * (s->normal[i][j] - w * x[i] * x[j]) + scale * w * x[i] * x[j];
    }
    s->weight *= slopes;
}

void cost_resume(struct cost *c, const struct cost_sums *sums, const double *reference)
{
    double by[COST_FEATURES_MAX] = {0};
    const double mean = sums->normal[CONSTANT][CONSTANT];
    if (!(sums->weight >= 1 && mean > 0))
        return;
    for (int i = WORK; i < c->features; i++)
        by[i] = c->feature[i].reference - reference[i];
    c->sums = *sums;
    shift(c, &c->sums, by);
    weaken(c, &c->sums, fmin(1, SLOPES_MOST / sums->weight), fmin(1, SCALE_MOST / mean));
    cost_fit(c);
}
