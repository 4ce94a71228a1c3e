/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLOT_MAP_H
#define RUNNER_PLOT_MAP_H

#include "runner/plot.h"

#define PLOT_MAP_PIXELS 640 /* columns of a map */

/* A quantity over x (columns) and the progress variable (rows), in dB of its maximum. */
struct plot_map {
    struct plot_window x;
    long rows;
    const double *z; /* [rows] positions of the planes, in the unit shown; ascending */
    double *db;      /* [rows][PLOT_MAP_PIXELS] */
};

/** Memory for a map. Free with plot_map_clear. */
int plot_map_init(struct plot_map *map, struct plot_window x, long rows, const double *z);
/** Free; legal on a zeroed one. */
void plot_map_clear(struct plot_map *map);

/** Set a row from samples y(x), x ascending: means over the pixels, in dB of `top`. */
void plot_map_row(struct plot_map *map, long row, long n, const double *x, const double *y,
                  double top);

/**
 * Write the map as gnuplot's binary image and the plot command for it. Planes that are not
 * equally spaced are interpolated (linearly in dB) to equal rows.
 *
 * @param name  data file name in gnuplot's folder
 * @param floor values below are written as the floor, dB
 */
int plot_map_write(const struct plot_map *map, struct gnuplot *gnuplot, const char *name,
                   double floor);

#endif
