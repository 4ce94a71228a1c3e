/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a stepper that advance together: each is what it is alone. */
#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/kernels/backend_counts.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/kernels/perturbed.h"
#include "tests/kernels/team_case.h"
#include "tests/unit_main.h"

#define MEMBERS 6

static struct team_run run;
static struct team_result alone[MEMBERS];

/* All members of a number of terms, each in a stepper of its own. */
static void alone_all(struct backend *be, int group, int terms)
{
    for (int k = 0; k < MEMBERS; k++) {
        const struct team_member m = team_member_of(k, terms);
        team_alone(be, group, terms, &m, &alone[k]);
    }
}

static void load_all(struct team_run *to, int terms)
{
    for (int k = 0; k < MEMBERS; k++) {
        const struct team_member m = team_member_of(k, terms);
        team_load(to, k, &m);
    }
}

static void check_all(const struct team_run *batch)
{
    static const char *const names[MEMBERS] = {"plain", "rejected",  "overflowing",
                                               "short", "scheduled", "rejected later"};
    for (int k = 0; k < MEMBERS; k++)
        team_check_same(&batch->result[k], &alone[k], names[k]);
}

static bool rejected_later(const struct team_result *r)
{
    bool later = false;
    for (long i = 1; i < r->st.history_count; i++)
        later = later || (r->history[0].accepted && !r->history[i].accepted);
    return later;
}

/* What the members are made for does happen. */
static void check_members(void)
{
    ck_assert_int_eq(alone[0].st.outcome, ROW_DONE);
    ck_assert_int_gt(alone[0].st.steps, 5);
    ck_assert_int_ge(alone[1].st.rejected, 1);
    ck_assert_int_eq(alone[1].st.outcome, ROW_DONE);
    ck_assert_int_eq(alone[2].st.outcome, ROW_FAILED);
    ck_assert_ptr_nonnull(strstr(alone[2].st.reason, "not finite"));
    ck_assert_int_ge(alone[2].planes, 1);
    ck_assert_int_eq(alone[3].planes, TEAM_PLANES);
    ck_assert_int_lt(alone[3].st.steps, alone[0].st.steps);
    ck_assert_int_eq(alone[4].st.steps, 10);
    ck_assert_int_eq(alone[5].st.outcome, ROW_DONE);
    ck_assert(rejected_later(&alone[5]));
}

static void check_batch(struct backend *be, int group, int terms)
{
    alone_all(be, group, terms);
    check_members();
    team_open(&run, be, MEMBERS, group, terms);
    load_all(&run, terms);
    team_finish(&run);
    check_all(&run);
    team_close(&run);
}

START_TEST(each_row_of_a_batch_is_the_row_alone)
{
    static const int terms[] = {1, 2, 4, 8};
    struct backend *const be = team_backend();
    for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
        check_batch(be, 1, terms[t]);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(each_row_of_several_states_is_the_row_alone)
{
    struct backend *const be = team_backend();
    check_batch(be, 2, 1);
    check_batch(be, 2, 4);
    backend_destroy(be);
}
END_TEST

/* The CPU's own form, a row a team, which leaves out dead bins and knows each row's terms. */
static void cpu_rows(int group, int terms, struct team_run *out)
{
    const struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = 1, .rigour = lane_rigour()};
    struct backend *be;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    team_open(out, be, MEMBERS, group, terms);
    for (int k = 0; k < MEMBERS; k++) {
        const struct team_member m = team_member_eight(k, terms);
        team_load(out, k, &m);
    }
    team_finish(out);
    team_close(out);
    backend_destroy(be);
}

static void check_budget(const struct team_result *got, const struct team_result *want,
                         int group)
{
    static const int steps[TEAM_PLANES] = {2, 4, 8};
    ck_assert_int_eq(got->st.outcome, ROW_DONE);
    ck_assert_int_eq(got->st.steps, 8);
    ck_assert_int_eq(want->st.steps, 8);
    ck_assert_int_eq(got->planes, TEAM_PLANES);
    for (int p = 0; p < TEAM_PLANES; p++) {
        double peak = 0.0;
        for (long i = 0; i < group * TEAM_BINS; i++)
            peak = fmax(peak, sqrt(cplx_abs2(want->at[p][i])));
        double limit;
        ck_assert_int_eq(bound_steps(steps[p], peak, &limit), 0);
        const struct comparison_input in = {.value = (const double *)got->at[p],
                                            .reference = (const double *)want->at[p],
                                            .n = group * TEAM_BINS,
                                            .is_complex = true,
                                            .atol = limit};
        struct comparison out;
        ck_assert_int_eq(comparison_run(&in, &out), 0);
        ck_assert_msg(out.within, "plane %d: margin %g", p, out.margin);
        perturbed_check(&in, 0.0, "row");
    }
}

START_TEST(a_batch_is_the_rows_of_a_cpu_within_the_steps_budget)
{
    static struct team_run cpu;
    static const int terms[] = {1, 2, 4, 8};
    struct backend *const be = team_backend();
    for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
        for (int group = 1; group <= 2; group++) {
            cpu_rows(group, terms[t], &cpu);
            team_open(&run, be, MEMBERS, group, terms[t]);
            for (int k = 0; k < MEMBERS; k++) {
                const struct team_member m = team_member_eight(k, terms[t]);
                team_load(&run, k, &m);
            }
            team_finish(&run);
            for (int k = 0; k < MEMBERS; k++)
                check_budget(&run.result[k], &cpu.result[k], group);
            team_close(&run);
        }
    backend_destroy(be);
}
END_TEST

/* Three rows for six members: whoever ends makes room for the next; one without loss and of one
 * term for one with both. */
START_TEST(rows_are_loaded_again_while_the_others_run)
{
    static struct team_result done[MEMBERS];
    struct backend *const be = team_backend();
    int who[3] = {2, 4, 0};
    int next = 0;
    static const int waiting[] = {1, 5, 3};
    alone_all(be, 1, 2);
    team_open(&run, be, 3, 1, 2);
    for (int r = 0; r < 3; r++) {
        const struct team_member m = team_member_of(who[r], 2);
        team_load(&run, r, &m);
    }
    bool beside = false;
    for (int running = 3; running > 0;) {
        team_advance(&run);
        running = 0;
        for (int r = 0; r < 3; r++) {
            if (run.st[r].outcome != ROW_RUNNING && who[r] >= 0) {
                done[who[r]] = run.result[r];
                who[r] = next < 3 ? waiting[next++] : -1;
                if (who[r] < 0)
                    continue;
                const struct team_member m = team_member_of(who[r], 2);
                team_load(&run, r, &m);
                beside = beside || run.st[(r + 1) % 3].steps > 0;
            }
            running += run.st[r].outcome == ROW_RUNNING;
        }
    }
    ck_assert(beside);
    for (int k = 0; k < MEMBERS; k++)
        team_check_same(&done[k], &alone[k], "loaded again");
    team_close(&run);
    backend_destroy(be);
}
END_TEST

/* A caller that leaves planes unread holds these rows alone. */
START_TEST(advance_returns_as_soon_as_a_row_stands_on_a_plane)
{
    struct backend *const be = team_backend();
    team_open(&run, be, MEMBERS, 1, 2);
    load_all(&run, 2);
    ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    ck_assert_int_eq(run.calls, 0); /* the plane at the start of one of them */
    for (int k = 0; k < MEMBERS; k++)
        ck_assert(run.st[k].plane_ready == (k == 3));
    for (int calls = 0; calls < 40; calls++)
        ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    for (int k = 0; k < MEMBERS; k++) {
        ck_assert_int_eq(run.st[k].outcome, ROW_RUNNING);
        ck_assert(run.st[k].plane_ready);
        ck_assert_int_eq(run.st[k].plane, 0);
    }
    alone_all(be, 1, 2);
    cplx first[TEAM_ALL];
    memset(first, 0, sizeof first);
    for (int k = 0; k < MEMBERS; k++) {
        team_state(&run, k, first);
        ck_assert_int_eq(comparison_bits(first, alone[k].at[0], sizeof(cplx), TEAM_BINS), -1);
    }
    team_close(&run);
    backend_destroy(be);
}
END_TEST

START_TEST(limits_end_one_row_and_leave_the_others)
{
    struct backend *const be = team_backend();
    struct team_member late = team_member_of(0, 1);
    struct team_member used = team_member_of(1, 1);
    alone_all(be, 1, 1);
    late.deadline = clock_wall() - 1.0;
    used.control.max_steps = 5;
    team_open(&run, be, 4, 1, 1);
    team_load(&run, 0, &late);
    team_load(&run, 1, &used);
    for (int k = 3; k <= 4; k++) {
        const struct team_member m = team_member_of(k, 1);
        team_load(&run, k - 1, &m);
    }
    team_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_TIMED_OUT);
    ck_assert_int_eq(run.st[0].rhs_calls, 0);
    ck_assert_int_eq(run.st[1].outcome, ROW_FAILED);
    ck_assert_ptr_nonnull(strstr(run.st[1].reason, "max_steps"));
    ck_assert_int_eq(run.st[1].steps + run.st[1].rejected, 5);
    team_check_same(&run.result[2], &alone[3], "beside ended rows");
    team_check_same(&run.result[3], &alone[4], "beside ended rows");
    team_close(&run);
    backend_destroy(be);
}
END_TEST

/* Stopped after each trial, all rows go on later. */
START_TEST(a_stop_between_trials_changes_nothing)
{
    struct backend *const be = team_backend();
    alone_all(be, 1, 2);
    team_open(&run, be, MEMBERS, 1, 2);
    load_all(&run, 2);
    for (bool running = true; running;) {
        run.stop_call = run.calls + 2;
        atomic_store(&run.control.stop, 0);
        const long long before = atomic_load(&run.control.steps_done);
        team_advance(&run);
        ck_assert_int_le(atomic_load(&run.control.steps_done) - before, MEMBERS);
        running = false;
        for (int k = 0; k < MEMBERS; k++)
            running = running || run.st[k].outcome == ROW_RUNNING;
    }
    check_all(&run);
    team_close(&run);
    backend_destroy(be);
}
END_TEST

/* A row saved beside others goes on in another place beside others, as alone. */
static void check_saved(struct backend *be, int group, int terms, int member)
{
    static struct team_run other;
    static char bytes[8 * 1024];
    const struct team_member m = team_member_of(member, terms);
    ck_assert_int_eq(run.st[member].outcome, ROW_RUNNING);
    struct state_out out = {.bytes = bytes, .capacity = sizeof bytes};
    ck_assert_int_eq(stepper_save(run.stepper, member, &out), 0);
    const struct state_in in = {bytes, out.length};
    team_open(&other, be, 3, group, terms);
    const struct team_member beside = team_member_of(4, terms);
    team_load(&other, 0, &beside);
    team_load(&other, 2, &m);
    ck_assert_int_eq(stepper_resume(other.stepper, 2, &in, &other.st[2]), 0);
    ck_assert_int_eq(other.st[2].rhs_calls, run.st[member].rhs_calls);
    other.told[2] = other.st[2].plane;
    team_finish(&other);
    ck_assert_int_eq(other.st[2].outcome, alone[member].st.outcome);
    ck_assert_int_eq(other.st[2].steps, alone[member].st.steps);
    ck_assert_int_eq(other.st[2].rejected, alone[member].st.rejected);
    ck_assert_int_eq(other.st[2].rhs_calls, alone[member].st.rhs_calls);
    for (int p = (int)alone[member].planes - (int)other.result[2].planes;
         p < alone[member].planes; p++)
        ck_assert_int_eq(comparison_bits(other.result[2].at[p], alone[member].at[p],
                                         sizeof(cplx), group * TEAM_BINS),
                         -1);
    team_check_same(&other.result[0], &alone[4], "beside a resumed row");
    team_close(&other);
}

static void check_resume(struct backend *be, int group, int terms, int member)
{
    team_open(&run, be, MEMBERS, group, terms);
    load_all(&run, terms);
    team_advance(&run); /* a plane at the start */
    run.stop_call = run.calls + 20;
    while (atomic_load(&run.control.stop) == 0)
        team_advance(&run);
    ck_assert_int_gt(run.st[member].steps + run.st[member].rejected, 1);
    check_saved(be, group, terms, member);
    team_close(&run);
}

START_TEST(a_row_saved_beside_others_goes_on_beside_others)
{
    struct backend *const be = team_backend();
    alone_all(be, 1, 2);
    check_resume(be, 1, 2, 0);
    check_resume(be, 1, 2, 1);
    alone_all(be, 2, 4);
    check_resume(be, 2, 4, 0);
    backend_destroy(be);
}
END_TEST

/* Advance all members until planes were read `times` times while a trial is under way. `in`
 * receives which rows are in it. */
static void go_under_way(struct backend *be, int group, int terms, int times, bool *in)
{
    long read[MEMBERS] = {0};
    team_open(&run, be, MEMBERS, group, terms);
    load_all(&run, terms);
    for (int found = 0, calls = 0; found < times; calls++) {
        ck_assert_int_lt(calls, 100);
        for (int k = 0; k < MEMBERS; k++)
            read[k] = run.result[k].planes;
        run.calls_told = -1;
        team_advance(&run);
        found += run.calls_told >= 0 && run.calls > run.calls_told;
    }
    for (int k = 0; k < MEMBERS; k++)
        in[k] = run.st[k].outcome == ROW_RUNNING && run.result[k].planes == read[k];
}

/* All trials that a row shows are judged ones. */
static void check_shown(const struct row_status *st)
{
    ck_assert_int_eq(st->rhs_calls, 1 + 6 * (st->steps + st->rejected));
    ck_assert_int_eq(st->transforms, st->rhs_calls);
}

static void check_under_way(struct backend *be, int group, int terms, int times)
{
    bool in[MEMBERS];
    int rows = 0;
    go_under_way(be, group, terms, times, in);
    for (int k = 0; k < MEMBERS; k++) {
        if (!in[k])
            continue;
        rows++;
        check_shown(&run.st[k]);
        check_saved(be, group, terms, k);
    }
    ck_assert_int_ge(rows, 2);
    /* Nor does a row that goes on see that it was saved. */
    team_finish(&run);
    check_all(&run);
    team_close(&run);
}

START_TEST(a_row_saved_while_a_trial_is_under_way_goes_on_with_the_same_bits)
{
    struct backend *const be = team_backend();
    alone_all(be, 1, 2);
    for (int times = 1; times <= 3; times++)
        check_under_way(be, 1, 2, times);
    alone_all(be, 2, 4);
    check_under_way(be, 2, 4, 1);
    backend_destroy(be);
}
END_TEST

/* Rows of a trial under way are loaded again, one by one, then all of them. */
static void check_loaded(struct backend *be, int least, int most)
{
    bool in[MEMBERS];
    int becomes[MEMBERS];
    go_under_way(be, 1, 2, 1, in);
    for (int k = 0; k < MEMBERS; k++) {
        becomes[k] = in[k] && k >= least && k <= most ? (k + 1) % MEMBERS : k;
        const struct team_member m = team_member_of(becomes[k], 2);
        if (becomes[k] != k)
            team_load(&run, k, &m);
    }
    team_finish(&run);
    for (int k = 0; k < MEMBERS; k++)
        team_check_same(&run.result[k], &alone[becomes[k]], "loaded or beside such a row");
    team_close(&run);
}

START_TEST(rows_are_loaded_again_while_their_trial_is_under_way)
{
    struct backend *const be = team_backend();
    alone_all(be, 1, 2);
    for (int k = 0; k < MEMBERS; k++)
        check_loaded(be, k, k);
    check_loaded(be, 0, MEMBERS);
    backend_destroy(be);
}
END_TEST

/* A trial under way is judged, and a stepper goes that has one. */
START_TEST(a_stop_launches_no_trial_after_the_one_under_way)
{
    struct backend *const be = team_backend();
    bool in[MEMBERS];
    long judged[MEMBERS];
    alone_all(be, 1, 2);
    go_under_way(be, 1, 2, 1, in);
    for (int k = 0; k < MEMBERS; k++)
        judged[k] = run.st[k].steps + run.st[k].rejected;
    const long calls = run.calls;
    atomic_store(&run.control.stop, 1);
    for (int again = 0; again < 3; again++)
        team_advance(&run);
    ck_assert_int_eq(run.calls, calls);
    for (int k = 0; k < MEMBERS; k++)
        ck_assert_int_eq(run.st[k].steps + run.st[k].rejected, judged[k] + (in[k] ? 1 : 0));
    atomic_store(&run.control.stop, 0);
    team_finish(&run);
    check_all(&run);
    team_close(&run);
    go_under_way(be, 1, 2, 1, in);
    team_close(&run);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Launches of the stepper's own in a trial, with the one that takes new states over. */
static long launches_of_trial(int terms, enum step_norm norm)
{
    const long bins = norm == STEP_NORM_L2 ? 0 : 1;
    const long exponents = terms > 2 ? RK45_PHASE_PASSES : 0;
    return RK45_TRIAL_PASSES + exponents + bins + 1;
}

/* All launches cover all rows, those of the stepper under a mask. */
static void check_launches(const struct backend_counts *counts, int rows, long own, long of_n)
{
    ck_assert_int_eq(counts->launches, own + of_n);
    ck_assert_int_eq(counts->masked, own);
    ck_assert_int_eq(counts->most_rows, rows);
    ck_assert_int_eq(counts->least_rows, rows);
}

/* Rows that take equal steps; the last one's norm may be another. */
static void load_equal(struct team_run *to, int terms, enum step_norm norm)
{
    static const double h[10] = {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01};
    for (int r = 0; r < to->rows; r++) {
        struct team_member m = team_member_eight(r % MEMBERS, terms);
        m.schedule = (struct step_schedule){NULL, h, 10};
        m.control.norm = r == to->rows - 1 ? norm : STEP_NORM_L2;
        m.control.atol = 1e-6;
        m.positions[0] = 0.08;
        m.positions[1] = 0.09;
        m.positions[2] = 0.1;
        team_load(to, r, &m);
    }
}

/* Advance up to the stop that N asks for in its next `calls` calls. */
static struct backend_counts counted(struct team_run *of, long calls)
{
    atomic_store(&of->control.stop, 0);
    of->stop_call = of->calls + calls;
    backend_counts_begin(of->be);
    team_advance(of);
    return backend_counts_end(of->be);
}

static void check_counts(struct backend *be, int rows, int terms, enum step_norm norm)
{
    const long own = launches_of_trial(terms, norm);
    team_open(&run, be, rows, 1, terms);
    load_equal(&run, terms, norm);
    struct backend_counts counts = counted(&run, 1 + 6);
    /* The first slopes, a trial, and what it led to before advance returns. */
    check_launches(&counts, rows, 2 + own, 1 + 6);
    ck_assert_int_eq(counts.uploads, 3);
    ck_assert_int_eq(counts.downloads, 2);
    ck_assert_int_eq(run.gathered, 2);
    const long trials = 4;
    counts = counted(&run, 6 * trials);
    check_launches(&counts, rows, trials * own, trials * 6);
    ck_assert_int_eq(counts.uploads, trials + 1);
    ck_assert_int_eq(counts.downloads, trials);
    ck_assert_int_eq(run.gathered, 2 + trials);
    for (int r = 0; r < rows; r++)
        ck_assert_int_eq(run.st[r].steps, 1 + trials);
    team_close(&run);
}

START_TEST(a_trial_has_as_many_launches_and_copies_for_many_rows_as_for_one)
{
    static const int rows[] = {1, 2, TEAM_ROWS};
    struct backend *const be = team_backend();
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int terms = 1; terms <= 4; terms++)
            for (int norm = STEP_NORM_L2; norm <= STEP_NORM_RMS; norm++)
                check_counts(be, rows[r], terms, (enum step_norm)norm);
    backend_destroy(be);
}
END_TEST

START_TEST(advancing_rows_together_allocates_nothing)
{
    struct backend *const be = team_backend();
    team_open(&run, be, MEMBERS, 2, 4);
    load_all(&run, 4);
    const long before = mem_total();
    team_finish(&run);
    ck_assert_int_eq(mem_total(), before);
    team_close(&run);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("rows of a stepper together");
    TCase *const tests = tcase_create("team");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, each_row_of_a_batch_is_the_row_alone);
    tcase_add_test(tests, each_row_of_several_states_is_the_row_alone);
    tcase_add_test(tests, a_batch_is_the_rows_of_a_cpu_within_the_steps_budget);
    tcase_add_test(tests, rows_are_loaded_again_while_the_others_run);
    tcase_add_test(tests, advance_returns_as_soon_as_a_row_stands_on_a_plane);
    tcase_add_test(tests, limits_end_one_row_and_leave_the_others);
    tcase_add_test(tests, a_stop_between_trials_changes_nothing);
    tcase_add_test(tests, a_row_saved_beside_others_goes_on_beside_others);
    tcase_add_test(tests, a_row_saved_while_a_trial_is_under_way_goes_on_with_the_same_bits);
    tcase_add_test(tests, rows_are_loaded_again_while_their_trial_is_under_way);
    tcase_add_test(tests, a_stop_launches_no_trial_after_the_one_under_way);
    tcase_add_test(tests, a_trial_has_as_many_launches_and_copies_for_many_rows_as_for_one);
    tcase_add_test(tests, advancing_rows_together_allocates_nothing);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
