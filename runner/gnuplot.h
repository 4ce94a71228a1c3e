/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_GNUPLOT_H
#define RUNNER_GNUPLOT_H

#include <stdio.h>

/*
 * gnuplot at the end of a pipe. It runs in a temporary folder of its own, where its data files
 * and its picture lie under names that we choose, so that no text of the user's is ever part of
 * a file name there; the picture is moved to the user's place when it is whole. No shell is
 * involved.
 */

/* Kinds of pictures, by the ending of the path. */
enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF };

/* A picture to be drawn. */
struct picture {
    const char *path; /* where the picture goes; its ending says the format */
    int width;        /* size in points of 1/96 inch (pixels of a PNG) */
    int height;
};

struct gnuplot;

/** Size of the letters in pixels of 1/96 inch; smaller in a small picture. */
double picture_font(const struct picture *picture);

/** The format by the ending of a name (.png, .svg, .pdf), else ERR_ARGUMENT. */
int picture_format_of(const char *path, enum picture_format *out);

/**
 * Start gnuplot and set terminal, fonts and line styles. Line types 1-7 have colours that the
 * colour-blind can tell apart; the palette is perceptually even.
 *
 * @return 0; ERR_DEVICE when gnuplot is missing or lacks the format, ERR_IO, ERR_ARGUMENT
 */
int gnuplot_open(const struct picture *picture, struct gnuplot **out);

/** Distance of two lines of text in pixels of 1/96 inch. */
double picture_line(const struct picture *picture);

/** The picture that was asked for. */
const struct picture *gnuplot_picture(const struct gnuplot *gnuplot);

/** Size for gnuplot's `font ',SIZE'` that is so many times that of the picture. */
double gnuplot_font(const struct gnuplot *gnuplot, double times);

/** Where commands are written. */
FILE *gnuplot_script(struct gnuplot *gnuplot);

/** Make a data file in gnuplot's folder. Close it with gnuplot_data_close. */
int gnuplot_data(struct gnuplot *gnuplot, const char *name, FILE **out);

/** Close a data file; ERR_IO when the disk is full. */
int gnuplot_data_close(FILE *file, const char *name);

/** Write a text as a quoted string of gnuplot: quotes doubled, control characters blanked. */
void gnuplot_text(struct gnuplot *gnuplot, const char *text);

/**
 * Send what was written, wait for gnuplot, move the picture to its place. Frees everything.
 *
 * @return 0, ERR_IO, or ERR_DEVICE with gnuplot's own first complaint
 */
int gnuplot_close(struct gnuplot *gnuplot);

/** Give up: end gnuplot, remove the temporary folder, leave no picture. NULL is legal. */
void gnuplot_abandon(struct gnuplot *gnuplot);

#endif
