/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REUSE_H
#define IO_REUSE_H

#include "io/store.h"

/*
 * Taking members over from another result file, which is only read: those of equal identity
 * that are done there and whose planes have their checksums. Life: reuse_open before the new
 * file is made (so that nothing is made when the old one is of no use), reuse_begin when it is
 * there, reuse_member for each pending member, reuse_close.
 */

struct reuse;

/* What became of a member. */
enum reuse_outcome {
    REUSE_KEPT,    /* it has ended or has planes of its own: it is left as it is */
    REUSE_ABSENT,  /* the old file has none of this identity that is done */
    REUSE_TAKEN,   /* it is done in the new file, from the next reuse_close or sooner */
    REUSE_DAMAGED, /* a plane in the old file is damaged: nothing was taken */
};

/**
 * Open the old file and find its members that are done.
 *
 * @param spec  of the new file
 * @return 0; ERR_CONFLICT when it is no file of ours, of another model or numerics version, or
 *         saves other planes or other arrays, which are named; ERR_IO, ERR_MEMORY
 */
int reuse_open(const char *from, const struct store_spec *spec, struct reuse **out);

/** Open the new file for writing; single writer. */
int reuse_begin(struct reuse *reuse, const char *to);

/** Take over one member of the new file, when it is pending there and has no planes. */
int reuse_member(struct reuse *reuse, int64_t member, enum reuse_outcome *outcome);

/** Write what is held back and close both files; NULL is legal. ERR_IO when the new file does
 *  not take it. */
int reuse_close(struct reuse *reuse);

#endif
