/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_VERSION_H
#define RUNNER_VERSION_H

#include <stddef.h>
#include <stdio.h>

/** The libraries in use, one line: "Open MPI v4.1.4; HDF5 1.10.8; fftw-3.3.10-sse2-avx". */
void version_libraries(char *text, size_t size);

/** Version and revision, one line: "0.1.0 (1a2b3c4d5e6f, modified)". */
void version_program(char *text, size_t size);

/** What `scanfarm --version` prints. @return 0, ERR_DEVICE, ERR_MEMORY */
int version_print(FILE *out);

#endif
