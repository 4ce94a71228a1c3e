/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_TWIN_H
#define IO_TWIN_H

#include <stdbool.h>

#include "io/verify_private.h"

/*
 * Opening many files of one layout; private to io. HDF5 takes some 2 ms to open the datasets of
 * a file, and the shards of a scan differ in their data only: where a file has the same size as
 * one opened before, and the headers of its datasets have the same bytes at the same places,
 * its data lie where they lie there. Its attributes are read all the same.
 */

#define TWIN_HEADERS_MAX 128

/* Datasets besides those that a store keeps open; one that is absent has size 0. */
enum source_extra { SOURCE_IDENTITY, SOURCE_POINT, SOURCE_CONFIG, SOURCE_EXTRAS };

/* A file that members are taken from. */
struct source {
    struct store *store;
    struct h5_dataset extra[SOURCE_EXTRAS];
    struct verify_facts facts; /* none until they are opened; a twin has those of the other */
};

/** Open a file for reading, all of it checked: see store_open_read. */
int source_open(const char *path, struct source *out);

/** The same of a file that gets members: for writing, by store_open. */
int source_open_writer(const char *path, struct source *out);

/** Close; legal on a zeroed object. */
void source_close(struct source *source);

/* What is the same in all twins. */
struct twin;

/**
 * Learn from an open file. A file that no twin can be told by (chunked, made by another
 * program) gives *out = NULL.
 *
 * @param out  free with twin_destroy
 */
int twin_learn(const struct source *source, struct twin **out);

/**
 * Open a file for reading, when it is a twin; only store_get, and what is built on it, may be
 * used then: datasets have no handles.
 *
 * @param out  its store is NULL when it is no twin, or cannot be opened: source_open says why
 * @return 0, ERR_MEMORY
 */
int twin_open(const struct twin *twin, const char *path, struct source *out);

/** Free; NULL is legal. */
void twin_destroy(struct twin *twin);

#endif
