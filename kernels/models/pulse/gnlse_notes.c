/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_notes.h"

#include <math.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/note.h"

/* Zero-dispersion wavelengths that are reported at most. */
#define ZDW_MAX 3

/* T0 of the shape: sech(t/T0), exp(-t^2/(2 T0^2)) of the amplitude. */
static double pulse_t0(const struct gnlse_point *point)
{
    if (point->shape == PULSE_SECH)
        return point->duration / (2.0 * log(1.0 + sqrt(2.0)));
    return point->duration / (2.0 * sqrt(log(2.0)));
}

/* Derivative of order 2 of B(Omega), s^2/m. */
static double dispersion(const struct gnlse_point *point, double omega)
{
    double power = 1.0;
    double sum = 0.0;
    for (int i = 0; i < point->betas; i++) {
        sum += point->beta[i] * power;
        power *= omega / (double)(i + 1);
    }
    return sum;
}

static double bisect_dispersion(const struct gnlse_point *point, double a, double b)
{
    const double sign = dispersion(point, a);
    for (int i = 0; i < 80; i++) {
        const double middle = 0.5 * (a + b);
        if ((dispersion(point, middle) < 0.0) == (sign < 0.0))
            a = middle;
        else
            b = middle;
    }
    return 0.5 * (a + b);
}

static void note_zero_dispersion(const struct gnlse_point *point, struct plane_layout *out)
{
    const double half = PULSE_PI / point->dt;
    const double low = fmax(-half, -0.99 * point->omega0);
    const int pieces = 2000;
    int found = 0;
    for (int i = 0; i < pieces && found < ZDW_MAX; i++) {
        const double a = low + (half - low) * (double)i / pieces;
        const double b = low + (half - low) * (double)(i + 1) / pieces;
        if ((dispersion(point, a) < 0.0) == (dispersion(point, b) < 0.0))
            continue;
        const double omega = bisect_dispersion(point, a, b);
        pulse_note(out, "zero-dispersion wavelength", "m",
                   2.0 * PULSE_PI * PULSE_C / (point->omega0 + omega));
        found++;
    }
}

static void note_lengths(const struct gnlse_point *point, struct plane_layout *out)
{
    const double t0 = pulse_t0(point);
    const double beta2 = point->betas > 0 ? point->beta[0] : 0.0;
    const double strength = fabs(point->gamma) * point->peak_power;
    if (beta2 != 0.0)
        pulse_note(out, "dispersion length", "m", t0 * t0 / fabs(beta2));
    if (strength > 0.0)
        pulse_note(out, "nonlinear length", "m", 1.0 / strength);
    if (beta2 == 0.0 || strength == 0.0)
        return;
    const double order = sqrt(strength * t0 * t0 / fabs(beta2));
    struct layout_note *number = pulse_note(out, "soliton number", "1", order);
    if (beta2 * point->gamma > 0.0)
        pulse_note_warn(
            number, "beta2 and gamma have the same sign at the reference: no solitons there");
    else if (order > 0.5)
        pulse_note(out, "soliton fission length", "m", t0 * t0 / fabs(beta2) / order);
}

static void note_time_grid(const struct gnlse_point *point, struct plane_layout *out)
{
    const double samples = point->duration / point->dt;
    struct layout_note *fine = pulse_note(out, "samples per pulse duration", "1", samples);
    if (samples < 8.0)
        pulse_note_warn(fine,
                        "the pulse has %.2g samples over its duration; use at least 8: more "
                        "points or a shorter window",
                        samples);
    const double room = point->window / point->duration;
    struct layout_note *wide = pulse_note(out, "window per pulse duration", "1", room);
    if (room < 10.0)
        pulse_note_warn(wide, "the window is %.2g durations; use at least 10", room);
    const double t0 = pulse_t0(point);
    const double beta2 = point->betas > 0 ? fabs(point->beta[0]) : 0.0;
    const double order =
        beta2 > 0.0 ? sqrt(fabs(point->gamma) * point->peak_power * t0 * t0 / beta2) : 0.0;
    const double walk = beta2 * point->length * (1.0 + order) / t0;
    struct layout_note *drift = pulse_note(out, "dispersive walk-off", "s", walk);
    if (walk > point->window / 2.0)
        pulse_note_warn(drift,
                        "light spreads over more than half of the window of %.3g s; it wraps "
                        "around at the edges",
                        point->window);
    if (!point->raman)
        return;
    struct layout_note *raman =
        pulse_note(out, "Raman time per sample", "1", point->tau1 / point->dt);
    if (point->tau1 < 2.0 * point->dt)
        pulse_note_warn(raman, "the Raman oscillation is not resolved: use dt below %.3g s",
                        point->tau1 / 2.0);
}

static void note_band(const struct gnlse_point *point, struct plane_layout *out)
{
    const double half = PULSE_PI / point->dt;
    const double lowest = point->omega0 - half;
    struct layout_note *low =
        pulse_note(out, "lowest frequency of the band", "rad s^-1", lowest);
    if (lowest <= 0.0)
        pulse_note_warn(
            low, "the band reaches frequencies at or below zero; fewer points or a longer "
                 "window would avoid it");
    pulse_note(out, "shortest wavelength of the band", "m",
               2.0 * PULSE_PI * PULSE_C / (point->omega0 + half));
    double phase = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        double term = 1.0;
        double sum = 0.0;
        for (int i = -2; i < point->betas; i++) {
            sum += i >= 0 ? point->beta[i] * term : 0.0;
            term *= (double)side * half / (double)(i + 3);
        }
        phase = fmax(phase, fabs(sum) * point->length);
    }
    struct layout_note *turns =
        pulse_note(out, "dispersive phase at the band edge", "rad", phase);
    if (phase > 1e8)
        pulse_note_warn(turns, "rounding of so large a phase costs accuracy: the dispersion "
                               "coefficients may not hold over this band");
}

void gnlse_notes(const struct gnlse_point *point, struct plane_layout *out)
{
    pulse_note(out, "pulse energy", "J", point->energy);
    pulse_note(out, "peak power", "W", point->peak_power);
    note_lengths(point, out);
    note_zero_dispersion(point, out);
    note_time_grid(point, out);
    note_band(point, out);
}

int gnlse_transforms(const struct gnlse_point *point)
{
    return 2 + (point->raman ? 2 : 0) + (point->absorber ? 1 : 0);
}

/* Nonlinear phase over the fibre times the steps a radian that the supercontinuum case takes at
 * rtol 1e-6 (18), scaled as observed with the tolerance. */
double gnlse_predicted_rhs(const struct gnlse_point *point)
{
    const double phase = fabs(point->gamma) * point->peak_power * point->length;
    return 1.0 + 6.0 * (1.0 + 18.0 * phase * pow(1e-6 / point->step.rtol, 0.25));
}
