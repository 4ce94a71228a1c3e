/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/gain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/envelope.h"
#include "runner/judging.h"
#include "runner/plane_error.h"

struct gain {
    const struct scan *scan;
    double size; /* of the perturbation */
    bool perturbed;
    long planes;
    double *value; /* [planes] */
    double **kept; /* [planes] what the norm compares, one array behind the other; NULL: none */
    struct envelope_reach reach;
    double *fresh; /* the same of the perturbed run */
};

int gain_create(const struct scan *scan, long planes, struct gain **out)
{
    struct gain *g = NULL;
    int rc = 0;
    TRY(MEM_NEW(1, &g));
    g->scan = scan;
    g->size = envelope_perturbation(scan_get_envelope(scan)->gain);
    g->planes = planes;
    g->reach = (struct envelope_reach){.last = -1, .first = -1};
    TRY_OR(rc, done, MEM_NEW(planes, &g->value));
    TRY_OR(rc, done, MEM_NEW(planes, &g->kept));
    for (long k = 0; k < planes; k++)
        g->value[k] = (double)NAN;
done:
    if (rc != 0)
        gain_destroy(g);
    else
        *out = g;
    return rc;
}

void gain_destroy(struct gain *g)
{
    if (g == NULL)
        return;
    for (long k = 0; g->kept != NULL && k < g->planes; k++)
        mem_free(g->kept[k]);
    mem_free(g->kept);
    mem_free(g->value);
    mem_free(g->fresh);
    mem_free(g);
}

void gain_perturb(struct gain *g)
{
    g->perturbed = true;
}

bool gain_is_perturbed(const struct gain *g)
{
    return g != NULL && g->perturbed;
}

double gain_perturbation(const struct gain *g)
{
    return gain_is_perturbed(g) ? g->size : 0;
}

const double *gain_values(const struct gain *g)
{
    return g->value;
}

static bool is_complex(const struct layout_array *array)
{
    return array->type == ELEMENT_C128 || array->type == ELEMENT_C64;
}

/* Doubles of an array that the norm compares; 0: it does not. */
static long doubles_of(const struct gain *g, const struct plane_layout *layout, int a)
{
    if (!judging_compares(g->scan, layout, a))
        return 0;
    return layout_array_count(layout, a) * (is_complex(&layout->array[a]) ? 2 : 1);
}

static long doubles_in_all(const struct gain *g, const struct plane_layout *layout)
{
    int observable = -1;
    long sum = scan_envelope_norm(g->scan, &observable) == NORM_OBSERVABLE;
    for (int a = 0; a < layout->arrays; a++)
        sum += doubles_of(g, layout, a);
    return sum;
}

int gain_reserve(struct gain *g, const struct plane_layout *layout, const bool *judged)
{
    const long n = doubles_in_all(g, layout);
    TRY(MEM_NEW(n, &g->fresh));
    for (long k = 0; k < layout->planes; k++)
        if (judged[k])
            TRY(MEM_NEW(n, &g->kept[k]));
    return 0;
}

/* What the norm compares of a plane. */
static void take(const struct gain *g, const struct plane_layout *layout,
                 const struct plane_buffers *fresh, double *out)
{
    int observable = -1;
    if (scan_envelope_norm(g->scan, &observable) == NORM_OBSERVABLE)
        out[0] = fresh->observable[observable];
    for (int a = 0; a < layout->arrays; a++) {
        const enum element type = layout->array[a].type;
        const long n = doubles_of(g, layout, a);
        const bool whole = type == ELEMENT_F64 || type == ELEMENT_C128;
        if (whole && n > 0)
            memcpy(out, fresh->array[a], (size_t)n * sizeof *out);
        for (long i = 0; !whole && i < n; i++)
            out[i] = (double)((const float *)fresh->array[a])[i];
        out += n;
    }
}

/* The distance of a plane from the one that was kept, as its error would be measured. */
static double distance(const struct gain *g, const struct plane_layout *layout, long plane)
{
    const double *now = g->fresh;
    const double *then = g->kept[plane];
    double most = 0;
    int observable = -1;
    const enum envelope_norm norm = scan_envelope_norm(g->scan, &observable);
    if (norm == NORM_OBSERVABLE)
        return plane_error_number(now[0], then[0]);
    for (int a = 0; a < layout->arrays; a++) {
        const long n = doubles_of(g, layout, a);
        if (n == 0)
            continue;
        const double one = norm == NORM_SPECTRUM_L2 ? plane_error_power(now, then, n / 2)
                                                    : plane_error_l2(now, then, n);
        most = one > most || isnan(one) ? one : most;
        if (isnan(one))
            return one;
        now += n;
        then += n;
    }
    return most;
}

void gain_plane(struct gain *g, const struct plane_layout *layout, long plane,
                const struct plane_buffers *fresh)
{
    take(g, layout, fresh, g->perturbed ? g->fresh : g->kept[plane]);
    if (g->perturbed)
        g->value[plane] = distance(g, layout, plane) / g->size;
}

static double position_of(const struct gain *g, const struct plane_layout *layout, long plane)
{
    return layout_plane_position(layout, &scan_get_save(g->scan)->planes, plane);
}

bool gain_narrow(struct gain *g, const struct plane_layout *layout, bool *judged, double *error,
                 char *reason)
{
    const double limit = scan_get_envelope(g->scan)->gain;
    struct envelope_reach *const reach = &g->reach;
    envelope_narrow(g->value, judged, layout->planes, limit, reach);
    for (long k = 0; k < layout->planes; k++)
        if (!judged[k])
            error[k] = (double)NAN;
    if (reach->beyond == 0 || (reach->last >= 0 && position_of(g, layout, reach->last) > 0))
        return true;
    snprintf(reason, STORE_REASON_SIZE,
             "the dynamics amplify too much to judge a plane: gain %.3g at %s = %.6g %s, the "
             "first one, above envelope.gain %.4g; planes before it can be judged",
             g->value[reach->first], layout->progress_name,
             position_of(g, layout, reach->first), layout->progress_unit, limit);
    return false;
}

void gain_text(const struct gain *g, const struct plane_layout *layout, char *text, size_t size)
{
    const struct envelope_reach *const reach = &g->reach;
    const double limit = scan_get_envelope(g->scan)->gain;
    const char *const name = layout->progress_name;
    const double begin = position_of(g, layout, 0);
    if (reach->last < 0 && reach->beyond == 0)
        snprintf(text, size, "none");
    else if (reach->last < 0)
        snprintf(text, size, "none: gain above %.4g at the first plane (tangent)", limit);
    else if (reach->beyond == 0)
        snprintf(text, size, "whole run, %s %.6g to %.6g %s; gain %.3g (tangent)", name, begin,
                 layout->span, layout->progress_unit, reach->gain);
    else
        snprintf(text, size, "%s %.5g to %.5g of %.5g %s; gain %.3g, then above %.4g (tangent)",
                 name, begin, position_of(g, layout, reach->last), layout->span,
                 layout->progress_unit, reach->gain, limit);
}

void gain_tell(const struct gain *g, const struct plane_layout *layout, struct verdict_end *end)
{
    end->gain = g->value;
    end->beyond = g->reach.beyond;
    end->reach = g->reach.last < 0 ? (double)NAN : position_of(g, layout, g->reach.last);
}
