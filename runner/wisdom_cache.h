/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WISDOM_CACHE_H
#define RUNNER_WISDOM_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend.h"
#include "runner/run.h"

/*
 * FFTW wisdom that `scanfarm tune` made for this user: one file for each FFT library, CPU
 * model, number of threads and transform length, in $XDG_CACHE_HOME/scanfarm or
 * ~/.cache/scanfarm. A file has its key in its first lines and a check sum of the wisdom, so
 * that a damaged or foreign one is seen and left out.
 */

#define WISDOM_CACHE_FILES_MAX 4096 /* of one listing */
#define WISDOM_WHY_SIZE        (RUN_PATH_SIZE + 336)

/* What wisdom holds for. Threads: of one transform; FFTW-MPI's wisdom is no part of this. */
struct wisdom_key {
    char library[96];
    char cpu[96];
    int threads;
    long n;
};

/**
 * The user's cache folder; it need not exist. Without HOME the account's home directory counts.
 *
 * @param path [RUN_PATH_SIZE] receives it, "" when there is none
 * @param why  [WISDOM_WHY_SIZE] receives the reason, "" when all is well
 */
void wisdom_cache_folder(char *path, char *why);

/** The key of a transform length on this machine. */
void wisdom_cache_key(const struct backend *be, long n, struct wisdom_key *key);

/** Whether two keys are those of one machine: equal but for the length. */
bool wisdom_key_same_machine(const struct wisdom_key *a, const struct wisdom_key *b);

/** Path of a key's file. @param path [RUN_PATH_SIZE + 256] */
void wisdom_cache_path(const char *folder, const struct wisdom_key *key, char *path);

/**
 * Read a key's wisdom.
 *
 * @param text receives memory to mem_free; "" when there is none, or none that can be used
 * @param why  [WISDOM_WHY_SIZE] why a file that is there is left out, "" otherwise
 * @return 0 or ERR_MEMORY
 */
int wisdom_cache_read(const char *folder, const struct wisdom_key *key, char **text, char *why);

/** Write a key's wisdom by rename; makes the folder. ERR_IO with path and cause. */
int wisdom_cache_write(const char *folder, const struct wisdom_key *key, const char *text);

/** Make the folder and see whether it takes files: 0, or ERR_IO with path and cause. */
int wisdom_cache_try(const char *folder);

/* One file of the folder. */
struct wisdom_file {
    char name[256];
    bool damaged; /* the rest is empty */
    struct wisdom_key key;
    char *text; /* wisdom, owned */
};

/**
 * The files of the folder in the order of their names; none when there is no folder.
 *
 * @param files receives the array, free with wisdom_cache_list_free
 * @return 0, ERR_IO for a folder that cannot be read, ERR_MEMORY
 */
int wisdom_cache_list(const char *folder, struct wisdom_file **files, int *count);

/** Free a listing. */
void wisdom_cache_list_free(struct wisdom_file *files, int count);

/** Remove all wisdom files of the folder, nothing else. @param removed receives their number */
int wisdom_cache_clear(const char *folder, int *removed);

#endif
