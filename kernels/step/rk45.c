/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/step/rk45.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

/* Doubles between two real rows beyond their length: with rows a power of two apart all streams
 * of a pass would fall into the same sets of the caches (measured: docs/performance.md). */
#define STEP_STAGGER 24

static long row_stride(long n)
{
    return backend_stride(n, sizeof(double)) + STEP_STAGGER;
}

/* Real rows of a row: parts of the slots, li and lr of each term, exponents. */
static long real_rows(int terms)
{
    return 2 * STEP_SLOTS + 2 * terms + (terms > STEP_INLINE_TERMS ? 3 : 0);
}

static void row_place(struct stepper *s, long r)
{
    struct step_row *row = &s->row[r];
    const int terms = s->setup.terms;
    const long group = s->setup.group;
    const long block = group * s->ld; /* a real row of each state */
    double *next = s->reals + r * real_rows(terms) * block;
    for (int j = 0; j < STEP_SLOTS; j++, next += 2 * block)
        row->slot[j] = next;
    for (int j = 0; j < terms; j++, next += 2 * block) {
        row->li[j] = next;
        row->lr[j] = next + block;
    }
    if (terms > STEP_INLINE_TERMS) {
        row->phase = next;
        row->loss[0] = next + block;
        row->loss[1] = next + 2 * block;
    }
    row->spectrum = s->spectra + r * group * s->ld_spec;
    row->scalars = s->scalars + r;
    row->sums = s->sums + r * group * STEP_SPANS * STEP_SUMS;
    row->positions = s->positions + r * s->setup.planes;
}

static int create_rows(struct stepper *s)
{
    const struct stepper_setup *setup = &s->setup;
    struct backend *be = setup->backend;
    const long rows = setup->rows;
    const long states = rows * setup->group;
    TRY(be->ops->alloc(be, states * real_rows(setup->terms) * s->ld, sizeof(double),
                       (void **)&s->reals));
    TRY(be->ops->alloc(be, states * s->ld_spec, sizeof(cplx), (void **)&s->spectra));
    TRY(be->ops->alloc(be, states * STEP_SPANS * STEP_SUMS, sizeof(double), (void **)&s->sums));
    TRY(be->ops->alloc(be, rows, sizeof(struct trial_scalars), (void **)&s->scalars));
    TRY(MEM_NEW(rows * setup->planes, &s->positions));
    return MEM_NEW(rows, &s->row);
}

static int check_setup(const struct stepper_setup *setup)
{
    if (setup->spectrum != 0 && setup->spectrum < setup->n)
        FAIL(ERR_BUG, "a stepper of %ld bins cannot have spectra of %ld", setup->n,
             setup->spectrum);
    if (setup->terms < 0 || setup->terms > STEP_TERMS)
        FAIL(ERR_BUG, "a stepper has 1 to %d terms, not %d", STEP_TERMS, setup->terms);
    if (setup->group < 0 || setup->group > STEP_GROUP)
        FAIL(ERR_BUG, "a row of a stepper has 1 to %d states, not %d", STEP_GROUP,
             setup->group);
    if (setup->terms > 1 && setup->system.path == NULL)
        FAIL(ERR_BUG, "a stepper with %d terms needs their integrals", setup->terms);
    return 0;
}

int stepper_create(const struct stepper_setup *setup, struct stepper **out)
{
    *out = NULL;
    struct stepper *s;
    TRY(check_setup(setup));
    TRY(MEM_NEW(1, &s));
    s->setup = *setup;
    if (setup->spectrum == 0)
        s->setup.spectrum = setup->n;
    if (setup->terms == 0)
        s->setup.terms = 1;
    if (setup->group == 0)
        s->setup.group = 1;
    s->ld = row_stride(setup->n);
    s->ld_spec = stepper_spectrum_stride(s->setup.spectrum);
    const int rc = create_rows(s);
    if (rc != 0) {
        stepper_destroy(s);
        return rc;
    }
    for (long r = 0; r < setup->rows; r++)
        row_place(s, r);
    *out = s;
    return 0;
}

void stepper_destroy(struct stepper *stepper)
{
    if (stepper == NULL)
        return;
    struct backend *be = stepper->setup.backend;
    be->ops->release(be, stepper->reals);
    be->ops->release(be, stepper->spectra);
    be->ops->release(be, stepper->sums);
    be->ops->release(be, stepper->scalars);
    mem_free(stepper->positions);
    mem_free(stepper->row);
    mem_free(stepper);
}

static void status_reset(struct row_status *st)
{
    *st = (struct row_status){.outcome = ROW_RUNNING,
                              .plane = -1,
                              .deadline = st->deadline,
                              .history = st->history,
                              .history_capacity = st->history_capacity};
}

/* Largest parts of each term, and the longest step for which neither exp(L h) nor exp(-L h)
 * leaves the range of the kernels; what `path` integrates is judged step by step. */
static void linear_guard(struct step_row *row, const struct step_member *m, long n, bool path)
{
    for (int j = 0; j < row->terms; j++) {
        row->most_loss[j] = 0.0;
        row->most_phase[j] = 0.0;
        for (long i = j * n; i < (j + 1) * n; i++) {
            const double loss = m->lr != NULL ? fabs(m->lr[i]) : 0.0;
            const double phase = fabs(m->li[i]);
            row->most_loss[j] = fmax(row->most_loss[j], loss);
            row->most_phase[j] = fmax(row->most_phase[j], phase);
        }
    }
    row->guard =
        path ? (double)INFINITY
             : fmin(STEP_LOSS_LIMIT / row->most_loss[0], STEP_PHASE_LIMIT / row->most_phase[0]);
}

static double field_sum(const cplx *field, long n)
{
    double sum = 0.0;
    for (long i = 0; i < n; i++)
        sum += cplx_abs2(field[i]);
    return sum;
}

/* Whether bin i of each state is zero and stays so; a table that is not finite must show
 * itself. */
static bool bin_is_dead(const struct step_member *m, int terms,
                        const struct stepper_setup *setup, long i)
{
    bool dead = true;
    for (long at = i; at < setup->group * setup->n; at += setup->n) {
        for (int j = 0; j < terms; j++)
            dead = dead && isfinite(m->li[j * setup->group * setup->n + at]);
        dead = dead && cplx_abs2(m->field[at]) == 0.0 && cplx_abs2(m->pre[at]) == 0.0;
    }
    return dead;
}

/* Adds a gap, cut to whole groups of 8 at its inner ends, and the span up to it. `from` is the
 * end of what the row's spans and gaps cover so far. */
static void add_gap(struct step_row *row, const struct stepper_setup *setup, long *from,
                    struct step_span dead)
{
    const long rounded = (dead.begin + 7) / 8 * 8;
    const long begin = rounded < setup->n ? rounded : dead.begin;
    const long end = dead.end == setup->spectrum ? dead.end : dead.end / 8 * 8;
    if (end <= begin)
        return;
    if (begin > *from)
        row->span[row->spans++] = (struct step_span){*from, begin};
    row->gap[row->gaps++] = (struct step_span){begin, end};
    *from = end;
}

/* The dead bins to leave out after the first `head`: the longest run of them; where the
 * spectrum is longer than the state, the run at its end. */
static struct step_span dead_run(const struct step_row *row, const struct step_member *m,
                                 const struct stepper_setup *setup, long head)
{
    const bool padded = setup->spectrum > setup->n;
    struct step_span found = {setup->n, setup->spectrum};
    for (long i = head, start = head; i < setup->spectrum; i++) {
        if (i < setup->n && !bin_is_dead(m, row->terms, setup, i))
            start = i + 1;
        else if (padded ? i + 1 == setup->spectrum : i + 1 - start > found.end - found.begin)
            found = (struct step_span){start, i + 1};
    }
    return found;
}

/* Spans and gaps of a row. One group of bins stays when all are dead: its passes write the
 * zeros of the others. */
static void find_spans(struct step_row *row, const struct step_member *m,
                       const struct stepper_setup *setup)
{
    const long n = setup->n;
    long head = 0;
    while (head < n && bin_is_dead(m, row->terms, setup, head))
        head++;
    long from = 0;
    row->spans = 0;
    row->gaps = 0;
    if (head == n) {
        add_gap(row, setup, &from, (struct step_span){n < 8 ? n : 8, setup->spectrum});
    } else {
        add_gap(row, setup, &from, (struct step_span){0, head});
        add_gap(row, setup, &from, dead_run(row, m, setup, head));
    }
    if (from < n)
        row->span[row->spans++] = (struct step_span){from, n};
}

/* The tables and the state of a member to its row. */
static int load_rows(struct stepper *s, long row, const struct step_member *member)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    struct step_row *r = &s->row[row];
    TRY(step_upload(s, row, member->pre));
    TRY(step_split(s, row, PREFACTOR));
    TRY(step_upload(s, row, member->field));
    /* All that become the state or the first slope: zero in the gap, whoever was here before.
     */
    static const enum step_slot slots[] = {STATE, K1, K3, K4};
    for (size_t j = 0; j < sizeof slots / sizeof slots[0]; j++)
        TRY(step_split(s, row, slots[j]));
    const size_t bytes = (size_t)n * sizeof(double);
    for (long j = 0; j < r->terms; j++)
        for (long g = 0; g < s->setup.group; g++) {
            const long from = (j * s->setup.group + g) * n;
            TRY(be->ops->upload(be, r->li[j] + g * s->ld, member->li + from, bytes));
            if (r->lossy)
                TRY(be->ops->upload(be, r->lr[j] + g * s->ld, member->lr + from, bytes));
        }
    return 0;
}

int stepper_load(struct stepper *stepper, long row, const struct step_member *member,
                 struct row_status *st)
{
    struct step_row *r = &stepper->row[row];
    r->lossy = member->lr != NULL;
    r->terms = member->terms > 0 ? member->terms : 1;
    if (r->terms > stepper->setup.terms)
        FAIL(ERR_BUG, "a member of %d terms was given to a stepper of %d", r->terms,
             stepper->setup.terms);
    TRY(load_rows(stepper, row, member));
    find_spans(r, member, &stepper->setup);
    memcpy(r->positions, member->positions, (size_t)stepper->setup.planes * sizeof(double));
    r->control = member->control;
    r->plan = (struct step_plan){0};
    linear_guard(r, member, step_bins(stepper), stepper->setup.system.path != NULL);
    r->z = 0.0;
    r->y2 = field_sum(member->field, step_bins(stepper));
    r->next = 0;
    r->trials = 0;
    r->rejected = 0;
    r->have_slope = false;
    r->schedule = member->schedule;
    r->done = 0;
    status_reset(st);
    if (!isfinite(r->y2)) {
        st->outcome = ROW_FAILED;
        snprintf(st->reason, sizeof st->reason, "input field is not finite");
    }
    return 0;
}

void stepper_set_schedule(struct stepper *stepper, long row, const double *lengths, long count)
{
    stepper->row[row].schedule = (struct step_schedule){NULL, lengths, count};
    stepper->row[row].done = 0;
}

static void record_step(struct row_status *st, const struct step_record *record)
{
    if (record->accepted)
        st->steps++;
    else
        st->rejected++;
    if (st->history == NULL || st->history_count >= st->history_capacity)
        st->history_truncated = true;
    else
        st->history[st->history_count++] = *record;
}

static void row_fail(const struct step_row *row, struct row_status *st, const char *what,
                     double value)
{
    st->outcome = ROW_FAILED;
    snprintf(st->reason, sizeof st->reason, "%s (%.6g) at z = %.9g m, on the way to plane %ld",
             what, value, row->z, row->next);
}

static void slots_swap(struct step_row *row, enum step_slot a, enum step_slot b)
{
    double *const kept = row->slot[a];
    row->slot[a] = row->slot[b];
    row->slot[b] = kept;
}

/* The new state becomes the state: slots change places, nothing is copied. */
static void row_accept(struct step_row *row, double z, double new2)
{
    slots_swap(row, STATE, K3);
    slots_swap(row, K1, K4);
    row->z = z;
    row->y2 = new2;
}

/* The next step of a schedule; false when the row failed instead. */
static bool schedule_step(struct step_row *row, struct row_status *st, double remaining,
                          double *h, bool *lands)
{
    const double shortest = STEP_MINIMUM * row->control.length;
    if (row->done >= row->schedule.count) {
        row_fail(row, st, "the step schedule ends before the plane, after steps",
                 (double)row->done);
        return false;
    }
    *h = row->schedule.h[row->done];
    *lands = fabs(remaining - *h) <= shortest;
    if (!(*h > 0.0 && *h <= remaining + shortest)) {
        row_fail(row, st, "a step of the schedule is not within the distance to the plane", *h);
        return false;
    }
    return true;
}

/* What the next trial is; false when the row failed instead. */
static bool choose_step(struct step_row *row, struct row_status *st, double *h, bool *lands)
{
    const double remaining = row->positions[row->next] - row->z;
    const double shortest = STEP_MINIMUM * row->control.length;
    if (row->schedule.count > 0)
        return schedule_step(row, st, remaining, h, lands);
    const double allowed = fmin(row->plan.natural, row->guard);
    if (!(allowed >= shortest)) {
        row_fail(row, st, "step length is below 1e-12 of the length or not finite", allowed);
        return false;
    }
    *h = step_length(&row->plan, &row->control, remaining, row->guard, lands);
    return true;
}

/* Slope and step length before the first trial. */
static int row_start(struct stepper *s, long r, struct row_status *st)
{
    struct step_row *row = &s->row[r];
    double slope;
    TRY(step_first_slope(s, r, st, &slope));
    if (!isfinite(slope))
        row_fail(row, st, "nonlinear term is not finite", slope);
    row->plan = (struct step_plan){.natural = step_first(&row->control, sqrt(row->y2), slope),
                                   .rejected = false};
    return 0;
}

/* Where an accepted step ends. */
static double step_end(const struct step_row *row, double h, bool lands)
{
    if (row->schedule.z != NULL && row->done + 1 < row->schedule.count)
        return row->schedule.z[row->done + 1];
    return lands ? row->positions[row->next] : row->z + h;
}

/* Judge a trial of length h: take it, or plan a shorter one. */
static void row_judge(struct step_row *row, struct row_status *st, double h, bool lands,
                      const struct trial_result *result)
{
    if (!isfinite(result->new2)) {
        row_fail(row, st, "field is not finite after a step of length in m", h);
        return;
    }
    if (!isfinite(result->err)) {
        row_fail(row, st, "error estimate is not finite after a step of length in m", h);
        return;
    }
    const bool accepted = row->schedule.count > 0 || result->err <= 1.0;
    const struct step_record record = {.position = row->z,
                                       .length = h,
                                       .error = result->err,
                                       .order = RK45_ORDER,
                                       .accepted = accepted};
    record_step(st, &record);
    if (accepted) {
        row_accept(row, step_end(row, h, lands), result->new2);
        step_accepted(&row->plan, h, result->err);
        row->done++;
    } else {
        step_rejected(&row->plan, h, result->err);
        row->rejected++;
    }
    st->progress = row->z;
}

/* A given step is not shortened: the row fails where it leaves the range of exp(L h). */
static void schedule_guard(const struct stepper *s, struct step_row *row, double h,
                           double limit, struct row_status *st)
{
    const double excess = s->setup.system.path != NULL ? limit : h / row->guard;
    if (excess > STEP_GIVEN_EXCESS)
        row_fail(row, st, "a step of the schedule is too long for the range of exp(L h), by",
                 excess);
}

/* The positions of a trial; where L changes along the way, a step that leaves the range of
 * exp(L h) is shortened. The row may fail. */
static int row_path(struct stepper *s, long r, double h, bool *lands, struct row_status *st,
                    struct trial_path *path)
{
    struct step_row *row = &s->row[r];
    for (;;) {
        double limit;
        TRY(step_path(s, r, h, st, path, &limit));
        if (!isfinite(limit))
            row_fail(row, st, "the linear operator is not finite over a step of length in m",
                     h);
        if (row->schedule.count > 0) {
            schedule_guard(s, row, h, limit, st);
            return 0;
        }
        if (!(limit > 1.0) || s->setup.system.path == NULL)
            return 0;
        h *= 0.9 / limit;
        *lands = false;
        if (!(h >= STEP_MINIMUM * row->control.length)) {
            row_fail(row, st, "step length is below 1e-12 of the length or not finite", h);
            return 0;
        }
    }
}

static int row_trial(struct stepper *s, long r, struct row_status *st)
{
    struct step_row *row = &s->row[r];
    if (!row->have_slope)
        TRY(row_start(s, r, st));
    double h;
    bool lands;
    if (st->outcome != ROW_RUNNING || !choose_step(row, st, &h, &lands))
        return 0;
    struct trial_path path;
    TRY(row_path(s, r, h, &lands, st, &path));
    if (st->outcome != ROW_RUNNING)
        return 0;
    struct trial_result result;
    TRY(step_trial(s, r, &path, st, &result));
    row->trials++;
    const long long before = st->steps;
    row_judge(row, st, path.h, lands, &result);
    if (st->steps > before && s->setup.system.accepted != NULL)
        s->setup.system.accepted(s->setup.system.model, r, path.h, row->y2, st);
    return 0;
}

static bool stop_wanted(struct run_control *control)
{
    const double stop_at = atomic_load_explicit(&control->stop_at, memory_order_relaxed);
    return atomic_load_explicit(&control->stop, memory_order_relaxed) != 0
           || (stop_at > 0.0 && clock_wall() >= stop_at);
}

/* Whether the row stands on its next plane, or ended: nothing to compute. */
static bool row_settled(const struct stepper *s, struct step_row *row, struct row_status *st)
{
    if (row->next >= s->setup.planes) {
        st->outcome = ROW_DONE;
        return true;
    }
    const double position = row->positions[row->next];
    if (position - row->z > STEP_MINIMUM * row->control.length)
        return false;
    st->plane = row->next++;
    st->progress = position;
    st->plane_ready = true;
    return true;
}

/* Whether a limit of the member ends it before the next trial. */
static bool row_limited(const struct step_row *row, struct row_status *st)
{
    if (clock_wall() >= st->deadline) {
        st->outcome = ROW_TIMED_OUT;
        snprintf(st->reason, sizeof st->reason,
                 "timed out at z = %.9g m, on the way to plane %ld, after %lld trial steps",
                 row->z, row->next, row->trials);
        return true;
    }
    if (row->trials >= row->control.max_steps) {
        row_fail(row, st, "stepper.max_steps trial steps are used up", (double)row->trials);
        return true;
    }
    return false;
}

static int row_advance(struct stepper *s, long r, struct run_control *control,
                       struct row_status *st)
{
    struct step_row *row = &s->row[r];
    while (st->outcome == ROW_RUNNING && !row_settled(s, row, st)) {
        if (stop_wanted(control) || row_limited(row, st))
            return 0;
        TRY(row_trial(s, r, st));
        atomic_fetch_add_explicit(&control->steps_done, 1, memory_order_relaxed);
    }
    return 0;
}

static bool row_wants(const struct row_status *st)
{
    return st->outcome == ROW_RUNNING && !st->plane_ready;
}

bool step_call_has(const struct step_call *call, long i)
{
    return call->on == NULL || call->on[i];
}

int step_call_each(const struct step_call *call, void *model,
                   int (*evaluate)(void *model, long row, struct step_place place,
                                   cplx *spectrum, struct row_status *st))
{
    for (long i = 0; i < call->rows; i++)
        if (step_call_has(call, i))
            TRY(evaluate(model, call->row + i, call->place[i],
                         call->spectrum + i * call->group * call->ld, &call->st[i]));
    return 0;
}

int stepper_advance(struct stepper *stepper, struct run_control *control, struct row_status *st)
{
    const long rows = stepper->setup.rows;
    const int threads = stepper->setup.backend->threads;
    int rc = 0;
    if (rows == 1 || threads == 1) {
        for (long r = 0; r < rows && rc == 0; r++)
            if (row_wants(&st[r]))
                rc = row_advance(stepper, r, control, &st[r]);
        return rc;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) default(none)               \
    shared(stepper, control, st, rows) reduction(max                                           \
                                                 : rc)
    for (long r = 0; r < rows; r++)
        if (row_wants(&st[r])) {
            const int code = row_advance(stepper, r, control, &st[r]);
            rc = code > rc ? code : rc;
        }
    return rc;
}

int stepper_field(struct stepper *stepper, long row, cplx **out)
{
    *out = stepper->row[row].spectrum;
    return step_join(stepper, row, STATE);
}

long stepper_spectrum_stride(long spectrum)
{
    return backend_stride(spectrum, sizeof(cplx));
}

const double *stepper_split(const struct stepper *stepper, long row, long *ld)
{
    *ld = stepper->ld;
    return stepper->row[row].slot[STATE];
}

long stepper_plane(const struct stepper *stepper, long row)
{
    return stepper->row[row].next - 1;
}

size_t stepper_row_bytes(long n, long spectrum, int terms)
{
    const long bins = spectrum > 0 ? spectrum : n;
    return (size_t)(row_stride(n) * real_rows(terms > 0 ? terms : 1)) * sizeof(double)
           + (size_t)stepper_spectrum_stride(bins) * sizeof(cplx)
           + (STEP_SPANS * STEP_SUMS) * sizeof(double) + sizeof(struct trial_scalars)
           + sizeof(struct step_row);
}
