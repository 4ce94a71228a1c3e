/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_COLLECT_H
#define IO_COLLECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "io/collect_log.h"

/*
 * Many files of one scan, shards or whole ones, into one result file. Members are placed by
 * their identity and point; each plane is checked against its checksum while it is copied. A
 * member that is done stands above one that has failed, and that above one that is pending; of
 * pending ones the one with more planes counts. What is there already stays: equal content is
 * counted, other content is a conflict that is told. One file is open at a time. What became of
 * each stands in the collect log, so that the same command goes on after a kill.
 */

struct collect;

/* Finds what a file's configuration asks of it. */
struct collect_judge {
    /* @param out borrowed until the next call; NULL: the configuration is not understood */
    int (*find)(void *context, const char *canonical, const struct store_spec **out);
    void *context;
};

/* What collect_add did with a file. */
enum collect_outcome {
    COLLECT_READ,      /* it was read, or could not be: the log says which */
    COLLECT_UNCHANGED, /* it was finished before and has not changed */
    COLLECT_SELF,      /* it is the result file */
    COLLECT_TWICE,     /* it was named before */
    COLLECT_STOPPED    /* a stop was asked for: it is to be read again */
};

/**
 * Begin to collect into a result file of the whole scan; single writer.
 *
 * @param result  made by store_define
 * @param judge   copied; what verify calls broken in identities, points and layout of a file is
 *                not taken
 * @param stop    when it becomes 1, collect_add returns soon; borrowed
 * @param out     close with collect_close
 * @return 0, ERR_CONFLICT for a file that is none of ours or holds a shard, ERR_IO, ERR_MEMORY
 */
int collect_open(const char *result, const struct collect_judge *judge, const atomic_int *stop,
                 struct collect **out);

/**
 * Take what a file has.
 *
 * @param name  its path
 * @return 0 also for a file that cannot be read or is of another configuration: its notes in
 * the log say so; ERR_IO when the result file or the log takes nothing more; ERR_MEMORY
 */
int collect_add(struct collect *collect, const char *name, enum collect_outcome *outcome);

/** What collect_add learned of the file it read last. Borrowed, until the next call. */
const struct collect_file *collect_last(const struct collect *collect);

/** The log: what is to be told of each file. */
struct collect_log *collect_get_log(struct collect *collect);

/** What was copied counts, on the disk, and the log says so. ERR_IO */
int collect_flush(struct collect *collect);

/** Close; NULL is legal. What was not flushed is read again by the next collect. ERR_IO */
int collect_close(struct collect *collect);

#endif
