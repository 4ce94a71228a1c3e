/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_OPTIONS_H
#define RUNNER_OPTIONS_H

#include "kernels/base/options.h"
#include "scans/scan.h"

#define OPTIONS_OVERRIDES_MAX 64

/**
 * Read the scan file of a command line. A missing or unreadable file is a usage error: it ends
 * with exit code 2, as every mistake in the file does.
 */
int options_read_scan(const char *path, const struct scan_override *overrides, int count,
                      struct scan **out);

/** Refuse a result file that does not exist or is no regular file: ERR_ARGUMENT, one line. */
int options_check_file(const char *path);

#endif
