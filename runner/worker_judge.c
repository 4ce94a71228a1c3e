/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pass 1 in a worker: the member once more at rtol / factor, with the same noise and steps of
 * its own, in a row like a member's. Where it stands on a judged plane the stored plane is read
 * back and compared. A stored reference needs no row: two planes are read.
 *
 * A noise-seeded member is judged on a window: the reference run is made once more from a
 * perturbed input, and the gain of a plane is how far the two are apart there (gain.h). With a
 * stored reference the first of the two is the member's own run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/envelope.h"
#include "kernels/step/control.h"
#include "runner/gain.h"
#include "runner/judging.h"
#include "runner/plane_error.h"
#include "runner/worker_parts.h"

/*
 * Where the saved planes, not the tolerance, bound the steps, rtol / factor may change none of
 * them: the reference is then made tighter than the local errors that the member really had,
 * which its step history tells. Without a history that is found out from the reference run:
 * when it took less than GROWTH times the steps, or the member fewer than COARSE a plane, it is
 * repeated, tighter than its own local errors. 1.25^-4: its error is then 41 % of the member's
 * at most.
 */
#define GROWTH   1.25
#define COARSE   4.0
#define TIGHTEST bound(BOUND_tightest_rtol) /* of a reference */

/* A member that is being judged. */
struct judgment {
    int64_t member;
    double begin;
    double timeout; /* s, 0: none */
    double steps;   /* that the member took … */
    double local;   /* … and the largest local error of them, in tolerances; 1: not known */
    bool known;     /* it is */
    bool exact;     /* its steps had none */
    double rtol;    /* of the reference run */
    int repeated;   /* how often that was made tighter */
    int64_t rhs_calls; /* of all its runs */
    long planes;       /* of the member */
    bool *judged;      /* [planes] */
    double *error;     /* [planes of the file] NaN: not judged */
    double *number;    /* [planes] the observable as it is stored; NULL: fields are compared */
    struct gain *gain; /* of class N, NULL: the whole length is judged */
};

static void destroy(struct judgment *j)
{
    if (j == NULL)
        return;
    mem_free(j->judged);
    mem_free(j->error);
    mem_free(j->number);
    gain_destroy(j->gain);
    mem_free(j);
}

void worker_drop_judgment(struct worker_row *row)
{
    if (row->judgment != NULL)
        destroy(row->judgment);
    row->judgment = NULL;
}

void worker_judges_clear(struct worker *w)
{
    struct worker_judges *judges = &w->judges;
    reference_close(judges->reference);
    mem_free(judges->plane[0]);
    mem_free(judges->plane[1]);
    *judges = (struct worker_judges){.room = 0};
}

int worker_commit_judgments(struct worker *w)
{
    const int words = w->judges.words;
    w->judges.words = 0;
    return verdict_commit(w->store, w->judges.word, words);
}

/* Part: the end. */

static int report(struct worker *w, int64_t member, int32_t state, double seconds,
                  const char *reason)
{
    if (reason[0] != '\0')
        TRY(worker_add_reason(w, reason));
    w->check.members++;
    const struct report_run run = {
        .first = member, .count = 1, .pass = PASS_JUDGE, .state = state, .seconds = seconds};
    return worker_add_report(w, &run);
}

static int32_t report_state(enum member_state outcome, enum verdict verdict)
{
    return verdict == VERDICT_OUTSIDE ? JUDGED_OUTSIDE : (int32_t)outcome;
}

static void window_text(const struct worker *w, const struct judgment *j,
                        const struct plane_layout *layout, char *text, size_t size)
{
    const struct plane_request *const saved = &scan_get_save(w->scan)->planes;
    if (j->gain != NULL)
        gain_text(j->gain, layout, text, size);
    else
        snprintf(text, size, "whole run, %s %.6g to %.6g %s", layout->progress_name,
                 layout_plane_position(layout, saved, 0), layout->span, layout->progress_unit);
}

static void reference_text(const struct scan_envelope *envelope, const struct judgment *j,
                           char *text, size_t size)
{
    if (envelope->reference == ENVELOPE_STORED)
        snprintf(text, size, "stored %.70s", envelope->file);
    else if (j->repeated > 0 || j->local < 1)
        snprintf(text, size, "tighter: stepper.rtol %.3g (rtol / %.4g bounds few steps)",
                 j->rtol, envelope->factor);
    else
        snprintf(text, size, "tighter: stepper.rtol / %.6g", envelope->factor);
}

/* Columns into the file, then the report; the outcome is committed before that goes out. */
static int finish(struct worker *w, const struct judgment *j, const struct plane_layout *layout,
                  enum member_state outcome, int64_t rhs_calls, const struct verdict_end *found)
{
    struct worker_judges *judges = &w->judges;
    struct verdict_end end = *found;
    char reference[81];
    char window[160]; /* the column keeps 80 */
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    reference_text(scan_get_envelope(w->scan), j, reference, sizeof reference);
    window_text(w, j, layout, window, sizeof window);
    end.norm = scan_get_envelope(w->scan)->norm;
    end.reference = reference;
    end.window = window;
    end.envelope = judges->key;
    end.wall = clock_wall() - j->begin;
    end.rhs_calls = rhs_calls;
    end.error = j->error;
    if (j->gain != NULL)
        gain_tell(j->gain, layout, &end);
    TRY(worker_check_right(w));
    TRY(verdict_put(w->store, j->member, &end));
    judges->word[judges->words++] = (struct verdict_word){j->member, outcome};
    stopwatch_switch(&w->watch, before);
    TRY(report(w, j->member, report_state(outcome, end.verdict), end.wall, end.reason));
    /* A full list goes out with its report. */
    return judges->words == WORKER_JUDGED ? worker_flush(w) : 0;
}

/* A judgment without a verdict. */
static int finish_without(struct worker *w, const struct judgment *j,
                          const struct plane_layout *layout, enum member_state outcome,
                          const char *reason)
{
    const struct scan_envelope *const envelope = scan_get_envelope(w->scan);
    const struct verdict_end end = {.reason = reason,
                                    .bound = envelope->tolerance * envelope->safety,
                                    .observed = (double)NAN,
                                    .margin = (double)NAN};
    return finish(w, j, layout, outcome, 0, &end);
}

/* Errors and positions of the judged planes, one after the other. */
static long list_planes(const struct worker *w, const struct judgment *j,
                        const struct plane_layout *layout, double *observed, double *position)
{
    const struct plane_request *const saved = &scan_get_save(w->scan)->planes;
    long count = 0;
    for (long k = 0; k < j->planes; k++) {
        if (!j->judged[k])
            continue;
        observed[count] = j->error[k];
        position[count++] = layout_plane_position(layout, saved, k);
    }
    return count;
}

/* @param list [2][planes] scratch */
static int judge(const struct worker *w, const struct judgment *j,
                 const struct plane_layout *layout, double *list, struct envelope_judgment *out)
{
    const struct scan_envelope *const asked = scan_get_envelope(w->scan);
    const bool tighter = asked->reference == ENVELOPE_TIGHTER;
    const struct envelope envelope = {
        .reference = tighter ? REFERENCE_TIGHTER : REFERENCE_STORED,
        .norm = asked->norm,
        .tolerance = asked->tolerance,
        .safety = asked->safety,
        .planes = list_planes(w, j, layout, list, list + j->planes),
        .observed = list,
        .position = list + j->planes};
    return envelope_judge(&envelope, out);
}

static int finish_judged(struct worker *w, struct judgment *j,
                         const struct plane_layout *layout, int64_t rhs_calls)
{
    struct envelope_judgment judged;
    char reason[STORE_REASON_SIZE];
    double *list = NULL;
    const long missing = plane_error_missing(j->error, j->judged, j->planes);
    if (missing >= 0) {
        snprintf(reason, sizeof reason,
                 "plane %ld has no error: its reference is missing, zero or not finite",
                 missing);
        return finish_without(w, j, layout, MEMBER_FAILED, reason);
    }
    if (j->gain != NULL && !gain_narrow(j->gain, layout, j->judged, j->error, reason))
        return finish_without(w, j, layout, MEMBER_FAILED, reason);
    TRY(MEM_NEW(2 * j->planes, &list));
    const int rc = judge(w, j, layout, list, &judged);
    mem_free(list);
    TRY(rc);
    const struct verdict_end end = {.reason = judged.reason,
                                    .verdict = judged.verdict,
                                    .bound = judged.bound,
                                    .observed = judged.observed,
                                    .margin = judged.margin};
    return finish(w, j, layout, MEMBER_DONE, rhs_calls, &end);
}

static double *find_param(struct worker *w, const char *name)
{
    for (int i = 0; i < w->params.count; i++)
        if (strcmp(w->params.info[i].name, name) == 0)
            return &w->params.values[i].number;
    return NULL;
}

/* A replay is judged by a run with steps of its own: its own ones once more would be itself. */
static void free_steps(struct worker *w)
{
    const int method = params_find(&w->params, "stepper.method");
    const int from = params_find(&w->params, "stepper.schedule.from");
    if (method < 0 || w->params.values[method].number != STEP_FIXED)
        return;
    params_set(&w->params, method, STEP_RK45);
    w->params.values[from] = (struct param_value){.set = false};
}

/* Both tolerances of the point in worker->params become tighter, in the same ratio. */
static void tighten(struct worker *w, struct judgment *j)
{
    double *const rtol = find_param(w, "stepper.rtol");
    double *const atol = find_param(w, "stepper.atol");
    if (rtol == NULL || scan_get_envelope(w->scan)->reference == ENVELOPE_STORED)
        return; /* the member's own */
    free_steps(w);
    if (j->repeated == 0)
        j->rtol = fmax(*rtol * j->local / scan_get_envelope(w->scan)->factor, TIGHTEST);
    if (atol != NULL)
        *atol *= j->rtol / *rtol;
    *rtol = j->rtol;
}

/* The reference run goes into a row, and the judgment with it. It has no checkpoint: cut short,
 * it begins anew. */
static int run_tighter(struct worker *w, struct judgment **j, const struct plane_layout *layout)
{
    struct continuation from = {.judges = true, .perturbation = gain_perturbation((*j)->gain)};
    char reason[STORE_REASON_SIZE];
    int row = 0;
    tighten(w, *j);
    const double timeout =
        (*j)->timeout > 0 ? fmax((*j)->timeout - (clock_wall() - (*j)->begin), 1e-3) : 0;
    const int rc = worker_load_member(w, (*j)->member, layout, timeout, &from, &row);
    if (rc == ERR_MEMORY && worker_is_limited(w)) {
        snprintf(reason, sizeof reason, "resources.memory is used up: %.180s", w->error_text);
        return finish_without(w, *j, layout, MEMBER_FAILED, reason);
    }
    if (rc != 0)
        return worker_is_refusal(rc) ? ERR_DEVICE : rc;
    w->row[row].judgment = *j;
    *j = NULL;
    return 0;
}

/* The largest local error of accepted steps, in units of the tolerance. */
static double largest_error(const struct step_record *step, long count)
{
    double most = 0;
    for (long i = 0; i < count; i++)
        if (step[i].accepted && step[i].error > most)
            most = step[i].error;
    return most;
}

/* Whether a reference run at this tolerance may have taken some of the member's own steps. */
static bool is_too_alike(const struct judgment *j, const struct row_status *status)
{
    const double intervals = j->planes > 1 ? (double)(j->planes - 1) : 1;
    const bool coarse = j->steps < COARSE * intervals;
    return (double)status->steps < GROWTH * j->steps
           || (coarse && !j->known && j->repeated == 0);
}

/* The tolerance at which the reference run has to be repeated; 0: it is as it should be. */
static double next_rtol(const struct judgment *j, const struct row_status *status,
                        double factor)
{
    const double error = largest_error(status->history, status->history_count);
    if (!is_too_alike(j, status) || !(error > 0) || !isfinite(error) || j->rtol <= TIGHTEST)
        return 0; /* without a local error it is exact, and so is the member */
    return fmax(j->rtol * fmin(error, 1) / factor, TIGHTEST);
}

/*
 * The reference run once more: tighter, or as it was from a perturbed input. The row's judgment
 * is out of it in any case.
 *
 * @param rtol  0: as it was
 */
static int repeat(struct worker *w, int r, double rtol)
{
    struct judgment *j = w->row[r].judgment;
    const struct plane_layout layout = w->row[r].layout;
    j->rhs_calls += w->slot[w->current].status[r].rhs_calls;
    w->row[r].judgment = NULL;
    worker_release_row(w, r);
    if (rtol > 0) {
        for (long k = 0; k < j->planes; k++)
            j->error[k] = (double)NAN;
        j->rtol = rtol;
        j->repeated++;
    } else {
        gain_perturb(j->gain);
    }
    scan_point(w->scan, j->member / scan_realisations(w->scan), &w->params);
    const int rc = run_tighter(w, &j, &layout);
    destroy(j);
    return rc;
}

/* Whether the run of a row was not the last one, and at which tolerance the next one is made;
 * 0: at the same. */
static bool goes_on(const struct worker *w, const struct judgment *j,
                    const struct row_status *status, double *rtol)
{
    const struct scan_envelope *const envelope = scan_get_envelope(w->scan);
    *rtol = 0;
    if (status->outcome != ROW_DONE || gain_is_perturbed(j->gain))
        return false;
    if (envelope->reference == ENVELOPE_TIGHTER)
        *rtol = next_rtol(j, status, envelope->factor);
    return *rtol > 0 || j->gain != NULL;
}

static int judge_stored(struct worker *w, struct judgment *j, const struct plane_layout *layout,
                        int64_t rhs_calls);

int worker_end_judgment(struct worker *w, int r)
{
    const struct worker_row *row = &w->row[r];
    const struct row_status *status = &w->slot[w->current].status[r];
    struct judgment *const j = row->judgment;
    const int64_t rhs_calls = j->rhs_calls + status->rhs_calls;
    double rtol = 0;
    char reason[STORE_REASON_SIZE];
    int rc = 0;
    if (goes_on(w, j, status, &rtol))
        return repeat(w, r, rtol);
    if (status->outcome == ROW_DONE) {
        rc = scan_get_envelope(w->scan)->reference == ENVELOPE_STORED
                 ? judge_stored(w, j, &row->layout, rhs_calls)
                 : finish_judged(w, j, &row->layout, rhs_calls);
    } else {
        snprintf(reason, sizeof reason, "the %s run: %.200s",
                 gain_is_perturbed(j->gain) ? "perturbed" : "reference", status->reason);
        rc = finish_without(w, row->judgment, &row->layout,
                            status->outcome == ROW_TIMED_OUT ? MEMBER_TIMED_OUT : MEMBER_FAILED,
                            reason);
    }
    if (rc == 0)
        worker_release_row(w, r);
    return rc;
}

/* Part: comparing. */

static bool is_complex(const struct layout_array *array)
{
    return array->type == ELEMENT_C128 || array->type == ELEMENT_C64;
}

/* Doubles of a plane: pairs of complex ones. */
static long doubles_of(const struct plane_layout *layout, int a)
{
    return layout_array_count(layout, a) * (is_complex(&layout->array[a]) ? 2 : 1);
}

static int make_room(struct worker *w, const struct plane_layout *layout)
{
    struct worker_judges *judges = &w->judges;
    long most = 1;
    for (int a = 0; a < layout->arrays; a++)
        if (judging_compares(w->scan, layout, a) && doubles_of(layout, a) > most)
            most = doubles_of(layout, a);
    for (int i = 0; i < 2 && most > judges->room; i++) {
        mem_free(judges->plane[i]);
        judges->plane[i] = NULL;
        TRY(MEM_NEW(most, &judges->plane[i]));
    }
    judges->room = most > judges->room ? most : judges->room;
    return 0;
}

/* What the model gave, as doubles. */
static const double *as_doubles(const struct layout_array *array, const void *values, long n,
                                double *scratch)
{
    if (array->type == ELEMENT_F64 || array->type == ELEMENT_C128)
        return values;
    for (long i = 0; i < n; i++)
        scratch[i] = (double)((const float *)values)[i];
    return scratch;
}

/* The largest error of the fields of a plane. @param fresh of the reference; NULL: scratch */
static int compare_fields(struct worker *w, const struct judgment *j,
                          const struct plane_layout *layout, long plane,
                          const struct plane_buffers *fresh, const int64_t *there,
                          double *error)
{
    struct worker_judges *const judges = &w->judges;
    const bool power = strcmp(scan_get_envelope(w->scan)->norm, "spectrum_l2") == 0;
    *error = 0;
    for (int a = 0; a < layout->arrays; a++) {
        const struct layout_array *const array = &layout->array[a];
        const long n = doubles_of(layout, a);
        const double *reference = judges->plane[1];
        if (!judging_compares(w->scan, layout, a))
            continue;
        TRY(store_read_plane(w->store, array->name, j->member, plane,
                             layout_array_count(layout, a), judges->plane[0]));
        if (fresh != NULL)
            reference = as_doubles(array, fresh->array[a], n, judges->plane[1]);
        else
            TRY(store_read_plane(reference_store(judges->reference), array->name, there[0],
                                 (long)there[1], layout_array_count(layout, a),
                                 judges->plane[1]));
        const double one = power ? plane_error_power(judges->plane[0], reference, n / 2)
                                 : plane_error_l2(judges->plane[0], reference, n);
        *error = one > *error || isnan(one) ? one : *error;
        if (isnan(one))
            return 0;
    }
    return 0;
}

int worker_judge_plane(struct worker *w, int r)
{
    struct worker_slot *const slot = &w->slot[w->current];
    struct judgment *const j = w->row[r].judgment;
    const struct plane_layout *const layout = &w->row[r].layout;
    const long plane = slot->status[r].plane;
    int observable = -1;
    if (plane < 0 || plane >= j->planes || !j->judged[plane])
        return 0;
    const enum work_part before = stopwatch_switch(&w->watch, PART_ADVANCE);
    TRY(w->ops->plane(slot->model, r, &slot->buffers));
    stopwatch_switch(&w->watch, PART_OUTPUT);
    int rc = 0;
    if (j->gain != NULL)
        gain_plane(j->gain, layout, plane, &slot->buffers);
    const bool compares = !gain_is_perturbed(j->gain)
                          && scan_get_envelope(w->scan)->reference == ENVELOPE_TIGHTER;
    if (compares && scan_envelope_norm(w->scan, &observable) == NORM_OBSERVABLE)
        j->error[plane] =
            plane_error_number(j->number[plane], slot->buffers.observable[observable]);
    else if (compares)
        rc = compare_fields(w, j, layout, plane, &slot->buffers, NULL, &j->error[plane]);
    if (gain_is_perturbed(j->gain)
        && !(gain_values(j->gain)[plane] <= scan_get_envelope(w->scan)->gain))
        slot->status[r].outcome = ROW_DONE; /* nothing behind it is judged */
    stopwatch_switch(&w->watch, before);
    return rc;
}

/* Part: the beginning. */

/* An observable of all planes of a member. */
static int read_numbers(struct worker *w, struct store *store, int64_t member, long planes,
                        double **out)
{
    const struct model_info *const info = w->ops->info;
    struct read_dataset data;
    char path[READ_NAME_SIZE + 8];
    int observable = -1;
    if (scan_envelope_norm(w->scan, &observable) != NORM_OBSERVABLE)
        return 0;
    snprintf(path, sizeof path, "plane/%s", info->observables[observable].name);
    TRY(read_describe(store, path, &data));
    if (data.length[1] < planes)
        FAIL(ERR_CONFLICT, "%s has fewer planes than member %lld", path, (long long)member);
    TRY(MEM_NEW((long)data.length[1], out));
    return read_rows(store, path, member, 1, (long)data.length[1], *out);
}

/* What the member's own steps say, as far as they are kept. */
static int read_steps(struct worker *w, struct judgment *j)
{
    struct step_record *step = NULL;
    double kept = 0;
    j->local = 1;
    TRY(read_rows(w->store, "member/steps", j->member, 1, 1, &j->steps));
    if (!read_exists(w->store, "step/n_steps"))
        return 0;
    TRY(read_rows(w->store, "step/n_steps", j->member, 1, 1, &kept));
    if (!(kept >= 1))
        return 0;
    TRY(MEM_NEW((long)kept, &step));
    const int rc = store_read_steps(w->store, j->member, (long)kept, step);
    const double error = rc == 0 ? largest_error(step, (long)kept) : 0;
    mem_free(step);
    j->known = rc == 0;
    j->exact = j->known && !(error > 0);
    if (error > 0 && error < 1)
        j->local = error;
    return rc;
}

static int create(struct worker *w, int64_t member, const struct plane_layout *layout,
                  struct judgment **out)
{
    struct judgment *j = NULL;
    struct read_dataset data;
    TRY(MEM_NEW(1, &j));
    *out = j;
    j->member = member;
    j->begin = clock_wall();
    j->planes = layout->planes;
    TRY(read_steps(w, j));
    TRY(read_describe(w->store, "plane/checksum", &data));
    const long planes = (long)data.length[1];
    TRY(MEM_NEW(planes, &j->error));
    for (long k = 0; k < planes; k++)
        j->error[k] = (double)NAN;
    TRY(MEM_NEW(layout->planes, &j->judged));
    TRY(make_room(w, layout));
    return read_numbers(w, w->store, member, layout->planes, &j->number);
}

/* The key of the envelope, and the file of a stored reference: once a worker. */
static int know_envelope(struct worker *w)
{
    struct worker_judges *const judges = &w->judges;
    char path[RUN_PATH_SIZE];
    if (judges->key != 0)
        return 0;
    if (scan_get_envelope(w->scan)->reference == ENVELOPE_STORED) {
        judging_path(w->scan, w->options->scan_path, path);
        TRY(reference_open(path, w->scan, &judges->reference));
    }
    judges->key = judging_key(w->scan, judges->reference);
    return 0;
}

/* All judged planes of a member against those of the stored one. */
static int compare_stored(struct worker *w, struct judgment *j,
                          const struct plane_layout *layout, int64_t there)
{
    struct reference *const reference = w->judges.reference;
    const struct plane_request *const saved = &scan_get_save(w->scan)->planes;
    double *number = NULL;
    int rc = read_numbers(w, reference_store(reference), there, 0, &number);
    for (long k = 0; rc == 0 && k < layout->planes; k++) {
        long plane = 0;
        if (!j->judged[k])
            continue;
        rc = reference_plane(reference, there, layout_plane_position(layout, saved, k),
                             layout->span, &plane);
        if (rc != 0 || plane < 0)
            continue; /* its error stays NaN */
        if (number != NULL)
            j->error[k] = plane_error_number(j->number[k], number[plane]);
        else
            rc = compare_fields(w, j, layout, k, NULL, (int64_t[]){there, plane}, &j->error[k]);
    }
    mem_free(number);
    return rc;
}

/* Whether the stored member may have taken some of this one's own steps, by the rule of
 * is_too_alike: its distance would say nothing. Without a local error the member is exact. */
static int find_alike(struct worker *w, const struct judgment *j, int64_t there, bool *alike,
                      double *steps)
{
    const double *const rtol = find_param(w, "stepper.rtol");
    *alike = false;
    if (rtol == NULL)
        return 0;
    TRY(read_rows(reference_store(w->judges.reference), "member/steps", there, 1, 1, steps));
    *alike = *steps < GROWTH * j->steps && !j->exact && j->local * *rtol > TIGHTEST;
    return 0;
}

static int judge_stored(struct worker *w, struct judgment *j, const struct plane_layout *layout,
                        int64_t rhs_calls)
{
    const int64_t there = reference_find(w->judges.reference, j->member);
    char reason[STORE_REASON_SIZE];
    bool alike = false;
    double steps = 0;
    if (there < 0)
        return finish_without(w, j, layout, MEMBER_FAILED,
                              "the stored reference has no such member");
    TRY(find_alike(w, j, there, &alike, &steps));
    if (alike) {
        snprintf(reason, sizeof reason,
                 "the stored reference took %.0f steps, the member %.0f: they may be the same "
                 "ones; a reference of smaller stepper.rtol is wanted",
                 steps, j->steps);
        return finish_without(w, j, layout, MEMBER_FAILED, reason);
    }
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    TRY(compare_stored(w, j, layout, there));
    stopwatch_switch(&w->watch, before);
    return finish_judged(w, j, layout, rhs_calls);
}

static int reserve(const struct worker *w, struct judgment *j,
                   const struct plane_layout *layout)
{
    struct read_dataset data;
    if (!judging_measures(w->scan))
        return 0;
    TRY(read_describe(w->store, "plane/checksum", &data));
    TRY(gain_create(w->scan, (long)data.length[1], &j->gain));
    return gain_reserve(j->gain, layout, j->judged);
}

static int begin(struct worker *w, struct judgment **j, const struct plane_layout *layout)
{
    char reason[STORE_REASON_SIZE] = "";
    TRY(verdict_begin(w->store, (*j)->member));
    fault_point("judge.start", (*j)->member, -1);
    status_capture(reason, sizeof reason);
    int rc = judging_planes(w->scan, layout, (*j)->judged);
    status_capture(w->error_text, sizeof w->error_text);
    if (rc != 0)
        return finish_without(w, *j, layout, MEMBER_FAILED, reason);
    rc = reserve(w, *j, layout);
    if (rc == ERR_MEMORY && worker_is_limited(w))
        return finish_without(
            w, *j, layout, MEMBER_FAILED,
            "resources.memory has no room for the planes of the reference run");
    TRY(rc);
    if (scan_get_envelope(w->scan)->reference == ENVELOPE_STORED && (*j)->gain == NULL)
        return judge_stored(w, *j, layout, 0);
    return run_tighter(w, j, layout);
}

/* A worker that died had judged this member: it is reported as though it had. */
static int report_judged(struct worker *w, int64_t member, const struct verdict_state *found)
{
    char reason[STORE_REASON_SIZE] = "";
    if (found->verdict != VERDICT_WITHIN)
        TRY(read_text_row(w->store, "member/contract/reason", member, reason, sizeof reason));
    return report(w, member,
                  report_state((enum member_state)found->outcome, (enum verdict)found->verdict),
                  0, reason);
}

int worker_start_judgment(struct worker *w, int64_t member, const struct message_give *give)
{
    const enum work_part before = stopwatch_switch(&w->watch, PART_LOAD);
    struct plane_layout layout;
    struct verdict_state found;
    struct judgment *j = NULL;
    int rc = 0;
    TRY(worker_check_right(w));
    TRY(know_envelope(w));
    TRY(verdict_read(w->store, member, 1, &found));
    if (found.outcome != MEMBER_PENDING && found.envelope == w->judges.key) {
        stopwatch_switch(&w->watch, before);
        return report_judged(w, member, &found);
    }
    scan_point(w->scan, member / scan_realisations(w->scan), &w->params);
    TRY_OR(rc, done, w->ops->layout(&w->params, &layout));
    TRY_OR(rc, done, create(w, member, &layout, &j));
    j->timeout = give->timeout;
    rc = begin(w, &j, &layout);
done:
    destroy(j);
    stopwatch_switch(&w->watch, before);
    return rc;
}
