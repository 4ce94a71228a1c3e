/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/spline.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct spline {
    long n;
    double *x;      /* [n] */
    double (*c)[4]; /* [n - 1] coefficients of (x - x_i)^0 … 3 */
};

static int check_points(const double *x, const double *y, long n)
{
    if (n < 4)
        FAIL(ERR_ARGUMENT, "a cubic spline needs at least 4 points; %ld given", n);
    for (long i = 0; i < n; i++) {
        if (!(isfinite(x[i]) && isfinite(y[i])))
            FAIL(ERR_ARGUMENT, "point %ld of a spline is (%g, %g); both must be finite", i,
                 x[i], y[i]);
        if (i > 0 && !(x[i] > x[i - 1]))
            FAIL(ERR_ARGUMENT, "point %ld of a spline is at %g after %g; points must ascend", i,
                 x[i], x[i - 1]);
    }
    return 0;
}

/* Second derivatives m[n]; diagonal[n] is scratch. Rows 1 … n - 2 are tridiagonal once m[0] and
 * m[n - 1] are replaced by what not-a-knot says of them. */
static void solve_curvature(const double *x, const double *y, long n, double *m,
                            double *diagonal)
{
    for (long i = 1; i < n - 1; i++) {
        const double left = x[i] - x[i - 1];
        const double right = x[i + 1] - x[i];
        double lower = left;
        double middle = 2.0 * (left + right);
        m[i] = 6.0 * ((y[i + 1] - y[i]) / right - (y[i] - y[i - 1]) / left);
        if (i == 1)
            middle += left * (1.0 + left / right);
        if (i == n - 2) {
            middle += right * (1.0 + right / left);
            lower -= right * right / left;
        }
        if (i > 1) {
            const double before = x[i - 1] - x[i - 2];
            const double upper = i == 2 ? left - before * before / left : left;
            middle -= lower / diagonal[i - 1] * upper;
            m[i] -= lower / diagonal[i - 1] * m[i - 1];
        }
        diagonal[i] = middle;
    }
    m[n - 2] /= diagonal[n - 2];
    for (long i = n - 3; i >= 1; i--) {
        const double left = x[i] - x[i - 1];
        const double right = x[i + 1] - x[i];
        const double upper = i == 1 ? right - left * left / right : right;
        m[i] = (m[i] - upper * m[i + 1]) / diagonal[i];
    }
    const double first = (x[1] - x[0]) / (x[2] - x[1]);
    const double last = (x[n - 1] - x[n - 2]) / (x[n - 2] - x[n - 3]);
    m[0] = m[1] - first * (m[2] - m[1]);
    m[n - 1] = m[n - 2] + last * (m[n - 2] - m[n - 3]);
}

static void fill_cubics(struct spline *s, const double *y, const double *m)
{
    for (long i = 0; i < s->n - 1; i++) {
        const double h = s->x[i + 1] - s->x[i];
        s->c[i][0] = y[i];
        s->c[i][1] = (y[i + 1] - y[i]) / h - h * (2.0 * m[i] + m[i + 1]) / 6.0;
        s->c[i][2] = 0.5 * m[i];
        s->c[i][3] = (m[i + 1] - m[i]) / (6.0 * h);
    }
}

int spline_create(const double *x, const double *y, long n, struct spline **out)
{
    struct spline *s = NULL;
    double *m = NULL;
    double *diagonal = NULL;
    int rc = 0;
    *out = NULL;
    TRY(check_points(x, y, n));
    TRY_OR(rc, done, MEM_NEW(1, &s));
    TRY_OR(rc, done, MEM_NEW(n, &s->x));
    TRY_OR(rc, done, MEM_NEW(n - 1, &s->c));
    TRY_OR(rc, done, MEM_NEW(n, &m));
    TRY_OR(rc, done, MEM_NEW(n, &diagonal));
    s->n = n;
    for (long i = 0; i < n; i++)
        s->x[i] = x[i];
    solve_curvature(x, y, n, m, diagonal);
    fill_cubics(s, y, m);
    *out = s;
    s = NULL;
done:
    spline_destroy(s);
    mem_free(m);
    mem_free(diagonal);
    return rc;
}

void spline_destroy(struct spline *spline)
{
    if (spline == NULL)
        return;
    mem_free(spline->x);
    mem_free(spline->c);
    mem_free(spline);
}

/* Index of the cubic that holds x: the last point at or below it. */
static long find_cubic(const struct spline *s, double x)
{
    long low = 0;
    long high = s->n - 1;
    while (high - low > 1) {
        const long middle = (low + high) / 2;
        if (s->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double spline_value(const struct spline *spline, double x)
{
    const long i = find_cubic(spline, x);
    const double *const c = spline->c[i];
    const double t = x - spline->x[i];
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}

struct taylor spline_taylor(const struct spline *spline, struct taylor x)
{
    const long i = find_cubic(spline, x.c[0].r);
    const double *const c = spline->c[i];
    const struct taylor t = taylor_shift(x, -spline->x[i]);
    struct taylor sum = taylor_constant(x.order, cplx_make(c[3], 0.0));
    for (int k = 2; k >= 0; k--)
        sum = taylor_shift(taylor_mul(sum, t), c[k]);
    return sum;
}
