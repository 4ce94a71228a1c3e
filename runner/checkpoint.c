/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/checkpoint.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/worker_parts.h"

/* Sequences of an attempt are above those of all earlier ones. */
#define ATTEMPT_SHIFT 32

static const struct resume_table *table_of(const struct worker *w)
{
    static const struct resume_table none;
    return w->checkpoints.table != NULL ? w->checkpoints.table : &none;
}

/* Slots that nobody's checkpoint lies in are dealt out to the workers in turns, a row each. */
static int take_slots(struct worker *w)
{
    struct checkpoints *c = &w->checkpoints;
    const int64_t slots = resume_slots(w->store);
    const int64_t workers = c->workers > 0 ? c->workers : 1;
    const int64_t mine = w->rank > 0 ? w->rank - 1 : 0;
    TRY(MEM_NEW(w->placement.capacity + 1, &c->free));
    for (int r = 0; r < w->placement.capacity; r++) {
        const int64_t slot = resume_free_slot(table_of(w), slots, mine + r * workers);
        if (slot < 0)
            break;
        c->free[c->free_count++] = slot;
    }
    return 0;
}

void checkpoint_limit(struct worker *w, double when)
{
    const double due = fmin(when, w->checkpoints.due);
    const bool first = w->deadline > 0 && w->deadline < due;
    atomic_store(&w->control.stop_at, first ? w->deadline : due);
}

static void delay(struct worker *w)
{
    w->checkpoints.due = clock_wall() + scan_get_store(w->scan)->checkpoint;
    checkpoint_limit(w, (double)INFINITY);
}

int checkpoint_open(struct worker *w)
{
    w->checkpoints.seq = ((uint64_t)w->attempt + 1) << ATTEMPT_SHIFT;
    TRY(take_slots(w));
    delay(w);
    return mem_alloc((long)resume_room(w->store), 1, &w->checkpoints.state);
}

void checkpoint_close(struct worker *w)
{
    mem_free(w->checkpoints.free);
    mem_free(w->checkpoints.state);
    w->checkpoints.free = NULL;
    w->checkpoints.state = NULL;
    w->checkpoints.free_count = 0;
}

/*
 * A member that a dead worker may have checkpointed in this attempt: its slot was that worker's
 * alone. An older checkpoint that did not count at the start may lie in a slot that a living
 * row has by now.
 */
static int find_again(struct worker *w, int64_t member, struct continuation *out)
{
    const struct resume_place *const first = resume_table_find(table_of(w), member);
    TRY(resume_find(w->store, member, &out->place, &out->placed));
    const bool of_now = out->place.seq >> ATTEMPT_SHIFT == w->checkpoints.seq >> ATTEMPT_SHIFT;
    if (!of_now && (first == NULL || first->slot != out->place.slot))
        out->placed = false;
    return 0;
}

int checkpoint_look(struct worker *w, int64_t member, bool again, struct continuation *out)
{
    const struct resume_place *const place = resume_table_find(table_of(w), member);
    memset(out, 0, sizeof *out);
    if (!w->touched && !again && place == NULL)
        return 0;
    out->known = true;
    TRY(store_read_past(w->store, member, &out->past));
    if (again)
        return find_again(w, member, out);
    out->placed = place != NULL;
    if (out->placed)
        out->place = *place;
    return 0;
}

static int fetch_checkpoint(struct worker *w, struct continuation *from, struct state_in *state,
                            bool *found)
{
    if (!from->placed)
        return 0;
    TRY(resume_read(w->store, &from->place, &from->head, w->checkpoints.state, found));
    *state = (struct state_in){w->checkpoints.state, (size_t)from->head.length};
    return 0;
}

/* The fields of a plane into the slot's buffers, when all of them are stored in full. */
static int read_fields(struct worker *w, int r, long plane, struct plane_buffers *fields,
                       bool *found)
{
    const struct plane_layout *const layout = &w->row[r].layout;
    const struct plane_buffers *const buffers = &w->slot[w->current].buffers;
    memset(fields, 0, sizeof *fields);
    *found = scan_get_save(w->scan)->field == SAVE_FIELD_YES;
    for (int a = 0; *found && a < layout->arrays; a++) {
        const struct layout_array *const array = &layout->array[a];
        if (!array->is_field)
            continue;
        *found = array->type == ELEMENT_F64 || array->type == ELEMENT_C128;
        if (!*found)
            return 0;
        fields->array[a] = buffers->array[a];
        TRY(store_read_plane(w->store, array->name, w->row[r].member, plane,
                             layout_array_count(layout, a), fields->array[a]));
    }
    return 0;
}

static int fetch_plane(struct worker *w, int r, const struct continuation *from,
                       struct state_in *state, bool *found)
{
    struct plane_buffers fields;
    const long plane = (long)from->past.n_saved - 1;
    struct state_out out = {.bytes = w->checkpoints.state, .capacity = resume_room(w->store)};
    if (plane < 0 || w->ops->from_plane == NULL
        || w->row[r].layout.state_bytes > resume_room(w->store))
        return 0;
    TRY(read_fields(w, r, plane, &fields, found));
    if (!*found)
        return 0;
    TRY(w->ops->from_plane(&w->params, plane, &fields, &out));
    *state = (struct state_in){out.bytes, out.length};
    return 0;
}

int checkpoint_fetch(struct worker *w, int r, enum resume_source source,
                     struct continuation *from, struct state_in *state, bool *found)
{
    *found = source == RESUME_START;
    if (source == RESUME_CHECKPOINT)
        return fetch_checkpoint(w, from, state, found);
    return source == RESUME_PLANE ? fetch_plane(w, r, from, state, found) : 0;
}

/* The steps that belong to a checkpoint; lost ones are as steps that were not kept. */
static int adopt_history(struct worker *w, int r, const struct resume_head *head)
{
    struct worker_row *row = &w->row[r];
    struct row_status *status = &w->slot[w->current].status[r];
    const long count = (long)head->history_count;
    status->history_truncated = head->history_truncated != 0;
    if (count > status->history_capacity) {
        status->history_truncated = true;
        return 0;
    }
    TRY(store_read_steps(w->store, row->member, count, row->history));
    if (resume_hash_steps(row->history, count) == head->history_hash)
        status->history_count = row->resume.kept = count;
    else
        status->history_truncated = true;
    return 0;
}

static int adopt_checkpoint(struct worker *w, int r, const struct continuation *from)
{
    const struct resume_head *const head = &from->head;
    struct worker_row *row = &w->row[r];
    struct row_status *status = &w->slot[w->current].status[r];
    row->resume.slot = from->place.slot;
    row->resume.half = from->place.half == 0;
    row->resume.tries = (head->tries > from->past.tries ? head->tries : from->past.tries) + 1;
    row->begin -= head->wall;
    row->cpu += head->cpu;
    status->deadline -= head->wall;
    status->steps = head->steps;
    status->rejected = head->rejected;
    status->rhs_calls = head->rhs_calls;
    status->transforms = head->transforms;
    if (head->seq > w->checkpoints.seq)
        w->checkpoints.seq = head->seq;
    return adopt_history(w, r, head);
}

static int write_row(struct worker *w, int r);

int checkpoint_adopt(struct worker *w, int r, enum resume_source source,
                     const struct continuation *from)
{
    struct row_resume *resume = &w->row[r].resume;
    const int64_t member = w->row[r].member;
    const struct store_past *const past = &from->past;
    *resume = (struct row_resume){.slot = -1, .tries = past->tries + 1, .saved = past->n_saved};
    if (w->running == 1)
        delay(w);
    if (from->known)
        TRY(worker_check_right(w));
    if (source == RESUME_CHECKPOINT) {
        TRY(adopt_checkpoint(w, r, from));
        /* At once under this try's number: however often it is cut short, each try counts. */
        return write_row(w, r);
    }
    resume->tries += past->n_saved > 0; /* the one that saved them */
    if (source == RESUME_PLANE) {
        w->slot[w->current].status[r].history_truncated = true;
        return store_count_try(w->store, member);
    }
    resume->saved = 0;
    return past->n_saved > 0 ? store_reset_member(w->store, member) : 0;
}

/* A slot for a row that has none. */
static bool take_slot(struct worker *w, int r)
{
    struct checkpoints *c = &w->checkpoints;
    struct row_resume *resume = &w->row[r].resume;
    if (resume->slot >= 0)
        return true;
    if (c->free_count > 0 && w->row[r].layout.state_bytes <= resume_room(w->store)) {
        resume->slot = c->free[--c->free_count];
        resume->half = 0;
        return true;
    }
    if (!c->said)
        log_warn("the file has no room for a checkpoint of member %lld: it was made for fewer "
                 "workers or by another version; when the run is cut short the member goes on "
                 "from its last plane",
                 (long long)w->row[r].member);
    c->said = true;
    return false;
}

static int write_row(struct worker *w, int r)
{
    struct checkpoints *c = &w->checkpoints;
    struct worker_row *row = &w->row[r];
    const struct worker_slot *slot = &w->slot[w->current];
    const struct row_status *status = &slot->status[r];
    struct state_out out = {.bytes = c->state, .capacity = resume_room(w->store)};
    if (!take_slot(w, r))
        return 0;
    TRY(w->ops->state(slot->model, r, &out));
    TRY(store_put_steps(w->store, row->member, status, row->resume.kept));
    row->resume.kept = status->history_count;
    const struct resume_head head = {
        .member = row->member,
        .seq = ++c->seq,
        .planes = status->plane + 1,
        .tries = row->resume.tries,
        .wall = clock_wall() - row->begin,
        .cpu = row->cpu,
        .steps = status->steps,
        .rejected = status->rejected,
        .rhs_calls = status->rhs_calls,
        .transforms = status->transforms,
        .history_count = status->history_count,
        .history_truncated = status->history_truncated,
        .history_hash = resume_hash_steps(row->history, status->history_count),
        .length = out.length,
    };
    TRY(resume_write(w->store, row->resume.slot, row->resume.half, &head, c->state));
    row->resume.half = 1 - row->resume.half;
    return 0;
}

int checkpoint_rows(struct worker *w)
{
    if (w->running > 0)
        TRY(worker_check_right(w));
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    for (int r = 0; w->running > 0 && r < w->placement.capacity; r++)
        if (w->row[r].member >= 0 && w->row[r].judgment == NULL) /* that begins anew */
            TRY(write_row(w, r));
    stopwatch_switch(&w->watch, before);
    delay(w);
    return 0;
}

int checkpoint_when_due(struct worker *w)
{
    return w->running > 0 && clock_wall() >= w->checkpoints.due ? checkpoint_rows(w) : 0;
}

void checkpoint_release(struct worker *w, int r)
{
    struct checkpoints *c = &w->checkpoints;
    struct row_resume *resume = &w->row[r].resume;
    /* One more than rows: a row that took over a slot leaves its own. */
    if (resume->slot >= 0 && c->free_count <= w->placement.capacity)
        c->free[c->free_count++] = resume->slot;
    resume->slot = -1;
}
