/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/mode.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/numeric/quadrature.h"

/* Zeros of Bessel functions lie further apart than this. */
#define ZERO_STEP 0.25

/* m-th positive zero of J_order. */
static double bessel_zero(int order, int m)
{
    double x = order == 0 ? ZERO_STEP : order;
    for (int found = 0; found < m;) {
        x += ZERO_STEP;
        found += (jn(order, x) > 0.0) != (jn(order, x - ZERO_STEP) > 0.0);
    }
    double zero = x - 0.5 * ZERO_STEP;
    for (int i = 0; i < 30; i++) {
        const double value = jn(order, zero);
        zero -= value / (order / zero * value - jn(order + 1, zero));
    }
    return zero;
}

int mode_init(struct mode *out, enum mode_kind kind, int n, int m)
{
    static const char *const names[] = {"HE", "TE", "TM"};
    if ((kind == MODE_HE) == (n == 0) || abs(n) > MODE_ORDER_MAX || m < 1 || m > MODE_ZERO_MAX)
        FAIL(ERR_ARGUMENT,
             "guide.mode: there is no %s with n = %d, m = %d; HE: n from -%d to %d but not 0, "
             "TE "
             "and TM: n = 0; m from 1 to %d",
             names[kind], n, m, MODE_ORDER_MAX, MODE_ORDER_MAX, MODE_ZERO_MAX);
    const int bessel = kind == MODE_HE ? abs(n - 1) : 1;
    *out = (struct mode){kind, n, m, bessel, bessel_zero(bessel, m)};
    return 0;
}

/* The two numbers of a name: a digit each, or with a comma between them. */
static bool parse_numbers(const char *text, int *n, int *m)
{
    if (isdigit((unsigned char)text[0]) && isdigit((unsigned char)text[1]) && text[2] == '\0') {
        *n = text[0] - '0';
        *m = text[1] - '0';
        return true;
    }
    char *end = NULL;
    const long first = strtol(text, &end, 10);
    if (end == text || *end != ',')
        return false;
    const char *const rest = end + 1;
    const long second = strtol(rest, &end, 10);
    if (end == rest || *end != '\0' || labs(first) > 1000 || labs(second) > 1000)
        return false;
    *n = (int)first;
    *m = (int)second;
    return true;
}

int mode_parse(const char *text, struct mode *out)
{
    static const struct {
        const char *name;
        enum mode_kind kind;
    } families[] = {{"HE", MODE_HE}, {"TE", MODE_TE}, {"TM", MODE_TM}};
    for (int i = 0; i < 3; i++) {
        int n = 0;
        int m = 0;
        if (strncmp(text, families[i].name, 2) == 0 && parse_numbers(text + 2, &n, &m))
            return mode_init(out, families[i].kind, n, m);
    }
    FAIL(ERR_ARGUMENT, "guide.mode: '%.40s' is not a mode; HE11, TE01, TM02, HE-1,1 are", text);
}

/* Integral of x J(u x)^power over the cross-section in units of the radius. */
static double shape_moment(const struct mode *mode, int power)
{
    struct quadrature q;
    quadrature_legendre(&q, QUADRATURE_MAX);
    double sum = 0.0;
    /* A zero of J a panel: the rule then sees a fraction of an oscillation. */
    for (int panel = 0; panel < mode->m; panel++)
        for (int i = 0; i < q.n; i++) {
            const double x = (panel + q.node[i]) / mode->m;
            sum += q.weight[i] / mode->m * x * pow(jn(mode->bessel, mode->u * x), power);
        }
    return sum;
}

/* J_p(u)^2, p the order above: (1/2) of it is the integral of x J(u x)^2 at a zero. */
static double edge_square(const struct mode *mode)
{
    const double edge = jn(mode->bessel + 1, mode->u);
    return edge * edge;
}

double mode_area(const struct mode *mode, double radius)
{
    const double half = 0.5 * edge_square(mode);
    return 2.0 * PULSE_PI * radius * radius * half * half / shape_moment(mode, 4);
}

double mode_norm(const struct mode *mode, double radius)
{
    return 0.5 * PULSE_PI * radius * radius * edge_square(mode) * PULSE_EPS0 * PULSE_C;
}

double mode_gauss_coupling(const struct mode *mode, double radius, double waist)
{
    if (mode->kind != MODE_HE || mode->n != 1)
        return 0.0;
    struct quadrature q;
    quadrature_legendre(&q, QUADRATURE_MAX);
    const double ratio = waist / radius;
    /* Panels as narrow as what varies fastest, the beam or the mode; past 7 waists the beam is
     * below 1e-21. */
    const double end = fmin(1.0, 7.0 * ratio);
    const int panels = mode->m + (int)ceil(end / ratio);
    double overlap = 0.0;
    for (int panel = 0; panel < panels; panel++)
        for (int i = 0; i < q.n; i++) {
            const double x = end * (panel + q.node[i]) / panels;
            overlap += end * q.weight[i] / panels * x * jn(0, mode->u * x)
                       * exp(-(x / ratio) * (x / ratio));
        }
    return overlap * overlap / (0.5 * edge_square(mode) * 0.25 * ratio * ratio);
}
