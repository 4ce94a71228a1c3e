/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/earlier.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/numeric/host_fft.h"

#define GRID_TOLERANCE bound(BOUND_same_grid)
#define CUT_MAX        1e-3              /* of the energy */
#define FWHM_PER_RMS   2.354820045030949 /* 2 sqrt(2 ln 2): a Gaussian */

static bool is_close(double a, double b)
{
    return fabs(a - b) <= GRID_TOLERANCE * fabs(b);
}

/* The bins of a plane: of an envelope negative ones too. */
struct bins {
    const double *values; /* [n][2] */
    long low, high;       /* [low, high) */
    long n;
};

static struct bins bins_of(const struct data_set *set, bool real)
{
    const struct data_array *field = data_find(set, "field");
    const long n = field->length[0];
    const long below = real ? 0 : n / 2;
    return (struct bins){field->real, -below, n - below, n};
}

/* Amplitude of a signed bin; 0 beyond the plane's band. */
static cplx amplitude(const struct bins *b, long bin)
{
    const long k = bin >= 0 ? bin : bin + b->n;
    if (bin < b->low || bin >= b->high)
        return cplx_make(0.0, 0.0);
    return cplx_make(b->values[2 * k], b->values[2 * k + 1]);
}

/* Share of the energy in bins outside of [low, high). */
static double share_cut(const struct bins *b, long low, long high)
{
    double whole = 0.0;
    double outside = 0.0;
    for (long bin = b->low; bin < b->high; bin++) {
        const double part = cplx_abs2(amplitude(b, bin));
        whole += part;
        outside += bin < low || bin >= high ? part : 0.0;
    }
    return whole > 0.0 ? outside / whole : 0.0;
}

/* Sum of |a|^2 over bins [low, high), and 2.355 times the rms duration. */
static double moments(const struct bins *b, long low, long high, double width, double *duration)
{
    double sum = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (long bin = low; bin < high; bin++) {
        const cplx a = amplitude(b, bin);
        /* (-1)^k a_k has its time 0 in the middle of the window */
        const cplx step = cplx_scale(-1.0 / width, cplx_add(amplitude(b, bin + 1), a));
        sum += cplx_abs2(a);
        first += a.r * step.i - a.i * step.r;
        second += cplx_abs2(step);
    }
    const double mean = sum > 0.0 ? first / sum : 0.0;
    *duration = FWHM_PER_RMS * sqrt(fmax(sum > 0.0 ? second / sum - mean * mean : 0.0, 0.0));
    return sum;
}

/* The plane's axis, when it has what a plane has. */
static int find_axis(const struct data_set *set, const struct data_array **omega)
{
    const struct data_array *field = data_find(set, "field");
    *omega = data_find(set, "omega");
    if (*omega == NULL || field == NULL || field->dims != 2 || (*omega)->length[0] < 2
        || (*omega)->length[0] != field->length[0])
        FAIL(ERR_ARGUMENT, "input.from: the plane has no field over omega");
    return 0;
}

/* Envelopes */

int earlier_check(const struct data_set *set, const struct measured_grid *grid, double *cut)
{
    const struct data_array *omega;
    TRY(find_axis(set, &omega));
    const struct bins bins = bins_of(set, false);
    const double reference = omega->real[0];
    const double window = 2.0 * PULSE_PI / (omega->real[1] - reference);
    if (!is_close(window, grid->window) || !is_close(reference, grid->omega0))
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has a window of %.10g s around %.10g m, the scan %.10g s "
             "around %.10g m; both must be the same, only the number of points may differ",
             window, 2.0 * PULSE_PI * PULSE_C / reference, grid->window,
             2.0 * PULSE_PI * PULSE_C / grid->omega0);
    *cut = share_cut(&bins, -(grid->n / 2), grid->n - grid->n / 2);
    if (*cut > CUT_MAX)
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has %ld points, the scan %ld, whose band cuts off %.2g of "
             "the energy; accepted: at most %g",
             omega->length[0], grid->n, *cut, CUT_MAX);
    return 0;
}

void earlier_look(const struct data_set *set, const struct measured_grid *grid, double *energy,
                  double *duration)
{
    const struct bins bins = bins_of(set, false);
    const double width = 2.0 * PULSE_PI / grid->window;
    *energy = grid->window * moments(&bins, -(grid->n / 2), grid->n / 2, width, duration);
}

void earlier_fill(const struct data_set *set, const struct measured_grid *grid, cplx *out)
{
    const struct bins bins = bins_of(set, false);
    for (long k = 0; k < grid->n; k++)
        out[k] = amplitude(&bins, pulse_bin(k, grid->n));
}

/* Real fields */

static double real_window(const struct data_set *set)
{
    return 2.0 * PULSE_PI / data_find(set, "omega")->real[1];
}

/* Coarse samples of a plane. */
static long real_samples(const struct data_set *set)
{
    return 2 * (data_find(set, "field")->length[0] - 1);
}

/* Samples of a plane that another window has room for. */
static int samples_inside(const struct data_set *set, const struct real_grid *grid, long *out)
{
    const double window = real_window(set);
    const long n = real_samples(set);
    const double room = (double)n * grid->window / window;
    if (!(room <= PULSE_GRID_MAX))
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has a window of %.10g s, the scan of %.10g s, too many of "
             "its samples; at most %d are supported",
             window, grid->window, PULSE_GRID_MAX);
    long whole = 2 * (long)fmax(round(room / 2.0), 1.0);
    while (!pulse_grid_smooth(whole))
        whole += 2;
    if (!(fabs(room - (double)whole) <= GRID_TOLERANCE * room))
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has a window of %.10g s with %ld samples, the scan one of "
             "%.10g s; accepted: the same, or one that holds an even 2^a 3^b 5^c 7^d of these "
             "samples, say %.10g s",
             window, n, grid->window, (double)whole * window / (double)n);
    *out = whole;
    return 0;
}

/* The samples A(t_j) of a plane. @param a [real_samples] */
static int make_samples(const struct data_set *set, cplx *a)
{
    const struct bins bins = bins_of(set, true);
    const long n = real_samples(set);
    struct host_fft *fft = NULL;
    for (long k = 0; k <= n / 2; k++) {
        const cplx value = amplitude(&bins, k);
        const bool paired = k > 0 && 2 * k < n;
        a[k] = paired ? value : cplx_make(value.r, 0.0);
        if (paired)
            a[n - k] = cplx_make(value.r, -value.i);
    }
    TRY(host_fft_create(n, &fft));
    const int rc = host_fft_execute(fft, false, a);
    host_fft_destroy(fft);
    return rc;
}

/* Share of the energy in samples beyond the middle `room` ones. */
static int share_outside(const struct data_set *set, long room, double *out)
{
    cplx *a = NULL;
    const long n = real_samples(set);
    const long before = (n - room) / 2;
    double whole = 0.0;
    double outside = 0.0;
    TRY(MEM_NEW(n, &a));
    const int rc = make_samples(set, a);
    for (long j = 0; j < n; j++) {
        const double part = a[j].r * a[j].r;
        whole += part;
        outside += j < before || j >= before + room ? part : 0.0;
    }
    *out = whole > 0.0 ? outside / whole : 0.0;
    mem_free(a);
    return rc;
}

/* The plane's first bin at or above bin k of another grid; a hair of rounding is none. */
static long bin_from(const struct data_set *set, const struct real_grid *grid, long k)
{
    return (long)ceil((double)k * real_window(set) / grid->window * (1.0 - GRID_TOLERANCE));
}

int earlier_real_check(const struct data_set *set, const struct real_grid *grid, double *cut)
{
    const struct data_array *omega;
    double late = 0.0;
    long room = 0;
    TRY(find_axis(set, &omega));
    if (omega->real[0] != 0.0 || !(omega->real[1] > 0.0))
        FAIL(ERR_ARGUMENT, "input.from: the plane holds no real field: omega begins at %g",
             omega->real[0]);
    const struct bins bins = bins_of(set, true);
    if (!is_close(real_window(set), grid->window)) {
        TRY(samples_inside(set, grid, &room));
        if (room < real_samples(set))
            TRY(share_outside(set, room, &late));
    }
    const long low = bin_from(set, grid, grid->first);
    const double off = share_cut(&bins, low, bin_from(set, grid, grid->last));
    *cut = late + off;
    if (*cut > CUT_MAX)
        FAIL(ERR_ARGUMENT,
             "input.from: the scan's window cuts off %.2g of the plane's energy, its band "
             "%.2g; accepted: at most %g of both",
             late, off, CUT_MAX);
    return 0;
}

void earlier_real_look(const struct data_set *set, double *energy, double *duration)
{
    const struct bins bins = bins_of(set, true);
    const double window = real_window(set);
    *energy = 4.0 * window * moments(&bins, 0, bins.high, 2.0 * PULSE_PI / window, duration);
}

/* The samples in the middle of another window, and their bins. */
static int fill_other(const struct data_set *set, const struct real_grid *grid, cplx *out)
{
    struct host_fft *fft = NULL;
    cplx *samples = NULL;
    cplx *a = NULL;
    int rc = 0;
    long room = 0;
    const long n = real_samples(set);
    TRY(samples_inside(set, grid, &room));
    TRY_OR(rc, done, MEM_NEW(n, &samples));
    TRY_OR(rc, done, MEM_NEW(room, &a));
    TRY_OR(rc, done, make_samples(set, samples));
    TRY_OR(rc, done, host_fft_create(room, &fft));
    for (long j = 0; j < room; j++) {
        const long from = j + (n - room) / 2; /* both are even */
        a[j] = cplx_make(from >= 0 && from < n ? samples[from].r / (double)room : 0.0, 0.0);
    }
    TRY_OR(rc, done, host_fft_execute(fft, true, a));
    for (long k = grid->first; k < grid->last && 2 * k < room; k++)
        out[k] = a[k];
done:
    host_fft_destroy(fft);
    mem_free(samples);
    mem_free(a);
    return rc;
}

int earlier_real_fill(const struct data_set *set, const struct real_grid *grid, cplx *out)
{
    const struct bins bins = bins_of(set, true);
    memset(out, 0, (size_t)real_grid_bins(grid) * sizeof *out);
    if (!is_close(real_window(set), grid->window))
        return fill_other(set, grid, out);
    for (long k = grid->first; k < grid->last; k++)
        out[k] = amplitude(&bins, k);
    return 0;
}
