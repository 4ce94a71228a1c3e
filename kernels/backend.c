/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "kernels/backend/cpu.h"
#include "kernels/backend/gpu.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The backends in this program; `auto` takes the last one that runs here. */
static const struct backend_entry {
    const char *name;
    int (*create)(const struct backend_options *options, struct backend **out);
    int (*devices)(int *count); /* NULL: it has none */
    int (*describe)(int device, struct backend_device *out);
    int (*left)(struct backend *be, size_t *bytes);
    const char *(*fft)(void);
    int (*fft_bytes)(const struct fft_shape *shape, size_t *bytes); /* NULL: none */
    const char *hides[3]; /* what its runtime hides devices by: variables of the environment */
} backends[] = {
    {"cpu", cpu_backend_create, NULL, NULL, NULL, backend_fft_library, NULL, {NULL}},
#ifdef SCANFARM_HIP
    {"hip",
     hip_backend_create,
     hip_device_count,
     hip_describe,
     hip_device_left,
     hip_fft_library,
     hip_fft_bytes,
     {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}},
#endif
#ifdef SCANFARM_CUDA
    {"cuda",
     cuda_backend_create,
     cuda_device_count,
     cuda_describe,
     cuda_device_left,
     cuda_fft_library,
     cuda_fft_bytes,
     {"CUDA_VISIBLE_DEVICES"}},
#endif
#ifdef SCANFARM_EMU
    {"emu",
     emu_backend_create,
     emu_device_count,
     emu_describe,
     emu_device_left,
     emu_fft_library,
     emu_fft_bytes,
     {"EMU_VISIBLE_DEVICES"}},
#endif
};

#define BACKENDS ((int)(sizeof backends / sizeof backends[0]))

const char gpu_no_memory[] = "out of memory";

const char *const *backend_names(void)
{
    static const char *const names[] = {"cpu",
#ifdef SCANFARM_HIP
                                        "hip",
#endif
#ifdef SCANFARM_CUDA
                                        "cuda",
#endif
#ifdef SCANFARM_EMU
                                        "emu",
#endif
                                        NULL};
    return names;
}

/* Says which backends are passed over, and why; the CPU is there always. */
static int create_any(const struct backend_options *options, struct backend **out)
{
    for (int b = BACKENDS - 1; b > 0; b--) {
        char why[200] = "";
        const struct status_saved saved = status_capture_save();
        status_capture(why, sizeof why);
        const int rc = backends[b].create(options, out);
        status_capture_restore(saved);
        if (rc == 0)
            return 0;
        log_info("backend auto passes %s over: %s", backends[b].name, why);
    }
    return backends[0].create(options, out);
}

static int find(const char *name, const struct backend_entry **out)
{
    for (int b = 0; b < BACKENDS; b++)
        if (strcmp(name, backends[b].name) == 0) {
            *out = &backends[b];
            return 0;
        }
    char known[64] = "";
    size_t used = 0;
    for (int b = 0; b < BACKENDS; b++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", b > 0 ? ", " : "",
                                 backends[b].name);
    FAIL(ERR_UNSUPPORTED, "backend '%s' is not in this program; it has: %s", name, known);
}

int backend_create(const struct backend_options *options, struct backend **out)
{
    *out = NULL;
    const char *name = options->name != NULL ? options->name : "auto";
    if (strcmp(name, "auto") == 0)
        return create_any(options, out);
    const struct backend_entry *entry = NULL;
    TRY(find(name, &entry));
    return entry->create(options, out);
}

/* The devices of an entry; a refusal names what may have hidden them. */
static int count_devices(const struct backend_entry *entry, int *count)
{
    char text[200] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = entry->devices(count);
    status_capture_restore(saved);
    if (rc == 0)
        return 0;
    for (size_t i = 0; i < sizeof entry->hides / sizeof entry->hides[0]; i++) {
        const char *const value = entry->hides[i] != NULL ? getenv(entry->hides[i]) : NULL;
        if (value != NULL)
            FAIL(rc, "%s; %s is '%.60s'", text, entry->hides[i], value);
    }
    FAIL(rc, "%s", text);
}

const char *backend_fft_of(const char *name)
{
    for (int b = 0; b < BACKENDS; b++)
        if (strcmp(backends[b].name, name) == 0)
            return backends[b].fft();
    return NULL;
}

int backend_devices(const char *name, int *count)
{
    const struct backend_entry *entry = NULL;
    *count = 0;
    TRY(find(name, &entry));
    return entry->devices != NULL ? count_devices(entry, count) : 0;
}

int backend_describe_device(const char *name, int device, struct backend_device *out)
{
    const struct backend_entry *entry = NULL;
    memset(out, 0, sizeof *out);
    TRY(find(name, &entry));
    if (entry->describe == NULL)
        FAIL(ERR_UNSUPPORTED, "backend '%s' has no devices", name);
    return entry->describe(device, out);
}

const char *backend_auto(char *why, size_t size)
{
    size_t used = 0;
    why[0] = '\0';
    for (int b = BACKENDS - 1; b > 0; b--) {
        char text[200] = "";
        int count = 0;
        const struct status_saved saved = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = count_devices(&backends[b], &count);
        status_capture_restore(saved);
        if (rc == 0)
            return backends[b].name;
        if (used < size)
            used += (size_t)snprintf(why + used, size - used, "%sauto passes %s over: %s",
                                     used > 0 ? "; " : "", backends[b].name, text);
    }
    return backends[0].name;
}

int backend_memory_left(struct backend *be, size_t *bytes)
{
    const struct backend_entry *entry = NULL;
    *bytes = 0;
    TRY(find(be->ops->name, &entry));
    if (entry->left == NULL)
        FAIL(ERR_UNSUPPORTED, "backend '%s' has no memory of its own", be->ops->name);
    return entry->left(be, bytes);
}

int backend_fft_create(struct backend *be, const struct fft_shape *shape, struct fft **out)
{
    TRY(be->ops->fft_create(be, shape->kind, shape->n, out));
    if (be->ops->device == NULL)
        return 0;
    const int rc = be->ops->device->fft_reserve(be, *out, shape);
    if (rc != 0) {
        be->ops->fft_destroy(be, *out);
        *out = NULL;
    }
    return rc;
}

int backend_fft_bytes(const char *name, enum fft_kind kind, long n, long rows, size_t *bytes)
{
    const struct backend_entry *entry = NULL;
    const long half = n / 2 + 1;
    const struct fft_shape shape = {
        .kind = kind,
        .n = n,
        .rows = rows,
        .ld_in = kind == FFT_R2C   ? backend_stride(n, sizeof(double))
                 : kind == FFT_C2R ? backend_stride(half, sizeof(cplx))
                                   : backend_stride(n, sizeof(cplx)),
        .ld_out = kind == FFT_C2R   ? backend_stride(n, sizeof(double))
                  : kind == FFT_R2C ? backend_stride(half, sizeof(cplx))
                                    : backend_stride(n, sizeof(cplx))};
    *bytes = 0;
    TRY(find(name, &entry));
    return entry->fft_bytes != NULL ? entry->fft_bytes(&shape, bytes) : 0;
}

void backend_destroy(struct backend *be)
{
    if (be != NULL)
        be->ops->destroy(be);
}

long backend_stride(long n, size_t size)
{
    const long step = MEM_ALIGNMENT / (long)size;
    return (n + step - 1) / step * step;
}

int backend_view(struct backend *be, const double *from, long count, double *room,
                 const double **out)
{
    *out = be->apart ? room : from;
    if (!be->apart)
        return 0;
    return be->ops->download(be, room, from, (size_t)count * sizeof(double));
}

const struct threshold_row *backend_thresholds(void)
{
    static const struct threshold_row rows[THRESHOLDS] = {
#define THRESHOLD(name, value, machine, date, meaning) {#name, value, machine, date, meaning},
#include "kernels/numeric/thresholds.def"
#undef THRESHOLD
    };
    return rows;
}

long backend_threshold(const struct backend_options *options, enum threshold which)
{
    const long given = options->threshold[which];
    return given > 0 ? given : backend_thresholds()[which].value;
}

bool backend_shares_column(const struct backend *be, long n)
{
    return be->threads > 1 && n >= be->threshold[THRESHOLD_column_shares] && !omp_in_parallel();
}

int backend_fetch_check(bool begun, size_t room, size_t bytes)
{
    if (begun)
        FAIL(ERR_BUG, "a fetch begins whose last one has not ended");
    if (bytes > room)
        FAIL(ERR_BUG, "a fetch of %zu bytes into %zu", bytes, room);
    return 0;
}
