/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_WALLTIME_H
#define SLURM_WALLTIME_H

#define WALLTIME_SIZE      32
#define WALLTIME_UNLIMITED (-1)

/**
 * Read a time limit exactly as sbatch does: "30" (minutes), "MM:SS", "HH:MM:SS", "D-HH",
 * "D-HH:MM", "D-HH:MM:SS", "UNLIMITED". Slurm counts whole minutes: seconds are rounded up.
 *
 * @param name     of the option, for the error
 * @param minutes  receives 1 … , or WALLTIME_UNLIMITED
 * @return 0, or ERR_ARGUMENT; 0 minutes are refused, since Slurm reads them as no limit
 */
int walltime_read(const char *name, const char *text, long *minutes);

/** Write a time limit as squeue does: "30:00", "2:30:00", "1-06:00:00", "UNLIMITED". */
void walltime_text(long minutes, char text[WALLTIME_SIZE]);

#endif
