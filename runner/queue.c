/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/queue.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define WORD_BITS 64

/* How far behind a range's end ids of the same key are looked for. */
#define LOOK_AHEAD 4096

/* A worker that was given more would hold it too long when members turn out slower. */
#define CHUNK_MAX 65536

int queue_init_part(struct queue *queue, int64_t first, int64_t end, bool pending)
{
    memset(queue, 0, sizeof *queue);
    queue->base = first / WORD_BITS * WORD_BITS;
    TRY(MEM_NEW((long)((end - queue->base + WORD_BITS - 1) / WORD_BITS), &queue->bits));
    queue->total = end;
    queue->first = end;
    if (pending)
        queue_set(queue, first, end - first, true);
    return 0;
}

int queue_init(struct queue *queue, int64_t total, bool pending)
{
    return queue_init_part(queue, 0, total, pending);
}

/* Where the bit of an id is. */
static int64_t word_of(const struct queue *queue, int64_t id)
{
    return (id - queue->base) / WORD_BITS;
}

void queue_clear(struct queue *queue)
{
    mem_free(queue->bits);
    memset(queue, 0, sizeof *queue);
}

bool queue_has(const struct queue *queue, int64_t id)
{
    return id >= queue->base && id < queue->total
           && (queue->bits[word_of(queue, id)] >> (id % WORD_BITS) & 1);
}

void queue_set(struct queue *queue, int64_t first, int64_t count, bool pending)
{
    const int64_t end = first + count;
    for (int64_t id = first; id < end;) {
        const int64_t word = word_of(queue, id);
        const int low = (int)(id % WORD_BITS);
        const int64_t high = end - (id - low);
        uint64_t mask = ~UINT64_C(0) << low;
        if (high < WORD_BITS)
            mask &= ~(~UINT64_C(0) << high);
        const uint64_t changed = mask & (pending ? ~queue->bits[word] : queue->bits[word]);
        queue->bits[word] ^= changed;
        const int changes = __builtin_popcountll(changed);
        queue->pending += pending ? changes : -changes;
        id += WORD_BITS - low;
    }
    if (pending && count > 0 && first < queue->first)
        queue->first = first;
}

int64_t queue_next(const struct queue *queue, int64_t from)
{
    if (from >= queue->total)
        return queue->total;
    from = from > queue->base ? from : queue->base;
    const int64_t words = word_of(queue, queue->total + WORD_BITS - 1);
    int64_t word = word_of(queue, from);
    uint64_t bits = queue->bits[word] & (~UINT64_C(0) << (from % WORD_BITS));
    while (bits == 0) {
        if (++word >= words)
            return queue->total;
        bits = queue->bits[word];
    }
    return queue->base + word * WORD_BITS + __builtin_ctzll(bits);
}

static int64_t key_of(const struct queue_keys *keys, int64_t id)
{
    return keys->key == NULL ? 0 : keys->key(keys->context, id);
}

/* First id from `from` on that is not pending, `end` at most. */
static int64_t next_gap(const struct queue *queue, int64_t from, int64_t end)
{
    int64_t id = from;
    while (id < end) {
        const int64_t low = id % WORD_BITS;
        const uint64_t gaps = ~queue->bits[word_of(queue, id)] & (~UINT64_C(0) << low);
        if (gaps != 0) {
            id += __builtin_ctzll(gaps) - low;
            break;
        }
        id += WORD_BITS - low;
    }
    return id < end ? id : end;
}

/* End of the run of pending ids from `first` on that agree in the key. */
static int64_t run_end(const struct queue *queue, int64_t first, int64_t most,
                       const struct queue_keys *keys)
{
    const int64_t limit = first + most < queue->total ? first + most : queue->total;
    const int64_t end = next_gap(queue, first, limit);
    if (keys->key == NULL)
        return end;
    const int64_t key = key_of(keys, first);
    int64_t id = (first / keys->block + 1) * keys->block; /* the key changes there only */
    while (id < end && key_of(keys, id) == key)
        id += keys->block;
    return id < end ? id : end;
}

/* Ids of the run and further ones of the same key; returns their number. */
static int64_t collect_ids(const struct queue *queue, int64_t first, int64_t most,
                           const struct queue_keys *keys, int64_t *ids)
{
    const int64_t key = key_of(keys, first);
    const int64_t end = first + LOOK_AHEAD < queue->total ? first + LOOK_AHEAD : queue->total;
    int64_t count = 0;
    for (int64_t id = first; id < end && count < most; id = queue_next(queue, id + 1))
        if (key_of(keys, id) == key)
            ids[count++] = id;
    return count;
}

int64_t queue_take(struct queue *queue, int64_t most, const struct queue_keys *keys,
                   struct message_give *give)
{
    queue->first = queue_next(queue, queue->first);
    const int64_t first = queue->first;
    if (first >= queue->total || most < 1)
        return 0;
    give->count = 0;
    give->first = first;
    give->length = run_end(queue, first, most, keys) - first;
    const int64_t list = most < PROTOCOL_IDS_MAX ? most : PROTOCOL_IDS_MAX;
    if (give->length < list) {
        const int64_t found = collect_ids(queue, first, list, keys, give->id);
        if (found > give->length) {
            give->count = (int32_t)found;
            for (int64_t i = 0; i < found; i++)
                queue_set(queue, give->id[i], 1, false);
            return found;
        }
    }
    queue_set(queue, first, give->length, false);
    return give->length;
}

int64_t chunk_size(const struct chunk_request *request)
{
    double wanted = request->capacity;
    if (request->member_seconds > 0) {
        const double filling =
            request->chunk_time * request->capacity / request->member_seconds;
        wanted = filling > wanted ? filling : wanted;
    }
    const int64_t share =
        (request->pending + 2 * request->workers - 1) / (2 * request->workers);
    int64_t size = wanted < CHUNK_MAX ? (int64_t)wanted : CHUNK_MAX;
    size = size < share ? size : share;
    return size < 1 ? 1 : size;
}
