/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members that are collected: where each belongs, and which of two counts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/collect_private.h"
#include "io/resume.h"
#include "io/verdict.h"
#include "io/verdict_private.h"
#include "kernels/base/status.h"

/* A member of the file that is read, and its place in the result file. */
struct meeting {
    struct copy_order order;
    uint8_t state; /* of what is there */
    int64_t saved;
    bool claimed; /* it came from the same file, earlier */
};

int collect_settle(struct collect *c)
{
    if (c->took.last >= c->took.first)
        TRY(collect_ours(c, collect_log_took(c->log, c->took.first, c->took.last)));
    c->took = (struct collect_range){0, -1};
    TRY(collect_ours(c, collect_log_flush(c->log)));
    return collect_ours(c, copy_flush(&c->copy));
}

/* 3 done, 2 ended otherwise, 1 with planes, 0 never begun */
static int rank_of(uint8_t state, int64_t saved)
{
    if (state == MEMBER_DONE)
        return 3;
    if (state != MEMBER_PENDING)
        return 2;
    return saved > 0 ? 1 : 0;
}

static bool is_claimed(const struct collect *c, int64_t member)
{
    for (long i = 0; i < c->claims; i++)
        if (c->claim[i].first <= member && member <= c->claim[i].last)
            return true;
    return false;
}

static int note_taken(struct collect *c, int64_t member)
{
    if (c->file.taken == 0 || member < c->file.first)
        c->file.first = member;
    if (c->file.taken == 0 || member > c->file.last)
        c->file.last = member;
    c->file.taken++;
    if (c->took.last >= c->took.first && member == c->took.last + 1) {
        c->took.last = member;
        return 0;
    }
    if (c->took.last >= c->took.first)
        TRY(collect_ours(c, collect_log_took(c->log, c->took.first, c->took.last)));
    c->took = (struct collect_range){member, member};
    return 0;
}

static int note_damage(struct collect *c, const struct meeting *m, const char *what)
{
    char text[COLLECT_TEXT_SIZE];
    c->file.damaged++;
    snprintf(text, sizeof text, "%.700s: member %" PRId64 " %s; it is left out", c->name,
             m->order.from, what);
    return collect_tell(c, COLLECT_DAMAGED, m->order.to, m->order.to, text);
}

/* The first plane without its checksum, the number of planes when all are right. */
static int first_damage(struct store *store, int64_t member, int64_t planes, int64_t *bad)
{
    bool right = true;
    for (*bad = 0; *bad < planes; ++*bad) {
        TRY(store_test_plane(store, member, (long)*bad, &right));
        if (!right)
            return 0;
    }
    return 0;
}

static int tell_damage(struct collect *c, const struct meeting *m, int64_t plane)
{
    char what[80];
    snprintf(what, sizeof what, "is damaged: plane %" PRId64 " has not its checksum", plane);
    return note_damage(c, m, what);
}

/* In place of what is there, which stays when this is damaged. */
static int replace(struct collect *c, const struct meeting *m, bool *right)
{
    int64_t bad = 0;
    TRY(first_damage(c->from.store, m->order.from, m->order.planes, &bad));
    *right = bad == m->order.planes;
    return *right ? collect_ours(c, copy_forget(&c->copy, m->order.to))
                  : tell_damage(c, m, bad);
}

static int take(struct collect *c, const struct meeting *m)
{
    bool right = true;
    if (rank_of(m->state, m->saved) > 0)
        TRY(replace(c, m, &right));
    if (!right)
        return 0;
    TRY(copy_member(&c->copy, &m->order, &right));
    if (!right) {
        int64_t bad = 0;
        TRY(first_damage(c->from.store, m->order.from, m->order.planes, &bad));
        return tell_damage(c, m, bad);
    }
    TRY(note_taken(c, m->order.to));
    return c->copy.held == COPY_HELD_MAX ? collect_settle(c) : 0;
}

/* Conflicts with members of one file are told together. */
int collect_tell_conflict(struct collect *c)
{
    struct collect_run *const run = &c->conflict;
    char text[COLLECT_TEXT_SIZE];
    if (run->last < run->first)
        return 0;
    const char *const other =
        run->owner[0] != '\0' ? run->owner : "the result file, from no file that is known";
    char members[64];
    if (run->first == run->last)
        snprintf(members, sizeof members, "member %" PRId64, run->first);
    else
        snprintf(members, sizeof members, "members %" PRId64 " to %" PRId64, run->first,
                 run->last);
    snprintf(text, sizeof text, "%s: %.450s has other results than %.450s, which stay", members,
             c->name, other);
    const int64_t first = run->first;
    const int64_t last = run->last;
    run->first = 0;
    run->last = -1;
    return collect_tell(c, COLLECT_CONFLICT, first, last, text);
}

static int note_conflict(struct collect *c, int64_t member)
{
    struct collect_run *const run = &c->conflict;
    c->file.conflicts++;
    if (run->last >= run->first && member == run->last + 1
        && (member <= run->owned.last || run->owner[0] == '\0')) {
        run->last = member;
        return 0;
    }
    TRY(collect_tell_conflict(c));
    run->first = run->last = member;
    return collect_ours(
        c, collect_log_owner(c->log, member, run->owner, sizeof run->owner, &run->owned));
}

static int read_sums(struct store *store, int64_t member, int64_t planes, uint64_t *sum)
{
    const struct store_part *const part = store_find_part(store, PART_CHECKSUM, 0);
    const int64_t start[] = {member, 0};
    const int64_t count[] = {1, planes};
    return planes > 0 ? store_get(store, &part->data, start, count, sum) : 0;
}

/* Checksums of a member that has another number there. */
static int make_sums(struct store *store, const struct copy_order *order, uint64_t *sum)
{
    for (long plane = 0; plane < order->planes; plane++)
        TRY(store_hash_plane(store, order->from, plane, hash_plane_seed(order->to, plane),
                             &sum[plane]));
    return 0;
}

static int same_content(struct collect *c, const struct meeting *m, bool *same)
{
    const struct copy_order *const order = &m->order;
    *same = order->planes == m->saved;
    if (!*same)
        return 0;
    if (order->from == order->to)
        TRY(read_sums(c->from.store, order->from, order->planes, c->sum[0]));
    else
        TRY(make_sums(c->from.store, order, c->sum[0]));
    TRY(collect_ours(c, read_sums(c->to.store, order->to, order->planes, c->sum[1])));
    *same = memcmp(c->sum[0], c->sum[1], (size_t)order->planes * sizeof *c->sum[0]) == 0;
    return 0;
}

/* The same member, judged in the meantime. */
static int take_verdict(struct collect *c, const struct meeting *m)
{
    struct verdict_state theirs;
    struct verdict_state ours;
    TRY(verdict_read(c->from.store, m->order.from, 1, &theirs));
    TRY(collect_ours(c, verdict_read(c->to.store, m->order.to, 1, &ours)));
    if (ours.outcome != MEMBER_PENDING
        || (theirs.outcome == MEMBER_PENDING && theirs.chosen == ours.chosen))
        return 0;
    return collect_ours(c,
                        verdict_copy(c->from.store, m->order.from, c->to.store, m->order.to));
}

/* Both are done. */
static int compare_done(struct collect *c, const struct meeting *m)
{
    bool same = false;
    int64_t bad = 0;
    TRY(same_content(c, m, &same));
    if (same)
        TRY(take_verdict(c, m));
    if (same && m->claimed)
        return note_taken(c, m->order.to);
    if (same) {
        c->file.equal++;
        return 0;
    }
    TRY(first_damage(c->from.store, m->order.from, m->order.planes, &bad));
    if (bad < m->order.planes)
        return tell_damage(c, m, bad);
    /* The file has changed since: what came from it then goes. */
    return m->claimed ? take(c, m) : note_conflict(c, m->order.to);
}

/* A checkpoint of the result file's own goes on from there. */
static int has_checkpoint(struct collect *c, int64_t member, bool *found)
{
    struct resume_place place;
    return collect_ours(c, resume_find(c->to.store, member, &place, found));
}

/* Both ended without a result: the later try counts. */
static int compare_failed(struct collect *c, const struct meeting *m)
{
    struct store *const from = c->from.store;
    struct store *const to = c->to.store;
    int32_t theirs = 0;
    int32_t ours = 0;
    TRY(store_get_row(from, &from->column[COLUMN_ATTEMPTS], m->order.from, &theirs));
    TRY(collect_ours(c, store_get_row(to, &to->column[COLUMN_ATTEMPTS], m->order.to, &ours)));
    if (theirs > ours)
        return take(c, m);
    return m->claimed ? note_taken(c, m->order.to) : 0;
}

static int merge(struct collect *c, const struct meeting *m)
{
    const int theirs = rank_of((uint8_t)m->order.state, m->order.planes);
    const int ours = rank_of(m->state, m->saved);
    bool checkpoint = false;
    if (theirs == 3 && m->order.planes != c->to.store->planes)
        return note_damage(c, m, "is done there without all its planes");
    if (theirs > ours)
        return take(c, m);
    if (theirs < ours)
        return 0;
    if (theirs == 3)
        return compare_done(c, m);
    if (theirs == 2)
        return compare_failed(c, m);
    if (theirs != 1)
        return 0;
    if (m->order.planes <= m->saved)
        return m->claimed ? note_taken(c, m->order.to) : 0;
    TRY(has_checkpoint(c, m->order.to, &checkpoint));
    return checkpoint ? 0 : take(c, m);
}

/* Where a member belongs */

static bool same_place(const struct collect *c, int64_t i, const struct collect_rows *rows,
                       int64_t j)
{
    const size_t axes = (size_t)c->axes;
    return memcmp(c->there.identity[i], rows->identity[j], sizeof rows->identity[j]) == 0
           && (axes == 0
               || memcmp(&c->there.point[(size_t)i * axes], &rows->point[(size_t)j * axes],
                         axes * sizeof(int32_t))
                      == 0);
}

static int read_places(struct source *source, int64_t first, int64_t count,
                       struct collect_rows *rows)
{
    const struct h5_dataset *const identity = &source->extra[SOURCE_IDENTITY];
    const struct h5_dataset *const point = &source->extra[SOURCE_POINT];
    const int64_t start[] = {first, 0};
    const int64_t pair[] = {count, 2};
    TRY(store_get(source->store, identity, start, pair, rows->identity));
    if (rows->point == NULL)
        return 0;
    const int64_t indices[] = {count, point->length[1]};
    return store_get(source->store, point, start, indices, rows->point);
}

/* Anywhere in the result file; -1: nowhere. Rare: shards call their members as the scan does.
 */
static int search_place(struct collect *c, int64_t i, int64_t *member)
{
    const int64_t members = c->to.store->members;
    *member = -1;
    for (int64_t first = 0; first < members; first += COLLECT_ROWS) {
        const int64_t count = members - first < COLLECT_ROWS ? members - first : COLLECT_ROWS;
        TRY(collect_ours(c, read_places(&c->to, first, count, &c->here)));
        for (int64_t j = 0; j < count; j++)
            if (same_place(c, i, &c->here, j)) {
                *member = first + j;
                return 0;
            }
    }
    return 0;
}

/* What is there now; a member that waits for the flush is there soon. */
static int look(struct collect *c, struct meeting *m)
{
    const int64_t at = m->order.to;
    if (copy_holds(&c->copy, at))
        TRY(collect_settle(c));
    m->claimed = is_claimed(c, at);
    return collect_ours(c, store_read_states(c->to.store, at, 1, &m->state, &m->saved));
}

static int meet(struct collect *c, int64_t i, int64_t member, int64_t place)
{
    struct meeting m = {
        .order = {member, place, c->there.saved[i], (enum member_state)c->there.state[i]}};
    if (place < 0) {
        char text[COLLECT_TEXT_SIZE];
        snprintf(text, sizeof text,
                 "%.700s: member %" PRId64 " has the identity of no member of the scan",
                 c->name, member);
        return collect_tell(c, COLLECT_FOREIGN, member, member, text);
    }
    TRY(look(c, &m));
    return merge(c, &m);
}

static int read_there(struct collect *c, int64_t first, int64_t count)
{
    TRY(store_read_states(c->from.store, first, count, c->there.state, c->there.saved));
    return read_places(&c->from, first, count, &c->there);
}

/* Members [first, first + count) of the file that is read. */
static int merge_block(struct collect *c, int64_t first, int64_t count)
{
    TRY(read_there(c, first, count));
    TRY(collect_ours(c, read_places(&c->to, first, count, &c->here)));
    for (int64_t i = 0; i < count && atomic_load(c->stop) == 0; i++) {
        int64_t place = first + i;
        if (rank_of(c->there.state[i], c->there.saved[i]) == 0)
            continue;
        if (!same_place(c, i, &c->here, i)) {
            TRY(search_place(c, i, &place)); /* reads other rows */
            TRY(collect_ours(c, read_places(&c->to, first, count, &c->here)));
        }
        TRY(meet(c, i, first + i, place));
    }
    return 0;
}

int collect_members(struct collect *c)
{
    const int64_t end = c->from.store->window.first + c->from.store->members;
    c->copy.from = c->from.store;
    if (c->from.extra[SOURCE_IDENTITY].size != 8 || c->from.extra[SOURCE_IDENTITY].dims != 2
        || c->from.extra[SOURCE_IDENTITY].length[1] != 2
        || (c->axes > 0
            && (c->from.extra[SOURCE_POINT].dims != 2
                || c->from.extra[SOURCE_POINT].length[1] != c->axes)))
        FAIL(ERR_CONFLICT, "%s is damaged: member/identity or member/point has another shape",
             c->name);
    for (int64_t first = c->from.store->window.first; first < end && atomic_load(c->stop) == 0;
         first += COLLECT_ROWS) {
        const int64_t left = end - first;
        TRY(merge_block(c, first, left < COLLECT_ROWS ? left : COLLECT_ROWS));
    }
    return 0;
}
