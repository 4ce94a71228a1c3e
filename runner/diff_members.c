/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of members, plane by plane: equal bits, within rounding, within their envelopes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/bits.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "runner/diffing.h"
#include "runner/history.h"
#include "runner/plane_error.h"
#include "runner/rounding.h"
#include "runner/survey.h"

#define TEXT_COLUMN 128

/* A pair while it is compared. */
struct pairing {
    struct diffing *d;
    const struct diff_pair *pair;
    struct params params;
    struct plane_layout layout; /* of the first one's point: the same grids in both */
    double *position[2];        /* [planes of the file] */
    double *error[2];           /* [planes of the file] stored ones, NaN: not judged */
    long saved[2];              /* planes that count */
    bool equal;
    bool compared;
    bool matched; /* class R applies */
    double steps;
    char norm[TEXT_COLUMN]; /* of class T */
    double bound;           /* 0: nothing says how far they may be apart */
    bool judged;            /* the bound is that of stored verdicts: of judged planes alone */
    double *plane[2];       /* [room] */
    long room;
    struct diff_finding rounding, difference;
};

const char *diff_class_name(enum diff_class class)
{
    static const char *const names[DIFF_CLASSES] = {[DIFF_EQUAL] = "equal bits",
                                                    [DIFF_MATCHED] = "within rounding",
                                                    [DIFF_ADAPTIVE] = "within envelopes",
                                                    [DIFF_NOTHING] = "no bound is stated"};
    return names[class];
}

static void keep(struct diff_finding *worst, const char *what, const long plane[2], long index,
                 double observed, double allowed)
{
    /* without a bound the largest is kept */
    const double margin = observed == 0 ? 0 : observed / allowed;
    const bool larger = margin > worst->margin || isnan(margin)
                        || (isinf(margin) && observed > worst->observed);
    if (!larger)
        return;
    worst->plane[0] = plane[0];
    worst->plane[1] = plane[1];
    worst->index = index;
    worst->observed = observed;
    worst->allowed = allowed;
    worst->margin = isnan(margin) ? (double)INFINITY : margin;
    snprintf(worst->what, sizeof worst->what, "%.47s", what);
}

static bool is_complex(const struct layout_array *array)
{
    return array->type == ELEMENT_C128 || array->type == ELEMENT_C64;
}

static int make_room(struct pairing *p, long n)
{
    for (int i = 0; i < 2 && n > p->room; i++) {
        mem_free(p->plane[i]);
        p->plane[i] = NULL;
        TRY(MEM_NEW(n, &p->plane[i]));
    }
    p->room = n > p->room ? n : p->room;
    return 0;
}

static double distance(const struct pairing *p, long n, bool pairs)
{
    if (strcmp(p->norm, "spectrum_l2") == 0 && pairs)
        return plane_error_power(p->plane[0], p->plane[1], n);
    return plane_error_l2(p->plane[0], p->plane[1], pairs ? 2 * n : n);
}

static bool by_field(const struct pairing *p)
{
    return strcmp(p->norm, "field_l2") == 0 || strcmp(p->norm, "spectrum_l2") == 0;
}

/* Whether the norm counts in this plane. */
static bool counts(const struct pairing *p, const long plane[2])
{
    return !p->judged || (!isnan(p->error[0][plane[0]]) && !isnan(p->error[1][plane[1]]));
}

static bool both_have(const struct pairing *p, const char *path)
{
    return read_exists(p->d->side[0].store, path) && read_exists(p->d->side[1].store, path);
}

static int compare_array(struct pairing *p, int a, const long plane[2])
{
    const struct layout_array *const array = &p->layout.array[a];
    const bool pairs = is_complex(array);
    const long n = layout_array_count(&p->layout, a);
    const long doubles = pairs ? 2 * n : n;
    double off = 0;
    double allowed = 0;
    char path[READ_NAME_SIZE + 8];
    snprintf(path, sizeof path, "plane/%s", array->name);
    if (!both_have(p, path))
        return 0;
    TRY(make_room(p, doubles));
    for (int s = 0; s < 2; s++)
        TRY(store_read_plane(p->d->side[s].store, array->name, p->pair->member[s], plane[s], n,
                             p->plane[s]));
    p->compared = true;
    if (memcmp(p->plane[0], p->plane[1], (size_t)doubles * sizeof **p->plane) == 0)
        return 0;
    p->equal = false;
    const double peak = plane_error_peak(p->plane[0], n, pairs);
    const long worst = plane_error_worst(p->plane[0], p->plane[1], n, pairs, &off);
    for (long i = 0; !pairs && i < n; i++) {
        if (isnan(p->plane[0][i]) && isnan(p->plane[1][i]))
            continue;
        TRY(rounding_of_real(p->steps, peak, p->plane[0][i], &allowed));
        keep(&p->rounding, array->name, plane, i, fabs(p->plane[0][i] - p->plane[1][i]),
             allowed);
    }
    TRY(rounding_of_field(p->steps, peak, &allowed));
    if (pairs)
        keep(&p->rounding, array->name, plane, worst, off, allowed);
    if (by_field(p) && array->is_field && counts(p, plane))
        keep(&p->difference, array->name, plane, worst, distance(p, n, pairs), p->bound);
    return 0;
}

/* The observable that the norm names, or any where no field is kept. */
static bool is_normed(const struct pairing *p, const char *name)
{
    const char *const norm = p->norm;
    return strcmp(norm, name) == 0
           || (strncmp(norm, "observable ", 11) == 0 && strcmp(norm + 11, name) == 0)
           || strcmp(norm, "observables") == 0;
}

/* The observables of a plane that both files have; NaN for others. */
static int read_numbers(struct pairing *p, const struct model_info *info, const long plane[2],
                        double value[2][OBSERVABLES_MAX], bool *there)
{
    for (int i = 0; i < info->observable_count; i++) {
        char path[READ_NAME_SIZE + 8];
        snprintf(path, sizeof path, "plane/%s", info->observables[i].name);
        there[i] = both_have(p, path);
        for (int s = 0; s < 2; s++) {
            const int64_t start[2] = {p->pair->member[s], plane[s]};
            const int64_t count[2] = {1, 1};
            value[s][i] = (double)NAN;
            if (there[i])
                TRY(read_block(p->d->side[s].store, path, start, count, &value[s][i]));
        }
    }
    return 0;
}

static int compare_number(struct pairing *p, const struct model_info *info, int i,
                          const long plane[2], double value[2][OBSERVABLES_MAX])
{
    const char *const name = info->observables[i].name;
    double allowed = 0;
    p->compared = true;
    if (bits_same(value[0][i], value[1][i]) || (isnan(value[0][i]) && isnan(value[1][i])))
        return 0;
    p->equal = false;
    TRY(rounding_of_number(p->steps, info, value[0], i, &allowed));
    keep(&p->rounding, name, plane, -1, fabs(value[0][i] - value[1][i]), allowed);
    if (is_normed(p, name) && counts(p, plane))
        keep(&p->difference, name, plane, -1, plane_error_number(value[0][i], value[1][i]),
             p->bound);
    return 0;
}

static int compare_plane(struct pairing *p, const long plane[2])
{
    const struct model_info *const info = scan_model(p->d->side[0].scan)->info;
    double value[2][OBSERVABLES_MAX];
    bool there[OBSERVABLES_MAX];
    for (int a = 0; a < p->layout.arrays; a++)
        TRY(compare_array(p, a, plane));
    TRY(read_numbers(p, info, plane, value, there));
    for (int i = 0; i < info->observable_count; i++)
        if (there[i])
            TRY(compare_number(p, info, i, plane, value));
    return 0;
}

/* The plane of the second one at a position of the first, -1: none. */
static long counterpart(const struct pairing *p, long plane)
{
    const double at = p->position[0][plane];
    for (long k = 0; k < p->saved[1]; k++)
        if (fabs(p->position[1][k] - at) <= bound(BOUND_same_grid) * fabs(p->layout.span))
            return k;
    return -1;
}

static int compare_planes(struct pairing *p)
{
    for (long k = 0; k < p->saved[0]; k++) {
        const long plane[2] = {k, counterpart(p, k)};
        if (plane[1] >= 0)
            TRY(compare_plane(p, plane));
    }
    return 0;
}

/* One program and the same steps: a matched discrete computation. The steps are the same when
 * the histories say so, as those of a replay do; where none is kept, when one kernel made as
 * many of them for one identity. */
static int find_matched(struct pairing *p)
{
    char kernel[2][96];
    struct store *const stores[2] = {p->d->side[0].store, p->d->side[1].store};
    double count[2][2] = {{0}};
    static const char *const columns[2] = {"member/steps", "member/rejected"};
    for (int s = 0; s < 2; s++) {
        const int64_t member = p->pair->member[s];
        TRY(read_text_row(stores[s], "member/kernel_id", member, kernel[s], sizeof kernel[s]));
        for (int c = 0; c < 2; c++)
            TRY(read_rows(stores[s], columns[c], member, 1, 1, &count[s][c]));
    }
    p->steps = count[0][0];
    const bool may_match = p->d->build[0] == '\0' && count[0][0] == count[1][0];
    p->matched = may_match && p->pair->identical && p->saved[0] == p->saved[1]
                 && strcmp(kernel[0], kernel[1]) == 0 && count[0][1] == count[1][1];
    return may_match && !p->matched ? history_same(stores, p->pair->member, &p->matched) : 0;
}

/* The verdict of one side. */
static int read_verdict(struct pairing *p, int s, char *norm, double *out, bool *there)
{
    struct store *const store = p->d->side[s].store;
    const int64_t member = p->pair->member[s];
    struct verdict_state state;
    *there = false;
    if (!verdict_has_room(store))
        return 0;
    TRY(verdict_read(store, member, 1, &state));
    if (state.outcome != MEMBER_DONE || state.verdict == VERDICT_UNJUDGED)
        return 0;
    *there = true;
    TRY(read_text_row(store, "member/contract/norm", member, norm, TEXT_COLUMN));
    TRY(read_rows(store, "member/contract/error", member, 1, p->d->side[s].planes,
                  p->error[s]));
    return read_rows(store, "member/contract/bound", member, 1, 1, out);
}

static bool has_fields(const struct pairing *p)
{
    char path[READ_NAME_SIZE + 8];
    bool any = false;
    for (int a = 0; a < p->layout.arrays; a++) {
        snprintf(path, sizeof path, "plane/%s", p->layout.array[a].name);
        any = any || (p->layout.array[a].is_field && both_have(p, path));
    }
    return any;
}

/* E_a + E_b, each with its safety; else what the command line allows. */
static int find_bound(struct pairing *p)
{
    char norm[2][TEXT_COLUMN] = {{0}};
    double stored[2] = {0};
    bool there[2] = {false};
    for (int s = 0; s < 2; s++)
        TRY(read_verdict(p, s, norm[s], &stored[s], &there[s]));
    p->judged = there[0] && there[1] && strcmp(norm[0], norm[1]) == 0;
    p->bound = p->judged ? stored[0] + stored[1] : p->d->tolerance;
    snprintf(p->norm, sizeof p->norm, "%s",
             p->judged       ? norm[0]
             : has_fields(p) ? "field_l2"
                             : "observables");
    return 0;
}

static int read_planes(struct pairing *p)
{
    for (int s = 0; s < 2; s++) {
        int64_t saved = 0;
        struct diff_side *const side = &p->d->side[s];
        TRY(store_read_states(side->store, p->pair->member[s], 1, NULL, &saved));
        p->saved[s] = saved < side->planes ? (long)saved : side->planes;
        TRY(read_rows(side->store, side->progress, p->pair->member[s], 1, side->planes,
                      p->position[s]));
    }
    return 0;
}

static void remember(struct diffing *d, const struct diff_finding *f)
{
    int at = d->worsts;
    while (at > 0 && !(f->margin <= d->worst[at - 1].margin))
        at--;
    if (at == DIFF_WORST_MAX)
        return;
    d->worsts += d->worsts < DIFF_WORST_MAX;
    for (int i = d->worsts - 1; i > at; i--)
        d->worst[i] = d->worst[i - 1];
    d->worst[at] = *f;
}

static void conclude(struct pairing *p)
{
    struct diffing *const d = p->d;
    const bool adaptive = p->bound > 0 && p->difference.margin >= 0;
    /* where the dynamics amplify rounding, the envelopes decide */
    const bool rounding = p->matched && (p->rounding.margin <= 1 || !adaptive);
    const enum diff_class class = p->equal   ? DIFF_EQUAL
                                  : rounding ? DIFF_MATCHED
                                  : adaptive ? DIFF_ADAPTIVE
                                             : DIFF_NOTHING;
    struct diff_finding f = class == DIFF_MATCHED ? p->rounding : p->difference;
    if (class == DIFF_NOTHING && !(f.margin >= 0))
        f = p->rounding;
    f.pair = *p->pair;
    f.class = class;
    d->count[class]++;
    if (class == DIFF_EQUAL)
        return;
    if (class == DIFF_NOTHING) {
        f.allowed = 0;
        f.margin = (double)INFINITY;
    }
    d->outside[class] += !(f.margin <= 1);
    d->margin[class] = fmax(d->margin[class], f.margin);
    remember(d, &f);
}

static int compare_pair(struct pairing *p, const struct diff_pair *pair)
{
    const struct diff_finding none = {.plane = {-1, -1}, .index = -1, .margin = -1};
    const struct scan *const scan = p->d->side[0].scan;
    p->pair = pair;
    p->equal = true;
    p->compared = false;
    p->rounding = p->difference = none;
    TRY(survey_layout(scan, &p->params, pair->member[0] / scan_realisations(scan), &p->layout));
    TRY(read_planes(p));
    TRY(find_matched(p));
    TRY(find_bound(p));
    TRY(compare_planes(p));
    if (!p->compared)
        FAIL(ERR_ARGUMENT,
             "member %lld of %s and member %lld of %s have no plane and no number in common",
             (long long)pair->member[0], p->d->side[0].path, (long long)pair->member[1],
             p->d->side[1].path);
    conclude(p);
    return 0;
}

static int make_scratch(struct pairing *p)
{
    TRY(scan_params_init(p->d->side[0].scan, &p->params));
    for (int s = 0; s < 2; s++) {
        TRY(MEM_NEW(p->d->side[s].planes, &p->position[s]));
        TRY(MEM_NEW(p->d->side[s].planes, &p->error[s]));
    }
    return 0;
}

int diff_members(struct diffing *d)
{
    struct pairing p = {.d = d};
    int rc = make_scratch(&p);
    for (int64_t i = 0; rc == 0 && i < d->pairs; i++)
        rc = compare_pair(&p, &d->pair[i]);
    for (int s = 0; s < 2; s++) {
        mem_free(p.position[s]);
        mem_free(p.error[s]);
        mem_free(p.plane[s]);
    }
    params_clear(&p.params);
    return rc;
}
