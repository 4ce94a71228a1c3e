/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_COMMAND_H
#define KERNELS_BASE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#define COMMAND_WORDS_MAX 512
#define COMMAND_OUTPUT_MAX                                                                     \
    67108864 /* bytes of each stream; what comes after them is dropped                         \
              */

/* How another program ended. */
enum command_end {
    COMMAND_EXITED,    /* by itself: exit_code */
    COMMAND_KILLED,    /* by a signal */
    COMMAND_TIMED_OUT, /* it took longer than its limit and was killed */
    COMMAND_MISSING    /* there is no such program on the PATH, or it cannot be executed */
};

/* What another program said. */
struct command_result {
    enum command_end end;
    int exit_code; /* COMMAND_EXITED; else -1 */
    int signal;    /* COMMAND_KILLED; else 0 */
    char *output;  /* its stdout, NUL-terminated, never NULL after success; owned */
    char *errors;  /* its stderr, likewise */
};

/**
 * Run another program, found on the PATH, with an empty stdin, and catch what it says. It gets
 * no shell, a process group of its own and default signal handlers.
 *
 * @param words  NULL-terminated: the program and its arguments
 * @param limit  s that it may take; then it and what it started are killed (SIGKILL)
 * @param out    free with command_clear, also after an error
 * @return 0 also when the program fails, is missing or takes too long: out->end says so;
 *         ERR_UNSUPPORTED for more than COMMAND_WORDS_MAX words; ERR_MEMORY, or ERR_IO when no
 *         process or pipe can be had
 *
 * What outlives the program and keeps its streams open is not waited for.
 */
int command_run(const char *const *words, double limit, struct command_result *out);

/** Whether a command did what it was asked: it ended by itself with exit code 0. */
bool command_succeeded(const struct command_result *result);

/**
 * One line on how a command failed: its own last words where it has some ("squeue: error: …"),
 * else "squeue took longer than 10 s", "squeue is not on the PATH" …
 *
 * @param program  name of the program
 * @param limit    what command_run was given
 * @param text     [size]
 */
void command_explain(const struct command_result *result, const char *program, double limit,
                     char *text, size_t size);

/** Free the texts; legal on a zeroed object. */
void command_clear(struct command_result *result);

/** Whether a program of this name is on the PATH. */
bool command_exists(const char *program);

#endif
