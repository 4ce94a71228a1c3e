/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_SCRIPT_TEXT_H
#define SLURM_SCRIPT_TEXT_H

/*
 * The part of a job script that is the same for all scans. It uses the variables that stand
 * before it: scanfarm, stem, result, most_restarts; scan, workers, shards, launcher, image and
 * sets of a run, kinds of a plot.
 */

/** Signals, the program, and what becomes of a job that has work left. */
extern const char script_text_common[];

/** One shard. Arguments of the script: shards before those of the array, and `retry`. */
extern const char script_text_run[];

/** All shards into one file. */
extern const char script_text_collect[];

/** Pictures of the result. */
extern const char script_text_plot[];

#endif
