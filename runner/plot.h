/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLOT_H
#define RUNNER_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/read.h"
#include "runner/gnuplot.h"
#include "runner/text.h"

/* Pictures of result files. Private to runner/plot*.c. */

#define PLOT_CURVES_MAX 7 /* as many as there are line types */
#define PLOT_FILES_MAX  PLOT_CURVES_MAX
#define PLOT_TEXT_SIZE  240
#define PLOT_AXES_MAX   16
#define PLOT_WORD_SIZE  80

/* What a spectrum is drawn over. */
enum plot_x { X_WAVELENGTH, X_FREQUENCY, X_OMEGA };

/* A scanned parameter. */
struct plot_parameter {
    char name[READ_NAME_SIZE];  /* "pulse.shape" */
    char scale[READ_NAME_SIZE]; /* "pulse_shape_values" */
    char unit[64];
    int axis;
    long length;
    char (*word)[PLOT_WORD_SIZE]; /* [length] names of values that are no numbers; else NULL */
};

/* One opened file. */
struct plot_source {
    struct store *store;
    const char *path;
    char scan[96];
    char label[96];         /* its name in the legend */
    int64_t first, members; /* that the file holds, of a shard some */
    int64_t points, realisations;
    long planes;
    char progress[READ_NAME_SIZE]; /* "z" */
    char progress_unit[64];
    char field[READ_NAME_SIZE]; /* complex array over omega; "" when none is stored */
    char field_unit[64];
    int axes;
    int64_t axis_length[PLOT_AXES_MAX];
    int parameters;
    struct plot_parameter *parameter;
};

/* What the command line asked for. */
struct plot_request {
    int files;
    struct plot_source source[PLOT_FILES_MAX];
    int64_t member; /* -1: not given */
    int64_t point;  /* the first --point; -1: not given */
    int points;     /* number of --point */
    int64_t point_list[PLOT_CURVES_MAX];
    long plane; /* -1: the last one saved */
    const char *observable;
    const char *axis;
    enum plot_x x;
    double range;    /* dB shown below the maximum */
    bool window_set; /* --x-range: limits of x in the unit shown */
    double window[2];
    struct picture picture;
};

/* A spectral axis: stored bins with omega > 0 in ascending order of x. */
struct plot_axis {
    long n;
    long *index;      /* [n] bin of the stored array */
    double *x;        /* [n] ascending, in the unit shown */
    double *density;  /* [n] times |a|^2 of a field in sqrt(W): energy per unit of x, J */
    const char *name; /* "wavelength (nm)" */
    const char *per;  /* "nm", "(rad/fs)" */
    const char *unit; /* "nm", "rad/fs" */
};

/* Limits of an axis. */
struct plot_window {
    double low, high;
};

/* Sources: plot_source.c. */

/** Open a file and learn what it holds. Close with plot_source_close. */
int plot_source_open(const char *path, struct plot_source *out);
/** Close; legal on a zeroed one. */
void plot_source_close(struct plot_source *source);
/** Refuse a file without a stored complex field over omega. */
int plot_source_require_field(const struct plot_source *source, const char *what);
/** Whether the file holds a member; ERR_ARGUMENT with those that it holds. */
int plot_source_check_member(const struct plot_source *source, int64_t member);
/** Planes of a member that hold data; ERR_ARGUMENT when there are none or no such member. */
int plot_source_saved(struct plot_source *source, int64_t member, long *saved);
/**
 * The member that stands for what the command line asks: --member, else the first done one of
 * the point. ERR_ARGUMENT when there is no such member or none is done.
 */
int plot_source_member(struct plot_source *source, const struct plot_request *request,
                       int64_t point, int64_t *member);
/** The first member of a point that is done; ERR_ARGUMENT when none is. */
int plot_source_first_done(struct plot_source *source, int64_t point, int64_t *member);
/** Resolve the plane asked for: the last of `saved` by default; ERR_ARGUMENT beyond it. */
int plot_source_plane(const struct plot_source *source, long asked, long saved, long *plane);
/** |a|^2 of one plane, as stored order. @param power [n of the grid's omega] */
int plot_source_power(struct plot_source *source, int64_t member, long plane, long n,
                      double *power);
/** Complex field of one plane. @param field [2 n] pairs */
int plot_source_field(struct plot_source *source, int64_t member, long plane, long n,
                      double *field);
/** The valid part of a scale on a member's grid. @param values free with mem_free */
int plot_source_scale(struct plot_source *source, const char *name, int64_t member,
                      double **values, long *count);
/** Indices of a point on the axes: index[source->axes]. */
void plot_source_indices(const struct plot_source *source, int64_t point, int64_t *index);
/** Position of a plane as text: "z = 15 cm". */
int plot_source_plane_text(struct plot_source *source, int64_t member, long plane, char *text,
                           size_t size);

/* Scanned parameters: plot_parameter.c. */

/** Learn the scanned parameters of an open file. */
int plot_parameters_read(struct plot_source *source);
/** Forget them. */
void plot_parameters_clear(struct plot_source *source);
/** The parameter of that name, NULL: of the first axis; ERR_ARGUMENT with all names. */
int plot_parameter_find(const struct plot_source *source, const char *wanted,
                        const struct plot_parameter **out);
/** "pulse.duration = 50 fs, …": a member's values on one scan axis, -1: on all; "" without. */
int plot_source_axis_text(struct plot_source *source, int axis, int64_t member, char *text,
                          size_t size);

/* Spectral axes: plot_axis.c. */

/** Make the axis of a member's grid. Free with plot_axis_clear. */
int plot_axis_init(struct plot_source *source, int64_t member, enum plot_x x,
                   struct plot_axis *out);
/** Free; legal on a zeroed one. */
void plot_axis_clear(struct plot_axis *axis);
/** Spectrum per unit of x from stored |a|^2: density[axis->n]. */
void plot_axis_density(const struct plot_axis *axis, const double *power, double *density);
/** Limits that hold every value of y[n] above `range` dB below its maximum, with a margin. */
struct plot_window plot_find_window(long n, const double *x, const double *y, double range);
/** Means of y over `pixels` equal parts of the window (between samples: linear); NaN outside.
 */
void plot_resample(long n, const double *x, const double *y, struct plot_window window,
                   long pixels, double *out);
/** Label of a density axis in dB: "energy per wavelength (dB, 0 dB = 3.2 pJ/nm)". */
void plot_density_label(const struct plot_source *source, const struct plot_axis *axis,
                        double maximum, char *text, size_t size);

/* The kinds of pictures. */

/** Spectrum and temporal power against the progress variable. */
int plot_evolution(struct plot_request *request);
/** Spectra of a plane. */
int plot_spectrum(struct plot_request *request);
/** |g12| and mean spectrum of a plane. */
int plot_coherence(struct plot_request *request);
/** An observable against a scan axis or the progress variable. */
int plot_observable(struct plot_request *request);
/** Step lengths of a member. */
int plot_steps(struct plot_request *request);
/** Where each worker's time went. */
int plot_timing(struct plot_request *request);

/** An observable beside the errors of the envelope, over one axis or two. */
int plot_contract(struct plot_request *request);

/** The title: broken into two lines, then cut, to fit the picture; '\n' breaks as well. */
void plot_title(struct gnuplot *gnuplot, const char *title);

#endif
