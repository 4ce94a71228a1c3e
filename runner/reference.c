/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/canonical.h"
#include "io/hash.h"
#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/step/control.h"
#include "runner/spec.h"

#define BLOCK 8192 /* members read at a time */

/* A done member of the reference. */
struct entry {
    uint64_t key[2];
    double rtol; /* of its steps; infinite in a replay, 0 in a model without a stepper */
    int64_t member;
};

/* A side of the comparison: the scan that is judged, or what the file was made of. */
struct side {
    const struct scan *scan;
    struct params params; /* scratch of side_rtol */
    int method, rtol;     /* parameters of the stepper, -1: the model has none */
};

struct reference {
    const struct scan *scan; /* that is judged */
    struct store *store;
    char *path;
    char *canonical;
    struct scan *there;  /* what the file was made of */
    struct side side[2]; /* here, there */
    char *text;          /* scratch */
    size_t text_size;
    struct entry *entry; /* [entries] in the order of keys */
    int64_t entries;
    int64_t known; /* member whose positions are kept, -1: none */
    double *position;
    long planes;
    char progress[READ_NAME_SIZE];
};

/* What a member is without its stepper: parameters, key and number of its noise. */
static void make_key(struct reference *r, const struct scan *scan, int64_t member,
                     uint64_t key[2])
{
    struct seed seed;
    spec_seed(scan, member, r->text, r->text_size, &seed);
    const size_t length =
        scan_point_text(scan, member / scan_realisations(scan), r->text, r->text_size);
    hash_identity(r->text, length, seed.point_key, (int64_t)seed.realisation, key);
}

static int side_init(struct side *side, const struct scan *scan)
{
    side->scan = scan;
    TRY(scan_params_init(scan, &side->params));
    side->method = params_find(&side->params, "stepper.method");
    side->rtol = params_find(&side->params, "stepper.rtol");
    return 0;
}

/* What bounds a member's local errors: nothing in a replay. */
static double side_rtol(struct side *side, int64_t member)
{
    if (side->rtol < 0)
        return 0;
    scan_point(side->scan, member / scan_realisations(side->scan), &side->params);
    const bool replay =
        side->method >= 0 && side->params.values[side->method].number == STEP_FIXED;
    return replay ? (double)INFINITY : side->params.values[side->rtol].number;
}

/* Of several members with one key the tightest comes first. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *const x = a;
    const struct entry *const y = b;
    const int order = memcmp(x->key, y->key, sizeof x->key);
    if (order != 0)
        return order;
    if (x->rtol < y->rtol || x->rtol > y->rtol)
        return x->rtol < y->rtol ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static int make_index(struct reference *r)
{
    uint8_t *state = NULL;
    int rc = 0;
    const int64_t members = store_members(r->store);
    const int64_t end = store_first(r->store) + members;
    TRY(MEM_NEW((long)members, &r->entry));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &state));
    for (int64_t first = store_first(r->store); first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        TRY_OR(rc, done, store_read_states(r->store, first, count, state, NULL));
        for (int64_t i = 0; i < count; i++) {
            if (state[i] != MEMBER_DONE)
                continue;
            struct entry *const entry = &r->entry[r->entries++];
            entry->member = first + i;
            entry->rtol = side_rtol(&r->side[1], first + i);
            make_key(r, r->there, first + i, entry->key);
        }
    }
    qsort(r->entry, (size_t)r->entries, sizeof r->entry[0], compare_entries);
done:
    mem_free(state);
    return rc;
}

/* Noise is drawn from these: with others the realisations are others. */
static int check_ensemble(const struct reference *r)
{
    const struct scan_ensemble *const here = scan_get_ensemble(r->scan);
    const struct scan_ensemble *const there = scan_get_ensemble(r->there);
    const bool noise = here->present && there->present;
    if (here->present != there->present)
        FAIL(ERR_ARGUMENT, "envelope.reference: %s was made with%s noise, the scan with%s",
             r->path, there->present ? "" : "out", here->present ? "" : "out");
    if (noise
        && (here->seed != there->seed || here->noise != there->noise
            || here->common != there->common))
        FAIL(ERR_ARGUMENT,
             "envelope.reference: the noise of %s is another: ensemble.seed, noise or common "
             "differ (seed %" PRIu64 " there, %" PRIu64 " here)",
             r->path, there->seed, here->seed);
    return 0;
}

static int check_model(const struct reference *r)
{
    char model[96];
    TRY(read_attribute(r->store, "/", "model", model, sizeof model));
    if (strcmp(model, scan_model(r->scan)->info->name) != 0)
        FAIL(ERR_ARGUMENT, "envelope.reference: %s holds model %s, the scan has %s", r->path,
             model, scan_model(r->scan)->info->name);
    const int numerics = scan_model(r->scan)->info->numerics_version;
    char version[32];
    TRY(read_attribute(r->store, "/", "numerics_version", version, sizeof version));
    if (strtol(version, NULL, 10) != numerics)
        FAIL(ERR_ARGUMENT,
             "envelope.reference: %s holds numerics version %s of model %s, this program "
             "computes %d: what lies between them is no error of the steps; compute the "
             "reference again",
             r->path, version, model, numerics);
    return 0;
}

/* The scan that the file was made of. */
static int read_configuration(struct reference *r)
{
    char text[400];
    TRY(read_text(r->store, "config_canonical", &r->canonical));
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = scan_parse_canonical(r->canonical, strlen(r->canonical), &r->there);
    status_capture_restore(saved);
    if (rc != 0)
        FAIL(rc == ERR_MEMORY ? rc : ERR_ARGUMENT,
             "envelope.reference: the configuration of %s is not understood: %s", r->path,
             text);
    const size_t here = scan_text_bound(r->scan);
    const size_t there = scan_text_bound(r->there);
    r->text_size = (here > there ? here : there) + 1;
    return MEM_NEW((long)r->text_size, &r->text);
}

/* The dataset of /plane that says where planes are. */
static int find_progress(struct reference *r)
{
    struct plane_layout layout;
    struct params *const params = &r->side[0].params;
    struct read_dataset data;
    char path[READ_NAME_SIZE + 8];
    scan_point(r->scan, 0, params);
    TRY(scan_model(r->scan)->layout(params, &layout));
    snprintf(r->progress, sizeof r->progress, "%s", layout.progress_name);
    snprintf(path, sizeof path, "plane/%s", r->progress);
    TRY(read_describe(r->store, path, &data));
    r->planes = (long)data.length[1];
    return MEM_NEW(r->planes, &r->position);
}

static int open_file(struct reference *r)
{
    char text[400];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = store_open_read(r->path, &r->store);
    status_capture_restore(saved);
    if (rc != 0)
        FAIL(rc, "envelope.reference: %s", text);
    return 0;
}

static int open_all(struct reference *r, const char *path)
{
    TRY(mem_copy_text(path, &r->path));
    TRY(open_file(r));
    TRY(check_model(r));
    TRY(read_configuration(r));
    TRY(check_ensemble(r));
    TRY(side_init(&r->side[0], r->scan));
    TRY(side_init(&r->side[1], r->there));
    TRY(find_progress(r));
    return make_index(r);
}

int reference_open(const char *path, const struct scan *scan, struct reference **out)
{
    struct reference *r = NULL;
    *out = NULL;
    if (!store_exists(path))
        FAIL(ERR_ARGUMENT, "envelope.reference: there is no file %s", path);
    TRY(MEM_NEW(1, &r));
    r->scan = scan;
    r->known = -1;
    const int rc = open_all(r, path);
    if (rc != 0) {
        reference_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

/* The first of its entries, NULL: the file has none. */
static const struct entry *find(struct reference *r, int64_t member)
{
    uint64_t key[2];
    int64_t low = 0;
    int64_t high = r->entries;
    make_key(r, r->scan, member, key);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (memcmp(r->entry[middle].key, key, sizeof key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < r->entries && memcmp(r->entry[low].key, key, sizeof key) == 0;
    return found ? &r->entry[low] : NULL;
}

int64_t reference_find(struct reference *r, int64_t member)
{
    const struct entry *const found = find(r, member);
    return found != NULL ? found->member : -1;
}

int reference_check_tighter(struct reference *r, int64_t member)
{
    const struct entry *const found = find(r, member);
    const double rtol = side_rtol(&r->side[0], member);
    if (found == NULL || r->side[0].rtol < 0 || found->rtol < rtol)
        return 0;
    if (isinf(found->rtol))
        FAIL(ERR_ARGUMENT,
             "envelope.reference: member %" PRId64 " of %s is a replay, whose error nothing "
             "controls; a run of method rk45 is wanted",
             found->member, r->path);
    FAIL(ERR_ARGUMENT,
         "envelope.reference: member %" PRId64 " of %s has stepper.rtol %.3g, member %" PRId64
         " of the scan %.3g; a reference must be tighter",
         found->member, r->path, found->rtol, member, rtol);
}

int reference_refuse(struct reference *r, int64_t member)
{
    char text[500] = "";
    int different = 0;
    TRY(canonical_compare(r->canonical, scan_canonical(r->scan), text, sizeof text,
                          &different));
    FAIL(ERR_ARGUMENT,
         "envelope.reference: %s has no done member with the parameters of member %" PRId64
         "%s%s",
         r->path, member, different > 0 ? "; the configurations differ: " : "", text);
}

int reference_plane(struct reference *r, int64_t member, double position, double span,
                    long *plane)
{
    char path[READ_NAME_SIZE + 8];
    snprintf(path, sizeof path, "plane/%s", r->progress);
    if (r->known != member)
        TRY(read_rows(r->store, path, member, 1, r->planes, r->position));
    r->known = member;
    *plane = -1;
    for (long k = 0; k < r->planes && *plane < 0; k++)
        if (fabs(r->position[k] - position) <= bound(BOUND_same_plane) * fabs(span))
            *plane = k;
    return 0;
}

struct store *reference_store(const struct reference *reference)
{
    return reference->store;
}

const char *reference_canonical(const struct reference *reference)
{
    return reference->canonical;
}

void reference_close(struct reference *r)
{
    if (r == NULL)
        return;
    store_close(r->store);
    params_clear(&r->side[0].params);
    params_clear(&r->side[1].params);
    scan_destroy(r->there);
    mem_free(r->entry);
    mem_free(r->position);
    mem_free(r->text);
    mem_free(r->canonical);
    mem_free(r->path);
    mem_free(r);
}
