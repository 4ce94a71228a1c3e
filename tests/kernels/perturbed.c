/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/perturbed.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

static long largest_number(const double *values, long count)
{
    long at = 0;
    for (long i = 1; i < count; i++)
        at = fabs(values[i]) > fabs(values[at]) ? i : at;
    return at;
}

static int judge(const struct comparison_input *in, double limit, struct comparison *out)
{
    return limit > 0.0 ? comparison_norm(in, limit, out) : comparison_run(in, out);
}

/* The smallest power of ten, as a share of number `at`, that is still seen. */
static double smallest_seen(const struct comparison_input *in, double limit, double *value,
                            long at)
{
    const double kept = value[at];
    double seen = (double)INFINITY;
    for (int decade = 1; decade <= 18; decade++) {
        struct comparison out;
        const double size = pow(10.0, -decade);
        value[at] = kept * (1.0 + size);
        const int rc = judge(in, limit, &out);
        if (rc != 0 || out.within)
            break;
        seen = size;
    }
    value[at] = kept;
    return seen;
}

static void record(const struct comparison_input *in, double limit, double *value, long at,
                   const char *what)
{
    struct comparison out;
    if (!perturb_wanted())
        return;
    ck_assert_int_eq(judge(in, limit, &out), 0);
    perturb_record(what, smallest_seen(in, limit, value, at), out.margin);
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
        ck_assert_int_eq(judge(&wrong, limit, &out), 0);
        ck_assert_msg(!out.within, "%s: %s of number %ld is not seen: %g of the bound", what,
                      faults[f].name, at, out.margin);
    }
    memcpy(value, in->value, (size_t)count * sizeof *value);
    record(&wrong, limit, value, at, what);
    mem_free(value);
}
