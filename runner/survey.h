/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SURVEY_H
#define RUNNER_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/model.h"
#include "scans/scan.h"

/* One line of the sanity report over the points that were looked at. */
struct survey_note {
    char name[48];
    char unit[24];
    double low, high;
    char warning[160];    /* the first one, "" when all is well */
    int64_t warned;       /* points with a warning */
    int64_t warned_point; /* the first of them */
    double warned_value;
};

/* What can be said of a scan without running it. */
struct survey {
    int64_t looked_at; /* points whose layout was made */
    bool all_points;
    struct plane_layout largest; /* every length, plane count and size is the largest found */
    double transforms_low, transforms_high, transforms_mean; /* of one member */
    double span_low, span_high;
    int notes;
    struct survey_note note[LAYOUT_NOTES_MAX];
};

/**
 * Make the layout of all points of a small scan; of a large one of the corners of the axes, of
 * each shape and of points spread evenly, a bounded number in about a second.
 *
 * @return 0, or the error of the first point that the model refuses, with its values
 */
int survey_scan(const struct scan *scan, struct survey *out);

/**
 * Layout of a point, in words that say where the trouble stands: place of the key in the scan
 * file, what the model refuses, the point's values.
 *
 * @param params scratch, made by scan_params_init
 */
int survey_layout(const struct scan *scan, struct params *params, int64_t point,
                  struct plane_layout *out);

/** Give the first layout each length, plane count, size and figure of work of the second that
 * is larger: no other layout of a scan needs more room. */
void survey_grow_layout(struct plane_layout *largest, const struct plane_layout *one);

/**
 * Indices of the least and the largest value of an axis (its first parameter); of a long axis
 * among values spread evenly that include both ends.
 */
void survey_axis_extremes(const struct scan *scan, int axis, int64_t index[2]);

/** The values of a point as text: "pulse.duration = 50 fs, gamma = 0.11 W⁻¹ m⁻¹". */
void survey_point_text(const struct scan *scan, int64_t point, char *text, size_t size);

/** The value of an axis parameter as text: with its unit, true/false or the chosen word. */
void survey_value_text(const struct scan *scan, int axis, int param, int64_t index, char *text,
                       size_t size);

#endif
