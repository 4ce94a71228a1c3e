/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_SCHEMA_H
#define IO_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5.h"
#include "io/store.h"

/*
 * The datasets of format version 1 as a table, made from a store_spec; private to io. Size
 * estimate, definition and comparison all read this table, so that they cannot disagree.
 */

#define SCHEMA_NAME_MAX  96
#define SCHEMA_MEMBER_ID "member_id"

/* What a dataset under /plane is; attribute `kind`. */
enum plane_part { PART_NONE, PART_PROGRESS, PART_ARRAY, PART_OBSERVABLE, PART_CHECKSUM };

/* A dataset of the file: where, what, how long. */
struct schema_entry {
    char path[H5_PATH_MAX];
    char unit[64];
    char long_name[256];
    enum h5_kind kind;
    size_t text; /* bytes of an H5_TEXT element */
    int dims;
    int64_t length[H5_DIMS_MAX];
    char dim[H5_DIMS_MAX][SCHEMA_NAME_MAX]; /* names of dimension scales in the root */
    bool scale;                             /* is itself a dimension scale of that name */
    bool bare;       /* … that is a length only: no values are written, readers see none */
    bool zeroed;     /* fill value 0, written at allocation: commits and states */
    bool diagnostic; /* need not carry data when all is done: not in store_bytes' data */
    enum plane_part part;
    int index; /* PART_ARRAY: in the layout; PART_OBSERVABLE: in the model's table */
};

/* Every dataset that a file gets, in the order of creation. */
struct schema {
    struct schema_entry *entry; /* [count] */
    int count;
    int capacity;
};

/** Names of the parts, the attribute `kind`: "progress", "array", … "" for PART_NONE. */
const char *schema_part_name(enum plane_part part);

/**
 * Make the table. Refuses a layout that the format cannot hold (ERR_ARGUMENT, ERR_BUG).
 *
 * @param out  free with schema_clear
 */
int schema_init(const struct store_spec *spec, struct schema *out);

/** Free the table; legal on a zeroed one. */
void schema_clear(struct schema *schema);

/** The entry of a path, NULL when there is none. */
const struct schema_entry *schema_find(const struct schema *schema, const char *path);

/** Whether a compressed file has it in compressed pieces: arrays, spectra, histories. */
bool schema_is_packed(const struct schema_entry *entry);

/**
 * Shape of a piece: whole planes (rows of a history), as many as make 64 KiB.
 *
 * @param chunk  [entry->dims], two dimensions at least
 */
void schema_chunk(const struct schema_entry *entry, int64_t *chunk);

/** Bytes of an entry's data. */
double schema_entry_bytes(const struct schema_entry *entry);

/** Index in the layout of the array whose ensemble spectrum is reduced (the first complex field
 *  of one dimension), -1 when there is none. */
int schema_spectrum_array(const struct store_spec *spec);

/** Index of the model's observable of that name, when it is stored; else -1. */
int schema_observable(const struct store_spec *spec, const char *name);

/** Name of a scanned parameter in the file: dots become '_', and `suffix` is appended. */
void schema_param_name(const struct store_param *param, const char *suffix, char *name,
                       size_t size);

/** Name of the dimension scale of a layout axis: its own name, with several grids NAME_index.
 */
void schema_axis_name(const struct store_spec *spec, int axis, char name[SCHEMA_NAME_MAX]);

/** Whether the file holds one shard of several. */
bool schema_is_shard(const struct store_spec *spec);

/** First member of the file. */
int64_t schema_first(const struct store_spec *spec);

/** Members of the file: points x realisations, or those of the shard. */
int64_t schema_members(const struct store_spec *spec);

/* Building blocks of the table, for the parts of it that stand in schema_groups.c. */

/** Append a copy of an entry. ERR_BUG for a path that exists, ERR_MEMORY. */
int schema_add(struct schema *schema, const struct schema_entry *entry);

/** Entries of /member. */
int schema_add_member(struct schema *schema, const struct store_spec *spec);
/** Whether an entry is there only in files of scans with an envelope. */
bool schema_is_judgment(const struct schema_entry *entry);
/** Entries of /plane. */
int schema_add_plane(struct schema *schema, const struct store_spec *spec);
/** Entries of /step. */
int schema_add_step(struct schema *schema, const struct store_spec *spec);
/** Entries of /resume and their scales. */
int schema_add_resume(struct schema *schema, const struct store_spec *spec);
/** Entries of /ensemble. */
int schema_add_ensemble(struct schema *schema, const struct store_spec *spec);
/** Entries of /timing and /provenance. */
int schema_add_run(struct schema *schema, const struct store_spec *spec);

#endif
