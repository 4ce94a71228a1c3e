/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend/cpu.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include <fftw3.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct fft {
    enum fft_kind kind;
    long n;
    fftw_plan plan;
};

struct cpu_backend {
    struct backend base; /* first */
    struct kernel_table table;
};

/* FFTW's planner and wisdom are one per process and not thread-safe. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static int cpu_alloc(struct backend *be, long count, size_t size, void **out)
{
    (void)be;
    return mem_alloc(count, size, out);
}

static void cpu_release(struct backend *be, void *memory)
{
    (void)be;
    mem_free(memory);
}

static int cpu_copy(struct backend *be, void *to, const void *from, size_t bytes)
{
    (void)be;
    memcpy(to, from, bytes);
    return 0;
}

static fftw_plan plan_make(enum fft_kind kind, int n, unsigned flags, void *in, void *out)
{
    switch (kind) {
    case FFT_C2C_FORWARD:
        return fftw_plan_dft_1d(n, in, out, FFTW_FORWARD, flags);
    case FFT_C2C_BACKWARD:
        return fftw_plan_dft_1d(n, in, out, FFTW_BACKWARD, flags);
    case FFT_R2C:
        return fftw_plan_dft_r2c_1d(n, in, out, flags);
    case FFT_C2R:
        return fftw_plan_dft_c2r_1d(n, in, out, flags | FFTW_DESTROY_INPUT);
    }
    return NULL;
}

/* A plan from the wisdom of this process, or NULL. */
static fftw_plan plan_recall(const struct fft *plan, unsigned flags, void *in, void *out)
{
    pthread_mutex_lock(&planner);
    const fftw_plan found =
        plan_make(plan->kind, (int)plan->n, flags | FFTW_WISDOM_ONLY, in, out);
    pthread_mutex_unlock(&planner);
    return found;
}

static bool wisdom_import(const char *text)
{
    pthread_mutex_lock(&planner);
    const int accepted = fftw_import_wisdom_from_string(text);
    pthread_mutex_unlock(&planner);
    return accepted != 0;
}

/* Texts are imported one after the other until one holds the plan: what came first counts. */
static int plan_look_up(struct backend *be, struct fft *plan, unsigned flags, void *in,
                        void *out)
{
    plan->plan = plan_recall(plan, flags, in, out);
    be->refused = false;
    for (int asked = 0; plan->plan == NULL && be->source.next != NULL; asked++) {
        const char *text = NULL;
        TRY(be->source.next(be->source.context, be, plan->kind, plan->n, asked, &text));
        if (text == NULL)
            return 0;
        be->refused = text[0] != '\0' && !wisdom_import(text);
        if (text[0] != '\0' && !be->refused)
            plan->plan = plan_recall(plan, flags, in, out);
    }
    return 0;
}

static void plan_search(struct backend *be, struct fft *plan, unsigned flags, void *in,
                        void *out)
{
    const double begin = clock_wall();
    pthread_mutex_lock(&planner);
    plan->plan = plan_make(plan->kind, (int)plan->n, flags, in, out);
    pthread_mutex_unlock(&planner);
    be->searched++;
    log_debug("no wisdom for a transform of length %ld: planned in %.3g s", plan->n,
              clock_wall() - begin);
}

static unsigned rigour_flags(enum fft_rigour rigour)
{
    static const unsigned flags[] = {[FFT_ESTIMATE] = FFTW_ESTIMATE,
                                     [FFT_MEASURE] = FFTW_MEASURE,
                                     [FFT_PATIENT] = FFTW_PATIENT};
    return flags[rigour];
}

static int plan_fill(struct backend *be, struct fft *plan)
{
    const unsigned flags = rigour_flags(be->rigour);
    cplx *in = NULL;
    cplx *out = NULL;
    int rc;
    TRY_OR(rc, done, MEM_NEW(plan->n, &in));
    TRY_OR(rc, done, MEM_NEW(plan->n, &out));
    TRY_OR(rc, done, plan_look_up(be, plan, flags, in, out));
    if (plan->plan == NULL)
        plan_search(be, plan, flags, in, out);
    if (plan->plan == NULL)
        rc =
            status_fail(ERR_DEVICE, "FFTW made no plan for a transform of length %ld", plan->n);
done:
    mem_free(in);
    mem_free(out);
    return rc;
}

static int check_length(long n)
{
    if (n < 1 || n > INT_MAX)
        FAIL(ERR_ARGUMENT, "transform length %ld is outside 1 .. %d", n, INT_MAX);
    return 0;
}

static int cpu_fft_create(struct backend *be, enum fft_kind kind, long n, struct fft **out)
{
    *out = NULL;
    TRY(check_length(n));
    struct fft *plan;
    TRY(MEM_NEW(1, &plan));
    plan->kind = kind;
    plan->n = n;
    const int rc = plan_fill(be, plan);
    if (rc != 0)
        mem_free(plan);
    else
        *out = plan;
    return rc;
}

static void cpu_fft_destroy(struct backend *be, struct fft *plan)
{
    (void)be;
    if (plan == NULL)
        return;
    pthread_mutex_lock(&planner);
    fftw_destroy_plan(plan->plan);
    pthread_mutex_unlock(&planner);
    mem_free(plan);
}

static void row_transform(const struct fft *plan, void *in, void *out)
{
    switch (plan->kind) {
    case FFT_C2C_FORWARD:
    case FFT_C2C_BACKWARD:
        fftw_execute_dft(plan->plan, in, out);
        break;
    case FFT_R2C:
        fftw_execute_dft_r2c(plan->plan, in, out);
        break;
    case FFT_C2R:
        fftw_execute_dft_c2r(plan->plan, in, out);
        break;
    }
}

/* A plan made for aligned arrays crashes on others, and an unaligned plan is 2.4 times slower.
 */
static int rows_check(const struct fft_rows *rows, size_t in_bytes, size_t out_bytes)
{
    const uintptr_t bits =
        (uintptr_t)rows->in | (uintptr_t)rows->out | (uintptr_t)in_bytes | (uintptr_t)out_bytes;
    if (bits % MEM_ALIGNMENT != 0)
        FAIL(ERR_BUG, "rows of a transform are not on %d-byte boundaries", MEM_ALIGNMENT);
    if (rows->in == rows->out)
        FAIL(ERR_BUG, "a transform in place was asked for; plans are out of place");
    return 0;
}

static int cpu_fft_execute(struct backend *be, const struct fft *plan,
                           const struct fft_rows *rows)
{
    (void)be;
    const size_t in_size = plan->kind == FFT_R2C ? sizeof(double) : sizeof(cplx);
    const size_t out_size = plan->kind == FFT_C2R ? sizeof(double) : sizeof(cplx);
    const size_t in_bytes = (size_t)rows->ld_in * in_size;
    const size_t out_bytes = (size_t)rows->ld_out * out_size;
    TRY(rows_check(rows, in_bytes, out_bytes));
    for (long r = rows->row; r < rows->row + rows->rows; r++) {
        if (rows->active != NULL && rows->active[r] == 0)
            continue;
        row_transform(plan, (char *)rows->in + (size_t)r * in_bytes,
                      (char *)rows->out + (size_t)r * out_bytes);
    }
    return 0;
}

static void cpu_destroy(struct backend *be)
{
    mem_free(be);
}

/* There is nobody who would copy beside the host. */
struct fetch {
    size_t room;
    bool begun;
    char *data; /* [room] */
};

static int cpu_fetch_create(struct backend *be, size_t bytes, struct fetch **out)
{
    (void)be;
    *out = NULL;
    struct fetch *fetch;
    TRY(MEM_NEW(1, &fetch));
    fetch->room = bytes;
    const int rc = MEM_NEW(bytes > 0 ? (long)bytes : 1, &fetch->data);
    if (rc != 0)
        mem_free(fetch);
    else
        *out = fetch;
    return rc;
}

static void cpu_fetch_destroy(struct backend *be, struct fetch *fetch)
{
    (void)be;
    if (fetch == NULL)
        return;
    mem_free(fetch->data);
    mem_free(fetch);
}

static int cpu_fetch_begin(struct backend *be, struct fetch *fetch, const void *from,
                           size_t bytes)
{
    (void)be;
    TRY(backend_fetch_check(fetch->begun, fetch->room, bytes));
    memcpy(fetch->data, from, bytes);
    fetch->begun = true;
    return 0;
}

static int cpu_fetch_end(struct backend *be, struct fetch *fetch, const void **data)
{
    (void)be;
    *data = fetch->data;
    if (!fetch->begun)
        FAIL(ERR_BUG, "a fetch ends that was not begun");
    fetch->begun = false;
    return 0;
}

static const struct backend_ops cpu_ops = {
    .name = "cpu",
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .fft_create = cpu_fft_create,
    .fft_destroy = cpu_fft_destroy,
    .fft_execute = cpu_fft_execute,
    .destroy = cpu_destroy,
    .fetch_create = cpu_fetch_create,
    .fetch_destroy = cpu_fetch_destroy,
    .fetch_begin = cpu_fetch_begin,
    .fetch_end = cpu_fetch_end,
};

int cpu_backend_create(const struct backend_options *options, struct backend **out)
{
    *out = NULL;
    if (options->threads < 1)
        FAIL(ERR_ARGUMENT, "a backend of %d threads: at least 1 is needed", options->threads);
    if (options->rigour < FFT_ESTIMATE || options->rigour > FFT_PATIENT)
        FAIL(ERR_ARGUMENT, "unknown FFT rigour %d", (int)options->rigour);
    const struct cpu_isa *isa;
    TRY(cpu_isa_choose(options->isa, &isa));
    struct cpu_backend *be;
    TRY(MEM_NEW(1, &be));
    isa->fill(&be->table);
    cpu_strict_fill(&be->table);
    if (options->wisdom != NULL && options->wisdom[0] != '\0'
        && !wisdom_import(options->wisdom))
        log_warn(
            "FFTW did not accept the wisdom given (made by another version?): planning anew");
    be->base.ops = &cpu_ops;
    be->base.kernels = &be->table;
    be->base.isa = isa->name;
    be->base.threads = options->threads;
    be->base.rigour = options->rigour;
    be->base.source = options->source;
    for (int i = 0; i < THRESHOLDS; i++)
        be->base.threshold[i] = backend_threshold(options, (enum threshold)i);
    cpu_model_name(be->base.device, sizeof be->base.device);
    *out = &be->base;
    return 0;
}

int backend_wisdom(struct backend *be, char **text)
{
    (void)be;
    pthread_mutex_lock(&planner);
    char *wisdom = fftw_export_wisdom_to_string();
    pthread_mutex_unlock(&planner);
    *text = NULL;
    /* Other libraries with this interface search no plans and have nothing to remember. */
    if (wisdom == NULL && strncmp(backend_fft_library(), "fftw", 4) != 0)
        return mem_copy_text("", text);
    if (wisdom == NULL)
        FAIL(ERR_MEMORY, "out of memory: no room for FFTW's wisdom");
    const int rc = mem_copy_text(wisdom, text);
    fftw_free(wisdom);
    return rc;
}

void backend_forget_wisdom(void)
{
    pthread_mutex_lock(&planner);
    fftw_forget_wisdom();
    pthread_mutex_unlock(&planner);
}

int backend_has_wisdom(struct backend *be, enum fft_kind kind, long n, bool *known)
{
    struct fft plan = {.kind = kind, .n = n};
    cplx *in = NULL;
    cplx *out = NULL;
    int rc;
    *known = false;
    TRY(check_length(n));
    TRY_OR(rc, done, MEM_NEW(n, &in));
    TRY_OR(rc, done, MEM_NEW(n, &out));
    plan.plan = plan_recall(&plan, rigour_flags(be->rigour), in, out);
    *known = plan.plan != NULL;
    if (plan.plan != NULL) {
        pthread_mutex_lock(&planner);
        fftw_destroy_plan(plan.plan);
        pthread_mutex_unlock(&planner);
    }
done:
    mem_free(in);
    mem_free(out);
    return rc;
}

const char *backend_fft_library(void)
{
#ifdef SF_FFTW_NAME
    return SF_FFTW_NAME;
#else
    return fftw_version;
#endif
}
