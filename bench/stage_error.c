/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/stage_error.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define REFERENCE_POINTS 8192

bool stage_error_known(const struct stage_case *c)
{
    return c->points == REFERENCE_POINTS && c->raman;
}

static int read_reference(const char *path, cplx *out, long n)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        FAIL(ERR_IO, "the reference %s cannot be opened", path);
    const size_t got = fread(out, sizeof *out, (size_t)n, file);
    fclose(file);
    if (got != (size_t)n)
        FAIL(ERR_IO, "the reference %s has %zu complex numbers, not %ld", path, got, n);
    return 0;
}

int stage_error(const char *path, const cplx *spectrum, long n, double *out)
{
    cplx *reference = NULL;
    double difference = 0;
    double sum = 0;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(n, &reference));
    TRY_OR(rc, done, read_reference(path, reference, n));
    for (long k = 0; k < n; k++) {
        difference += fabs(cplx_abs2(spectrum[k]) - cplx_abs2(reference[k]));
        sum += cplx_abs2(reference[k]);
    }
    *out = difference / sum;
done:
    mem_free(reference);
    return rc;
}
