/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/apart.h"

#include <stdlib.h>

#include <check.h>

#include "kernels/base/status.h"

int apart_each(struct backend *be, const struct step_call *call, void *model,
               int (*evaluate)(void *model, long row, struct step_place place, cplx *spectrum,
                               struct row_status *st))
{
    if (!be->apart)
        return step_call_each(call, model, evaluate);
    const size_t bytes = (size_t)(call->group * call->ld) * sizeof(cplx);
    cplx *const here = malloc(bytes);
    int rc = here != NULL ? 0 : ERR_MEMORY;
    for (long i = 0; i < call->rows && rc == 0; i++) {
        cplx *const there = call->spectrum + i * call->group * call->ld;
        if (!step_call_has(call, i))
            continue;
        rc = be->ops->download(be, here, there, bytes);
        if (rc == 0)
            rc = evaluate(model, call->row + i, call->place[i], here, &call->st[i]);
        if (rc == 0)
            rc = be->ops->upload(be, there, here, bytes);
    }
    free(here);
    return rc;
}

void apart_state(struct backend *be, struct stepper *stepper, long row, long group, long ld,
                 long n, cplx *out)
{
    cplx *field;
    ck_assert_int_eq(stepper_field(stepper, row, &field), 0);
    for (long g = 0; g < group; g++)
        ck_assert_int_eq(
            be->ops->download(be, out + g * n, field + g * ld, (size_t)n * sizeof(cplx)), 0);
}
