/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/taps.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/base/status.h"

#define UNKNOWNS (TAPS_SIDE_MAX + 2) /* coefficients and the error */
#define GRID     4000 /* samples of the band: an extremum is met within 1e-6 of it */
#define ROUNDS   60
#define NOISE    5e-18L /* rounding of the error on the grid, a few units of long double */

static const long double pi = 3.14159265358979323846264338327950288L;

/* g = tan(theta/2)/(theta/2) */
static long double wanted(long double theta)
{
    const long double half = 0.5L * theta;
    return half > 1e-10L ? tanl(half) / half : 1.0L;
}

/* Sample i of the band; they crowd at both ends, as the extrema do: edge (1 - cos(pi
 * i/GRID))/2, by the sine of at most pi/4, which needs no reduction. */
static long double grid_theta(long double edge, int i)
{
    const int near = i <= GRID / 2 ? i : GRID - i;
    const long double sine = sinl(0.5L * pi * (long double)near / (long double)GRID);
    return edge * (i <= GRID / 2 ? sine * sine : 1.0L - sine * sine);
}

/* cos theta and g of a sample, both by the half angle, which is small in most bands. */
static void sample(long double theta, long double *cosine, long double *g)
{
    const long double half = 0.5L * theta;
    const long double sine = sinl(half);
    *cosine = 1.0L - 2.0L * sine * sine;
    *g = half > 1e-10L ? sine / cosl(half) / half : 1.0L;
}

/* The fit as a sum over Chebyshev polynomials of x = cos theta, stretched to the band: those
 * are far from dependent, however small the band is. */
struct fit {
    int side;
    long double edge;
    long double scale, shift;    /* stretched x = scale cos theta + shift, in [-1, 1] */
    long double a[UNKNOWNS];     /* coefficients, then the levelled error */
    long double at[UNKNOWNS];    /* reference points */
    long double error[GRID + 1]; /* c/g - 1 on the grid */
    long double x[GRID + 1];     /* stretched, of the grid */
    long double g[GRID + 1];
};

static long double stretched(const struct fit *f, long double theta)
{
    return f->scale * cosl(theta) + f->shift;
}

/* T_0 … T_side at x. */
static void chebyshev_row(int side, long double x, long double *row)
{
    row[0] = 1.0L;
    row[1] = x;
    for (int j = 2; j <= side; j++)
        row[j] = 2.0L * x * row[j - 1] - row[j - 2];
}

/* Solve m a = b of n unknowns, rows exchanged; 0 when singular. */
static int solve(long double m[UNKNOWNS][UNKNOWNS], long double *b, int n)
{
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k + 1; i < n; i++)
            top = fabsl(m[i][k]) > fabsl(m[top][k]) ? i : top;
        if (m[top][k] == 0.0L)
            return 0;
        for (int j = 0; j < n; j++) {
            const long double kept = m[k][j];
            m[k][j] = m[top][j];
            m[top][j] = kept;
        }
        const long double kept = b[k];
        b[k] = b[top];
        b[top] = kept;
        for (int i = k + 1; i < n; i++) {
            const long double factor = m[i][k] / m[k][k];
            for (int j = k; j < n; j++)
                m[i][j] -= factor * m[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= m[k][j] * b[j];
        b[k] /= m[k][k];
    }
    return 1;
}

/* Coefficients whose relative error is +-E in turns at the reference points. */
static int level(struct fit *f)
{
    const int n = f->side + 2;
    long double m[UNKNOWNS][UNKNOWNS] = {{0.0L}};
    for (int i = 0; i < n; i++) {
        const long double g = wanted(f->at[i]);
        chebyshev_row(f->side, stretched(f, f->at[i]), m[i]);
        for (int j = 0; j <= f->side; j++)
            m[i][j] /= g;
        m[i][n - 1] = i % 2 == 0 ? 1.0L : -1.0L;
        f->a[i] = 1.0L;
    }
    return solve(m, f->a, n);
}

/* At a sample of the grid. */
static long double relative_error(const struct fit *f, int i)
{
    long double row[UNKNOWNS];
    long double sum = 0.0L;
    chebyshev_row(f->side, f->x[i], row);
    for (int j = 0; j <= f->side; j++)
        sum += f->a[j] * row[j];
    return sum / f->g[i] - 1.0L;
}

/* The largest errors of alternating sign become the reference; returns the largest, 0 when
 * there are too few. */
static long double exchange(struct fit *f)
{
    const int n = f->side + 2;
    int peak[GRID + 1] = {0};
    int count = 0;
    for (int i = 0; i <= GRID; i++)
        f->error[i] = relative_error(f, i);
    for (int i = 0; i <= GRID; i++) {
        const int same =
            count > 0 && (f->error[i] < 0.0L) == (f->error[peak[count - 1]] < 0.0L);
        if (!same)
            peak[count++] = i;
        else if (fabsl(f->error[i]) > fabsl(f->error[peak[count - 1]]))
            peak[count - 1] = i;
    }
    if (count < n)
        return 0.0L;
    int first = 0;
    for (; count - first > n;) {
        /* The smaller end goes. */
        if (fabsl(f->error[peak[first]]) < fabsl(f->error[peak[count - 1]]))
            first++;
        else
            count--;
    }
    long double largest = 0.0L;
    for (int i = 0; i < n; i++) {
        f->at[i] = grid_theta(f->edge, peak[first + i]);
        largest = fmaxl(largest, fabsl(f->error[peak[first + i]]));
    }
    return largest;
}

/* c_0 … c_side of cos(k theta): T_j(scale x + shift) by its recurrence, with x T_k = (T_(k+1) +
 * T_|k-1|)/2. */
static void to_taps(const struct fit *f, struct taps *out)
{
    long double before[UNKNOWNS] = {0.0L};
    long double now[UNKNOWNS] = {1.0L};
    long double sum[UNKNOWNS] = {0.0L};
    for (int j = 0; j <= f->side; j++) {
        long double next[UNKNOWNS];
        for (int k = 0; k <= f->side; k++) {
            sum[k] += f->a[j] * now[k];
            const long double above = k < f->side ? 0.5L * now[k + 1] : 0.0L;
            const long double below = k == 1 ? now[0] : k > 1 ? 0.5L * now[k - 1] : 0.0L;
            const long double product = f->scale * (above + below) + f->shift * now[k];
            next[k] = j == 0 ? product : 2.0L * product - before[k];
        }
        for (int k = 0; k <= f->side; k++) {
            before[k] = now[k];
            now[k] = next[k];
        }
    }
    out->tap[0] = (double)sum[0];
    for (int k = 1; k <= f->side; k++)
        out->tap[k] = (double)(0.5L * sum[k]);
}

static void describe(struct taps *taps)
{
    taps->norm = fabs(taps->tap[0]);
    for (int k = 1; k <= taps->side; k++)
        taps->norm += 2.0 * fabs(taps->tap[k]);
    taps->certificate = taps_certificate(taps, taps->edge);
}

int taps_band(int side, double edge, struct taps *out)
{
    if (side < 1 || side > TAPS_SIDE_MAX)
        FAIL(ERR_ARGUMENT, "plasma.taps: %d; 1 to %d are accepted", side, TAPS_SIDE_MAX);
    if (!(edge > 0.0 && edge < (double)pi))
        FAIL(ERR_ARGUMENT, "plasma.band: %g; a number between 0 and pi is accepted", edge);
    struct fit f = {.side = side, .edge = (long double)edge};
    f.scale = 2.0L / (1.0L - cosl(f.edge));
    f.shift = 1.0L - f.scale;
    for (int i = 0; i < side + 2; i++)
        f.at[i] = grid_theta(f.edge, GRID * i / (side + 1));
    for (int i = 0; i <= GRID; i++) {
        sample(grid_theta(f.edge, i), &f.x[i], &f.g[i]);
        f.x[i] = f.scale * f.x[i] + f.shift;
    }
    bool levelled = false;
    for (int round = 0; round < ROUNDS && !levelled; round++) {
        if (!level(&f))
            break;
        const long double reached = fabsl(f.a[side + 1]);
        const long double largest = exchange(&f);
        levelled = largest - reached <= 1e-6L * reached + NOISE;
    }
    if (fabsl(f.a[side + 1]) < 20.0L * NOISE)
        FAIL(ERR_ARGUMENT,
             "plasma.taps: %d are more than a band up to %g can use in double precision; take "
             "fewer",
             side, edge);
    if (!levelled)
        FAIL(ERR_ARGUMENT, "plasma.band: no %d taps a side were found for a band up to %g",
             side, edge);
    *out = (struct taps){.side = side, .edge = edge};
    to_taps(&f, out);
    describe(out);
    return 0;
}

void taps_none(struct taps *out)
{
    *out = (struct taps){.tap = {1.0}};
    describe(out);
}

double taps_certificate(const struct taps *taps, double edge)
{
    long double worst = 0.0L;
    for (int i = 0; i <= GRID; i++) {
        long double sum = (long double)taps->tap[0];
        long double row[UNKNOWNS] = {0.0L};
        long double cosine;
        long double g;
        sample(grid_theta((long double)edge, i), &cosine, &g);
        chebyshev_row(taps->side, cosine, row); /* cos(k theta) */
        for (int k = 1; k <= taps->side; k++)
            sum += 2.0L * (long double)taps->tap[k] * row[k];
        worst = fmaxl(worst, fabsl(sum / g - 1.0L));
    }
    return (double)worst;
}

static bool is_smooth(long n)
{
    static const long primes[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

long taps_samples(double omega, double window, double edge)
{
    const double least = omega * window / edge;
    if (!(least < 1e9))
        return 0;
    long n = 2 * (long)ceil(0.5 * least);
    for (n = n < 2 ? 2 : n; !is_smooth(n);)
        n += 2;
    return n;
}
