/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/judging.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/hash.h"
#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "runner/survey.h"

#define BLOCK   8192  /* members handled at a time */
#define PLANNED 65536 /* members up to which a plan looks at each */
#define ORDER   5.0   /* of the method: an error of h^5 a unit of length */

/* Seed of the hash that members are chosen by: no other use of identities goes with it. */
#define CHOICE UINT64_C(0x6a75646765)

bool judging_is_on(const struct scan *scan)
{
    return scan_get_envelope(scan)->reference != ENVELOPE_NONE;
}

bool judging_measures(const struct scan *scan)
{
    return judging_is_on(scan) && scan_get_envelope(scan)->gain > 0;
}

double judging_stretch(const struct scan *scan)
{
    const struct scan_envelope *const envelope = scan_get_envelope(scan);
    const bool measures = judging_measures(scan);
    if (envelope->reference == ENVELOPE_TIGHTER)
        return pow(envelope->factor, 1.0 / ORDER) * (measures ? 2.0 : 1.0);
    return measures ? 2.0 : 1e-3;
}

/* Part: what is compared. */

static long find_plane(const struct scan *scan, const struct plane_layout *layout,
                       double position)
{
    const struct plane_request *const saved = &scan_get_save(scan)->planes;
    for (long k = 0; k < layout->planes; k++)
        if (fabs(layout_plane_position(layout, saved, k) - position)
            <= bound(BOUND_same_plane) * fabs(layout->span))
            return k;
    return -1;
}

int judging_planes(const struct scan *scan, const struct plane_layout *layout, bool *judged)
{
    const struct plane_request *const wanted = &scan_get_envelope(scan)->planes;
    const bool all = wanted->count == 0;
    for (long k = 0; judged != NULL && k < layout->planes; k++)
        judged[k] = all;
    for (long i = 0; i < wanted->count; i++) {
        const double position = layout_plane_position(layout, wanted, i);
        const long k = find_plane(scan, layout, position);
        if (k < 0)
            FAIL(ERR_ARGUMENT,
                 "envelope.planes: no plane is saved at %s = %.9g %s: save.planes must have it",
                 layout->progress_name, position, layout->progress_unit);
        if (judged != NULL)
            judged[k] = true;
    }
    return 0;
}

static bool is_complex_field(const struct layout_array *array)
{
    return array->is_field && (array->type == ELEMENT_C128 || array->type == ELEMENT_C64);
}

bool judging_compares(const struct scan *scan, const struct plane_layout *layout, int a)
{
    int observable = -1;
    bool complex = false;
    const struct layout_array *const array = &layout->array[a];
    const bool real = array->type == ELEMENT_F64 || array->type == ELEMENT_F32;
    const enum envelope_norm norm = scan_envelope_norm(scan, &observable);
    if (norm == NORM_OBSERVABLE)
        return false;
    for (int i = 0; i < layout->arrays; i++)
        complex = complex || is_complex_field(&layout->array[i]);
    if (complex)
        return is_complex_field(array);
    return norm == NORM_FIELD_L2 && array->is_field && real;
}

/* Where runs begin all have the input: of them alone each would be within. */
static int check_planes(const struct scan *scan, const struct plane_layout *layout)
{
    const struct plane_request *const asked = &scan_get_envelope(scan)->planes;
    const struct plane_request *const saved = &scan_get_save(scan)->planes;
    const struct plane_request *const judged = asked->count > 0 ? asked : saved;
    const long planes = asked->count > 0 ? asked->count : layout->planes;
    bool moved = false;
    TRY(judging_planes(scan, layout, NULL));
    for (long k = 0; k < planes; k++)
        moved = moved || layout_plane_position(layout, judged, k) > 0;
    if (!moved)
        FAIL(ERR_ARGUMENT,
             "envelope.planes: %s = 0 alone is judged, where every run has its input; a plane "
             "behind it is wanted",
             layout->progress_name);
    return 0;
}

int judging_check_layout(const struct scan *scan, const struct plane_layout *layout)
{
    char text[300];
    int observable = -1;
    bool compares = scan_envelope_norm(scan, &observable) == NORM_OBSERVABLE;
    if (!judging_is_on(scan))
        return 0;
    for (int a = 0; a < layout->arrays; a++)
        compares = compares || judging_compares(scan, layout, a);
    if (!compares) {
        snprintf(text, sizeof text, "envelope.norm: model %s saves no field that %s compares",
                 scan_model(scan)->info->name, scan_get_envelope(scan)->norm);
        return scan_fail(scan, ERR_PARSE, text);
    }
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = check_planes(scan, layout);
    status_capture_restore(saved);
    return rc != 0 ? scan_fail(scan, rc, text) : 0;
}

void judging_path(const struct scan *scan, const char *scan_path, char *path)
{
    const char *const file = scan_get_envelope(scan)->file;
    const char *const slash = scan_path != NULL ? strrchr(scan_path, '/') : NULL;
    const int folder = slash != NULL && file[0] != '/' ? (int)(slash + 1 - scan_path) : 0;
    snprintf(path, RUN_PATH_SIZE, "%.*s%s", folder, folder > 0 ? scan_path : "", file);
}

uint64_t judging_key(const struct scan *scan, const struct reference *reference)
{
    const char *const text = scan_canonical(scan);
    uint64_t key = 1;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        if (strncmp(at, "envelope.", 9) == 0 && strncmp(at, "envelope.sample", 15) != 0)
            key = hash_64_seeded(at, length, key);
        at += length + (at[length] == '\n');
    }
    if (reference != NULL) {
        const char *const there = reference_canonical(reference);
        key = hash_64_seeded(there, strlen(there), key);
    }
    return key | 1;
}

int judging_find_key(const struct scan *scan, const char *scan_path, uint64_t *key)
{
    struct reference *reference = NULL;
    char path[RUN_PATH_SIZE];
    if (scan_get_envelope(scan)->reference == ENVELOPE_STORED) {
        judging_path(scan, scan_path, path);
        TRY(reference_open(path, scan, &reference));
    }
    *key = judging_is_on(scan) ? judging_key(scan, reference) : 0;
    reference_close(reference);
    return 0;
}

/* Part: who is judged. */

/* The choice, found once for the whole scan. */
struct choice {
    const struct prepared *p;
    enum envelope_sample sample;
    uint64_t limit; /* hashes up to this one are chosen */
    uint64_t key;   /* of the envelope */
    struct reference *reference;
    struct store *store; /* NULL: nothing is written */
    bool looked;         /* a counterpart was looked at */
    bool changed;        /* others are chosen, or verdicts were forgotten */
    struct store_member_row row[BLOCK];
    struct verdict_state state[BLOCK];
    uint8_t chosen[BLOCK];
};

static uint64_t hash_of(const struct store_member_row *row)
{
    return hash_64_seeded(row->identity, sizeof row->identity, CHOICE);
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int read_hashes(struct choice *c, uint64_t *hash)
{
    const struct store_spec *const spec = &c->p->spec->store;
    const int64_t members = scan_members(c->p->scan);
    for (int64_t first = 0; first < members; first += BLOCK) {
        const int64_t count = members - first < BLOCK ? members - first : BLOCK;
        TRY(spec->member_rows(spec->context, first, count, c->row));
        for (int64_t i = 0; i < count; i++)
            hash[first + i] = hash_of(&c->row[i]);
    }
    return 0;
}

/* The largest of so many smallest hashes, of all members of the scan. */
static int find_limit(struct choice *c, double amount)
{
    const int64_t members = scan_members(c->p->scan);
    const double wanted = c->sample == SAMPLE_SHARE ? ceil(amount * (double)members) : amount;
    uint64_t *hash = NULL;
    c->limit = UINT64_MAX;
    if (wanted >= (double)members)
        return 0;
    TRY(MEM_NEW((long)members, &hash));
    const int rc = read_hashes(c, hash);
    qsort(hash, (size_t)members, sizeof hash[0], compare_hashes);
    if (rc == 0)
        c->limit = hash[(int64_t)wanted - 1];
    mem_free(hash);
    return rc;
}

static bool is_listed(const struct choice *c, int64_t member)
{
    int64_t point = 0;
    for (int i = 0; scan_envelope_point(c->p->scan, i, &point); i++)
        if (point == member / scan_realisations(c->p->scan))
            return true;
    return false;
}

static bool is_chosen(const struct choice *c, int64_t member, int64_t i)
{
    if (c->sample == SAMPLE_ALL)
        return true;
    return c->sample == SAMPLE_POINTS ? is_listed(c, member) : hash_of(&c->row[i]) <= c->limit;
}

/* Judgments by another envelope say nothing about this one. */
static int forget_other(struct choice *c, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (c->state[i].outcome == 0 || c->state[i].envelope == c->key)
            continue;
        TRY(verdict_forget(c->store, first + i));
        c->changed = true;
    }
    return 0;
}

/* What the norm compares must be in the reference too. */
static int check_parts(const struct choice *c, const struct plane_layout *layout)
{
    const struct scan *const scan = c->p->scan;
    struct store *const store = reference_store(c->reference);
    int observable = -1;
    char path[READ_NAME_SIZE + 8] = "";
    if (scan_envelope_norm(scan, &observable) == NORM_OBSERVABLE)
        snprintf(path, sizeof path, "plane/%s",
                 scan_model(scan)->info->observables[observable].name);
    for (int a = 0; a < layout->arrays && path[0] == '\0'; a++)
        if (judging_compares(scan, layout, a))
            snprintf(path, sizeof path, "plane/%s", layout->array[a].name);
    if (!read_exists(store, path))
        FAIL(ERR_ARGUMENT, "envelope.reference: %s keeps no %s", scan_get_envelope(scan)->file,
             path);
    return 0;
}

static int check_positions(const struct choice *c, int64_t there,
                           const struct plane_layout *layout, const bool *judged)
{
    const struct plane_request *const saved = &scan_get_save(c->p->scan)->planes;
    for (long k = 0; k < layout->planes; k++) {
        const double position = layout_plane_position(layout, saved, k);
        long plane = 0;
        if (!judged[k])
            continue;
        TRY(reference_plane(c->reference, there, position, layout->span, &plane));
        if (plane < 0)
            FAIL(ERR_ARGUMENT, "envelope.reference: %s has no plane at %s = %.9g %s",
                 scan_get_envelope(c->p->scan)->file, layout->progress_name, position,
                 layout->progress_unit);
    }
    return 0;
}

/* Whether a member can be compared with its counterpart. */
static int check_counterpart(struct choice *c, int64_t member, int64_t there)
{
    struct spec *const spec = c->p->spec;
    struct plane_layout layout;
    bool *judged = NULL;
    int rc = 0;
    TRY(survey_layout(c->p->scan, &spec->params, member / scan_realisations(c->p->scan),
                      &layout));
    TRY(MEM_NEW(layout.planes, &judged));
    TRY_OR(rc, done, judging_planes(c->p->scan, &layout, judged));
    TRY_OR(rc, done, check_parts(c, &layout));
    rc = check_positions(c, there, &layout, judged);
done:
    mem_free(judged);
    return rc;
}

/* Each chosen member has a counterpart; the first one is looked at. */
static int check_reference(struct choice *c, int64_t member)
{
    const int64_t there = reference_find(c->reference, member);
    if (there < 0)
        return reference_refuse(c->reference, member);
    TRY(reference_check_tighter(c->reference, member));
    if (c->looked)
        return 0;
    c->looked = true;
    return check_counterpart(c, member, there);
}

static int choose_block(struct choice *c, int64_t first, int64_t count)
{
    const struct store_spec *const spec = &c->p->spec->store;
    bool same = true;
    TRY(spec->member_rows(spec->context, first, count, c->row));
    if (c->store != NULL)
        TRY(verdict_read(c->store, first, count, c->state));
    for (int64_t i = 0; i < count; i++) {
        c->chosen[i] = is_chosen(c, first + i, i);
        same = same && c->chosen[i] == c->state[i].chosen;
        if (c->chosen[i] && c->reference != NULL)
            TRY(check_reference(c, first + i));
    }
    if (c->store == NULL)
        return 0;
    TRY(forget_other(c, first, count));
    c->changed = c->changed || !same;
    return same ? 0 : verdict_choose(c->store, first, count, c->chosen);
}

static int choose_all(struct choice *c)
{
    const struct store_window *const part = &c->p->spec->store.window;
    const int64_t end = part->first + part->count;
    for (int64_t first = part->first; first < end; first += BLOCK)
        TRY(choose_block(c, first, end - first < BLOCK ? end - first : BLOCK));
    return 0;
}

/* A result that is its own reference has no error. */
static int check_other_file(const char *reference, const char *result)
{
    struct stat here;
    struct stat there;
    if (stat(result, &here) != 0 || stat(reference, &there) != 0)
        return 0;
    if (here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        FAIL(ERR_ARGUMENT, "envelope.reference: %s is the result file itself", reference);
    return 0;
}

static int choose(struct choice *c)
{
    const struct scan *const scan = c->p->scan;
    double amount = 0;
    c->sample = scan_envelope_sample(scan, &amount);
    if (scan_get_envelope(scan)->reference == ENVELOPE_STORED) {
        char path[RUN_PATH_SIZE];
        judging_path(scan, c->p->options->scan_path, path);
        TRY(check_other_file(path, c->p->options->file));
        TRY(reference_open(path, scan, &c->reference));
    }
    c->key = judging_key(scan, c->reference);
    if (c->sample == SAMPLE_SHARE || c->sample == SAMPLE_COUNT)
        TRY(find_limit(c, amount));
    return choose_all(c);
}

int judging_check(const struct prepared *p)
{
    struct choice *c = NULL;
    if (scan_get_envelope(p->scan)->reference != ENVELOPE_STORED)
        return 0;
    TRY(MEM_NEW(1, &c));
    c->p = p;
    const int rc = choose(c);
    reference_close(c->reference);
    mem_free(c);
    return rc;
}

/* A plan has neither file nor run: what judging_check reads of them is put together. */
static int check_all(struct scan *scan, const char *scan_path)
{
    struct run_options *options = NULL;
    struct prepared *p = NULL;
    int rc = 0;
    TRY(MEM_NEW(1, &options));
    options->scan_path = scan_path;
    TRY_OR(rc, done, MEM_NEW(1, &p));
    p->options = options;
    p->scan = scan;
    TRY_OR(rc, done, spec_create(scan, &p->spec));
    spec_set_window(p->spec, &(struct store_window){.count = scan_members(scan)});
    rc = judging_check(p);
done:
    if (p != NULL)
        spec_destroy(p->spec);
    mem_free(p);
    mem_free(options);
    return rc;
}

int judging_check_plan(struct scan *scan, const char *scan_path)
{
    uint64_t key = 0;
    if (scan_get_envelope(scan)->reference != ENVELOPE_STORED)
        return 0;
    if (scan_members(scan) <= PLANNED)
        return check_all(scan, scan_path);
    return judging_find_key(scan, scan_path, &key);
}

static int list_chosen(struct choice *c, int64_t begin, int64_t members, uint8_t *chosen)
{
    const struct store_spec *const spec = &c->p->spec->store;
    double amount = 0;
    c->sample = scan_envelope_sample(c->p->scan, &amount);
    if (c->sample == SAMPLE_SHARE || c->sample == SAMPLE_COUNT)
        TRY(find_limit(c, amount));
    for (int64_t done = 0; done < members; done += BLOCK) {
        const int64_t count = members - done < BLOCK ? members - done : BLOCK;
        TRY(spec->member_rows(spec->context, begin + done, count, c->row));
        for (int64_t i = 0; i < count; i++)
            chosen[done + i] = is_chosen(c, begin + done + i, i) ? 1 : 0;
    }
    return 0;
}

int judging_find_chosen(struct scan *asked, struct spec *spec, int64_t first, int64_t count,
                        uint8_t *chosen)
{
    struct choice *c = NULL;
    struct prepared *p = NULL;
    int rc = 0;
    TRY(MEM_NEW(1, &p));
    p->scan = asked;
    p->spec = spec;
    TRY_OR(rc, done, MEM_NEW(1, &c));
    c->p = p;
    rc = list_chosen(c, first, count, chosen);
done:
    mem_free(c);
    mem_free(p);
    return rc;
}

int judging_prepare(const struct prepared *p)
{
    struct choice *c = NULL;
    if (!judging_is_on(p->scan))
        return 0;
    TRY(MEM_NEW(1, &c));
    c->p = p;
    int rc = store_open(p->options->file, &c->store);
    if (rc == 0)
        rc = choose(c);
    const int closed = store_close(c->store);
    const bool changed = c->changed;
    reference_close(c->reference);
    mem_free(c);
    rc = rc != 0 ? rc : closed;
    return rc == 0 && changed ? store_finish(p->options->file, -1, 0, "") : rc;
}
