/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_CLOCK_H
#define KERNELS_BASE_CLOCK_H

#define CLOCK_ISO_SIZE 32

/** Monotonic wall time in seconds from an arbitrary origin. */
double clock_wall(void);

/** CPU time of the calling thread in seconds. */
double clock_cpu_thread(void);

/** CPU time of the whole process in seconds. */
double clock_cpu_process(void);

/** Current UTC time, ISO 8601 with milliseconds: "2026-01-31T12:00:00.123Z". */
void clock_iso(char text[CLOCK_ISO_SIZE]);

#endif
