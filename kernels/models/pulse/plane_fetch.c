/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/plane_fetch.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* A piece of a row's plane. */
struct piece {
    struct fetch *fetch;
    bool begun;
    const void *data; /* NULL: not here */
};

struct plane_fetch {
    struct backend *be;
    long rows;
    int pieces;
    size_t bytes[PLANE_PIECES];
    struct piece *piece; /* [rows][pieces] */
};

static struct piece *pieces_of(const struct plane_fetch *f, long row)
{
    return f->piece + row * f->pieces;
}

static int fill(struct plane_fetch *f, const size_t *bytes)
{
    TRY(MEM_NEW(f->rows * f->pieces, &f->piece));
    for (int p = 0; p < f->pieces; p++)
        f->bytes[p] = bytes[p];
    for (long row = 0; row < f->rows; row++)
        for (int p = 0; p < f->pieces; p++)
            TRY(f->be->ops->fetch_create(f->be, bytes[p], &pieces_of(f, row)[p].fetch));
    return 0;
}

int plane_fetch_create(struct backend *be, long rows, int pieces, const size_t *bytes,
                       struct plane_fetch **out)
{
    struct plane_fetch *f;
    *out = NULL;
    if (pieces > PLANE_PIECES)
        FAIL(ERR_BUG, "a plane has at most %d pieces, not %d", PLANE_PIECES, pieces);
    TRY(MEM_NEW(1, &f));
    f->be = be;
    f->rows = rows;
    f->pieces = pieces;
    const int rc = fill(f, bytes);
    if (rc != 0)
        plane_fetch_destroy(f);
    else
        *out = f;
    return rc;
}

void plane_fetch_destroy(struct plane_fetch *f)
{
    if (f == NULL)
        return;
    for (long i = 0; f->piece != NULL && i < f->rows * f->pieces; i++)
        f->be->ops->fetch_destroy(f->be, f->piece[i].fetch);
    mem_free(f->piece);
    mem_free(f);
}

/* Each fetch that was begun has its end. */
static int end(struct plane_fetch *f, struct piece *piece)
{
    if (!piece->begun)
        return 0;
    piece->begun = false;
    return f->be->ops->fetch_end(f->be, piece->fetch, &piece->data);
}

int plane_fetch_clear(struct plane_fetch *f, long row)
{
    for (int p = 0; f != NULL && p < f->pieces; p++) {
        TRY(end(f, &pieces_of(f, row)[p]));
        pieces_of(f, row)[p].data = NULL;
    }
    return 0;
}

int plane_fetch_take(struct plane_fetch *f, long row, int piece, const void *from)
{
    struct piece *const to = &pieces_of(f, row)[piece];
    TRY(f->be->ops->fetch_begin(f->be, to->fetch, from, f->bytes[piece]));
    to->begun = true;
    return 0;
}

int plane_fetch_wait(struct plane_fetch *f, long row, const void **data, bool *here)
{
    *here = false;
    for (int p = 0; f != NULL && p < f->pieces; p++) {
        TRY(end(f, &pieces_of(f, row)[p]));
        data[p] = pieces_of(f, row)[p].data;
        *here = *here || data[p] != NULL;
    }
    return 0;
}

size_t plane_fetch_bytes(int pieces, const size_t *bytes)
{
    size_t sum = 0;
    for (int p = 0; p < pieces; p++)
        sum += bytes[p];
    return sum;
}
