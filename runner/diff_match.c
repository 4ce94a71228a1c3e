/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which member of one file is which of the other: what they are without their steppers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hash.h"
#include "io/read.h"
#include "kernels/base/bits.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/diffing.h"
#include "runner/options.h"
#include "runner/spec.h"

/* A member, or a point. */
struct entry {
    uint64_t key[2];
    int64_t id;
};

/* Those of one file. */
struct list {
    struct entry *entry;
    int64_t count;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *const x = a;
    const struct entry *const y = b;
    const int order = memcmp(x->key, y->key, sizeof x->key);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* What the noise of a member is drawn from is part of what it is. */
static uint64_t noise_of(const struct seed *seed)
{
    return hash_64(seed, sizeof *seed);
}

static int list_members(struct diff_side *s, struct list *out)
{
    const size_t size = scan_text_bound(s->scan) + 1;
    const int64_t first = store_first(s->store);
    const int64_t members = store_members(s->store);
    char *text = NULL;
    int rc = 0;
    TRY(MEM_NEW((long)members, &out->entry));
    TRY_OR(rc, done, MEM_NEW((long)size, &text));
    for (int64_t m = first; m < first + members; m++) {
        struct seed seed;
        uint8_t state = 0;
        memset(&seed, 0, sizeof seed); /* its padding is hashed */
        TRY_OR(rc, done, store_read_states(s->store, m, 1, &state, NULL));
        if (state != MEMBER_DONE)
            continue;
        spec_seed(s->scan, m, text, size, &seed);
        const size_t length =
            scan_point_text(s->scan, m / scan_realisations(s->scan), text, size);
        struct entry *const e = &out->entry[out->count++];
        hash_identity(text, length, noise_of(&seed), 0, e->key);
        e->id = m;
    }
    qsort(out->entry, (size_t)out->count, sizeof *out->entry, compare_entries);
done:
    mem_free(text);
    return rc;
}

static int list_points(struct diff_side *s, struct list *out)
{
    const size_t size = scan_text_bound(s->scan) + 1;
    char *text = NULL;
    TRY(MEM_NEW((long)scan_points(s->scan), &out->entry));
    TRY(MEM_NEW((long)size, &text));
    for (int64_t p = 0; p < scan_points(s->scan); p++) {
        struct entry *const e = &out->entry[out->count++];
        hash_identity(text, scan_point_text(s->scan, p, text, size), 0, 0, e->key);
        e->id = p;
    }
    qsort(out->entry, (size_t)out->count, sizeof *out->entry, compare_entries);
    mem_free(text);
    return 0;
}

static int read_identity(struct diff_side *s, int64_t member, double out[4])
{
    /* as doubles: enough to tell two apart that have the same parameters */
    return read_rows(s->store, "member/identity", member, 1, 2, out);
}

static bool is_same_identity(const double left[4], const double right[4])
{
    return bits_same(left[0], right[0]) && bits_same(left[1], right[1]);
}

static int add_pair(struct diffing *d, int64_t a, int64_t b)
{
    double left[4];
    double right[4];
    TRY(read_identity(&d->side[0], a, left));
    TRY(read_identity(&d->side[1], b, right));
    d->pair[d->pairs++] =
        (struct diff_pair){.member = {a, b}, .identical = is_same_identity(left, right)};
    return 0;
}

/* Of several members with equal parameters (an axis over the stepper's) the one of the same
 * identity; else the first is told with the first. */
static int pair_run(struct diffing *d, struct entry *a, int64_t na, struct entry *b, int64_t nb)
{
    for (int64_t i = 0; i < na; i++)
        for (int64_t j = 0; j < nb && a[i].id >= 0; j++) {
            double left[4];
            double right[4];
            if (b[j].id < 0)
                continue;
            TRY(read_identity(&d->side[0], a[i].id, left));
            TRY(read_identity(&d->side[1], b[j].id, right));
            if (!is_same_identity(left, right))
                continue;
            TRY(add_pair(d, a[i].id, b[j].id));
            a[i].id = b[j].id = -1;
        }
    int64_t j = 0;
    for (int64_t i = 0; i < na; i++) {
        while (j < nb && b[j].id < 0)
            j++;
        if (a[i].id < 0 || j == nb)
            continue;
        TRY(add_pair(d, a[i].id, b[j].id));
        b[j].id = -1;
    }
    return 0;
}

static int64_t run_of(const struct list *l, int64_t at)
{
    int64_t n = 1;
    while (at + n < l->count
           && memcmp(l->entry[at].key, l->entry[at + n].key, sizeof l->entry[at].key) == 0)
        n++;
    return n;
}

static int pair_members(struct diffing *d, struct list *a, struct list *b)
{
    int64_t i = 0;
    int64_t j = 0;
    TRY(MEM_NEW((long)(a->count + 1), &d->pair));
    while (i < a->count && j < b->count) {
        const int order = memcmp(a->entry[i].key, b->entry[j].key, sizeof a->entry[i].key);
        const int64_t na = run_of(a, i);
        const int64_t nb = run_of(b, j);
        if (order == 0)
            TRY(pair_run(d, &a->entry[i], na, &b->entry[j], nb));
        i += order <= 0 ? na : 0;
        j += order >= 0 ? nb : 0;
    }
    d->only[0] = a->count - d->pairs;
    d->only[1] = b->count - d->pairs;
    return 0;
}

static int match_members(struct diffing *d)
{
    struct list a = {0};
    struct list b = {0};
    int rc = 0;
    TRY_OR(rc, done, list_members(&d->side[0], &a));
    TRY_OR(rc, done, list_members(&d->side[1], &b));
    rc = pair_members(d, &a, &b);
done:
    mem_free(a.entry);
    mem_free(b.entry);
    return rc;
}

/* Points whose realisations are paired have the same noise in both: their means are not
 * independent, and their members are compared. */
static int find_paired(const struct diffing *d, uint8_t **paired)
{
    const int64_t realisations = scan_realisations(d->side[0].scan);
    TRY(MEM_NEW((long)scan_points(d->side[0].scan), paired));
    for (int64_t i = 0; i < d->pairs; i++)
        (*paired)[d->pair[i].member[0] / realisations] = 1;
    return 0;
}

static int match_points(struct diffing *d)
{
    struct list a = {0};
    struct list b = {0};
    uint8_t *paired = NULL;
    int rc = 0;
    if (!read_exists(d->side[0].store, "ensemble/mean_spectrum")
        || !read_exists(d->side[1].store, "ensemble/mean_spectrum"))
        return 0;
    TRY_OR(rc, done, list_points(&d->side[0], &a));
    TRY_OR(rc, done, list_points(&d->side[1], &b));
    TRY_OR(rc, done, MEM_NEW((long)(a.count + 1), &d->point));
    TRY_OR(rc, done, find_paired(d, &paired));
    for (int64_t i = 0, j = 0; i < a.count && j < b.count;) {
        const int order = memcmp(a.entry[i].key, b.entry[j].key, sizeof a.entry[i].key);
        if (order == 0 && !paired[a.entry[i].id])
            d->point[d->points++] =
                (struct diff_point){.point = {a.entry[i].id, b.entry[j].id}};
        i += order <= 0;
        j += order >= 0;
    }
done:
    mem_free(paired);
    mem_free(a.entry);
    mem_free(b.entry);
    return rc;
}

static int open_side(struct diff_side *s, const char *path)
{
    char text[400] = "";
    char *canonical = NULL;
    struct read_dataset data;
    struct params params;
    struct plane_layout layout;
    s->path = path;
    TRY(options_check_file(path));
    TRY(store_open_read(path, &s->store));
    TRY(read_text(s->store, "config_canonical", &canonical));
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    int rc = scan_parse_canonical(canonical, strlen(canonical), &s->scan);
    status_capture_restore(saved);
    mem_free(canonical);
    if (rc != 0)
        FAIL(rc == ERR_MEMORY ? rc : ERR_CONFLICT,
             "%s: the configuration is not understood: %s", path, text);
    TRY(scan_params_init(s->scan, &params));
    scan_point(s->scan, 0, &params);
    rc = scan_model(s->scan)->layout(&params, &layout);
    params_clear(&params);
    TRY(rc);
    snprintf(s->progress, sizeof s->progress, "plane/%.80s", layout.progress_name);
    TRY(read_describe(s->store, s->progress, &data));
    s->planes = (long)data.length[1];
    return 0;
}

/* An attribute of both roots. */
static int read_both(struct diffing *d, const char *name, char text[2][200])
{
    for (int s = 0; s < 2; s++)
        TRY(read_attribute(d->side[s].store, "/", name, text[s], sizeof text[s]));
    return 0;
}

/* Results of the same input differ by more than rounding then. */
static int compare_numerics(struct diffing *d)
{
    char text[2][200];
    TRY(read_both(d, "numerics_version", text));
    if (strcmp(text[0], text[1]) != 0)
        snprintf(d->build, sizeof d->build,
                 "they are of numerics versions %.20s and %.20s of the model", text[0],
                 text[1]);
    return 0;
}

/* One program wrote both: revision, and compiler with its flags. */
static int compare_builds(struct diffing *d)
{
    static const char *const names[] = {"git_revision", "git_dirty"};
    char *build[2] = {NULL, NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[2][200];
        TRY(read_both(d, names[i], text));
        if (strcmp(text[0], text[1]) != 0)
            snprintf(d->build, sizeof d->build,
                     "they are of different revisions of the program");
    }
    int rc = read_text(d->side[0].store, "provenance/build", &build[0]);
    if (rc == 0)
        rc = read_text(d->side[1].store, "provenance/build", &build[1]);
    if (rc == 0 && strcmp(build[0], build[1]) != 0)
        snprintf(d->build, sizeof d->build, "their programs were compiled differently");
    mem_free(build[0]);
    mem_free(build[1]);
    return rc == 0 ? compare_numerics(d) : rc;
}

static int compare_pairs(const void *a, const void *b)
{
    const int64_t x = ((const struct diff_pair *)a)->member[0];
    const int64_t y = ((const struct diff_pair *)b)->member[0];
    return (x > y) - (x < y);
}

static int compare_points(const void *a, const void *b)
{
    const int64_t x = ((const struct diff_point *)a)->point[0];
    const int64_t y = ((const struct diff_point *)b)->point[0];
    return (x > y) - (x < y);
}

int diff_open(struct diffing *d, const char *a, const char *b)
{
    TRY(open_side(&d->side[0], a));
    TRY(open_side(&d->side[1], b));
    const char *const left = scan_model(d->side[0].scan)->info->name;
    const char *const right = scan_model(d->side[1].scan)->info->name;
    if (strcmp(left, right) != 0)
        FAIL(ERR_ARGUMENT, "%s holds model %s, %s holds %s: nothing can be compared", a, left,
             b, right);
    TRY(compare_builds(d));
    TRY(match_members(d));
    TRY(match_points(d));
    if (d->pairs > 0)
        qsort(d->pair, (size_t)d->pairs, sizeof *d->pair, compare_pairs);
    if (d->points > 0)
        qsort(d->point, (size_t)d->points, sizeof *d->point, compare_points);
    return 0;
}

void diff_close(struct diffing *d)
{
    for (int s = 0; s < 2; s++) {
        store_close(d->side[s].store); /* opened for reading: nothing can be lost */
        scan_destroy(d->side[s].scan);
    }
    mem_free(d->pair);
    mem_free(d->point);
    *d = (struct diffing){.tolerance = 0};
}
