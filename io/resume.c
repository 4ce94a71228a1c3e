/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/resume.h"

#include <stdlib.h>
#include <string.h>

#include "io/store_private.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define MAGIC     0x31306b6863667363ULL /* "csfchk01" */
#define ALIGNMENT 64
#define PIECE     65536 /* bytes hashed at a time where the state itself is not wanted */

/* A half begins with this; the state follows. Little-endian. */
struct half_head {
    uint64_t magic;
    struct resume_head head;
    uint64_t checksum; /* XXH3-64 of head and state, seeded with member and sequence */
};

int64_t resume_slots_for(int64_t rows)
{
    return 2 * rows > RESUME_SLOTS_MIN ? 2 * rows : RESUME_SLOTS_MIN;
}

size_t resume_slot_bytes(size_t state)
{
    return (sizeof(struct half_head) + state + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int64_t resume_slots(const struct store *store)
{
    return store->resume.id > 0 ? store->resume.length[0] : 0;
}

size_t resume_room(const struct store *store)
{
    const size_t bytes = store->resume.id > 0 ? (size_t)store->resume.length[2] : 0;
    return bytes > sizeof(struct half_head) ? bytes - sizeof(struct half_head) : 0;
}

uint64_t resume_hash_steps(const struct step_record *record, long count)
{
    return hash_64(record, (size_t)count * sizeof *record);
}

/* Begin a half's checksum: all but the state. */
static void hash_head(struct store *store, const struct resume_head *head)
{
    hash_stream_reset(store->hash, hash_plane_seed(head->member, (int64_t)head->seq));
    hash_stream_add(store->hash, head, sizeof *head);
}

/* Bytes [offset, offset + length) of a half. */
struct half_range {
    int64_t start[3];
    int64_t count[3];
};

static struct half_range range_of(int64_t slot, int64_t half, size_t offset, size_t length)
{
    return (struct half_range){{slot, half, (int64_t)offset}, {1, 1, (int64_t)length}};
}

static int put_range(struct store *store, const struct half_range *range, const void *bytes)
{
    return range->count[2] == 0
               ? 0
               : store_put(store, &store->resume, range->start, range->count, bytes);
}

/* The head comes last, and the injected faults are where a death leaves half a checkpoint. */
static int write_half(struct store *store, int64_t slot, int half,
                      const struct half_head *whole, const void *state)
{
    const int64_t member = whole->head.member;
    const long planes = (long)whole->head.planes;
    const size_t length = (size_t)whole->head.length;
    const size_t first = length / 2;
    const struct half_range front = range_of(slot, half, sizeof *whole, first);
    const struct half_range back = range_of(slot, half, sizeof *whole + first, length - first);
    const struct half_range top = range_of(slot, half, 0, sizeof *whole);
    fault_point("resume.first", member, planes);
    TRY(put_range(store, &front, state));
    fault_point("resume.second", member, planes);
    TRY(put_range(store, &back, (const char *)state + first));
    TRY(put_range(store, &top, whole));
    TRY(store_sync(store));
    fault_point("resume.done", member, planes);
    return 0;
}

int resume_write(struct store *store, int64_t slot, int half, const struct resume_head *head,
                 const void *state)
{
    if (slot < 0 || slot >= resume_slots(store) || half < 0 || half > 1
        || head->length > resume_room(store))
        FAIL(ERR_ARGUMENT, "%s: a checkpoint of %llu bytes does not fit into slot %lld of %lld",
             store->path, (unsigned long long)head->length, (long long)slot,
             (long long)resume_slots(store));
    TRY(store_commit_planes(store)); /* a checkpoint stands behind planes that count */
    const int error = fault_error("resume.first", head->member, (long)head->planes);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s: %s: %s (errno %d)", store->path, store->resume.name,
             strerror(error), error);
    struct half_head whole = {.magic = MAGIC, .head = *head};
    hash_head(store, head);
    hash_stream_add(store->hash, state, (size_t)head->length);
    whole.checksum = hash_stream_value(store->hash);
    return write_half(store, slot, half, &whole, state);
}

static int read_range(struct store *store, const struct half_range *range, void *bytes)
{
    return range->count[2] == 0 ? 0
                                : h5_read(&store->resume, range->start, range->count, bytes);
}

/* Whether it can be a checkpoint of this file at all. */
static bool is_plausible(const struct store *store, const struct half_head *whole)
{
    const int64_t row = whole->head.member - store->window.first;
    return whole->magic == MAGIC && row >= 0 && row < store->members && whole->head.planes >= 0
           && whole->head.planes <= store->planes && whole->head.length <= resume_room(store);
}

/* The state through the checksum, in pieces when nobody wants it. */
static int hash_state(struct store *store, const struct resume_place *place,
                      const struct resume_head *head, void *state)
{
    const size_t length = (size_t)head->length;
    char *piece = NULL;
    int rc = 0;
    if (state != NULL) {
        const struct half_range all =
            range_of(place->slot, place->half, sizeof(struct half_head), length);
        TRY(read_range(store, &all, state));
        hash_stream_add(store->hash, state, length);
        return 0;
    }
    TRY(mem_alloc(PIECE, 1, (void **)&piece));
    for (size_t at = 0; rc == 0 && at < length; at += PIECE) {
        const size_t count = length - at < PIECE ? length - at : PIECE;
        const struct half_range range =
            range_of(place->slot, place->half, sizeof(struct half_head) + at, count);
        rc = read_range(store, &range, piece);
        if (rc == 0)
            hash_stream_add(store->hash, piece, count);
    }
    mem_free(piece);
    return rc;
}

int resume_read(struct store *store, const struct resume_place *place, struct resume_head *head,
                void *state, bool *valid)
{
    struct half_head whole;
    const struct half_range top = range_of(place->slot, place->half, 0, sizeof whole);
    *valid = false;
    TRY(read_range(store, &top, &whole));
    if (!is_plausible(store, &whole) || whole.head.member != place->member
        || whole.head.seq != place->seq)
        return 0;
    *head = whole.head;
    hash_head(store, head);
    TRY(hash_state(store, place, head, state));
    *valid = hash_stream_value(store->hash) == whole.checksum;
    return 0;
}

/* A half that may count. */
struct candidate {
    struct resume_place place;
    int64_t tries;
};

/* By member, the newest first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *const x = a;
    const struct candidate *const y = b;
    if (x->place.member != y->place.member)
        return x->place.member < y->place.member ? -1 : 1;
    return (x->place.seq < y->place.seq) - (x->place.seq > y->place.seq);
}

/* All plausible halves, of one member or (-1) of all, in that order. */
static int read_candidates(struct store *store, int64_t member, struct candidate *candidate,
                           long *count)
{
    struct half_head whole;
    *count = 0;
    for (int64_t i = 0; i < 2 * resume_slots(store); i++) {
        const struct half_range top = range_of(i / 2, i % 2, 0, sizeof whole);
        TRY(read_range(store, &top, &whole));
        if (!is_plausible(store, &whole) || (member >= 0 && whole.head.member != member))
            continue;
        candidate[(*count)++] = (struct candidate){{.member = whole.head.member,
                                                    .slot = i / 2,
                                                    .half = i % 2,
                                                    .planes = whole.head.planes,
                                                    .seq = whole.head.seq},
                                                   whole.head.tries};
    }
    qsort(candidate, (size_t)*count, sizeof *candidate, compare_candidates);
    return 0;
}

/* The first of a member's candidates that counts. */
static int choose(struct store *store, const struct candidate *candidate, long count,
                  struct resume_place *out, bool *found)
{
    uint8_t state = 0;
    int64_t n_saved = 0;
    int tries = 0;
    const int64_t member = candidate[0].place.member;
    *found = false;
    TRY(store_read_states(store, member, 1, &state, &n_saved));
    TRY(store_read_attempts(store, member, &tries));
    for (long i = 0; state == MEMBER_PENDING && !*found && i < count; i++) {
        struct resume_head head;
        if (candidate[i].place.planes > n_saved || candidate[i].tries < tries)
            continue;
        *out = candidate[i].place;
        TRY(resume_read(store, out, &head, NULL, found));
    }
    return 0;
}

static int survey_into(struct store *store, struct candidate *candidate,
                       struct resume_table *out)
{
    long count = 0;
    TRY(read_candidates(store, -1, candidate, &count));
    for (long first = 0; first < count;) {
        long end = first + 1;
        bool found = false;
        while (end < count && candidate[end].place.member == candidate[first].place.member)
            end++;
        TRY(choose(store, candidate + first, end - first, &out->place[out->count], &found));
        out->count += found;
        first = end;
    }
    return 0;
}

int resume_survey(struct store *store, struct resume_table *out)
{
    struct candidate *candidate = NULL;
    const long halves = 2 * (long)resume_slots(store);
    int rc = 0;
    *out = (struct resume_table){0};
    if (halves == 0)
        return 0;
    TRY_OR(rc, done, MEM_NEW(halves, &candidate));
    TRY_OR(rc, done, MEM_NEW(halves, &out->place));
    rc = survey_into(store, candidate, out);
done:
    mem_free(candidate);
    if (rc != 0)
        resume_table_clear(out);
    return rc;
}

/* Make checkpoints worthless. @param ended  those of members that have ended only */
static int drop(struct store *store, const struct candidate *candidate, long count, bool ended)
{
    const uint64_t none = 0;
    for (long i = 0; i < count; i++) {
        uint8_t state = 0;
        const struct resume_place *const place = &candidate[i].place;
        const struct half_range magic = range_of(place->slot, place->half, 0, sizeof none);
        TRY(store_read_states(store, place->member, 1, &state, NULL));
        if (!ended || state != MEMBER_PENDING)
            TRY(put_range(store, &magic, &none));
    }
    return 0;
}

/* @param member  -1: all
 * @param out     to be freed, also after an error; of a file without slots none */
static int make_candidates(struct store *store, int64_t member, struct candidate **out,
                           long *count)
{
    *out = NULL;
    *count = 0;
    if (resume_slots(store) == 0)
        return 0;
    TRY(MEM_NEW(2 * (long)resume_slots(store), out));
    return read_candidates(store, member, *out, count);
}

/* @param member  -1: all */
static int drop_of(struct store *store, int64_t member, bool ended)
{
    struct candidate *candidate = NULL;
    long count = 0;
    int rc = make_candidates(store, member, &candidate, &count);
    if (rc == 0)
        rc = drop(store, candidate, count, ended);
    mem_free(candidate);
    return rc;
}

int resume_drop_ended(struct store *store)
{
    return drop_of(store, -1, true);
}

int resume_drop_member(struct store *store, int64_t member)
{
    return drop_of(store, member, false);
}

int resume_find(struct store *store, int64_t member, struct resume_place *out, bool *found)
{
    struct candidate *candidate = NULL;
    long count = 0;
    *found = false;
    int rc = make_candidates(store, member, &candidate, &count);
    if (rc == 0 && count > 0)
        rc = choose(store, candidate, count, out, found);
    mem_free(candidate);
    return rc;
}

const struct resume_place *resume_table_find(const struct resume_table *table, int64_t member)
{
    int low = 0;
    int high = table->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (table->place[middle].member < member)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->place[low].member == member ? &table->place[low] : NULL;
}

int64_t resume_free_slot(const struct resume_table *table, int64_t slots, int64_t index)
{
    for (int64_t slot = 0; slot < slots; slot++) {
        bool taken = false;
        for (int i = 0; i < table->count && !taken; i++)
            taken = table->place[i].slot == slot;
        if (!taken && index-- == 0)
            return slot;
    }
    return -1;
}

void resume_table_clear(struct resume_table *table)
{
    mem_free(table->place);
    *table = (struct resume_table){0};
}
