/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"

static const double light_speed = 299792458.0; /* m/s, exact (SI) */
static const double two_pi = 6.283185307179586477;

/*
 * With a = fft(A)/n and |A|^2 a power, the energy is T sum |a_k|^2 and each bin is
 * d(omega) = 2 pi/T wide: dE/d(omega) = |a|^2 T^2/(2 pi). The other densities follow from
 * omega = 2 pi nu and omega = 2 pi c/lambda, d(omega)/d(lambda) = omega^2/(2 pi c).
 */
static const struct {
    const char *name;
    const char *per;
    const char *symbol;
    double unit; /* SI value of one unit shown */
} kinds[] = {
    [X_WAVELENGTH] = {"wavelength (nm)", "nm", "nm", 1e-9},
    [X_FREQUENCY] = {"frequency (THz)", "THz", "THz", 1e12},
    [X_OMEGA] = {"angular frequency (rad/fs)", "(rad/fs)", "rad/fs", 1e15},
};

static double convert(enum plot_x x, double omega)
{
    const double si = x == X_WAVELENGTH  ? two_pi * light_speed / omega
                      : x == X_FREQUENCY ? omega / two_pi
                                         : omega;
    return si / kinds[x].unit;
}

/* d(omega)/dx in rad/s per unit shown. */
static double slope(enum plot_x x, double omega)
{
    const double si = x == X_WAVELENGTH  ? omega * omega / (two_pi * light_speed)
                      : x == X_FREQUENCY ? two_pi
                                         : 1;
    return si * kinds[x].unit;
}

struct bin {
    double omega;
    long index;
};

static int compare_bins(const void *a, const void *b)
{
    const double left = ((const struct bin *)a)->omega;
    const double right = ((const struct bin *)b)->omega;
    return (left > right) - (left < right);
}

static long sort_bins(const double *omega, long n, struct bin *bins)
{
    long count = 0;
    for (long k = 0; k < n; k++)
        if (omega[k] > 0)
            bins[count++] = (struct bin){omega[k], k};
    qsort(bins, (size_t)count, sizeof *bins, compare_bins);
    return count;
}

/* Whether a spectrum holds the non-negative frequencies of a real field. */
static bool is_one_sided(const double *omega, long n)
{
    for (long k = 1; k < n; k++)
        if (omega[k] <= omega[k - 1])
            return false;
    return n > 1 && omega[0] == 0;
}

/* @param bin_energy of |a|^2 = 1, in windows: 1, or 4 where it stands for the analytic signal 2
 * a */
static int fill_axis(const struct bin *bins, long count, double bin_energy, enum plot_x x,
                     struct plot_axis *out)
{
    TRY(MEM_NEW(count, &out->index));
    TRY(MEM_NEW(count, &out->x));
    TRY(MEM_NEW(count, &out->density));
    const double spacing = (bins[count - 1].omega - bins[0].omega) / (double)(count - 1);
    const double window = two_pi / spacing;
    out->n = count;
    for (long i = 0; i < count; i++) {
        /* short wavelengths are high frequencies: turn the order round */
        const struct bin *bin = &bins[x == X_WAVELENGTH ? count - 1 - i : i];
        out->index[i] = bin->index;
        out->x[i] = convert(x, bin->omega);
        out->density[i] = bin_energy * window * window / two_pi * slope(x, bin->omega);
    }
    out->name = kinds[x].name;
    out->per = kinds[x].per;
    out->unit = kinds[x].symbol;
    return 0;
}

int plot_axis_init(struct plot_source *source, int64_t member, enum plot_x x,
                   struct plot_axis *out)
{
    double *omega = NULL;
    struct bin *bins = NULL;
    long n = 0;
    int rc = 0;
    *out = (struct plot_axis){0};
    TRY(plot_source_scale(source, "omega", member, &omega, &n));
    TRY_OR(rc, done, MEM_NEW(n, &bins));
    const long count = sort_bins(omega, n, bins);
    if (count < 2)
        rc = status_fail(ERR_ARGUMENT,
                         "%s: has %ld bins of positive frequency; a spectrum "
                         "needs 2",
                         source->path, count);
    else
        rc = fill_axis(bins, count, is_one_sided(omega, n) ? 4 : 1, x, out);
done:
    mem_free(bins);
    mem_free(omega);
    if (rc != 0)
        plot_axis_clear(out);
    return rc;
}

void plot_axis_clear(struct plot_axis *axis)
{
    mem_free(axis->index);
    mem_free(axis->x);
    mem_free(axis->density);
    *axis = (struct plot_axis){0};
}

void plot_axis_density(const struct plot_axis *axis, const double *power, double *density)
{
    for (long i = 0; i < axis->n; i++)
        density[i] = power[axis->index[i]] * axis->density[i];
}

struct plot_window plot_find_window(long n, const double *x, const double *y, double range)
{
    double top = 0;
    for (long i = 0; i < n; i++)
        if (isfinite(y[i]))
            top = fmax(top, y[i]);
    const double floor_value = top * pow(10, -range / 10);
    struct plot_window w = {(double)INFINITY, -(double)INFINITY};
    for (long i = 0; i < n; i++) {
        if (!(y[i] >= floor_value) || top <= 0)
            continue;
        w.low = fmin(w.low, x[i]);
        w.high = fmax(w.high, x[i]);
    }
    if (!(w.high > w.low)) /* nothing there, or a single line: show all */
        return (struct plot_window){x[0], x[n - 1]};
    const double margin = 0.04 * (w.high - w.low);
    w.low = fmax(w.low - margin, x[0]);
    w.high = fmin(w.high + margin, x[n - 1]);
    return w;
}

static double interpolate(const double *x, const double *y, long i, double at)
{
    const double part = (at - x[i]) / (x[i + 1] - x[i]);
    return y[i] + part * (y[i + 1] - y[i]);
}

void plot_resample(long n, const double *x, const double *y, struct plot_window window,
                   long pixels, double *out)
{
    const double width = (window.high - window.low) / (double)pixels;
    long i = 0; /* first sample at or above the pixel's lower edge */
    for (long p = 0; p < pixels; p++) {
        const double low = window.low + width * (double)p;
        const double centre = low + 0.5 * width;
        double sum = 0;
        long count = 0;
        while (i < n && x[i] < low)
            i++;
        for (long j = i; j < n && x[j] < low + width; j++, count++)
            sum += y[j];
        if (count > 0) {
            out[p] = sum / (double)count;
            continue;
        }
        const bool inside = i > 0 && i < n && centre >= x[i - 1] && centre <= x[i];
        out[p] = inside ? interpolate(x, y, i - 1, centre) : (double)NAN;
    }
}

static bool is_root_watt(const char *unit)
{
    return strcmp(unit, "W^0.5") == 0 || strcmp(unit, "sqrt(W)") == 0
           || strcmp(unit, "W^(1/2)") == 0 || strcmp(unit, "W0.5") == 0;
}

void plot_density_label(const struct plot_source *source, const struct plot_axis *axis,
                        double maximum, char *text, size_t size)
{
    const int length = (int)strcspn(axis->name, "(");
    struct text_unit joule;
    text_choose_unit("J", maximum, &joule);
    if (is_root_watt(source->field_unit) && maximum > 0)
        snprintf(text, size, "energy per %.*s(dB, 0 = %.3g %s/%s)", length, axis->name,
                 maximum / joule.scale, joule.unit, axis->per);
    else
        snprintf(text, size, "spectral density per %.*s(dB, 0 = maximum)", length, axis->name);
}
