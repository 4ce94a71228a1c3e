/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which transforms a scan needs, and the search for one transform's plan. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/tune.h"
#include "runner/wisdom_cache.h"

enum { STRUCTURES_MAX = 512, ROUNDS_LEAST = 3, ROUNDS_MOST = 200 };
static const double round_time = 1e-3; /* s that one sample of a transform's time takes */
static const double budget = 0.15;     /* s of timing a transform */

const char *tune_kind_name(enum fft_kind kind)
{
    static const char *const names[TUNE_KINDS] = {[FFT_C2C_FORWARD] = "complex, forward",
                                                  [FFT_C2C_BACKWARD] = "complex, backward",
                                                  [FFT_R2C] = "real to complex",
                                                  [FFT_C2R] = "complex to real"};
    return names[kind];
}

const char *tune_rigour_name(enum fft_rigour rigour)
{
    static const char *const names[] = {
        [FFT_ESTIMATE] = "estimate", [FFT_MEASURE] = "measure", [FFT_PATIENT] = "patient"};
    return names[rigour];
}

int tune_add(struct tune_needs *needs, enum fft_kind kind, long n)
{
    for (int i = 0; i < needs->count; i++) {
        if (needs->need[i].n == n) {
            needs->need[i].kind[kind] = true;
            return 0;
        }
    }
    if (needs->count == TUNE_LENGTHS_MAX)
        FAIL(ERR_ARGUMENT, "transforms of more than %d lengths; tune them in several calls",
             TUNE_LENGTHS_MAX);
    struct tune_need *need = &needs->need[needs->count++];
    need->n = n;
    need->kind[kind] = true;
    return 0;
}

/* A source of wisdom that has none and remembers what was asked for. */
static int note_need(void *context, const struct backend *be, enum fft_kind kind, long n,
                     int asked, const char **text)
{
    (void)be;
    (void)asked;
    *text = NULL;
    return tune_add(context, kind, n);
}

static int make_model(const struct scan *scan, int64_t structure, struct params *params,
                      struct backend *be)
{
    const struct model_ops *ops = scan_model(scan);
    struct plane_layout *layout = NULL;
    struct model *model = NULL;
    scan_point(scan, scan_structure_point(scan, structure), params);
    TRY(MEM_NEW(1, &layout));
    int rc = ops->layout(params, layout);
    if (rc == 0 && layout->transforms > 0)
        rc = ops->create(params, be, 1, &model);
    if (model != NULL)
        ops->destroy(model);
    mem_free(layout);
    return rc;
}

int tune_collect(const struct scan *scan, struct tune_needs *needs)
{
    struct params params = {0};
    struct backend *be = NULL;
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE, .source = {note_need, needs}};
    int64_t structures = scan_structures(scan);
    int rc = 0;
    if (structures > STRUCTURES_MAX) {
        log_warn("of %lld kinds of model objects the first %d are looked at",
                 (long long)structures, STRUCTURES_MAX);
        structures = STRUCTURES_MAX;
    }
    TRY(scan_params_init(scan, &params));
    TRY_OR(rc, done, backend_create(&options, &be));
    for (int64_t s = 0; s < structures; s++) {
        backend_forget_wisdom();
        TRY_OR(rc, done, make_model(scan, s, &params, be));
    }
done:
    backend_destroy(be);
    params_clear(&params);
    return rc;
}

/* A backend with one plan, and room to execute it. */
struct trial {
    struct backend *be;
    struct fft *plan;
    struct fft_rows rows;
    double planning; /* s */
};

static void trial_clear(struct trial *t)
{
    if (t->be == NULL)
        return;
    t->be->ops->release(t->be, t->rows.out);
    t->be->ops->release(t->be, t->rows.in);
    t->be->ops->fft_destroy(t->be, t->plan);
    backend_destroy(t->be);
    memset(t, 0, sizeof *t);
}

static int trial_init(struct trial *t, enum fft_rigour rigour, const char *wisdom,
                      enum fft_kind kind, long n)
{
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = rigour, .wisdom = wisdom};
    const size_t size = 2 * sizeof(double);
    const long ld = backend_stride(n, size);
    *t = (struct trial){.rows = {.ld_in = ld, .ld_out = ld, .rows = 1}};
    TRY(backend_create(&options, &t->be));
    const double begin = clock_wall();
    TRY(t->be->ops->fft_create(t->be, kind, n, &t->plan));
    t->planning = clock_wall() - begin;
    TRY(t->be->ops->alloc(t->be, ld, size, &t->rows.in));
    return t->be->ops->alloc(t->be, ld, size, &t->rows.out);
}

/* Seconds of one transform, from `repeats` in a row. */
static int sample(struct trial *t, long repeats, double *seconds)
{
    const double begin = clock_wall();
    for (long i = 0; i < repeats; i++)
        TRY(t->be->ops->fft_execute(t->be, t->plan, &t->rows));
    *seconds = (clock_wall() - begin) / (double)repeats;
    return 0;
}

/* The least times of two plans, in turn, so that both see the same machine. */
static int compare(struct trial *a, struct trial *b, struct tune_result *out)
{
    double once = 0;
    TRY(sample(a, 1, &once)); /* the first touches the memory */
    TRY(sample(a, 1, &once));
    TRY(sample(b, 1, &once));
    const long repeats = once < round_time ? (long)(round_time / fmax(once, 1e-9)) + 1 : 1;
    const double end = clock_wall() + budget;
    out->before = (double)INFINITY;
    out->after = (double)INFINITY;
    for (int r = 0; r < ROUNDS_LEAST || (r < ROUNDS_MOST && clock_wall() < end); r++) {
        double seconds = 0;
        TRY(sample(a, repeats, &seconds));
        out->before = fmin(out->before, seconds);
        TRY(sample(b, repeats, &seconds));
        out->after = fmin(out->after, seconds);
    }
    return 0;
}

static int keep(const char *folder, struct backend *be, long n)
{
    char *text = NULL;
    struct wisdom_key key;
    wisdom_cache_key(be, n, &key);
    TRY(backend_wisdom(be, &text));
    const int rc = wisdom_cache_write(folder, &key, text);
    mem_free(text);
    return rc;
}

/* What the cache holds of a length; a damaged file is said and left out. */
static int recall(const char *folder, struct backend *be, long n, char **text)
{
    char why[WISDOM_WHY_SIZE];
    struct wisdom_key key;
    wisdom_cache_key(be, n, &key);
    TRY(wisdom_cache_read(folder, &key, text, why));
    if (why[0] != '\0')
        log_warn("%s", why);
    return 0;
}

int tune_transform(const char *folder, enum fft_rigour rigour, enum fft_kind kind, long n,
                   struct tune_result *out)
{
    struct trial before = {0};
    struct trial after = {0};
    char *text = NULL;
    int rc = 0;
    *out = (struct tune_result){.n = n, .kind = kind};
    backend_forget_wisdom();
    TRY_OR(rc, done, trial_init(&before, (enum fft_rigour)(rigour - 1), "", kind, n));
    backend_forget_wisdom(); /* the plan stays */
    TRY_OR(rc, done, recall(folder, before.be, n, &text));
    TRY_OR(rc, done, trial_init(&after, rigour, text, kind, n));
    out->known = after.be->searched == 0;
    out->planning = out->known ? 0 : after.planning;
    if (!out->known && folder[0] != '\0')
        TRY_OR(rc, done, keep(folder, after.be, n));
    rc = compare(&before, &after, out);
done:
    trial_clear(&after);
    trial_clear(&before);
    mem_free(text);
    return rc;
}
