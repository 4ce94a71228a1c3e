/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/collect_index.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define CAPACITY_MIN 256
#define SEEN         1
#define TENTATIVE    2
#define FLAG_BITS    2

/* The first slot that is empty or the hash's own. */
static long slot_of(const struct collect_index *index, uint64_t hash)
{
    long at = (long)(hash & (uint64_t)(index->capacity - 1));
    while (index->slot[at].place != 0 && index->slot[at].hash != hash)
        at = (at + 1) & (index->capacity - 1);
    return at;
}

static int grow(struct collect_index *index)
{
    struct collect_index larger = {.capacity = 2 * index->capacity, .count = index->count};
    if (larger.capacity < CAPACITY_MIN)
        larger.capacity = CAPACITY_MIN;
    TRY(MEM_NEW(larger.capacity, &larger.slot));
    for (long i = 0; i < index->capacity; i++)
        if (index->slot[i].place != 0)
            larger.slot[slot_of(&larger, index->slot[i].hash)] = index->slot[i];
    mem_free(index->slot);
    *index = larger;
    return 0;
}

int collect_index_put(struct collect_index *index, const struct collect_entry *entry)
{
    if (2 * (index->count + 1) > index->capacity)
        TRY(grow(index));
    struct collect_slot *const slot = &index->slot[slot_of(index, entry->hash)];
    index->count += slot->place == 0;
    slot->hash = entry->hash;
    /* no record stands at 0: the log has a head */
    slot->place = entry->offset << FLAG_BITS | (entry->seen ? SEEN : 0)
                  | (entry->tentative ? TENTATIVE : 0);
    return 0;
}

bool collect_index_find(const struct collect_index *index, uint64_t hash,
                        struct collect_entry *out)
{
    if (index->capacity == 0)
        return false;
    const struct collect_slot *const slot = &index->slot[slot_of(index, hash)];
    if (slot->place == 0)
        return false;
    *out = (struct collect_entry){.hash = hash,
                                  .offset = slot->place >> FLAG_BITS,
                                  .seen = (slot->place & SEEN) != 0,
                                  .tentative = (slot->place & TENTATIVE) != 0};
    return true;
}

void collect_index_commit(struct collect_index *index)
{
    for (long i = 0; i < index->capacity; i++)
        index->slot[i].place &= ~(int64_t)TENTATIVE;
}

void collect_index_clear(struct collect_index *index)
{
    mem_free(index->slot);
    *index = (struct collect_index){0};
}
