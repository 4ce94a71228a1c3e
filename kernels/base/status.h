/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_STATUS_H
#define KERNELS_BASE_STATUS_H

#include <stddef.h>

/*
 * Run errors. A function that can fail returns one of these codes and gives its results through
 * its last arguments. A member that diverges is data, not an error (kernels/model.h).
 *
 *  code            meaning                                                    exit code
 */
#define STATUS_LIST(X)                                                                         \
    X(ERR_ARGUMENT, "argument", 2)       /* a value outside what the function accepts */       \
    X(ERR_PARSE, "parse", 2)             /* text that is not a scan file, number, unit … */  \
    X(ERR_UNSUPPORTED, "unsupported", 2) /* a named route that this version refuses */         \
    X(ERR_MEMORY, "memory", 3)           /* allocation failed or exceeds the limit */          \
    X(ERR_IO, "input/output", 3)         /* file system, HDF5 */                               \
    X(ERR_MPI, "MPI", 3)                 /* a message-passing call failed or timed out */      \
    X(ERR_DEVICE, "device", 3)           /* GPU, FFT planning, CPU features */                 \
    X(ERR_CONFLICT, "conflict", 4) /* the file is in use or holds another configuration */     \
    X(ERR_BUG, "internal", 70)     /* a broken invariant of scanfarm itself */

/* Error codes: 0 is success, these are the rows of the list above. */
enum status_code {
    STATUS_OK = 0,
#define STATUS_ENUM(code, text, exit_code) code,
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
};

/* Exit codes of the program that do not come from an error (docs/commands.md). */
enum exit_code { EXIT_MEMBERS_FAILED = 1, EXIT_STOPPED = 75, EXIT_INTERRUPTED_TWICE = 130 };

/** Name of an error code ("parse", "conflict", …), "ok" for 0. */
const char *status_name(int code);

/** The program's exit code for an error code: 0, 2, 3, 4 or 70 (overview.md). */
int status_exit_code(int code);

/**
 * Say what failed, once, where it happened: logs one error line, or stores it in the calling
 * thread's capture buffer when one is set.
 *
 * @param code   one of enum status_code, not 0
 * @param format printf format; lower case, problem first, value and limit in it, no full stop
 * @return code
 */
int status_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Redirect the calling thread's error texts into a buffer instead of the log.
 *
 * Used where a failure is data (a member's reason) and by tests. Only the first text after the
 * call is kept. Thread-local; nest by restoring the previous buffer.
 *
 * @param buffer [size] receives the text, NUL-terminated; NULL ends the capture. Borrowed.
 */
void status_capture(char *buffer, size_t size);

/* The calling thread's capture, to be put back. */
struct status_saved {
    char *buffer;
    size_t size;
};

/** Remember the calling thread's capture before one of one's own. */
struct status_saved status_capture_save(void);

/** Put a remembered capture back; the text in its buffer stays. */
void status_capture_restore(struct status_saved saved);

/* Fail: speak once and leave the function. clang's analyser, which sees one file at a time,
 * does not know that status_fail returns its code. */
#ifndef __clang_analyzer__
#    define FAIL(code, ...) return status_fail(code, __VA_ARGS__)
#else
#    define FAIL(code, ...) return status_fail(code, __VA_ARGS__), (code)
#endif

/* Pass an error up. */
#define TRY(call)                                                                              \
    do {                                                                                       \
        const int try_code_ = (call);                                                          \
        if (try_code_ != 0)                                                                    \
            return try_code_;                                                                  \
    } while (0)

/* Keep the first error in rc and clean up at a label. */
#define TRY_OR(rc, label, call)                                                                \
    do {                                                                                       \
        (rc) = (call);                                                                         \
        if ((rc) != 0)                                                                         \
            goto label;                                                                        \
    } while (0)

#endif
