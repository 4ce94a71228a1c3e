/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLOT_FRAME_H
#define RUNNER_PLOT_FRAME_H

#include "runner/plot.h"

/* Titles, labels and ticks that fit a picture of any size. Widths are in pixels of 1/96 inch.
 */

/* How the values of an axis are shown: value = offset + shown * unit.scale. */
struct plot_scale {
    struct text_unit unit;
    double offset; /* 0 unless the values differ too little to be told apart */
    int digits;    /* of the offset */
};

/** Append a part to a list: ", " between two, nothing for "". What has no room is cut. */
void plot_append(char *text, size_t size, const char *part);

/** About the width of a text at the picture's font. */
double plot_text_width(const struct picture *picture, const char *text);

/** Letters of a UTF-8 text. */
int plot_letters_of(const char *text);

/** Letters that fit a width. */
int plot_letters(const struct picture *picture, double width);

/** Cut a text to so many letters; the last one is then "…". @param text at least 4 bytes */
void plot_cut(char *text, int letters);

/** Write a text as gnuplot's string, broken into two lines at '\n', or where it is longer than
 * `letters`; lines that are still too long are cut. */
void plot_write_lines(struct gnuplot *gnuplot, const char *text, int letters);

/** Number of lines that plot_write_lines makes: 1 or 2. */
int plot_count_lines(const char *text, int letters);

/**
 * Ticks of a linear axis: as many as have room, with digits that tell them apart.
 *
 * @param axis   "x", "y" or "cb"
 * @param range  limits in the unit shown
 * @param pixels length of the axis
 * @return how far apart they are; 0 for a range without an extent, which gets none
 */
double plot_ticks(struct gnuplot *gnuplot, const char *axis, struct plot_window range,
                  double pixels);

/** Unit of values from low to high, and an offset where they agree in five digits and more. */
void plot_scale_choose(const char *unit, double low, double high, struct plot_scale *out);

/** A value as it is shown. */
double plot_scale_show(const struct plot_scale *scale, double value);

/** Label of an axis: "peak power (kW)", "photon number − 1". @param unit of the stored values
 */
void plot_axis_label(struct gnuplot *gnuplot, const char *axis, const char *name,
                     const char *unit, const struct plot_scale *scale);

/** Limits with air: parts of the span below and above; around a single value as well. */
struct plot_window plot_widen(double low, double high, double below, double above);

/** Refuse an --x-range beyond a spectrum. */
int plot_check_window(const struct plot_source *source, const struct plot_axis *axis,
                      const struct plot_request *request);

#endif
