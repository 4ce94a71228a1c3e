/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/dudley.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <check.h>

#define POINTS 8192

static cplx *reference_read(void)
{
    cplx *a = calloc(POINTS, sizeof *a);
    FILE *file = fopen(DUDLEY_FILE, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", DUDLEY_FILE);
    ck_assert_uint_eq(fread(a, sizeof *a, POINTS, file), POINTS);
    fclose(file);
    return a;
}

struct dudley_error dudley_run(double rtol)
{
    struct gnlse_case c;
    case_dudley(&c, rtol);
    case_planes(&c, (const double[]){0.0, 0.05, 0.10, 0.15}, 4);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.row.outcome, ROW_DONE);
    ck_assert_int_eq(p.row.rhs_calls, 1 + 6 * (p.row.steps + p.row.rejected));
    cplx *want = reference_read();
    const cplx *a = p.field + 3 * POINTS;
    double difference = 0.0;
    double sum = 0.0;
    for (long k = 0; k < POINTS; k++) {
        difference += fabs(cplx_abs2(a[k]) - cplx_abs2(want[k]));
        sum += cplx_abs2(want[k]);
    }
    const struct dudley_error error = {.field = case_distance(a, want, POINTS),
                                       .spectrum = difference / sum,
                                       .photons =
                                           fabs(p.observable[3][1] / p.observable[0][1] - 1.0),
                                       .rhs = p.row.rhs_calls};
    printf("rtol %.0e: %lld right-hand sides, field %.2e, spectrum %.2e, photons %.2e\n", rtol,
           error.rhs, error.field, error.spectrum, error.photons);
    free(want);
    planes_free(&p, &c);
    return error;
}
