/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/until.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/read.h"
#include "io/reduce.h"
#include "io/reduce_sums.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/sequential.h"

#define RULE "ensemble/stopped" /* its attributes are the rule */

/* What is estimated. */
enum quantity { QUANTITY_NUMBER, QUANTITY_SPECTRUM, QUANTITY_G12 };

/* A point that is looked at. */
struct point {
    struct store *store;
    struct store_until rule;
    struct sequential_rule ladder;
    enum quantity quantity;
    char name[SCHEMA_NAME_MAX]; /* of the array or observable */
    int64_t first;              /* its first member */
    const uint8_t *state;       /* [realisations] */
    int64_t seen;               /* realisations that are in the sums */
    int64_t n;                  /* done ones of them */
    long whole;                 /* numbers of a plane: bins, or one */
    long length;                /* of them in the band */
    long *bin;                  /* [length] which */
    double *plane;              /* [2 whole] as it is read */
    double *packed;             /* [2 length] the field in the band */
    double *mean;               /* [length] running means … */
    double *squares;            /* … and sums of squared deviations (Welford 1962) */
    struct reduce_sums *sums;   /* of QUANTITY_G12 */
};

bool until_is_on(struct store *store)
{
    return read_exists(store, RULE);
}

static int read_numbers(struct store *store, const char *attribute, double *a, double *b,
                        int *found)
{
    char text[80] = "";
    char *end = text;
    TRY(read_attribute(store, RULE, attribute, text, sizeof text));
    *a = strtod(text, &end);
    *found = end != text;
    const char *const second = end;
    *b = strtod(second, &end);
    *found += end != second;
    return 0;
}

int until_read_rule(struct store *store, struct store_until *out)
{
    double none = 0;
    double counts[2] = {0, 0};
    int errors = 0;
    int ends = 0;
    int edges = 0;
    *out = (struct store_until){.banded = false};
    TRY(read_attribute(store, RULE, "quantity", out->quantity, sizeof out->quantity));
    TRY(read_numbers(store, "error", &out->error, &none, &errors));
    TRY(read_numbers(store, "realisations", &counts[0], &counts[1], &ends));
    TRY(read_numbers(store, "omega", &out->omega[0], &out->omega[1], &edges));
    const bool ladder = ends == 2 && counts[0] >= SEQUENTIAL_LEAST && counts[1] >= counts[0]
                        && counts[1] <= (double)store->realisations;
    if (out->quantity[0] == '\0' || errors != 1 || !(out->error > 0) || !ladder || edges == 1)
        return store_fail_damaged(store->path, "the rule of " RULE " cannot be read");
    out->min = (int64_t)counts[0];
    out->max = (int64_t)counts[1];
    out->banded = edges == 2;
    return 0;
}

static struct sequential_rule ladder_of(const struct store_until *rule)
{
    return (struct sequential_rule){.error = rule->error, .min = rule->min, .max = rule->max};
}

int64_t until_next_count(const struct store_until *rule, int looks)
{
    const struct sequential_rule ladder = ladder_of(rule);
    return sequential_count(&ladder, looks);
}

/* Part: the bins of a point. */

static int keep_all_bins(struct point *p)
{
    TRY(MEM_NEW(p->whole, &p->bin));
    for (long k = 0; k < p->whole; k++)
        p->bin[k] = k;
    p->length = p->whole;
    return 0;
}

/* Bins whose frequency lies in the band. */
static int find_band(struct point *p)
{
    double grid = 0;
    double *omega = NULL;
    long count = 0;
    TRY(read_rows(p->store, "member/grid", p->first, 1, 1, &grid));
    TRY(read_scale(p->store, "omega", (int64_t)grid, &omega, &count));
    int rc = MEM_NEW(p->whole, &p->bin);
    for (long k = 0; rc == 0 && k < p->whole && k < count; k++)
        if (omega[k] >= p->rule.omega[0] && omega[k] <= p->rule.omega[1])
            p->bin[p->length++] = k;
    mem_free(omega);
    if (rc == 0 && p->length == 0)
        FAIL(ERR_ARGUMENT, "%s: point %lld has no frequency in ensemble.until.band",
             p->store->path, (long long)(p->first / p->store->realisations));
    return rc;
}

static int find_bins(struct point *p)
{
    struct store_shape shape;
    struct store_part *const part = store_find_name(p->store, p->name);
    if (part == NULL)
        FAIL(ERR_CONFLICT, "%s is damaged: plane/%s, by which ensembles stop, is absent",
             p->store->path, p->name);
    p->whole = 1;
    if (p->quantity != QUANTITY_NUMBER) {
        TRY(store_shape(p->store, part, p->first, &shape));
        p->whole = store_shape_valid(&shape);
    }
    return p->rule.banded ? find_band(p) : keep_all_bins(p);
}

static void close_point(struct point *p)
{
    mem_free(p->bin);
    mem_free(p->plane);
    mem_free(p->packed);
    mem_free(p->mean);
    mem_free(p->squares);
    reduce_sums_destroy(p->sums);
}

/* @param p  to be closed after an error too */
static int open_point(struct store *store, int64_t point, const uint8_t *state, struct point *p)
{
    *p = (struct point){.store = store, .first = point * store->realisations, .state = state};
    TRY(until_read_rule(store, &p->rule));
    p->ladder = ladder_of(&p->rule);
    p->quantity = strcmp(p->rule.quantity, "mean_spectrum") == 0 ? QUANTITY_SPECTRUM
                  : strcmp(p->rule.quantity, "g12") == 0         ? QUANTITY_G12
                                                                 : QUANTITY_NUMBER;
    snprintf(p->name, sizeof p->name, "%.*s", (int)sizeof p->name - 1, p->rule.quantity);
    if (p->quantity != QUANTITY_NUMBER)
        TRY(read_attribute(store, RULE, "array", p->name, sizeof p->name));
    TRY(find_bins(p));
    TRY(MEM_NEW(2 * p->whole, &p->plane));
    TRY(MEM_NEW(2 * p->length, &p->packed));
    TRY(MEM_NEW(p->length, &p->mean));
    TRY(MEM_NEW(p->length, &p->squares));
    return p->quantity == QUANTITY_G12 ? reduce_sums_create(p->length, &p->sums) : 0;
}

/* Part: a look. */

/* The last plane of a member, its band packed: pairs, or one number. */
static int read_member(struct point *p, int64_t realisation)
{
    TRY(store_read_plane(p->store, p->name, p->first + realisation, p->store->planes - 1,
                         p->whole, p->plane));
    if (p->quantity == QUANTITY_NUMBER)
        p->packed[0] = p->plane[0];
    for (long k = 0; p->quantity != QUANTITY_NUMBER && k < p->length; k++) {
        p->packed[2 * k] = p->plane[2 * p->bin[k]];
        p->packed[2 * k + 1] = p->plane[2 * p->bin[k] + 1];
    }
    return 0;
}

/* One member more in the running means. */
static void add_member(struct point *p)
{
    for (long k = 0; k < p->length; k++) {
        const double *const a = &p->packed[2 * k];
        const double x =
            p->quantity == QUANTITY_NUMBER ? p->packed[k] : a[0] * a[0] + a[1] * a[1];
        const double off = x - p->mean[k];
        p->mean[k] += off / (double)p->n;
        p->squares[k] += off * (x - p->mean[k]);
    }
}

/* The members up to a look. */
static int add_members(struct point *p, int64_t count)
{
    for (; p->seen < count; p->seen++) {
        if (p->state[p->seen] != MEMBER_DONE)
            continue;
        p->n++;
        if (p->quantity == QUANTITY_G12)
            continue;
        TRY(read_member(p, p->seen));
        add_member(p);
    }
    return 0;
}

/* Norms of the mean and of its standard error; of one number their moduli. */
static void measure_mean(const struct point *p, struct until_end *out)
{
    double mean = 0;
    double spread = 0;
    if (p->n < 2)
        return;
    for (long k = 0; k < p->length; k++) {
        mean += p->mean[k] * p->mean[k];
        spread += p->squares[k];
    }
    const double n = (double)p->n;
    const double error = sqrt(spread / (n - 1) / n);
    out->value = p->quantity == QUANTITY_NUMBER ? p->mean[0] : sqrt(mean);
    out->error = error > 0 || isnan(error) ? error / sqrt(mean) : 0;
}

static int measure_g12(struct point *p, struct until_end *out)
{
    reduce_sums_begin(p->sums);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t r = 0; r < p->seen; r++) {
            if (p->state[r] != MEMBER_DONE)
                continue;
            TRY(read_member(p, r));
            if (pass == 0)
                reduce_sums_add(p->sums, p->packed);
            else
                reduce_sums_leave_out(p->sums, p->packed);
        }
        if (pass == 0)
            reduce_sums_mean(p->sums);
    }
    out->value = reduce_sums_coherence(p->sums, &out->error);
    return 0;
}

static bool has_ended(uint8_t state)
{
    return state == MEMBER_DONE || state == MEMBER_FAILED || state == MEMBER_TIMED_OUT
           || state == MEMBER_QUARANTINED;
}

/* Whether all members of a look have ended. */
static bool is_due(const struct point *p, int64_t count)
{
    for (int64_t r = p->seen; r < count; r++)
        if (!has_ended(p->state[r]))
            return false;
    return true;
}

static int take_looks(struct point *p, struct until_end *out)
{
    for (int look = 0; out->stopped == UNTIL_OPEN; look++) {
        const int64_t count = sequential_count(&p->ladder, look);
        if (!is_due(p, count))
            return 0;
        TRY(add_members(p, count));
        out->value = out->error = (double)NAN;
        if (p->quantity == QUANTITY_G12)
            TRY(measure_g12(p, out));
        else
            measure_mean(p, out);
        out->error *= sequential_widening(&p->ladder, p->n);
        out->looks = look + 1;
        out->realisations = count;
        if (sequential_stops(&p->ladder, look, out->error))
            out->stopped = out->error <= p->rule.error ? UNTIL_REACHED : UNTIL_ALL;
    }
    return 0;
}

int until_decide(struct store *store, int64_t point, const uint8_t *state,
                 struct until_end *out)
{
    struct point p;
    *out = (struct until_end){.value = (double)NAN, .error = (double)NAN};
    int rc = open_point(store, point, state, &p);
    if (rc == 0)
        rc = take_looks(&p, out);
    close_point(&p);
    return rc;
}

/* Part: the rows. */

static int put_number(struct store *store, const char *name, int64_t point, const void *value)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(store->file, store->path, name, &dataset));
    const int rc = store_put_row(store, &dataset, point, value);
    h5_dataset_close(&dataset);
    return rc;
}

int until_write_row(struct store *store, int64_t point, const struct until_end *end)
{
    const uint8_t stopped = (uint8_t)end->stopped;
    const int32_t looks = end->looks;
    TRY(put_number(store, "ensemble/realisations", point, &end->realisations));
    TRY(put_number(store, "ensemble/looks", point, &looks));
    TRY(put_number(store, "ensemble/until_value", point, &end->value));
    TRY(put_number(store, "ensemble/until_error", point, &end->error));
    return put_number(store, RULE, point, &stopped);
}

int until_read_rows(struct store *store, int64_t first, int64_t count, struct until_end *end)
{
    static const char *const names[] = {RULE, "ensemble/looks", "ensemble/realisations",
                                        "ensemble/until_value", "ensemble/until_error"};
    double *rows = NULL;
    TRY(MEM_NEW((long)(5 * count + 1), &rows));
    int rc = 0;
    for (int i = 0; i < 5 && rc == 0; i++)
        rc = read_rows(store, names[i], first, count, (long)count, rows + i * count);
    for (int64_t i = 0; i < count && rc == 0; i++)
        end[i] = (struct until_end){.stopped = (enum until_stop)rows[i],
                                    .looks = (int)rows[count + i],
                                    .realisations = (int64_t)rows[2 * count + i],
                                    .value = rows[3 * count + i],
                                    .error = rows[4 * count + i]};
    mem_free(rows);
    return rc;
}

/* Members [from, to) of a point get a state. */
static int put_states(struct store *store, int64_t point, int64_t from, int64_t to,
                      uint8_t value)
{
    uint8_t *states = NULL;
    const int64_t first = point * store->realisations + from;
    const int64_t count = to - from;
    TRY(MEM_NEW((long)count, &states));
    memset(states, value, (size_t)count);
    const int rc = store_put(store, &store->column[COLUMN_STATE], &first, &count, states);
    mem_free(states);
    return rc;
}

/* Members of one state get another, run by run. @param changed added to; may be NULL */
static int change_states(struct store *store, int64_t point, int64_t from, const uint8_t *state,
                         const uint8_t change[2], int64_t *changed)
{
    for (int64_t r = from; r < store->realisations; r++) {
        int64_t end = r;
        while (end < store->realisations && state[end] == change[0])
            end++;
        if (end == r)
            continue;
        TRY(put_states(store, point, r, end, change[1]));
        if (changed != NULL)
            *changed += end - r;
        r = end;
    }
    return 0;
}

int until_drop_members(struct store *store, int64_t point, int64_t realisation,
                       const uint8_t *state)
{
    static const uint8_t change[] = {MEMBER_PENDING, MEMBER_NOT_NEEDED};
    return change_states(store, point, realisation, state, change, NULL);
}

int until_is_settled(struct store *store, int64_t point, const uint8_t *state, bool *settled,
                     struct until_end *end)
{
    uint8_t reduced = 0;
    int64_t n = 0;
    int64_t done = 0;
    TRY(until_read_rows(store, point, 1, end));
    TRY(reduce_read_rows(store, point, 1, &reduced, &n));
    *settled =
        reduced == 1 && end->stopped != UNTIL_OPEN && end->realisations <= store->realisations;
    for (int64_t r = 0; *settled && r < end->realisations; r++) {
        *settled = has_ended(state[r]);
        done += state[r] == MEMBER_DONE;
    }
    *settled = *settled && done == n;
    return 0;
}

static int prepare_point(struct store *store, int64_t point, uint8_t *state, int64_t *reopened)
{
    static const uint8_t change[] = {MEMBER_NOT_NEEDED, MEMBER_PENDING};
    const struct until_end none = {.value = (double)NAN, .error = (double)NAN};
    const uint8_t stale = 0;
    const int64_t m = store->realisations;
    struct until_end end;
    bool settled = false;
    TRY(store_read_states(store, point * m, m, state, NULL));
    TRY(until_is_settled(store, point, state, &settled, &end));
    if (settled)
        return 0;
    if (end.looks > 0) {
        TRY(put_number(store, "ensemble/reduced", point, &stale));
        TRY(until_write_row(store, point, &none));
    }
    return change_states(store, point, 0, state, change, reopened);
}

int until_prepare(struct store *store, int64_t *reopened)
{
    uint8_t *state = NULL;
    *reopened = 0;
    if (!until_is_on(store))
        return 0;
    TRY(MEM_NEW((long)store->realisations, &state));
    int rc = 0;
    for (int64_t point = 0; rc == 0 && point < store->points; point++)
        rc = prepare_point(store, point, state, reopened);
    mem_free(state);
    return rc;
}
