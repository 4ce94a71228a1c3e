/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_LOG_H
#define KERNELS_BASE_LOG_H

/* From the most important level down. */
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/**
 * Set the least important level that is written. The default is LOG_INFO; ranks above 0 of a
 * farm use LOG_WARN.
 */
void log_set_level(enum log_level level);

/**
 * Name the writer in each line: "2026-01-31T12:00:00.123Z info 3@node17: text". Before this
 * call (a plain command on a login node) a line is "scanfarm: text", with "warning: " for
 * LOG_WARN.
 *
 * @param rank MPI rank of this process
 * @param host host name, copied (at most 63 bytes)
 */
void log_set_writer(int rank, const char *host);

/** Write one line to stderr with a single write; newlines inside the text become spaces, other
 * control characters \\xNN: text of a scan file must not command the terminal. */
void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
