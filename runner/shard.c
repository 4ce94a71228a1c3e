/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/shard.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "runner/text.h"

#define STRATA_MAX   65536 /* a scan of more points is divided by a sample */
#define STRATA_LEAST 8192
#define STRATA_EACH  64 /* for each shard: a model may take 0.1 ms for an estimate */
#define KEPT_BITS    12 /* of an estimate: the others may differ between machines */
#define COST_BITS    20 /* cost of the dearest member, unless the sum of all would overflow */
#define SUM_BITS     62

/* Consecutive points that count as equal: each alone, or a part of a large scan. */
struct strata {
    int64_t count;
    int64_t points; /* of the scan */
    int64_t members_a_point;
    int64_t *cost; /* [count] of one member */
};

/* A place in the scan while costs are added up from its beginning. */
struct walk {
    const struct strata *strata;
    int64_t stratum;
    int64_t cost; /* of all members before the stratum */
};

/* First point of a stratum: their lengths differ by one at most. */
static int64_t stratum_point(const struct strata *s, int64_t stratum)
{
    const int64_t longer = s->points % s->count;
    return s->points / s->count * stratum + (stratum < longer ? stratum : longer);
}

static int64_t stratum_member(const struct strata *s, int64_t stratum)
{
    return stratum_point(s, stratum) * s->members_a_point;
}

static int64_t stratum_cost(const struct strata *s, int64_t stratum)
{
    return s->cost[stratum] * (stratum_member(s, stratum + 1) - stratum_member(s, stratum));
}

/* The point of a stratum that stands for it, without pattern (SplitMix64): at a fixed place one
 * might meet the same value of a fast axis again and again. */
static int64_t sample_point(const struct strata *s, int64_t stratum)
{
    const int64_t first = stratum_point(s, stratum);
    const int64_t length = stratum_point(s, stratum + 1) - first;
    uint64_t x = (uint64_t)(stratum + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return first + (int64_t)((x ^ x >> 31) % (uint64_t)length);
}

static double keep_bits(double work)
{
    int exponent = 0;
    const double mantissa = frexp(work, &exponent);
    return ldexp(rint(ldexp(mantissa, KEPT_BITS)), exponent - KEPT_BITS);
}

/* The model's estimate; 0 where it has none or refuses the point. */
static double point_work(const struct scan *scan, struct params *params, int64_t point)
{
    struct plane_layout layout = {0};
    char text[256];
    scan_point(scan, point, params);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = scan_model(scan)->layout(params, &layout);
    status_capture_restore(saved);
    return rc == 0 && isfinite(layout.work) && layout.work > 0 ? keep_bits(layout.work) : 0;
}

/* Bits of the dearest member's cost, so that the sum over all members stays below 2^62. */
static int cost_bits(int64_t members)
{
    int bits = SUM_BITS;
    while (members > 0) {
        members >>= 1;
        bits--;
    }
    return bits < COST_BITS ? bits : COST_BITS;
}

static int measure(const struct scan *scan, struct strata *s, double *work)
{
    struct params params;
    double most = 0;
    int exponent = 0;
    TRY(scan_params_init(scan, &params));
    for (int64_t i = 0; i < s->count; i++) {
        work[i] = point_work(scan, &params, sample_point(s, i));
        most = fmax(most, work[i]);
    }
    params_clear(&params);
    (void)frexp(most, &exponent);
    const int shift = cost_bits(scan_members(scan)) - exponent;
    for (int64_t i = 0; i < s->count; i++) {
        const double cost = most > 0 ? rint(ldexp(work[i], shift)) : 1;
        s->cost[i] = cost > 1 ? (int64_t)cost : 1; /* even nothing takes its time */
    }
    return 0;
}

static int64_t strata_count(int64_t points, long shards)
{
    const int64_t wanted = (int64_t)shards * STRATA_EACH;
    if (points <= STRATA_MAX)
        return points;
    return wanted < STRATA_LEAST ? STRATA_LEAST : wanted < STRATA_MAX ? wanted : STRATA_MAX;
}

static int strata_init(const struct scan *scan, long shards, struct strata *out)
{
    const int64_t points = scan_points(scan);
    double *work = NULL;
    *out = (struct strata){.count = strata_count(points, shards),
                           .points = points,
                           .members_a_point = scan_realisations(scan)};
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)out->count, &out->cost));
    TRY_OR(rc, done, MEM_NEW((long)out->count, &work));
    rc = measure(scan, out, work);
done:
    mem_free(work);
    return rc;
}

/* The member before which the cost comes next to a value, further on in the scan. */
static int64_t walk_to_cost(struct walk *w, int64_t cost)
{
    const struct strata *const s = w->strata;
    while (w->stratum < s->count && w->cost + stratum_cost(s, w->stratum) < cost)
        w->cost += stratum_cost(s, w->stratum++);
    if (w->stratum == s->count)
        return stratum_member(s, s->count);
    const int64_t each = s->cost[w->stratum];
    return stratum_member(s, w->stratum) + (cost - w->cost + each / 2) / each;
}

/* Cost of all members before one, further on in the scan. */
static int64_t walk_to_member(struct walk *w, int64_t member)
{
    const struct strata *const s = w->strata;
    while (w->stratum < s->count && stratum_member(s, w->stratum + 1) <= member)
        w->cost += stratum_cost(s, w->stratum++);
    if (w->stratum == s->count)
        return w->cost;
    return w->cost + s->cost[w->stratum] * (member - stratum_member(s, w->stratum));
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* total * part / parts, rounded down, without its overflow. */
static int64_t portion(int64_t total, long part, long parts)
{
    return total / parts * part + total % parts * part / parts;
}

static void find_bounds(const struct strata *s, struct shard_division *d)
{
    const int64_t members = stratum_member(s, s->count);
    struct walk walk = {.strata = s};
    const int64_t total = walk_to_member(&walk, members);
    walk = (struct walk){.strata = s};
    d->first[0] = 0;
    for (long k = 1; k < d->shards; k++) {
        const int64_t wanted = walk_to_cost(&walk, portion(total, k, d->shards));
        d->first[k] = clamp(wanted, d->first[k - 1] + 1, members - (d->shards - k));
    }
    d->first[d->shards] = members;
    walk = (struct walk){.strata = s};
    int64_t before = 0;
    for (long k = 0; k < d->shards; k++) {
        const int64_t behind = walk_to_member(&walk, d->first[k + 1]);
        d->share[k] = (double)(behind - before) / (double)total;
        before = behind;
    }
}

int shard_divide(const struct scan *scan, long shards, struct shard_division *out)
{
    struct strata strata = {0};
    *out = (struct shard_division){.shards = shards};
    if (shards < 1 || shards > SHARDS_MAX || shards > scan_members(scan))
        FAIL(ERR_ARGUMENT,
             "%ld shards of a scan of %" PRId64 " member%s: 1 to %" PRId64 " are possible",
             shards, scan_members(scan), scan_members(scan) == 1 ? "" : "s",
             scan_members(scan) < SHARDS_MAX ? scan_members(scan) : SHARDS_MAX);
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(shards + 1, &out->first));
    TRY_OR(rc, done, MEM_NEW(shards, &out->share));
    TRY_OR(rc, done, strata_init(scan, shards, &strata));
    find_bounds(&strata, out);
done:
    mem_free(strata.cost);
    return rc;
}

void shard_division_clear(struct shard_division *division)
{
    mem_free(division->first);
    mem_free(division->share);
    *division = (struct shard_division){0};
}

int shard_window(const struct scan *scan, long shard, long shards, struct store_window *out)
{
    struct shard_division division;
    *out = (struct store_window){0, scan_members(scan), 1, 1};
    if (shards <= 1)
        return 0;
    const int rc = shard_divide(scan, shards, &division);
    if (rc == 0)
        *out = (struct store_window){division.first[shard - 1],
                                     division.first[shard] - division.first[shard - 1], shard,
                                     shards};
    shard_division_clear(&division);
    return rc;
}

/* Digits up to `stop`. */
static bool read_count(const char **at, char stop, long *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *out = strtol(*at, &end, 10);
    *at = end + (*end != '\0');
    return errno == 0 && *end == stop;
}

int shard_read(const char *option, const char *text, long *shard, long *shards)
{
    const char *at = text;
    if (!read_count(&at, '/', shard) || !read_count(&at, '\0', shards) || *shards < 1
        || *shards > SHARDS_MAX || *shard < 1 || *shard > *shards)
        FAIL(ERR_ARGUMENT,
             "%s %.40s: K/N is wanted, shard K of N, as 3/16: K from 1 to N, N at most %d",
             option, text, SHARDS_MAX);
    return 0;
}

int shard_name_file(long shard, long shards, char *path, size_t size)
{
    char name[4096];
    char ending[64];
    TRY(shard_file_name("x", shard, shards, ending, sizeof ending));
    const size_t length = strlen(path);
    const size_t tail = strlen(ending + 1); /* ".shard-03-of-16.h5" */
    if (shards > 1 && length > tail && strcmp(path + length - tail, ending + 1) == 0)
        return 0;
    TRY(shard_file_name(path, shard, shards, name, size < sizeof name ? size : sizeof name));
    snprintf(path, size, "%s", name);
    return 0;
}

void shard_text(const struct store_window *window, int64_t members, char *text, size_t size)
{
    char own[TEXT_SIZE];
    text_members(window->first, window->first + window->count - 1, own);
    snprintf(text, size, "shard %ld/%ld: %s of %" PRId64, window->shard, window->shards, own,
             members);
}
