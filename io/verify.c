/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/verify.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

#define BLOCK 4096 /* members looked at at a time */

/* Members of a block, as they stand in the file. */
struct block {
    int64_t first, count;
    uint8_t state[BLOCK];
    int64_t saved[BLOCK];
    uint8_t truncated[BLOCK];
    int64_t steps[BLOCK];
    int64_t rejected[BLOCK];
    int64_t rhs_calls[BLOCK];
    int64_t transforms[BLOCK];
    int64_t kept[BLOCK];
    struct verdict_state verdict[BLOCK];
};

/* What is being looked at. */
struct verify {
    struct store *store;
    struct verify_report *report;
    const struct verify_scan *scan; /* NULL: not understood */
    struct step_record *step;       /* [history] */
    struct verify_planes planes;    /* of `known` */
    int64_t known;                  /* point whose planes are known, -1: none */
    double *row;                    /* [planes] scratch */
    double *gain;                   /* [planes] scratch */
    double *values;                 /* [2][elements of the largest array] scratch */
    uint8_t *zero;                  /* [elements of the largest array] scratch */
    int64_t pending;
    uint64_t key;    /* of the envelope that members were judged by, 0: none yet */
    int64_t missing; /* chosen members that are done and have no outcome */
};

static bool has_failed(uint8_t state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT || state == MEMBER_QUARANTINED;
}

static int verify_reason(struct verify *v, int64_t member)
{
    char reason[STORE_REASON_SIZE + 1] = "";
    TRY(store_get_row(v->store, &v->store->column[COLUMN_REASON], member, reason));
    if (reason[0] == '\0')
        verify_break_member(v->report, VERIFY_STATES, member,
                            "member %" PRId64 " has failed without a reason", member);
    return 0;
}

static int verify_state(struct verify *v, int64_t member, uint8_t state, int64_t saved)
{
    const long planes = v->store->planes;
    v->report->kind[VERIFY_STATES].checked++;
    v->pending += state == MEMBER_PENDING;
    if (state == 1 || state > MEMBER_EXCLUDED)
        verify_break_member(v->report, VERIFY_STATES, member,
                            "member %" PRId64 " has state %d, which is none", member, state);
    else if (saved < 0 || saved > planes)
        verify_break_member(v->report, VERIFY_STATES, member,
                            "member %" PRId64 " has %" PRId64 " of %ld planes saved", member,
                            saved, planes);
    else if (state == MEMBER_DONE && saved != planes)
        verify_break_member(v->report, VERIFY_STATES, member,
                            "member %" PRId64 " is done with %" PRId64 " of %ld planes saved",
                            member, saved, planes);
    else if (has_failed(state))
        return verify_reason(v, member);
    return 0;
}

static int verify_planes(struct verify *v, int64_t member, int64_t saved)
{
    const long counted = saved < v->store->planes ? (long)saved : v->store->planes;
    for (long plane = 0; plane < counted; plane++) {
        char text[300] = "";
        bool right = true;
        const struct status_saved capture = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = store_test_plane(v->store, member, plane, &right);
        status_capture_restore(capture);
        v->report->kind[VERIFY_PLANES].checked++;
        if (rc == ERR_MEMORY)
            FAIL(rc, "%s", text);
        if (rc != 0)
            verify_break_member(v->report, VERIFY_PLANES, member,
                                "plane %ld of member %" PRId64 " cannot be read: %s", plane,
                                member, text);
        else if (!right)
            verify_break_member(v->report, VERIFY_PLANES, member,
                                "plane %ld of member %" PRId64 " has not its checksum", plane,
                                member);
    }
    return 0;
}

/* Totals of /member against the sums over /step, or over what is kept of it. */
static int verify_steps(struct verify *v, const struct block *b, int64_t i)
{
    const int64_t member = b->first + i;
    v->report->kind[VERIFY_STEPS].checked++;
    if (b->kept[i] < 0 || b->kept[i] > v->store->history.capacity) {
        verify_break_member(v->report, VERIFY_STEPS, member,
                            "member %" PRId64 " keeps %" PRId64 " of %ld steps", member,
                            b->kept[i], v->store->history.capacity);
        return 0;
    }
    if (b->kept[i] > 0)
        TRY(store_read_steps(v->store, member, (long)b->kept[i], v->step));
    const struct verify_counts counts = {.member = member,
                                         .done = b->state[i] == MEMBER_DONE,
                                         .whole = b->truncated[i] == 0,
                                         .steps = b->steps[i],
                                         .rejected = b->rejected[i],
                                         .rhs_calls = b->rhs_calls[i],
                                         .transforms = b->transforms[i],
                                         .kept = b->kept[i],
                                         .step = v->step};
    return verify_counts_check(&counts, v->scan != NULL ? &v->scan->law : NULL, v->report);
}

/* What the configuration says of a member's planes; once for all realisations of a point. */
static int know_planes(struct verify *v, int64_t member)
{
    const int64_t point = member / v->store->realisations;
    if (point == v->known)
        return 0;
    TRY(v->scan->planes(v->scan->context, member, &v->planes));
    v->known = point;
    return 0;
}

/* The positions of counted planes. */
static int verify_positions(struct verify *v, int64_t member, int64_t saved)
{
    const struct store_part *const part = store_find_part(v->store, PART_PROGRESS, 0);
    const int64_t start[2] = {member, 0};
    const int64_t count[2] = {1, v->store->planes};
    double allowed = 0;
    if (part == NULL)
        return 0;
    TRY(know_planes(v, member));
    TRY(bound_sum(4, fabs(v->planes.span), PRECISION_F64, &allowed));
    TRY(store_get(v->store, &part->data, start, count, v->row));
    for (long k = 0; k < v->planes.planes && k < saved; k++) {
        v->report->kind[VERIFY_AXES].checked++;
        if (!(fabs(v->row[k] - v->planes.position[k]) <= allowed)) {
            verify_break_member(v->report, VERIFY_AXES, member,
                                "plane %ld of member %" PRId64
                                " stands at %.17g, it is asked for at %.17g",
                                k, member, v->row[k], v->planes.position[k]);
            return 0;
        }
    }
    return 0;
}

/* The envelope of the scan file may be another one by now than when the file was made. */
static void learn_key(struct verify *v, uint64_t key)
{
    v->key = key;
    if (v->scan->envelope.key != 0 && key != v->scan->envelope.key)
        verify_skip(v->report, VERIFY_VERDICTS,
                    "made by another envelope than the file's configuration has; bounds are "
                    "taken as stored: --scan SCAN.yaml says which it is");
}

/* Who is judged follows from the sample, which may change from one run to the next: a smaller
 * one needs no work, and leaves judgments of members that it does not choose. */
static void verify_choice(struct verify *v, int64_t member, const struct verdict_state *found)
{
    const uint8_t chosen = found->chosen;
    const struct verify_envelope *const envelope = &v->scan->envelope;
    const int64_t row = member - v->store->window.first;
    if (envelope->chosen == NULL || chosen > 1 || chosen == envelope->chosen[row])
        return;
    if (envelope->sample_may_differ
        || (!envelope->sample_given && chosen == 0 && found->outcome != MEMBER_PENDING))
        verify_skip(v->report, VERIFY_VERDICTS,
                    "other members are chosen than by envelope.sample of the file's "
                    "configuration; it may have changed between the runs: --scan SCAN.yaml "
                    "says what it is");
    else
        verify_break_member(v->report, VERIFY_VERDICTS, member,
                            "member %" PRId64 " is %s, envelope.sample %s it", member,
                            chosen != 0 ? "chosen" : "not chosen",
                            envelope->chosen[row] != 0 ? "chooses" : "leaves out");
}

static int verify_judgment(struct verify *v, const struct block *b, int64_t i)
{
    const struct verify_envelope *const envelope = &v->scan->envelope;
    const struct verdict_state *const found = &b->verdict[i];
    const int64_t member = b->first + i;
    v->missing += found->chosen && b->state[i] == MEMBER_DONE && found->outcome == 0;
    if (found->chosen > 1)
        verify_break_member(v->report, VERIFY_VERDICTS, member,
                            "member %" PRId64 " has %d in chosen, neither 0 nor 1", member,
                            found->chosen);
    if (found->outcome != MEMBER_PENDING && v->key == 0)
        learn_key(v, found->envelope);
    const bool other = v->key != envelope->key && envelope->key != 0 && v->key != 0;
    if (!other)
        verify_choice(v, member, found);
    if (found->outcome == MEMBER_PENDING)
        return 0;
    TRY(know_planes(v, member));
    const struct verify_judged judged = {.member = member,
                                         .state = b->state[i],
                                         .envelope = envelope,
                                         .key = v->key,
                                         .other = other,
                                         .planes = &v->planes,
                                         .error = v->row,
                                         .gain = v->gain};
    return verify_verdict(v->store, &judged, v->report);
}

/* Masked elements of one array in all counted planes of a member. */
static int verify_masked(struct verify *v, struct store_part *part, int64_t member,
                         int64_t saved)
{
    struct store_shape shape;
    bool any = false;
    TRY(store_shape(v->store, part, member, &shape));
    const long n = store_shape_valid(&shape);
    const bool pairs = part->data.kind == H5_C128 || part->data.kind == H5_C64;
    memset(v->zero, 0, (size_t)n);
    TRY(v->scan->zeros(v->scan->context, member, part->index, v->zero));
    for (long i = 0; i < n; i++)
        any = any || v->zero[i] != 0;
    for (long k = 0; any && k < saved; k++) {
        TRY(store_read_plane(v->store, part->name, member, k, n, v->values));
        v->report->kind[VERIFY_ZEROS].checked++;
        for (long i = 0; i < n; i++) {
            const double re = v->values[pairs ? 2 * i : i];
            const double im = pairs ? v->values[2 * i + 1] : 0;
            if (!v->zero[i] || (re == 0 && im == 0))
                continue;
            verify_break_member(v->report, VERIFY_ZEROS, member,
                                "plane %ld of member %" PRId64 ": %s has %g%+gi in masked "
                                "element %ld",
                                k, member, part->name, re, im, i);
            return 0;
        }
    }
    return 0;
}

static int verify_zeros(struct verify *v, int64_t member, int64_t saved)
{
    for (int p = 0; p < v->store->parts; p++)
        if (v->store->part[p].part == PART_ARRAY)
            TRY(verify_masked(v, &v->store->part[p], member,
                              saved < v->store->planes ? saved : v->store->planes));
    return 0;
}

/* What ended by its worker's word has counters; a quarantined one may have none. */
static bool has_counters(uint8_t state)
{
    return state == MEMBER_DONE || state == MEMBER_FAILED || state == MEMBER_TIMED_OUT;
}

static int verify_block(struct verify *v, const struct block *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t member = b->first + i;
        TRY(verify_state(v, member, b->state[i], b->saved[i]));
        TRY(verify_planes(v, member, b->saved[i]));
        if (v->scan != NULL && b->saved[i] > 0)
            TRY(verify_positions(v, member, b->saved[i]));
        if (v->scan != NULL && v->scan->zeros != NULL
            && v->report->kind[VERIFY_LAYOUT].broken == 0)
            TRY(verify_zeros(v, member, b->saved[i]));
        if (v->scan != NULL && v->scan->envelope.judged)
            TRY(verify_judgment(v, b, i));
        if (v->store->history_open && has_counters(b->state[i]))
            TRY(verify_steps(v, b, i));
    }
    return 0;
}

static int load_block(struct verify *v, struct block *b)
{
    struct store *const store = v->store;
    const struct {
        enum store_column column;
        void *values;
    } columns[] = {{COLUMN_STATE, b->state},          {COLUMN_N_SAVED, b->saved},
                   {COLUMN_TRUNCATED, b->truncated},  {COLUMN_STEPS, b->steps},
                   {COLUMN_REJECTED, b->rejected},    {COLUMN_RHS_CALLS, b->rhs_calls},
                   {COLUMN_TRANSFORMS, b->transforms}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TRY(store_get(store, &store->column[columns[i].column], &b->first, &b->count,
                      columns[i].values));
    TRY(verdict_read(store, b->first, b->count, b->verdict));
    if (!store->history_open)
        return 0;
    return store_get(store, &store->history.n_steps, &b->first, &b->count, b->kept);
}

static int verify_complete(struct verify *v)
{
    struct h5_dataset dataset;
    uint8_t complete = 0;
    TRY(h5_dataset_open(v->store->file, v->store->path, "complete", &dataset));
    const int rc = h5_read_rows(&dataset, 0, 1, &complete);
    h5_dataset_close(&dataset);
    TRY(rc);
    v->report->kind[VERIFY_STATES].checked++;
    if (complete > 1)
        verify_break(v->report, VERIFY_STATES, "complete is %d, neither 0 nor 1", complete);
    if (complete != 0 && v->pending > 0)
        verify_break(v->report, VERIFY_STATES,
                     "the file says it is complete, %" PRId64 " members are pending",
                     v->pending);
    if (complete != 0 && v->missing > 0)
        verify_break(v->report, VERIFY_VERDICTS,
                     "the file says it is complete, %" PRId64
                     " chosen members have no outcome of their judgment",
                     v->missing);
    return 0;
}

static int verify_members(struct verify *v, struct block *b)
{
    const int64_t end = v->store->window.first + v->store->members;
    for (b->first = v->store->window.first; b->first < end; b->first += BLOCK) {
        b->count = end - b->first < BLOCK ? end - b->first : BLOCK;
        TRY(load_block(v, b));
        TRY(verify_block(v, b));
    }
    return verify_complete(v);
}

/* Kinds that need what this file or its configuration does not have. */
static void skip_kinds(const struct verify *v)
{
    if (!v->store->history_open)
        verify_skip(v->report, VERIFY_STEPS, "the file keeps no history of steps");
    if (v->scan == NULL)
        return;
    if (!v->scan->envelope.judged)
        verify_skip(v->report, VERIFY_VERDICTS, "the scan has no envelope");
    if (v->scan->zeros == NULL)
        verify_skip(v->report, VERIFY_ZEROS, "the model declares no masked elements");
    else if (v->report->kind[VERIFY_LAYOUT].broken > 0)
        verify_skip(v->report, VERIFY_ZEROS, "the layout is another");
}

static int make_room(struct verify *v)
{
    const long planes = v->store->planes;
    long largest = 1;
    TRY(MEM_NEW(planes, &v->row));
    TRY(MEM_NEW(planes, &v->gain));
    TRY(MEM_NEW(planes, &v->planes.position));
    TRY(MEM_NEW(planes, &v->planes.judged));
    for (int p = 0; p < v->store->parts; p++) {
        const struct h5_dataset *const data = &v->store->part[p].data;
        long elements = 1;
        for (int d = 2; d < data->dims; d++)
            elements *= (long)data->length[d];
        largest = elements > largest ? elements : largest;
    }
    TRY(MEM_NEW(2 * largest, &v->values));
    TRY(MEM_NEW(largest, &v->zero));
    return v->store->history_open ? MEM_NEW(v->store->history.capacity, &v->step) : 0;
}

int verify_store(struct store *store, const struct verify_scan *scan,
                 struct verify_report *report)
{
    struct verify v = {.store = store, .scan = scan, .report = report, .known = -1};
    struct block *block = NULL;
    int rc = 0;
    skip_kinds(&v);
    TRY_OR(rc, done, make_room(&v));
    TRY_OR(rc, done, MEM_NEW(1, &block));
    TRY_OR(rc, done, verify_members(&v, block));
    rc = verify_stops(store, report);
done:
    mem_free(block);
    mem_free(v.step);
    mem_free(v.row);
    mem_free(v.gain);
    mem_free(v.values);
    mem_free(v.zero);
    mem_free(v.planes.position);
    mem_free(v.planes.judged);
    return rc;
}
