/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_OPTIONS_H
#define KERNELS_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#define OPTIONS_ROWS_MAX 40

/* What options_next gives besides the index of an option's row. */
enum { OPTIONS_END = -1, OPTIONS_HELP = -2 };

/* One option of a command. `--name` is always legal; `-letter` when letter is not 0. */
struct option_row {
    const char *name;
    char letter;
    const char *argument; /* name of its argument in the help text, NULL: takes none; "[=N]": it
                             may be left out, the value is NULL then */
    const char *doc;      /* one sentence; NULL: not shown */
};

/* One command of the program: the row of main's table. */
struct command {
    const char *name;
    const char *arguments;            /* "SCAN.yaml", shown in the usage line */
    const char *doc;                  /* one line */
    const char *details;              /* more help text, or NULL */
    const struct option_row *options; /* ends with a NULL name; NULL: the command has none */
    /* argv[0] is the command's name. Returns the exit code of the program. */
    int (*run)(const struct command *self, int argc, char **argv);
};

/* State of one command line being read. */
struct options {
    const struct command *command;
    int argc;
    char **argv;
    const char *value; /* argument of the option just given */
    int arguments;     /* after OPTIONS_END: number of plain arguments … */
    char **argument;   /* … and the arguments themselves */
};

/** Start reading a command line; argv[0] is the command's name. Borrows everything. */
void options_begin(struct options *options, const struct command *command, int argc,
                   char **argv);

/**
 * The next option, by getopt_long: GNU long options, in any order with plain arguments.
 *
 * @param row receives the index of its row in command->options, OPTIONS_END after the last, or
 *            OPTIONS_HELP for --help (already printed to stdout: end with exit code 0)
 * @return 0, or ERR_ARGUMENT with one line that offers the nearest option
 */
int options_next(struct options *options, int *row);

/**
 * Read a whole command line of a command that has one option, a flag.
 *
 * @param given  whether it was given
 * @param help   --help was: end with exit code 0
 */
int options_read_flag(struct options *options, bool *given, bool *help);

/** Print usage, options and details of a command to a stream. */
void options_print_help(const struct command *command, FILE *out);

/** Refuse a wrong number of plain arguments with ERR_ARGUMENT and the usage. */
int options_require(const struct options *options, int least, int most);

/** Whole number of an option within [minimum, maximum], else ERR_ARGUMENT. */
int options_integer(const struct options *options, const char *name, long minimum, long maximum,
                    long *out);

/** Real number of an option within [minimum, maximum], else ERR_ARGUMENT. */
int options_real(const struct options *options, const char *name, double minimum,
                 double maximum, double *out);

/** Index of the option's argument in a NULL-terminated list of words, else ERR_ARGUMENT with
 * the nearest word and the whole list. */
int options_word(const struct options *options, const char *name, const char *const *words,
                 int *out);

/** The exit code for what a command's main function returned. */
int options_exit(int status);

#endif
