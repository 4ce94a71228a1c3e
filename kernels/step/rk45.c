/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/step/rk45.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

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
 * end of what the team's spans and gaps cover so far. */
static void add_gap(struct step_team *team, const struct stepper_setup *setup, long *from,
                    struct step_span dead)
{
    const long rounded = (dead.begin + 7) / 8 * 8;
    const long begin = rounded < setup->n ? rounded : dead.begin;
    const long end = dead.end == setup->spectrum ? dead.end : dead.end / 8 * 8;
    if (end <= begin)
        return;
    if (begin > *from)
        team->span[team->spans++] = (struct step_span){*from, begin};
    team->gap[team->gaps++] = (struct step_span){begin, end};
    *from = end;
}

/* The dead bins to leave out after the first `head`: the longest run of them; where the
 * spectrum is longer than the state, the run at its end. */
static struct step_span dead_run(const struct step_team *team, const struct step_member *m,
                                 const struct stepper_setup *setup, long head)
{
    const bool padded = setup->spectrum > setup->n;
    struct step_span found = {setup->n, setup->spectrum};
    for (long i = head, start = head; i < setup->spectrum; i++) {
        if (i < setup->n && !bin_is_dead(m, team->terms, setup, i))
            start = i + 1;
        else if (padded ? i + 1 == setup->spectrum : i + 1 - start > found.end - found.begin)
            found = (struct step_span){start, i + 1};
    }
    return found;
}

/* Spans and gaps of a team of one row. One group of bins stays when all are dead: its passes
 * write the zeros of the others. */
static void find_spans(struct step_team *team, const struct step_member *m,
                       const struct stepper_setup *setup)
{
    const long n = setup->n;
    long head = 0;
    while (head < n && bin_is_dead(m, team->terms, setup, head))
        head++;
    long from = 0;
    team->spans = 0;
    team->gaps = 0;
    if (head == n) {
        add_gap(team, setup, &from, (struct step_span){n < 8 ? n : 8, setup->spectrum});
    } else {
        add_gap(team, setup, &from, (struct step_span){0, head});
        add_gap(team, setup, &from, dead_run(team, m, setup, head));
    }
    if (from < n)
        team->span[team->spans++] = (struct step_span){from, n};
}

/* A table of a term, [group][n]; `from` NULL: zeros. */
static int table_upload(struct stepper *s, double *to, const double *from)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    for (long g = 0; g < s->setup.group; g++)
        TRY(be->ops->upload(be, to + g * s->ld, from != NULL ? from + g * n : s->zeros,
                            (size_t)n * sizeof(double)));
    return 0;
}

/* The tables of the terms that the row's team has. */
static int load_tables(struct stepper *s, long row, const struct step_member *member)
{
    const struct step_row *r = &s->row[row];
    const struct step_team *team = r->team;
    for (long j = 0; j < team->terms; j++) {
        const long from = j * step_bins(s);
        const bool has = j < r->terms;
        TRY(table_upload(s, step_real_of(s, row, team->li[j]), has ? member->li + from : NULL));
        if (team->lossy)
            TRY(table_upload(s, step_real_of(s, row, team->lr[j]),
                             has && member->lr != NULL ? member->lr + from : NULL));
    }
    return 0;
}

/* The tables and the state of a member to its row. */
static int load_rows(struct stepper *s, long row, const struct step_member *member)
{
    TRY(step_upload(s, row, member->pre));
    TRY(step_split(s, row, PREFACTOR));
    TRY(step_upload(s, row, member->field));
    /* All that become the state or the first slope: zero in the gap, whoever was here before.
     */
    static const enum step_slot slots[] = {STATE, K1, K3, K4};
    for (size_t j = 0; j < sizeof slots / sizeof slots[0]; j++)
        TRY(step_split(s, row, slots[j]));
    return load_tables(s, row, member);
}

int stepper_load(struct stepper *stepper, long row, const struct step_member *member,
                 struct row_status *st)
{
    struct step_row *r = &stepper->row[row];
    r->terms = member->terms > 0 ? member->terms : 1;
    if (r->terms > stepper->setup.terms)
        FAIL(ERR_BUG, "a member of %d terms was given to a stepper of %d", r->terms,
             stepper->setup.terms);
    if (!r->team->joint) {
        r->team->terms = r->terms;
        r->team->lossy = member->lr != NULL;
        find_spans(r->team, member, &stepper->setup);
    }
    step_forget(stepper, row);
    TRY(load_rows(stepper, row, member));
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
    r->landed = false;
    status_reset(st);
    if (!isfinite(r->y2)) {
        st->outcome = ROW_FAILED;
        snprintf(st->reason, sizeof st->reason, "input field is not finite");
    }
    return 0;
}

void stepper_set_schedule(struct stepper *stepper, long row, const double *lengths, long count)
{
    step_forget(stepper, row);
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

/* The new state becomes the state. */
static void row_accept(struct stepper *s, long r, double z, double new2)
{
    step_accept(s, r);
    s->row[r].z = z;
    s->row[r].y2 = new2;
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

/* Step length before the first trial, by the sum of the slope's squares. */
static void row_start(struct step_row *row, struct row_status *st, double slope2)
{
    const double slope = sqrt(slope2);
    if (!isfinite(slope))
        row_fail(row, st, "nonlinear term is not finite", slope);
    row->plan = (struct step_plan){.natural = step_first(&row->control, sqrt(row->y2), slope),
                                   .rejected = false};
}

/* Where an accepted step ends. */
static double step_end(const struct step_row *row, double h, bool lands)
{
    if (row->schedule.z != NULL && row->done + 1 < row->schedule.count)
        return row->schedule.z[row->done + 1];
    return lands ? row->positions[row->next] : row->z + h;
}

/* Whether a trial gave numbers; otherwise the row failed. */
static bool row_finite(const struct step_row *row, struct row_status *st, double h,
                       const struct trial_result *result)
{
    if (!isfinite(result->new2))
        row_fail(row, st, "field is not finite after a step of length in m", h);
    else if (!isfinite(result->err))
        row_fail(row, st, "error estimate is not finite after a step of length in m", h);
    return st->outcome == ROW_RUNNING;
}

/* Judge the trial of a row: take it, or plan a shorter one. */
static void row_judge(struct stepper *s, long r, struct row_status *st)
{
    struct step_row *row = &s->row[r];
    const double h = s->trial[r].path.h;
    const struct trial_result *const result = &s->trial[r].result;
    row->trials++;
    if (!row_finite(row, st, h, result))
        return;
    const bool accepted = row->schedule.count > 0 || result->err <= 1.0;
    const struct step_record record = {.position = row->z,
                                       .length = h,
                                       .error = result->err,
                                       .order = RK45_ORDER,
                                       .accepted = accepted};
    record_step(st, &record);
    if (accepted) {
        row_accept(s, r, step_end(row, h, s->trial[r].lands), result->new2);
        step_accepted(&row->plan, h, result->err);
        row->done++;
    } else {
        step_rejected(&row->plan, h, result->err);
        row->rejected++;
    }
    st->progress = row->z;
    if (accepted && s->setup.system.accepted != NULL)
        s->setup.system.accepted(s->setup.system.model, r, h, row->y2, st);
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
static int row_path(struct stepper *s, long r, double h, struct row_status *st)
{
    struct step_row *row = &s->row[r];
    for (;;) {
        double limit;
        TRY(step_path(s, r, h, st, &limit));
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
        s->trial[r].lands = false;
        if (!(h >= STEP_MINIMUM * row->control.length)) {
            row_fail(row, st, "step length is below 1e-12 of the length or not finite", h);
            return 0;
        }
    }
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
    row->landed = row->team->joint;
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

static bool row_wants(const struct row_status *st)
{
    return st->outcome == ROW_RUNNING && !st->plane_ready;
}

/* First slopes of the rows of a trial that have none. Sets `on` anew for it. */
static int team_start(struct stepper *s, struct step_team *team, struct row_status *st)
{
    bool any = false;
    for (long i = 0; i < team->rows; i++) {
        const long r = team->first + i;
        team->on[i] = row_wants(&st[r]) && !s->row[r].have_slope;
        any = any || team->on[i];
    }
    if (!any)
        return 0;
    TRY(step_first_slopes(s, team, st));
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            row_start(&s->row[team->first + i], &st[team->first + i],
                      s->trial[team->first + i].result.e2);
    return 0;
}

/* What the next trial of a row is; false when it takes part in none. */
static int row_plan(struct stepper *s, long r, struct row_status *st, bool *takes_part)
{
    double h;
    *takes_part = row_wants(st) && choose_step(&s->row[r], st, &h, &s->trial[r].lands);
    if (!*takes_part)
        return 0;
    TRY(row_path(s, r, h, st));
    *takes_part = st->outcome == ROW_RUNNING;
    return 0;
}

/* Plan and launch a trial of all rows that run and have a slope. */
static int team_launch(struct stepper *s, struct step_team *team, struct row_status *st,
                       bool *launched)
{
    *launched = false;
    for (long i = 0; i < team->rows; i++) {
        TRY(row_plan(s, team->first + i, &st[team->first + i], &team->on[i]));
        *launched = *launched || team->on[i];
    }
    return *launched ? step_trial_launch(s, team, st) : 0;
}

/* Wait for a trial and judge its rows. */
static int team_judge(struct stepper *s, struct step_team *team, struct row_status *st)
{
    TRY(step_trial_finish(s, team, st));
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            row_judge(s, team->first + i, &st[team->first + i]);
    return 0;
}

/* A trial of all rows that run. */
static int team_trial(struct stepper *s, struct step_team *team, struct row_status *st)
{
    bool launched;
    TRY(team_start(s, team, st));
    TRY(team_launch(s, team, st, &launched));
    return launched ? team_judge(s, team, st) : 0;
}

/* Rows that a trial is to move; 0 as soon as a row stands on a plane or ended, or none runs:
 * then the caller has something to do. */
static long team_running(struct stepper *s, const struct step_team *team, struct row_status *st)
{
    long running = 0;
    bool settled = false;
    for (long r = team->first; r < team->first + team->rows; r++)
        if (row_wants(&st[r])) {
            running++;
            settled = row_settled(s, &s->row[r], &st[r]) || settled;
        }
    return settled ? 0 : running;
}

/* Whether a row's limit ended it. */
static bool team_limited(const struct stepper *s, const struct step_team *team,
                         struct row_status *st)
{
    bool limited = false;
    for (long r = team->first; r < team->first + team->rows; r++)
        if (row_wants(&st[r]))
            limited = row_limited(&s->row[r], &st[r]) || limited;
    return limited;
}

static long team_ended(const struct step_team *team, const struct row_status *st)
{
    long ended = 0;
    for (long r = team->first; r < team->first + team->rows; r++)
        ended += st[r].outcome != ROW_RUNNING;
    return ended;
}

static struct row_effort effort_of(const struct row_status *st)
{
    return (struct row_effort){st->rhs_calls, st->transforms, st->passes, st->bundles};
}

/* Takes from a status what was counted since `before`: the trial was not judged yet. */
static struct row_effort effort_hide(struct row_status *st, const struct row_effort *before)
{
    const struct row_effort now = effort_of(st);
    st->rhs_calls = before->rhs_calls;
    st->transforms = before->transforms;
    st->passes = before->passes;
    st->bundles = before->bundles;
    return (struct row_effort){now.rhs_calls - before->rhs_calls,
                               now.transforms - before->transforms, now.passes - before->passes,
                               now.bundles - before->bundles};
}

static void effort_show(struct row_status *st, const struct row_effort *effort)
{
    st->rhs_calls += effort->rhs_calls;
    st->transforms += effort->transforms;
    st->passes += effort->passes;
    st->bundles += effort->bundles;
}

/* A trial of `rows` rows. */
static void count_trial(struct run_control *control, long rows)
{
    atomic_fetch_add_explicit(&control->steps_done, rows, memory_order_relaxed);
    atomic_fetch_add_explicit(&control->trials, 1, memory_order_relaxed);
}

/* Judge the trial that the last call left under way. Rows that got another member since then,
 * or none, have no part in it any more. */
static int team_resume(struct stepper *s, struct step_team *team, struct run_control *control,
                       struct row_status *st)
{
    if (!team->under_way)
        return 0;
    team->under_way = false;
    for (long i = 0; i < team->rows; i++) {
        const long r = team->first + i;
        team->on[i] = team->on[i] && row_wants(&st[r]);
        if (team->on[i])
            effort_show(&st[r], &s->trial[r].effort);
    }
    TRY(team_judge(s, team, st));
    count_trial(control, team->moving);
    return 0;
}

/* The rows that landed in this call, to the model; their states are taken over. */
static int team_tell(struct stepper *s, struct step_team *team, bool *told)
{
    const struct step_system *const system = &s->setup.system;
    *told = false;
    for (long i = 0; i < team->rows; i++) {
        struct step_row *const row = &s->row[team->first + i];
        team->on[i] = row->landed;
        *told = *told || row->landed;
        row->landed = false;
    }
    return *told ? system->settled(system->model, team->first, team->rows, team->on) : 0;
}

/* Whether the next trial may be launched before the caller has read planes: first slopes would
 * have to be waited for. */
static bool team_goes_on(struct stepper *s, const struct step_team *team,
                         struct run_control *control, struct row_status *st)
{
    if (stop_wanted(control) || team_limited(s, team, st))
        return false;
    for (long r = team->first; r < team->first + team->rows; r++)
        if (row_wants(&st[r]) && !s->row[r].have_slope)
            return false;
    return true;
}

/* While the caller reads planes and refills rows, the others go on: their trial is launched,
 * and judged in the next call. Until then nothing of it shows: states and first slopes are
 * those before it, and what it counts is kept back. `ended`: whether rows did in this call. */
static int team_leave(struct stepper *s, struct step_team *team, bool ended,
                      struct run_control *control, struct row_status *st)
{
    bool told;
    if (!team->joint || s->setup.system.settled == NULL)
        return 0;
    (void)team_running(s, team, st); /* where another row ended, some may stand on planes too */
    TRY(team_tell(s, team, &told));
    team->moving = team_running(s, team, st);
    if (!(told || ended) || team->moving == 0 || !team_goes_on(s, team, control, st))
        return 0;
    for (long r = team->first; r < team->first + team->rows; r++)
        s->trial[r].effort = effort_of(&st[r]);
    TRY(team_launch(s, team, st, &team->under_way));
    for (long i = 0; i < team->rows; i++) {
        const long r = team->first + i;
        if (team->on[i])
            s->trial[r].effort = effort_hide(&st[r], &s->trial[r].effort);
    }
    return 0;
}

/* A team until one of its rows stands on its next plane or ends; between calls nothing waits to
 * be taken over. */
static int team_advance(struct stepper *s, struct step_team *team, struct run_control *control,
                        struct row_status *st)
{
    const long ended = team_ended(team, st);
    TRY(team_resume(s, team, control, st));
    while (team_ended(team, st) == ended) {
        const long running = team_running(s, team, st);
        if (running == 0 || stop_wanted(control) || team_limited(s, team, st))
            break;
        TRY(team_trial(s, team, st));
        count_trial(control, running);
    }
    TRY(step_take(s, team, false));
    return team_leave(s, team, team_ended(team, st) != ended, control, st);
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
    const long teams = stepper->teams;
    const int threads = stepper->setup.backend->threads;
    int rc = 0;
    if (teams == 1 || threads == 1) {
        for (long t = 0; t < teams && rc == 0; t++)
            rc = team_advance(stepper, &stepper->team[t], control, st);
        return rc;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) default(none)               \
    shared(stepper, control, st, teams) reduction(max                                          \
                                                  : rc)
    for (long t = 0; t < teams; t++) {
        const int code = team_advance(stepper, &stepper->team[t], control, st);
        rc = code > rc ? code : rc;
    }
    return rc;
}

int stepper_field(struct stepper *stepper, long row, cplx **out)
{
    *out = step_spectrum_of(stepper, row);
    return step_join(stepper, row, STATE);
}

cplx *stepper_room(const struct stepper *stepper, long row)
{
    return step_spectrum_of(stepper, row);
}

const double *stepper_split(const struct stepper *stepper, long row, long *ld)
{
    *ld = stepper->ld;
    return step_slot_of(stepper, row, STATE);
}

long stepper_plane(const struct stepper *stepper, long row)
{
    return stepper->row[row].next - 1;
}
