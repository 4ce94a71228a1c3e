/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Increments over a step, without contraction: the same bits for a position alone and in a
 * batch.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/models/pulse/gradient.h"
#include "kernels/numeric/chebyshev.h"

/* Gauss-Legendre rule of nine points (Abramowitz and Stegun, table 25.4), exact for the table's
 * polynomial times p^2; its powers are as smooth. Nodes -+ on [-1, 1]; the first one counts
 * once. */
#define RULE 5
static const double rule_node[RULE] = {0.0, 0.324253423403808929, 0.613371432700590397,
                                       0.836031107326635794, 0.968160239507626090};
static const double rule_weight[RULE] = {0.330239355001259763, 0.312347077040002840,
                                         0.260610696402935462, 0.180648160694857404,
                                         0.081274388361574412};
_Static_assert(2 * (2 * RULE - 1) - 1 >= CHEBYSHEV_DEGREE + 2, "the rule must be exact");

/* A stretch of a law from one position to another: length and the values at its ends. */
struct stretch {
    double length;
    double from, to;
};

/* Walks along a law, one stretch at a time. */
struct walk {
    const struct gradient_points *points;
    const double *value; /* [count]: what is linear between the points */
    int next;            /* the first point after the position */
    double z;
    double at;   /* value at z */
    double left; /* distance still to go */
};

static struct walk walk_start(const struct gradient_points *points, const double *value,
                              double z, double distance)
{
    int next = 0;
    while (next < points->count && points->z[next] <= z)
        next++;
    const int last = next - 1;
    double at = value[next == 0 ? 0 : last];
    if (next > 0 && next < points->count && points->z[last] < z) {
        const double share = (z - points->z[last]) / (points->z[next] - points->z[last]);
        at = value[last] + share * (value[next] - value[last]);
    }
    return (struct walk){points, value, next, z, at, distance};
}

/* The next stretch; its length is 0 when the walk is over. */
static struct stretch walk_on(struct walk *w)
{
    const int next = w->next;
    struct stretch s = {w->left, w->at, w->at};
    if (next >= w->points->count) {
        w->left = 0.0;
        return s;
    }
    const double room = w->points->z[next] - w->z;
    const double *const value = w->value;
    if (w->left >= room) {
        s = (struct stretch){room, w->at, value[next]};
        w->z = w->points->z[next];
        w->left -= room;
        w->next++;
    } else {
        if (next > 0) {
            const double slope =
                (value[next] - value[next - 1]) / (w->points->z[next] - w->points->z[next - 1]);
            /* Rounding must not carry a value past the point ahead. */
            const double to = w->at + slope * w->left;
            s.to = slope < 0.0 ? fmax(to, value[next]) : fmin(to, value[next]);
        }
        w->z += w->left;
        w->left = 0.0;
    }
    w->at = s.to;
    return s;
}

static double density(const struct gradient *g, double p)
{
    if (g->ideal > 0.0)
        return g->ideal * p;
    return (g->table != NULL ? chebyshev_value(g->table, p) : g->constant) * p;
}

/* Add share times the means of rho^j p, j = 1 …, over pressures from a to b, which one
 * polynomial of the table covers. */
static void add_means(const struct gradient *g, double a, double b, double share, double *means)
{
    const double middle = 0.5 * (a + b);
    const double half = 0.5 * (b - a);
    double sum[GRADIENT_POWERS] = {0.0};
    for (int k = 0; k < RULE; k++) {
        const double down = middle - half * rule_node[k];
        const double up = middle + half * rule_node[k];
        const double rho[2] = {chebyshev_value(g->table, down) * down,
                               chebyshev_value(g->table, up) * up};
        double left = down;
        double right = up;
        for (int j = 0; j < GRADIENT_POWERS; j++) {
            left *= rho[0];
            right *= rho[1];
            sum[j] += (k == 0 ? 0.25 : 0.5) * rule_weight[k] * (left + right);
        }
    }
    for (int j = 0; j < GRADIENT_POWERS; j++)
        means[j] += share * sum[j];
}

/* The same of an ideal gas: (rho/p)^j times the mean of p^(j + 1), which is (b^n - a^n)/(n (b -
 * a)), n = j + 2, without the difference. */
static void ideal_means(const struct gradient *g, struct stretch s, double *means)
{
    const double a = sqrt(s.from);
    const double b = sqrt(s.to);
    double sum = a + b; /* of a^i b^(n - 1 - i) */
    double power = b;
    double scale = 1.0;
    for (int j = 0; j < GRADIENT_POWERS; j++) {
        power *= b;
        sum = a * sum + power;
        scale *= g->ideal;
        means[j] = scale * sum / (double)(j + 3);
    }
}

/* Add the integrals of rho^j over a stretch on which the squared pressure is linear: with p
 * from a to b, dz = length 2 p dp/(b^2 - a^2), so each is length 2/(a + b) times the mean of
 * rho^j p over p. */
static void add_density(const struct gradient *g, struct stretch s, double *integrals)
{
    const double a = sqrt(s.from);
    const double b = sqrt(s.to);
    if (a == b) {
        double power = s.length;
        for (int j = 0; j < GRADIENT_POWERS; j++) {
            power *= density(g, a);
            integrals[j] += power;
        }
        return;
    }
    double means[GRADIENT_POWERS] = {0.0};
    if (g->ideal > 0.0)
        ideal_means(g, s, means);
    for (double p = a; p != b && !(g->ideal > 0.0);) {
        const double end = chebyshev_reach(g->table, p, b);
        /* One piece covers nearly every step: then the share is exactly 1. */
        add_means(g, p, end, (end - p) / (b - a), means);
        p = end;
    }
    for (int j = 0; j < GRADIENT_POWERS; j++)
        integrals[j] += s.length * 2.0 / (a + b) * means[j];
}

static void read_pressure(const struct gradient *g, double anchor, double dz,
                          struct gradient_values *out)
{
    struct walk w = walk_start(&g->pressure, g->square, anchor, dz);
    for (int j = 0; j < GRADIENT_POWERS; j++)
        out->rho_dz[j] = 0.0;
    while (w.left > 0.0)
        add_density(g, walk_on(&w), out->rho_dz);
    /* A point of the law is itself, not the root of its square. */
    const int last = w.next - 1;
    const int here = last >= 0 ? last : 0;
    out->pressure = w.at == g->square[here] ? g->pressure.value[here] : sqrt(w.at);
    out->rho = density(g, out->pressure);
}

static void read_radius(const struct gradient *g, double anchor, double dz,
                        struct gradient_values *out)
{
    struct walk w = walk_start(&g->radius, g->radius.value, anchor, dz);
    out->inverse_square_dz = 0.0;
    out->inverse_cube_dz = 0.0;
    out->inverse_fourth_dz = 0.0;
    while (w.left > 0.0) {
        const struct stretch s = walk_on(&w);
        const double product = s.from * s.to;
        out->inverse_square_dz += s.length / product;
        out->inverse_cube_dz += s.length * 0.5 * (s.from + s.to) / (product * product);
        const double squares = s.from * s.from + product + s.to * s.to;
        out->inverse_fourth_dz += s.length * squares / (3.0 * product * product * product);
    }
    out->radius = w.at;
}

/* Ratio of the radii of a panel, at most. */
#define PANEL_RATIO 1.2

/* Integral of rho radius^-2 over a stretch of both laws: over the pressure, as add_density, in
 * panels of the length, in each of which the radius changes little. */
static double mixed_integral(const struct gradient *g, struct stretch square,
                             struct stretch radius)
{
    const double ratio = fabs(log(radius.to / radius.from)) / log(PANEL_RATIO);
    const int panels = 1 + (int)ratio;
    const double each = 1.0 / panels;
    double sum = 0.0;
    for (int i = 0; i < panels; i++) {
        const double a = sqrt(square.from + each * i * (square.to - square.from));
        const double b = i + 1 == panels
                             ? sqrt(square.to)
                             : sqrt(square.from + each * (i + 1) * (square.to - square.from));
        for (int k = 0; k < 2 * RULE - 1; k++) {
            const int node = k < RULE ? k : k - RULE + 1;
            /* share of the pressures, and of the length, of the panel */
            const double t = 0.5 + (k < RULE ? 0.5 : -0.5) * rule_node[node];
            const double p = a + t * (b - a);
            const double x = a + b > 0.0 ? t * (p + a) / (a + b) : t;
            const double r = radius.from + each * (i + x) * (radius.to - radius.from);
            const double speed = a + b > 0.0 ? 2.0 * p / (a + b) : 1.0; /* dx/dt */
            sum += 0.5 * rule_weight[node] * speed * density(g, p) / (r * r);
        }
    }
    return square.length * each * sum;
}

/* Distance to the next point of a law. */
static double walk_room(const struct walk *w)
{
    return w->next < w->points->count ? w->points->z[w->next] - w->z : (double)INFINITY;
}

/* Both laws, from one kink of either to the next. */
static double read_mixed(const struct gradient *g, double anchor, double dz)
{
    struct walk pressure = walk_start(&g->pressure, g->square, anchor, 0.0);
    struct walk radius = walk_start(&g->radius, g->radius.value, anchor, 0.0);
    double left = dz;
    double sum = 0.0;
    while (left > 0.0) {
        const double piece = fmin(left, fmin(walk_room(&pressure), walk_room(&radius)));
        pressure.left = radius.left = piece;
        const struct stretch square = walk_on(&pressure);
        sum += mixed_integral(g, square, walk_on(&radius));
        left -= piece;
    }
    return sum;
}

void gradient_read(const struct gradient *gradient, double anchor, const double *dz, int n,
                   struct gradient_values *out)
{
    const bool mixed = gradient->pressure.count > 1 && gradient->radius.count > 1;
    for (int i = 0; i < n; i++) {
        read_pressure(gradient, anchor, dz[i], &out[i]);
        read_radius(gradient, anchor, dz[i], &out[i]);
        out[i].rho_inverse_square_dz = mixed ? read_mixed(gradient, anchor, dz[i]) : 0.0;
    }
}
