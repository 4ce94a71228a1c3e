/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLOT_CURVE_H
#define RUNNER_PLOT_CURVE_H

#include "runner/plot.h"

/* A spectrum of one file, drawn as a line. */
struct plot_curve {
    struct plot_source *source;
    struct plot_axis axis;
    double *density; /* [axis.n] per unit of x */
    double *g12;     /* [axis.n], or NULL */
    int64_t member;  /* the one drawn, or the first of the point */
    long plane;
    bool mean;     /* of an ensemble */
    int64_t shots; /* members that entered; 1 for a single member */
    char what[80]; /* "member 3", "mean of 8 shots", "overall 0.93 ± 0.01, 8 shots" */
    char label[240];
};

/** Spectrum of one member at a plane. Free with plot_curve_clear. */
int plot_curve_member(struct plot_source *source, const struct plot_request *request,
                      int64_t member, struct plot_curve *out);

/** Mean spectrum of a point at a plane, and |g12| when wanted. Free with plot_curve_clear. */
int plot_curve_ensemble(struct plot_source *source, const struct plot_request *request,
                        int64_t point, bool g12, struct plot_curve *out);

/** One curve of several: of each file, and within a file of each point asked for. */
struct plot_choice {
    struct plot_source *source;
    int64_t point;
};

/* The curves of a picture. */
struct plot_curves {
    int count;
    struct plot_curve curve[PLOT_CURVES_MAX];
};

/**
 * The curves that the command line asks for.
 *
 * @param choice [PLOT_CURVES_MAX]
 * @return 0, or ERR_ARGUMENT when they are too many
 */
int plot_curves_choose(struct plot_request *request, struct plot_choice *choice, int *count);

/** Free all curves. */
void plot_curves_clear(struct plot_curves *curves);

/** Free; legal on a zeroed one. */
void plot_curve_clear(struct plot_curve *curve);

/** Whether a file holds the reduced spectra of an ensemble. */
bool plot_curve_has_ensemble(const struct plot_source *source);

/** The largest density of several curves within limits of x. */
double plot_curves_top(const struct plot_curves *curves, struct plot_window window);

/** Refuse curves that have no power within limits of x. @param top of plot_curves_top */
int plot_curves_check(const struct plot_curves *curves, struct plot_window window, double top);

/**
 * Names of the curves for the legend: what tells them apart (file, scanned values, plane), then
 * what each one is.
 */
int plot_curves_label(struct plot_curves *curves, const struct plot_request *request);

/**
 * A title that says what all curves have in common: place and scanned values.
 *
 * @param noun "Spectrum", "Mean spectrum", "Coherence"
 * @param many the same for several curves
 */
int plot_curves_title(const struct plot_curves *curves, const char *noun, const char *many,
                      char *text, size_t size);

/** Limits that show all curves down to the range asked for, or the limits asked for. */
struct plot_window plot_curves_window(const struct plot_curves *curves,
                                      const struct plot_request *request);

/**
 * Write x and y of the samples in a window to a data file of gnuplot.
 *
 * @param y   [curve->axis.n]
 * @param top y is written in dB of it; 0: as it is
 */
int plot_curve_write(const struct plot_curve *curve, struct gnuplot *gnuplot, const char *name,
                     const double *y, struct plot_window window, double top);

#endif
