/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_COLLECT_LOG_H
#define IO_COLLECT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "io/store.h"

/*
 * `<result>.collecting`: what became of each file that was collected into a result file. With
 * it the same command goes on after a kill and reads no file again that it has finished, and
 * knows which file a member came from. Text, lines appended; a file's lines belong together:
 *
 *   scanfarm collecting 1 TOKEN                  of the result file that it belongs to
 *   file KEY SHARD SHARDS FIRST COUNT PATH       KEY: size, time and inode when it was read
 *   took FIRST LAST                              members taken from it
 *   note KIND FIRST LAST TEXT
 *   end AGAIN TAKEN EQUAL DAMAGED CONFLICTS      without it the file was not finished
 *   commit                                       what stands above is in the result file
 *
 * In PATH and TEXT a backslash and a line end are escaped. Files without `end` or without a
 * `commit` behind it are read again.
 */

#define COLLECT_PATH_SIZE 4096
#define COLLECT_TEXT_SIZE 1024

/* What can be wrong with a file or with members of it. */
enum collect_kind {
    COLLECT_UNREADABLE, /* not one of ours, damaged, truncated, absent */
    COLLECT_FOREIGN,    /* of another configuration, or members that are none of the scan's */
    COLLECT_DAMAGED,    /* a plane has not its checksum */
    COLLECT_CONFLICT,   /* another file has another result of the same member */
    COLLECT_KINDS
};

/* What became of a file. */
struct collect_file {
    char path[COLLECT_PATH_SIZE];
    uint64_t key;               /* see collect_log_key */
    struct store_window window; /* shards 0: it could not be read */
    bool again;                 /* to be read again, though it has not changed */
    int64_t taken;              /* members taken from it */
    int64_t first, last;        /* of these; not in the log */
    int64_t equal;              /* members that were there already, with the same content */
    int64_t damaged;            /* members that were left out */
    int64_t conflicts;          /* members that differ from those that were there */
};

/* Something to be told. */
struct collect_note {
    enum collect_kind kind;
    int64_t first, last; /* members; -1: the file as a whole */
    char text[COLLECT_TEXT_SIZE];
};

/* Members [first, last]. */
struct collect_range {
    int64_t first, last;
};

/* A line for a reader of the log. */
enum collect_line { COLLECT_LINE_FILE, COLLECT_LINE_NOTE, COLLECT_LINE_END };

struct collect_log;

/** "unreadable", "foreign", … */
const char *collect_kind_name(enum collect_kind kind);

/** Path of the log of a result file. @param out [size] */
int collect_log_path(const char *result, char *out, size_t size);

/** What tells an unchanged file from a changed one. */
uint64_t collect_log_key(const struct stat *info);

/**
 * Open the log of a result file, or begin one.
 *
 * @param token  of the result file: a log with another token is of another file, and begun anew
 * @param out    close with collect_log_close
 * @return 0, ERR_IO, ERR_MEMORY
 */
int collect_log_open(const char *result, uint64_t token, struct collect_log **out);

/** Close; NULL is legal. ERR_IO when lines may be lost. */
int collect_log_close(struct collect_log *log);

/**
 * What is known of a file that was finished at an earlier time.
 *
 * @param known    receives it
 * @param settled  receives whether its record has a commit behind it
 */
int collect_log_find(struct collect_log *log, const char *path, bool *found,
                     struct collect_file *known, bool *settled);

/** The members that a file's newest record says were taken from it, finished or not.
 *  @param out free with mem_free */
int collect_log_claims(struct collect_log *log, const char *path, struct collect_range **out,
                       long *count);

/** Whether a file was marked in this run. */
bool collect_log_is_marked(const struct collect_log *log, const char *path);

/** A file that is known belongs to this run: the report tells of it. */
int collect_log_mark(struct collect_log *log, const char *path);

/** Begin the record of a file, of which path, key and window are set. */
int collect_log_begin(struct collect_log *log, const struct collect_file *file);
/** Members of it were taken. */
int collect_log_took(struct collect_log *log, int64_t first, int64_t last);
/** Something is to be told of it. */
int collect_log_note(struct collect_log *log, const struct collect_note *note);
/** End the record; the file belongs to this run. */
int collect_log_end(struct collect_log *log, const struct collect_file *file);

/** Give all lines to the system; before what they tell of counts in the result file. */
int collect_log_flush(struct collect_log *log);

/** What the lines tell of is in the result file, on the disk. */
int collect_log_commit(struct collect_log *log);

/**
 * Which file a member was taken from.
 *
 * @param path   [size] "" when no record says so
 * @param range  receives the members around it that came from there too
 */
int collect_log_owner(struct collect_log *log, int64_t member, char *path, size_t size,
                      struct collect_range *range);

/** Read the records of the files of this run, from the first. */
int collect_log_rewind(struct collect_log *log);

/**
 * The next line of them.
 *
 * @param file  at FILE path and window, at END the counts too
 * @param note  at NOTE
 * @return false at the end
 */
bool collect_log_next(struct collect_log *log, enum collect_line *line,
                      struct collect_file *file, struct collect_note *note);

#endif
