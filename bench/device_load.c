/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rows of bench/device_case.h are: guide, gas, pulses. */
#include <math.h>
#include <string.h>

#include "bench/device_case.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/ionisation.h"
#include "kernels/numeric/taps.h"

#define PI       3.14159265358979323846
#define DT       5e-17
#define RADIUS   125e-6
#define LAMBDA   800e-9
#define PEAK     2.6e10 /* V/m */
#define DURATION 7.5e-15
#define HE11     2.404825557695773
#define WALL     1.45
#define SIDE     4

/* 1 from 90 nm to 4 um, less outside, 0 where the state ends. */
static double band_at(double w)
{
    const double low = 2.0 * PI * PULSE_C / 4e-6;
    const double high = 2.0 * PI * PULSE_C / 90e-9;
    if (w < low)
        return w < 0.5 * low ? 0.0 : (2.0 * w / low - 1.0) * (2.0 * w / low - 1.0);
    return w <= high ? 1.0 : fmax(0.0, (1.1 * high - w) / (0.1 * high));
}

/* Guide, and a gas whose index falls with the wavelength squared; the frame follows the pulse.
 */
static void linear_at(double w, double *li, double *lr)
{
    const double w0 = 2.0 * PI * PULSE_C / LAMBDA;
    const double nu = (WALL * WALL + 1.0) / (2.0 * sqrt(WALL * WALL - 1.0));
    const double guide = PULSE_C * HE11 * HE11 / (2.0 * RADIUS * RADIUS);
    const double gas = 1.1e-7 / (w0 * w0); /* of chi/2 at 800 nm, times (w/w0)^2 */
    *li = guide * (1.0 / w + w / (w0 * w0)) - w / PULSE_C * gas * (w * w - 3.0 * w0 * w0);
    *lr = -nu * HE11 * HE11 * PULSE_C * PULSE_C / (RADIUS * RADIUS * RADIUS * w * w);
}

static int upload_rows(struct device_run *run, void *to, const double *row, long count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    for (long r = 0; r < run->c.rows; r++)
        TRY(run->be->ops->upload(run->be, (char *)to + (size_t)r * bytes, row, bytes));
    return 0;
}

/* L, prefactor and window, alike in all rows. */
static int load_tables(struct device_run *run)
{
    const long n = run->c.points;
    const long most = 2 * run->ld > run->ld_real ? 2 * run->ld : run->ld_real;
    double *row;
    int rc = 0;
    TRY(MEM_NEW(2 * most, &row));
    double *const second = row + most;
    for (long k = 1; k < run->bins; k++) {
        const double w = 2.0 * PI * (double)k / ((double)n * DT);
        if (band_at(w) > 0.0)
            linear_at(w, &row[k], &second[k]);
    }
    TRY_OR(rc, done, upload_rows(run, run->li, row, run->ld));
    TRY_OR(rc, done, upload_rows(run, run->lr, second, run->ld));
    memset(row, 0, 2 * (size_t)most * sizeof *row);
    for (long k = 0; k < run->bins; k++) {
        const double w = 2.0 * PI * (double)k / ((double)n * DT);
        row[run->ld + k] = -w / (2.0 * PULSE_EPS0 * PULSE_C) * band_at(w) / (double)n;
    }
    TRY_OR(rc, done, upload_rows(run, run->slot[SLOT_PRE], row, 2 * run->ld));
    for (long i = 0; i < n; i++) {
        const double x = fmin((double)i, (double)(n - i)) / (double)n;
        const double s = x < 0.1 ? sin(0.5 * PI * x / 0.1) : 1.0;
        row[i] = s * s;
    }
    TRY_OR(rc, done, upload_rows(run, run->window, row, run->ld_real));
done:
    mem_free(row);
    return rc;
}

/* Pulses as samples, then their spectra over n, cut to the band, as states. */
static int load_states(struct device_run *run)
{
    const struct backend_ops *const ops = run->be->ops;
    const long n = run->c.points;
    const double w0 = 2.0 * PI * PULSE_C / LAMBDA;
    double *row;
    cplx *spectrum = NULL;
    int rc = 0;
    TRY(MEM_NEW(run->ld_real + 2 * run->ld, &row));
    double *const split = row + run->ld_real;
    TRY_OR(rc, done, MEM_NEW(run->ld_spec, &spectrum));
    for (long r = 0; r < run->c.rows; r++) {
        const double peak = PEAK * (1.0 + 0.02 * (double)(r % 8));
        for (long i = 0; i < n; i++) {
            const double t = ((double)i - 0.5 * (double)n) * DT;
            row[i] =
                peak * exp(-2.0 * log(2.0) * (t / DURATION) * (t / DURATION)) * cos(w0 * t);
        }
        TRY_OR(rc, done,
               ops->upload(run->be, run->samples + r * run->ld_real, row,
                           (size_t)n * sizeof *row));
        const struct fft_rows rows = {
            run->samples, run->ld_real, run->spectrum, run->ld_spec, r, 1, NULL};
        TRY_OR(rc, done, ops->fft_execute(run->be, run->forward, &rows));
        TRY_OR(rc, done,
               ops->download(run->be, spectrum, run->spectrum + r * run->ld_spec,
                             (size_t)run->ld_spec * sizeof *spectrum));
        for (long k = 0; k < run->bins; k++)
            split_set(split, run->ld, k,
                      cplx_scale(band_at(2.0 * PI * (double)k / ((double)n * DT)) / (double)n,
                                 spectrum[k]));
        TRY_OR(rc, done,
               ops->upload(run->be, run->slot[SLOT_Y] + 2 * r * run->ld, split,
                           2 * (size_t)run->ld * sizeof *split));
    }
done:
    mem_free(row);
    mem_free(spectrum);
    return rc;
}

static int load_rate(struct device_run *run)
{
    const struct rate_request request = {
        .kind = RATE_ADK, .gas = GAS_HE, .occupancy = 1.0, .adk_floor = 700.0};
    struct ionisation adk;
    struct column_rate *rates;
    struct taps taps;
    TRY(ionisation_init(&adk, &request));
    if (run->c.rule == DEVICE_BAND)
        TRY(taps_band(SIDE, 0.4 * PI, &taps));
    else
        taps_none(&taps);
    run->side = taps.side;
    double tap[COLUMN_SIDE_MAX + 1] = {0.0};
    memcpy(tap, taps.tap, (size_t)(taps.side + 1) * sizeof tap[0]);
    TRY(upload_rows(run, run->taps, tap, COLUMN_SIDE_MAX + 1));
    TRY(MEM_NEW(run->c.rows, &rates));
    int rc = 0;
    for (long r = 0; r < run->c.rows; r++) {
        rates[r] = (struct column_rate){.cutoff = nextafter(adk.threshold, (double)INFINITY),
                                        .ceiling = adk.ceiling,
                                        .top = ionisation_rate(&adk, adk.ceiling, NULL)};
        TRY_OR(rc, done, ionisation_adk(&adk, rates[r].adk));
    }
    rc = run->be->ops->upload(run->be, run->rate, rates, (size_t)run->c.rows * sizeof rates[0]);
done:
    mem_free(rates);
    return rc;
}

int device_load(struct device_run *run)
{
    TRY(load_tables(run));
    TRY(load_rate(run));
    return load_states(run);
}
