/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_PLANE_FETCH_H
#define KERNELS_MODELS_PULSE_PLANE_FETCH_H

#include "kernels/backend.h"

/*
 * Planes of rows on their way to the host beside the next trial: a plane is some pieces, each a
 * fetch of the backend. What a model launches for them is ordered before the trial, so that
 * neither waits.
 */

#define PLANE_PIECES 12

struct plane_fetch;

/**
 * Room on the backend and the host for one plane of each row.
 *
 * @param bytes  [pieces] of each piece
 */
int plane_fetch_create(struct backend *be, long rows, int pieces, const size_t *bytes,
                       struct plane_fetch **out);

/** Free it, whatever is on its way; NULL is legal. */
void plane_fetch_destroy(struct plane_fetch *f);

/** Begin a plane of a row: what was fetched of it before is gone. NULL is legal. */
int plane_fetch_clear(struct plane_fetch *f, long row);

/** Take a piece of it as it is after all launches so far. A plane need not have all pieces. */
int plane_fetch_take(struct plane_fetch *f, long row, int piece, const void *from);

/**
 * Wait for the plane of a row. May be asked for again.
 *
 * @param data  [pieces] receives where they are, valid until the row is cleared; NULL: not
 * taken
 * @param here  receives whether any was taken; never with f NULL
 */
int plane_fetch_wait(struct plane_fetch *f, long row, const void **data, bool *here);

/** Bytes of a row's plane on the backend. */
size_t plane_fetch_bytes(int pieces, const size_t *bytes);

#endif
