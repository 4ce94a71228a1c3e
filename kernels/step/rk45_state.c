/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

#define STATE_TAG 0x726b343500000001ULL

/* Head of a state; then y[n], then the first slope[n]. */
struct step_state {
    uint64_t tag;
    int64_t n; /* all of a group */
    int64_t next;
    int64_t trials;
    int64_t rejected;
    int64_t have_slope;
    int64_t after_rejection;
    double z;
    double y2;
    double natural;
};

size_t stepper_state_bytes(long n)
{
    return sizeof(struct step_state) + 2 * (size_t)n * sizeof(cplx);
}

static int slot_save(struct stepper *s, long r, enum step_slot slot, void *to)
{
    TRY(step_join(s, r, slot));
    return step_download(s, r, to);
}

static int slot_resume(struct stepper *s, long r, enum step_slot slot, const void *from)
{
    TRY(step_upload(s, r, from));
    return step_split(s, r, slot);
}

int stepper_save(struct stepper *stepper, long row, struct state_out *out)
{
    const struct step_row *r = &stepper->row[row];
    const size_t bytes = (size_t)step_bins(stepper) * sizeof(cplx);
    const struct step_state head = {.tag = STATE_TAG,
                                    .n = step_bins(stepper),
                                    .next = r->next,
                                    .trials = r->trials,
                                    .rejected = r->rejected,
                                    .have_slope = r->have_slope,
                                    .after_rejection = r->plan.rejected,
                                    .z = r->z,
                                    .y2 = r->y2,
                                    .natural = r->plan.natural};
    out->length = stepper_state_bytes(step_bins(stepper));
    if (out->capacity < out->length)
        FAIL(ERR_ARGUMENT, "state of a row needs %zu bytes; %zu are given", out->length,
             out->capacity);
    char *to = out->bytes;
    memcpy(to, &head, sizeof head);
    TRY(slot_save(stepper, row, STATE, to + sizeof head));
    return slot_save(stepper, row, K1, to + sizeof head + bytes);
}

int stepper_state_at(long n, long plane, double z, const cplx *field, struct state_out *out)
{
    struct step_state head = {.tag = STATE_TAG, .n = n, .next = plane + 1, .z = z};
    const size_t bytes = (size_t)n * sizeof(cplx);
    out->length = stepper_state_bytes(n);
    if (out->capacity < out->length)
        FAIL(ERR_ARGUMENT, "state of a row needs %zu bytes; %zu are given", out->length,
             out->capacity);
    for (long k = 0; k < n; k++)
        head.y2 += cplx_abs2(field[k]);
    char *to = out->bytes;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, field, bytes);
    memset(to + sizeof head + bytes, 0, bytes); /* no slope yet */
    return 0;
}

static int state_read(const struct stepper *s, const struct state_in *state,
                      struct step_state *head)
{
    if (state->length != stepper_state_bytes(step_bins(s)))
        FAIL(ERR_ARGUMENT, "state of a row has %zu bytes; %zu are expected", state->length,
             stepper_state_bytes(step_bins(s)));
    memcpy(head, state->bytes, sizeof *head);
    if (head->tag != STATE_TAG || head->n != step_bins(s) || head->next < 0
        || head->next > s->setup.planes)
        FAIL(ERR_ARGUMENT, "state of a row is damaged or of another version");
    return 0;
}

/* The step of a schedule that a row goes on with, and where exactly it begins. */
static int schedule_resume(struct step_row *row)
{
    const struct step_schedule *const schedule = &row->schedule;
    if (schedule->count == 0)
        return 0;
    row->done = schedule_step_at(schedule, row->z, row->control.length);
    if (row->done < 0)
        FAIL(ERR_ARGUMENT, "no step of the schedule begins at the state's z = %.15g m", row->z);
    if (schedule->z != NULL && row->done < schedule->count)
        row->z = schedule->z[row->done];
    return 0;
}

int stepper_resume(struct stepper *stepper, long row, const struct state_in *state,
                   struct row_status *st)
{
    struct step_state head;
    TRY(state_read(stepper, state, &head));
    struct step_row *r = &stepper->row[row];
    const size_t bytes = (size_t)step_bins(stepper) * sizeof(cplx);
    const char *from = state->bytes;
    step_forget(stepper, row);
    TRY(slot_resume(stepper, row, STATE, from + sizeof head));
    TRY(slot_resume(stepper, row, K1, from + sizeof head + bytes));
    r->next = (long)head.next;
    r->trials = head.trials;
    r->rejected = head.rejected;
    r->have_slope = head.have_slope != 0;
    r->plan = (struct step_plan){head.natural, head.after_rejection != 0};
    r->z = head.z;
    r->landed = false;
    r->y2 = head.y2;
    TRY(schedule_resume(r));
    st->plane = r->next - 1;
    st->progress = r->z;
    st->steps = r->trials - r->rejected;
    st->rejected = r->rejected;
    st->rhs_calls = r->have_slope ? 1 + 6 * r->trials : 0;
    st->transforms = st->rhs_calls * stepper->setup.system.transforms;
    st->history_truncated = r->trials > 0;
    return 0;
}
