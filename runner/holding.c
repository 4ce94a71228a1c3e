/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/holding.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

enum { SPANS_LEAST = 16 };

/* Room for `more` further spans. */
static int reserve(struct holding *h, int more)
{
    struct holding_span *grown = NULL;
    if (h->spans + more <= h->capacity)
        return 0;
    const int wanted = 2 * (h->spans + more);
    const int capacity = wanted > SPANS_LEAST ? wanted : SPANS_LEAST;
    TRY(MEM_NEW(capacity, &grown));
    if (h->spans > 0)
        memcpy(grown, h->span, (size_t)h->spans * sizeof grown[0]);
    mem_free(h->span);
    h->span = grown;
    h->capacity = capacity;
    return 0;
}

int holding_add(struct holding *h, const struct message_give *give,
                const struct holding_lot *lot)
{
    const struct holding_span one = {
        .pass = give->pass, .give = lot->give, .seconds = lot->seconds};
    TRY(reserve(h, give->count > 0 ? give->count : 1));
    if (give->count == 0) {
        h->span[h->spans] = one;
        h->span[h->spans].first = give->first;
        h->span[h->spans++].count = give->length;
        return 0;
    }
    for (int32_t i = 0; i < give->count; i++) {
        struct holding_span *last = i > 0 ? &h->span[h->spans - 1] : NULL;
        if (last != NULL && last->first + last->count == give->id[i]) {
            last->count++;
            continue;
        }
        h->span[h->spans] = one;
        h->span[h->spans].first = give->id[i];
        h->span[h->spans++].count = 1;
    }
    return 0;
}

static void drop_span(struct holding *h, int i)
{
    h->spans--;
    memmove(&h->span[i], &h->span[i + 1], (size_t)(h->spans - i) * sizeof h->span[0]);
}

/* Take [first, first + count) out of the span that holds all of it. */
static int cut_span(struct holding *h, int i, int64_t first, int64_t count)
{
    const struct holding_span whole = h->span[i];
    const int64_t before = first - whole.first;
    const int64_t after = whole.count - before - count;
    if (before == 0 && after == 0) {
        drop_span(h, i);
        return 0;
    }
    if (before > 0 && after > 0) {
        TRY(reserve(h, 1));
        memmove(&h->span[i + 1], &h->span[i], (size_t)(h->spans - i) * sizeof h->span[0]);
        h->spans++;
        h->span[i].count = before;
        h->span[i + 1].first = first + count;
        h->span[i + 1].count = after;
        return 0;
    }
    h->span[i].first = before > 0 ? whole.first : first + count;
    h->span[i].count = before + after;
    return 0;
}

static int find_span(const struct holding *h, int32_t pass, int64_t id)
{
    for (int i = 0; i < h->spans; i++)
        if (h->span[i].pass == pass && id >= h->span[i].first
            && id < h->span[i].first + h->span[i].count)
            return i;
    return -1;
}

int holding_remove(struct holding *h, int32_t pass, int64_t first, int64_t count,
                   struct holding_lot *lot)
{
    *lot = (struct holding_lot){0};
    while (count > 0) {
        const int i = find_span(h, pass, first);
        if (i < 0)
            FAIL(ERR_BUG, "a worker reports task %" PRId64 " of pass %d and does not hold it",
                 first, pass);
        const int64_t left = h->span[i].first + h->span[i].count - first;
        const int64_t cut = left < count ? left : count;
        if (lot->give == 0)
            lot->give = h->span[i].give;
        lot->seconds += h->span[i].seconds * (double)cut;
        TRY(cut_span(h, i, first, cut));
        first += cut;
        count -= cut;
    }
    return 0;
}

double holding_seconds(const struct holding *h)
{
    double sum = 0;
    for (int i = 0; i < h->spans; i++)
        sum += h->span[i].seconds * (double)h->span[i].count;
    return sum;
}

int64_t holding_oldest(const struct holding *h)
{
    int64_t sum = 0;
    for (int i = 0; i < h->spans && h->span[i].give == h->span[0].give; i++)
        sum += h->span[i].count;
    return sum;
}

void holding_clear(struct holding *h)
{
    mem_free(h->span);
    h->span = NULL;
    h->spans = 0;
    h->capacity = 0;
}
