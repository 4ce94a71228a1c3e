/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend.h"

#include <stdio.h>
#include <string.h>

#include <omp.h>

#include "kernels/backend/cpu.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The backends in this program, best first; `auto` takes the first. */
static const struct {
    const char *name;
    int (*create)(const struct backend_options *options, struct backend **out);
} backends[] = {{"cpu", cpu_backend_create}};

#define BACKENDS ((int)(sizeof backends / sizeof backends[0]))

const char *const *backend_names(void)
{
    static const char *const names[] = {"cpu", NULL};
    return names;
}

int backend_create(const struct backend_options *options, struct backend **out)
{
    *out = NULL;
    const char *name = options->name != NULL ? options->name : "auto";
    for (int b = 0; b < BACKENDS; b++)
        if (strcmp(name, "auto") == 0 || strcmp(name, backends[b].name) == 0)
            return backends[b].create(options, out);
    char known[64] = "";
    size_t used = 0;
    for (int b = 0; b < BACKENDS; b++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", b > 0 ? ", " : "",
                                 backends[b].name);
    FAIL(ERR_UNSUPPORTED, "backend '%s' is not in this program; it has: %s", name, known);
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
