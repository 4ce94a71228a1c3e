/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `verify --recompute N`: members once more, in this process. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hash.h"
#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/envelope.h"
#include "runner/history.h"
#include "runner/judging.h"
#include "runner/placement.h"
#include "runner/rerun.h"
#include "runner/survey.h"
#include "runner/text.h"
#include "runner/verify_again.h"
#include "scanfarm_version.h"

/* Seed of the hash that members are chosen by: no other use of identities goes with it. */
#define CHOICE UINT64_C(0x7265636f6d70)

/* Members that may be chosen. */
struct candidate {
    uint64_t hash;
    int64_t member;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *const x = a;
    const struct candidate *const y = b;
    if (x->hash != y->hash)
        return x->hash > y->hash ? 1 : -1;
    return (x->member > y->member) - (x->member < y->member);
}

static int list_candidates(struct verifying *v, const struct selection *asked,
                           struct candidate *list, int64_t *count)
{
    const struct store_spec *const spec = &v->spec->store;
    const struct verify_members *const m = &v->members;
    *count = 0;
    for (int64_t member = m->first; member < m->first + m->count; member++) {
        struct store_member_row row;
        double state = 0;
        TRY(read_rows(v->store, "member/state", member, 1, 1, &state));
        if ((int)state != MEMBER_DONE || (asked != NULL && !selection_has(asked, member)))
            continue;
        TRY(spec->member_rows(spec->context, member, 1, &row));
        list[(*count)++] = (struct candidate){
            hash_64_seeded(row.identity, sizeof row.identity, CHOICE), member};
    }
    return 0;
}

/* The members that are computed again, in ascending order of their hashes. */
static int choose(struct verifying *v, struct candidate **list, int64_t *count)
{
    const struct verify_choice *const choice = v->choice;
    struct selection asked = {0};
    int rc = 0;
    TRY(MEM_NEW((long)v->members.count, list));
    if (choice->members != NULL)
        TRY(selection_read("members", choice->members, store_scan_members(v->store), &asked));
    TRY_OR(rc, done, list_candidates(v, choice->members != NULL ? &asked : NULL, *list, count));
    qsort(*list, (size_t)*count, sizeof **list, compare_candidates);
    if (choice->members == NULL && *count > choice->recompute)
        *count = choice->recompute;
done:
    selection_clear(&asked);
    return rc;
}

static int attribute_differs(struct verifying *v, const char *name, const char *here)
{
    char there[200];
    if (read_attribute(v->store, "/", name, there, sizeof there) != 0)
        return 1;
    return strcmp(there, here) != 0;
}

/* Whether all attempts were made by this program, and none only collected. */
static int find_program(struct verifying *v, const char **why)
{
    char dirty[4];
    char *text = NULL;
    *why = "";
    snprintf(dirty, sizeof dirty, "%d", SCANFARM_GIT_DIRTY ? 1 : 0);
    if (attribute_differs(v, "git_revision", SCANFARM_GIT_REVISION)
        || attribute_differs(v, "git_dirty", dirty)) {
        *why = "another revision of the program made the file";
        return 0;
    }
    TRY(read_text(v->store, "provenance/build", &text));
    if (strcmp(text, SCANFARM_COMPILER "; " SCANFARM_BUILD_FLAGS) != 0)
        *why = "another compiler or other flags made the program of the file";
    mem_free(text);
    TRY(read_text(v->store, "provenance/layout", &text));
    if (strncmp(text, "members collected", 17) == 0)
        *why = "the members were collected from other files";
    mem_free(text);
    for (int64_t row = 0; row < STORE_ATTEMPT_ROWS && **why == '\0'; row++) {
        char software[120];
        TRY(read_text_row(v->store, "provenance/attempt/software", row, software,
                          sizeof software));
        if (software[0] != '\0'
            && strcmp(software, "scanfarm " SCANFARM_VERSION " " SCANFARM_GIT_REVISION) != 0)
            *why = "another revision of the program has worked on the file";
    }
    return 0;
}

/* How far two runs of a member may be apart: safety (E + E). */
static int bound_of(const struct verifying *v, double *out)
{
    const struct scan *const scan = verifying_scan(v);
    const struct scan_envelope *const asked = scan_get_envelope(scan);
    const bool judged = judging_is_on(scan);
    const double tolerance = judged ? asked->tolerance : v->choice->tolerance;
    const struct envelope envelope = {.tolerance = tolerance,
                                      .other_tolerance = tolerance,
                                      .safety = judged ? asked->safety : 1};
    *out = 0;
    return tolerance > 0 ? envelope_bound(&envelope, out) : 0;
}

/* The wisdom of the run, so that its plans are made again. */
static int read_wisdom(struct verifying *v, char **text)
{
    if (!read_exists(v->store, "provenance/wisdom"))
        return mem_copy_text("", text);
    return read_text(v->store, "provenance/wisdom", text);
}

/* Counters of the member that was stored and of the one just computed. */
static int took_the_same_steps(struct verifying *v, int64_t member,
                               const struct row_status *status, bool *same)
{
    double stored[2] = {0};
    TRY(read_rows(v->store, "member/steps", member, 1, 1, &stored[0]));
    TRY(read_rows(v->store, "member/rejected", member, 1, 1, &stored[1]));
    *same = (long long)stored[0] == status->steps && (long long)stored[1] == status->rejected;
    return 0;
}

/* A right-hand side of a point makes so many transforms, whatever the steps. */
static int check_transforms(struct verifying *v, int64_t member,
                            const struct row_status *status)
{
    double rhs = 0;
    double transforms = 0;
    TRY(read_rows(v->store, "member/rhs_calls", member, 1, 1, &rhs));
    TRY(read_rows(v->store, "member/transforms", member, 1, 1, &transforms));
    if (transforms * (double)status->rhs_calls == (double)status->transforms * rhs)
        return 0;
    verify_break_member(v->report, VERIFY_STEPS, member,
                        "member %" PRId64
                        ": %.0f transforms in %.0f right-hand sides are stored, here %lld make "
                        "%lld",
                        member, transforms, rhs, status->rhs_calls, status->transforms);
    return 0;
}

static void conclude(struct again *again, enum verify_kind kind, struct verify_offender *worst)
{
    struct verifying *const v = again->v;
    struct verify_members *const m = &v->members;
    const int64_t row = again->member - m->first;
    const bool within = worst->margin <= 1;
    worst->kind = kind;
    v->report->kind[kind].checked++;
    m->again[row] = within ? AGAIN_WITHIN : AGAIN_OUTSIDE;
    m->margin[row] = worst->margin;
    if (worst->margin > 0)
        verify_offend(v->report, worst);
    if (within)
        return;
    char index[32] = "";
    if (worst->index >= 0)
        snprintf(index, sizeof index, ", index %ld", worst->index);
    verify_break_member(v->report, kind, again->member,
                        "member %" PRId64 ", plane %ld, %s%s: %.3g from the one computed here, "
                        "%.3g allowed",
                        again->member, worst->plane, worst->what, index, worst->observed,
                        worst->allowed);
}

/* What an accepted step may be above its tolerance here: its error is rounded like a step. */
static int largest_error(const struct again *again, int64_t member, double *out)
{
    struct params *const params = &again->v->spec->params;
    scan_point(again->scan, member / scan_realisations(again->scan), params);
    double rounding = 0;
    TRY(bound_steps(1, 1, &rounding));
    *out = 1 + rounding / params_real(params, "stepper.rtol");
    return 0;
}

/* A replay that cannot be made is a finding, not an error. @param reason [300] */
static int replay(struct again *again, struct rerun *rerun, const struct step_record *step,
                  long count, double *error, char *reason)
{
    const struct rerun_look look = {.plane = again_plane, .context = again};
    struct row_status status;
    const struct status_saved saved = status_capture_save();
    reason[0] = '\0';
    status_capture(reason, 300);
    const int rc = rerun_replay(rerun, again->member, step, count, &look, &status, error);
    status_capture_restore(saved);
    if (rc == ERR_ARGUMENT)
        return 0;
    if (rc != 0)
        FAIL(rc, "%s", reason);
    snprintf(reason, 300, "%s", status.outcome == ROW_DONE ? "" : status.reason);
    return 0;
}

/* Rounding that turns the acceptance of one trial changes all steps behind it, by right. The
 * steps that are stored, made once more, differ by rounding again; and each of them must be one
 * that its tolerance accepts. @param done false: there is no whole history */
static int judge_replay(struct again *again, struct rerun *rerun, bool *done)
{
    struct verifying *const v = again->v;
    struct step_record *step = NULL;
    char reason[300];
    long count = 0;
    double error = 0;
    double allowed = 0;
    int rc = 0;
    *done = false;
    if (params_find(&v->spec->params, "stepper.schedule.from") < 0)
        return 0;
    TRY_OR(rc, done, history_read(v->store, again->member, &step, &count));
    if (count == 0)
        goto done;
    again->rounding.margin = -1;
    TRY_OR(rc, done, replay(again, rerun, step, count, &error, reason));
    TRY_OR(rc, done, largest_error(again, again->member, &allowed));
    *done = true;
    if (reason[0] == '\0' && error <= allowed) {
        conclude(again, VERIFY_MATCHED, &again->rounding);
        goto done;
    }
    v->report->kind[VERIFY_MATCHED].checked++;
    v->members.again[again->member - v->members.first] = AGAIN_OUTSIDE;
    verify_break_member(v->report, VERIFY_MATCHED, again->member,
                        "member %" PRId64 ": its steps, made again, have errors up to %.3g "
                        "tolerances%s%.120s",
                        again->member, error, reason[0] == '\0' ? "" : ", and: ", reason);
done:
    mem_free(step);
    return rc;
}

static int judge(struct again *again, struct rerun *rerun, bool same_program,
                 const struct row_status *status)
{
    struct verifying *const v = again->v;
    bool same = false;
    bool replayed = false;
    if (status->outcome != ROW_DONE) {
        v->report->kind[VERIFY_ADAPTIVE].checked++;
        v->members.again[again->member - v->members.first] = AGAIN_OUTSIDE;
        verify_break_member(v->report, VERIFY_ADAPTIVE, again->member,
                            "member %" PRId64 " is done there and ends here: %.200s",
                            again->member, status->reason);
        return 0;
    }
    if (same_program)
        TRY(check_transforms(v, again->member, status));
    TRY(took_the_same_steps(v, again->member, status, &same));
    if (same_program && !same)
        TRY(judge_replay(again, rerun, &replayed));
    if (replayed)
        return 0;
    if (same_program && same)
        conclude(again, VERIFY_MATCHED, &again->rounding);
    else if (again->bound > 0 && again->difference.member >= 0)
        conclude(again, VERIFY_ADAPTIVE, &again->difference);
    else if (again->windowless)
        verify_skip(v->report, VERIFY_ADAPTIVE,
                    "members with noise have no window whose gain is known to be small");
    else
        verify_skip(v->report, VERIFY_ADAPTIVE,
                    "%s and no envelope says how far two runs may differ; --tolerance E does",
                    same_program ? "rounding has made other steps, none are kept in the file,"
                                 : "another program or other kernels made the file,");
    return 0;
}

/* Of a member that carries noise only the planes count whose gain its judgment found small
 * enough; of one without a judgment none, for nobody knows. */
static int narrow(struct again *again, int64_t member, const struct plane_layout *layout)
{
    const struct plane_request *const saved = &scan_get_save(again->scan)->planes;
    struct store *const store = again->v->store;
    struct verdict_window window = {.gain = NULL};
    struct envelope_reach reach = {.last = -1};
    struct read_dataset data;
    bool known = false;
    if (!judging_measures(again->scan))
        return 0;
    TRY(read_describe(store, "plane/checksum", &data));
    TRY(MEM_NEW((long)data.length[1], &window.gain));
    const int rc = verdict_read_window(store, member, &window, &known);
    if (rc == 0 && known)
        envelope_narrow(window.gain, again->judged, layout->planes,
                        scan_get_envelope(again->scan)->gain, &reach);
    mem_free(window.gain);
    again->windowless =
        reach.last < 0
        || (reach.beyond > 0 && !(layout_plane_position(layout, saved, reach.last) > 0));
    for (long k = 0; again->windowless && k < layout->planes; k++)
        again->judged[k] = false;
    return rc;
}

static int fill_judged(struct again *again, int64_t member)
{
    struct plane_layout layout;
    TRY(survey_layout(again->scan, &again->v->spec->params,
                      member / scan_realisations(again->scan), &layout));
    mem_free(again->judged);
    again->judged = NULL;
    TRY(MEM_NEW(layout.planes, &again->judged));
    TRY(judging_planes(again->scan, &layout, again->judged));
    return narrow(again, member, &layout);
}

static int recompute_member(struct again *again, struct rerun *rerun, bool same_program,
                            int64_t member)
{
    const struct rerun_look look = {.plane = again_plane, .context = again};
    struct verifying *const v = again->v;
    struct row_status status;
    char kernel[96];
    const struct verify_offender none = {.member = -1, .plane = -1, .index = -1, .margin = -1};
    again->member = member;
    again->compared = false;
    again->rounding = again->difference = none;
    TRY(fill_judged(again, member));
    TRY(rerun_member(rerun, member, &look, &status));
    TRY(read_text_row(v->store, "member/kernel_id", member, kernel, sizeof kernel));
    const bool same = same_program && strcmp(kernel, rerun_kernel_id(rerun)) == 0;
    if (same_program && !same)
        snprintf(v->matched, sizeof v->matched,
                 "other kernels or transforms there (%.90s) than here (%.90s)", kernel,
                 rerun_kernel_id(rerun));
    return judge(again, rerun, same, &status);
}

static int recompute_all(struct verifying *v, struct rerun *rerun, const struct candidate *list,
                         int64_t count)
{
    struct again again = {.v = v, .scan = verifying_scan(v)};
    const char *why = "";
    int rc = 0;
    TRY(bound_of(v, &again.bound));
    TRY(find_program(v, &why));
    snprintf(v->matched, sizeof v->matched, "%s", why);
    for (int64_t i = 0; rc == 0 && i < count; i++)
        rc = recompute_member(&again, rerun, *why == '\0', list[i].member);
    again_clear(&again);
    return rc;
}

static void skip(struct verifying *v, const char *why)
{
    verify_skip(v->report, VERIFY_MATCHED, "%s", why);
    verify_skip(v->report, VERIFY_ADAPTIVE, "%s", why);
}

static int recompute(struct verifying *v)
{
    const struct scan *const scan = v->given != NULL ? v->given : v->scan;
    struct candidate *list = NULL;
    struct rerun *rerun = NULL;
    char *wisdom = NULL;
    int64_t count = 0;
    int rc = 0;
    TRY(placement_check_rounding());
    TRY_OR(rc, done, choose(v, &list, &count));
    TRY_OR(rc, done, read_wisdom(v, &wisdom));
    TRY_OR(rc, done, rerun_create(scan, wisdom, &rerun));
    rc = recompute_all(v, rerun, list, count);
    struct verify_result *const matched = &v->report->kind[VERIFY_MATCHED];
    if (rc == 0 && matched->checked == 0)
        verify_skip(v->report, VERIFY_MATCHED, "%s",
                    v->matched[0] != '\0' ? v->matched : "no member was compared");
    struct verify_result *const adaptive = &v->report->kind[VERIFY_ADAPTIVE];
    if (rc == 0 && adaptive->checked == 0 && adaptive->skipped[0] == '\0')
        verify_skip(v->report, VERIFY_ADAPTIVE, "no member needed it");
done:
    rerun_destroy(rerun);
    mem_free(wisdom);
    mem_free(list);
    return rc;
}

/* Inputs are known by their hashes alone; only the scan file says where they are. */
static bool lacks_inputs(const struct verifying *v)
{
    for (int i = 0; i < scan_inputs(v->scan); i++)
        if (scan_get_input(v->scan, i)->set.arrays == 0)
            return true;
    return false;
}

/* The members of --scan are those of the file. */
static int check_given(struct verifying *v)
{
    struct spec *spec = NULL;
    if (v->given == NULL)
        return 0;
    TRY(spec_create(v->given, &spec));
    const int rc = spec_compare(spec, v->path, false, "--scan wants the file's own scan");
    spec_destroy(spec);
    return rc;
}

int verify_recompute(struct verifying *v)
{
    const struct verify_choice *const choice = v->choice;
    if (choice->recompute == 0 && choice->members == NULL)
        skip(v, "--recompute N computes members again");
    else if (v->scan == NULL || v->spec == NULL)
        skip(v, "the configuration is not understood");
    else if (!v->identities)
        skip(v, "this program has another numerics version of the model");
    else if (lacks_inputs(v) && v->given == NULL)
        skip(v, "the members read data files: --scan SCAN.yaml says where they are");
    else {
        TRY(check_given(v));
        return recompute(v);
    }
    return 0;
}
