/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLOT_QUANTITY_H
#define RUNNER_PLOT_QUANTITY_H

#include "runner/plot.h"

#define PLOT_POINTS_MAX 20000

/* What is drawn against what, for one file. */
struct plot_quantity {
    struct plot_source *source;
    char path[READ_NAME_SIZE + 16]; /* "plane/energy", "ensemble/coherence" */
    char unit[64];
    bool per_point;                         /* of /ensemble: one value a point */
    bool has_error;                         /* NAME_error exists */
    int dims;                               /* 2, or 1 for /ensemble/n */
    const struct plot_parameter *parameter; /* x; NULL: the progress variable */
};

/* One point of a curve. */
struct plot_sample {
    double x, y;
    double error; /* standard deviation or jackknife error; NaN: none */
    double place; /* progress at the plane; NaN: not read */
};

/** Find an observable and the x axis. @param axis parameter or progress; NULL: the first axis
 */
int plot_quantity_init(struct plot_source *source, const char *name, const char *axis,
                       struct plot_quantity *out);

/** Name of x. */
const char *plot_quantity_x_name(const struct plot_quantity *q);
/** Unit of x as stored. */
const char *plot_quantity_x_unit(const struct plot_quantity *q);

/**
 * A curve over the scan axis, the other axes held at `index`.
 *
 * @param samples receives the array, free with mem_free; samples without a value have y NaN
 */
int plot_quantity_over_axis(const struct plot_quantity *q, const int64_t *index, long plane,
                            struct plot_sample **samples, long *count);

/** A curve over the planes of a point, or of one member when it is not negative. */
int plot_quantity_over_planes(const struct plot_quantity *q, int64_t point, int64_t member,
                              struct plot_sample **samples, long *count);

/** The point at `index` with one axis moved to `at`; axis -1: none. */
int64_t plot_quantity_point(const struct plot_source *s, const int64_t *index, int axis,
                            int64_t at);

#endif
