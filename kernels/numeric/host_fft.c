/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/host_fft.h"

#include <stddef.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fft_complex.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct host_fft {
    long n;
    gsl_fft_complex_wavetable *table;
    gsl_fft_complex_workspace *work;
};

int host_fft_create(long n, struct host_fft **out)
{
    *out = NULL;
    if (n < 1)
        FAIL(ERR_ARGUMENT, "a transform of %ld numbers was asked for; at least 1 is wanted", n);
    struct host_fft *fft;
    TRY(MEM_NEW(1, &fft));
    fft->n = n;
    fft->table = gsl_fft_complex_wavetable_alloc((size_t)n);
    fft->work = gsl_fft_complex_workspace_alloc((size_t)n);
    if (fft->table == NULL || fft->work == NULL) {
        host_fft_destroy(fft);
        FAIL(ERR_MEMORY, "out of memory for a transform of %ld numbers", n);
    }
    *out = fft;
    return 0;
}

void host_fft_destroy(struct host_fft *fft)
{
    if (fft == NULL)
        return;
    if (fft->table != NULL)
        gsl_fft_complex_wavetable_free(fft->table);
    if (fft->work != NULL)
        gsl_fft_complex_workspace_free(fft->work);
    mem_free(fft);
}

int host_fft_execute(struct host_fft *fft, bool forward, cplx *x)
{
    const size_t n = (size_t)fft->n;
    const int rc = forward ? gsl_fft_complex_forward(&x->r, 1, n, fft->table, fft->work)
                           : gsl_fft_complex_backward(&x->r, 1, n, fft->table, fft->work);
    if (rc != GSL_SUCCESS)
        FAIL(ERR_BUG, "a transform of %ld numbers failed: %s", fft->n, gsl_strerror(rc));
    return 0;
}
