/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_SUBMIT_H
#define SLURM_SUBMIT_H

/**
 * The command `scanfarm submit`. @param argv argv[0] is "submit" @return exit code of the
 * program
 */
int submit_command(int argc, char **argv);

/**
 * The command `scanfarm cancel`. @param argv argv[0] is "cancel" @return exit code of the
 * program
 */
int cancel_command(int argc, char **argv);

#endif
