/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/perturbed.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "tests/unit_main.h"

static long largest_number(const double *values, long count)
{
    long at = 0;
    for (long i = 1; i < count; i++)
        at = fabs(values[i]) > fabs(values[at]) ? i : at;
    return at;
}

void perturbed_check(const struct comparison_input *in, double limit, const char *what)
{
    static const struct {
        const char *name;
        double factor;
    } faults[] = {{"a flipped sign", -1.0}, {"a dropped term", 0.0}, {"1e-9 more", 1.0 + 1e-9}};
    const long count = in->is_complex ? 2 * in->n : in->n;
    const long at = largest_number(in->reference, count);
    double *value = NULL;
    ck_assert_int_eq(MEM_NEW(count, &value), 0);
    struct comparison_input wrong = *in;
    wrong.value = value;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        struct comparison out;
        memcpy(value, in->value, (size_t)count * sizeof *value);
        value[at] *= faults[f].factor;
        const int rc =
            limit > 0.0 ? comparison_norm(&wrong, limit, &out) : comparison_run(&wrong, &out);
        ck_assert_int_eq(rc, 0);
        ck_assert_msg(!out.within, "%s: %s of number %ld is not seen: %g of the bound", what,
                      faults[f].name, at, out.margin);
    }
    mem_free(value);
}
