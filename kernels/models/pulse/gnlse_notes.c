/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_notes.h"

#include <math.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/note.h"

/* Zero-dispersion wavelengths that are reported at most. */
#define ZDW_MAX 3

/* Inverse angular frequency of silica's strongest vibrations, 463 1/cm. */
#define SILICA_TIME 11.5e-15

/* T0 of the shape: sech(t/T0), exp(-t^2/(2 T0^2)) of the amplitude. */
static double pulse_t0(const struct gnlse_point *point)
{
    const struct input_pulse *pulse = &point->pulse[0];
    if (pulse->shape == PULSE_SECH)
        return pulse->duration / (2.0 * log(1.0 + sqrt(2.0)));
    return pulse->duration / (2.0 * sqrt(log(2.0)));
}

/* Derivative of order 2 of B(Omega), s^2/m. */
static double dispersion(const struct gnlse_point *point, double omega)
{
    double power = 1.0;
    double sum = 0.0;
    if (point->table != NULL)
        return dispersion_table_beta2(point->table, omega);
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
    const double beta2 = dispersion(point, 0.0);
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
    const double samples = point->pulse[0].duration / point->dt;
    struct layout_note *fine = pulse_note(out, "samples per pulse duration", "1", samples);
    if (samples < 8.0)
        pulse_note_warn(fine,
                        "the pulse has %.2g samples over its duration; use at least 8: more "
                        "points or a shorter window",
                        samples);
    const double room = point->window / point->pulse[0].duration;
    struct layout_note *wide = pulse_note(out, "window per pulse duration", "1", room);
    if (room < 10.0)
        pulse_note_warn(wide, "the window is %.2g durations; use at least 10", room);
    const double t0 = pulse_t0(point);
    const double beta2 = fabs(dispersion(point, 0.0));
    const double order =
        beta2 > 0.0 ? sqrt(fabs(point->gamma) * point->peak_power * t0 * t0 / beta2) : 0.0;
    const double walk = beta2 * point->length * (1.0 + order) / t0;
    struct layout_note *drift = pulse_note(out, "dispersive walk-off", "s", walk);
    if (walk > point->window / 2.0)
        pulse_note_warn(drift,
                        "light spreads over more than half of the window of %.3g s; it wraps "
                        "around at the edges",
                        point->window);
}

static void note_raman(const struct gnlse_point *point, struct plane_layout *out)
{
    if (!point->raman)
        return;
    const double time = point->silica ? SILICA_TIME : point->tau1;
    struct layout_note *raman = pulse_note(out, "Raman time per sample", "1", time / point->dt);
    if (time < 2.0 * point->dt)
        pulse_note_warn(raman, "the Raman oscillation is not resolved: use dt below %.3g s",
                        time / 2.0);
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
        double sum =
            point->table != NULL ? dispersion_table_phase(point->table, side * half) : 0.0;
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

/* Modulation instability of a continuous wave (Agrawal, Nonlinear Fiber Optics, chapter 5):
 * greatest gain 2 gamma P at Omega^2 = 2 gamma P/|beta2|. */
static void note_wave(const struct gnlse_point *point, struct plane_layout *out)
{
    const double beta2 = dispersion(point, 0.0);
    const double strength = point->gamma * point->peak_power;
    if (strength != 0.0)
        pulse_note(out, "nonlinear length", "m", 1.0 / fabs(strength));
    if (beta2 * strength >= 0.0)
        return;
    const double best = sqrt(2.0 * fabs(strength / beta2));
    pulse_note(out, "gain of modulation instability", "m^-1", 2.0 * fabs(strength));
    struct layout_note *at = pulse_note(out, "its greatest gain is off by", "rad s^-1", best);
    if (sqrt(2.0) * best > PULSE_PI / point->dt)
        pulse_note_warn(at,
                        "the band does not hold all frequencies with gain: use dt below %.3g s",
                        PULSE_PI / (sqrt(2.0) * best));
}

static void note_table(const struct gnlse_point *point, struct plane_layout *out)
{
    double low = 0.0;
    double high = 0.0;
    const double half = PULSE_PI / point->dt;
    dispersion_table_range(point->table, &low, &high);
    pulse_note(out, "beta2 of the table at the reference", "s^2 m^-1", dispersion(point, 0.0));
    const double inside = fmin(high, point->omega0 + half) - fmax(low, point->omega0 - half);
    struct layout_note *share =
        pulse_note(out, "band inside of the dispersion table", "1", inside / (2.0 * half));
    if (inside < 1.98 * half)
        pulse_note_warn(share,
                        "beyond %.4g to %.4g m beta goes on with the curvature at the ends",
                        2.0 * PULSE_PI * PULSE_C / high, 2.0 * PULSE_PI * PULSE_C / low);
}

void gnlse_notes(const struct gnlse_point *point, struct plane_layout *out)
{
    pulse_note(out, "pulse energy", "J", point->energy);
    pulse_note(out, "peak power", "W", point->peak_power);
    const struct measured_grid grid = {point->n, point->window, point->omega0};
    for (int i = 0; i < point->pulses; i++)
        pulse_note_table(out, point->pulse[i].measured, &grid);
    if (point->earlier != NULL)
        pulse_note_cut(out, point->cut);
    if (point->table != NULL)
        note_table(point, out);
    const bool wave = point->pulse[0].shape == PULSE_CW;
    (wave ? note_wave : note_lengths)(point, out);
    note_zero_dispersion(point, out);
    if (!wave)
        note_time_grid(point, out);
    note_raman(point, out);
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
    const double known = step_params_rhs(&point->step);
    return known > 0.0
               ? known
               : 1.0 + 6.0 * (1.0 + 18.0 * phase * pow(1e-6 / point->step.control.rtol, 0.25));
}
