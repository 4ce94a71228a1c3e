/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_JOURNAL_PRIVATE_H
#define IO_JOURNAL_PRIVATE_H

#include <locale.h>
#include <stdio.h>

#include "io/journal.h"

/* Records of the journal as text, shared by those who write and those who read them. */

#define JOURNAL_RECORD_SIZE 4096 /* no record is longer */
#define JOURNAL_LINE_SIZE   8192
#define JOURNAL_RANGES_MAX  16 /* ranges of members that wait to be written */

/* Members [first, last], or `count` of them, of equal state; not yet written. */
struct journal_range {
    char state[24];
    int rank; /* 0: of any worker */
    int64_t first, last, count;
};

/* An open journal of one attempt, with the ranges that wait to be written. */
struct journal {
    char *path;
    int fd;
    int64_t attempt;
    int64_t sequence;
    int64_t begin_at; /* where the `begin` record of this attempt stands; -1: not written */
    char run[JOURNAL_RUN_SIZE];
    int ranges;
    struct journal_range range[JOURNAL_RANGES_MAX];
    double since; /* when the first of them came */
};

/* A record in the making. */
struct record {
    char text[JOURNAL_RECORD_SIZE];
    size_t used;
};

/** Begin a record of a kind, with what all have. */
void record_begin(struct journal *journal, struct record *record, const char *kind);

/** Add text by printf. */
void record_add(struct record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Add a string member. '{' and '}' are written as escapes too, so that a brace closes a record
 *  and nothing else. */
void record_add_text(struct record *record, const char *name, const char *text);

/** Add a number; null when it is not finite. */
void record_add_number(struct record *record, const char *name, double value);

/** End a record and write it. ERR_IO */
int record_write(struct journal *journal, struct record *record);

/** Write the ranges that wait. ERR_IO */
int journal_flush(struct journal *journal);

/* One whole record: flat JSON, keys and values without blanks between them. */
struct record_line {
    char text[JOURNAL_LINE_SIZE];
};

/** Open the journal of a store file for reading, at the `begin` record of its newest attempt if
 *  `newest`. NULL and 0 when there is none. */
int record_open(const char *store_path, bool newest, FILE **out);

/** The next whole record; torn and overlong lines are skipped. */
bool record_next(FILE *file, struct record_line *line);

/** Whether a record is of a kind. */
bool record_is(const struct record_line *line, const char *kind);

/** Text of a key, "" without one. */
void record_text(const struct record_line *line, const char *key, char *text, size_t size);

/** Integer of a key, or `otherwise`. */
int64_t record_integer(const struct record_line *line, const char *key, int64_t otherwise);

/** Number of a key, NaN without one. @param locale whose decimal sign is a dot */
double record_real(const struct record_line *line, const char *key, locale_t locale);

/** Numbers of an array. @return how many, `most` at most */
int record_reals(const struct record_line *line, const char *key, locale_t locale, int most,
                 double *values);

#endif
