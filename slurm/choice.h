/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_CHOICE_H
#define SLURM_CHOICE_H

#include <stdbool.h>

#include "kernels/base/options.h"

#define CHOICE_LIST_MAX 64

/* Values of an option that may be repeated. */
struct choice_list {
    const char *word[CHOICE_LIST_MAX];
    int count;
};

/* What the user wants of `scanfarm submit`: the profile's values, then the command line's. */
struct choice {
    const char *scan;   /* the scan file as given */
    const char *output; /* the result file as given, NULL: the scan's name and .h5 */
    long shards;
    long nodes;   /* of a job */
    long workers; /* of a node */
    long gpus;    /* of a node, 0: none */
    long minutes; /* time limit; 0: the partition's */
    long max_running;
    long max_restarts;
    const char *partition; /* NULL where not given, as all below */
    const char *account;
    const char *qos;
    const char *constraint;
    const char *mem;
    const char *mail; /* ADDRESS or ADDRESS:EVENTS */
    const char *container;
    const char *launcher;
    const char *profile;
    struct choice_list sbatch_options;
    struct choice_list sets;
    struct choice_list plots;
    struct choice_list setup; /* lines of the profile */
    bool retry;
    bool collect;
    bool dry_run;
    char *text; /* of the profile, owned: values point into it */
};

/** The row of `scanfarm submit`: usage and options. */
extern const struct command choice_command;

/** Begin with the defaults. */
void choice_init(struct choice *choice);

/**
 * Take the value of an option.
 *
 * @param row    of choice_command.options
 * @param value  NULL for an option without one; kept, not copied
 * @return 0, or ERR_ARGUMENT
 */
int choice_set(struct choice *choice, int row, const char *value);

/** Row of a key of a profile, -1: there is none. `setup` is a row that only profiles have. */
int choice_row_of_key(const char *key);

/** Names of all keys that a profile may have, NULL-terminated. @param names [OPTIONS_ROWS_MAX]
 */
void choice_keys(const char *names[OPTIONS_ROWS_MAX]);

/**
 * Read the command line of `scanfarm submit`, the profile first.
 *
 * @param help  receives whether --help was given and answered
 * @return 0, ERR_ARGUMENT, ERR_MEMORY
 */
int choice_read(int argc, char **argv, struct choice *choice, bool *help);

/** Free what a profile left. */
void choice_clear(struct choice *choice);

#endif
