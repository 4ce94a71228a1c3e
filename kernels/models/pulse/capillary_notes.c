/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary_entry.h"
#include "kernels/models/pulse/capillary_model.h"
#include "kernels/models/pulse/guide_figures.h"
#include "kernels/models/pulse/note.h"

/* Intervals of the way and bins at which a prefactor is checked, and what is too little to
 * tell. */
#define PREFACTOR_PLACES 8
#define PREFACTOR_TOLD   1e-9
#define PREFACTOR_BINS   64

/* From where on a pulse is close to the end of the window, and what a band may leave out. */
#define FLAT_SHARE 0.9
#define BAND_CUT   0.01

/* From where on a mode is not as its formulas suppose. */
#define GRAZING 0.01

/* Default of plasma.occupancy. */
#define OCCUPANCY 2.0

/* What a table's rows may leave open: phase along the whole guide, rad; share of the
 * transmission. */
#define TABLE_PHASE 0.1
#define TABLE_LOSS  0.01

static double pulse_t0(const struct input_pulse *pulse)
{
    if (pulse->shape == PULSE_SECH)
        return pulse->duration / (2.0 * log(1.0 + sqrt(2.0)));
    return pulse->duration / (2.0 * sqrt(log(2.0)));
}

static double carrier_wavelength(const struct capillary_point *point)
{
    return 2.0 * PULSE_PI * PULSE_C / point->omega0;
}

/* Dispersion of the first column of a table in place of the guide's: beta2 = (2 n' + omega
 * n'')/c. */
static void table_figures(const struct capillary_medium *medium,
                          const struct guide_pulse *pulse, struct guide_figures *out)
{
    const struct taylor n = band_table_read(&medium->index, 0, medium->omega0, 2);
    const double slope = taylor_derivative(&n, 1).r;
    const double curvature = taylor_derivative(&n, 2).r;
    out->beta2 = (2.0 * slope + medium->omega0 * curvature) / PULSE_C;
    out->l_dispersion = pulse->t0 * pulse->t0 / fabs(out->beta2);
    out->order = sqrt(out->l_dispersion / out->l_nonlinear);
    out->l_fission = out->l_dispersion / out->order;
}

static void figures_at(const struct capillary_point *point,
                       const struct capillary_medium *medium, struct guide_place at,
                       struct guide_figures *out)
{
    const struct guide_pulse pulse = {carrier_wavelength(point), pulse_t0(&point->pulse[0]),
                                      point->peak_power};
    guide_figures(&medium->guide, at, &pulse, out);
    if (medium->index.columns > 0)
        table_figures(medium, &pulse, out);
}

/* Where the gas is densest, with the radius of the entrance. */
static struct guide_place dense_place(const struct capillary_medium *medium)
{
    return (struct guide_place){medium->high, capillary_medium_place(medium, 0.0).at.radius};
}

static double input_area(const struct capillary_point *point,
                         const struct capillary_medium *medium)
{
    return mode_area(&point->mode, capillary_medium_place(medium, 0.0).at.radius);
}

/* Peak of the input field of an unchirped pulse, V/m. */
static double peak_field(const struct capillary_point *point,
                         const struct capillary_medium *medium, double power)
{
    return sqrt(2.0 * power / (PULSE_EPS0 * PULSE_C * input_area(point, medium)));
}

/* Field of barrier suppression of the gas that ionises most easily, V/m, whether the plasma is
 * computed or not. */
static double lowest_barrier(const struct capillary_point *point)
{
    struct mixture_part part[MIXTURE_PARTS];
    const int parts = mixture_parts(&point->gas, part);
    double lowest = 0.0;
    for (int i = 0; i < parts; i++) {
        struct ionisation ionisation;
        const struct rate_request request = {
            .kind = RATE_ADK, .gas = part[i].gas, .occupancy = 1.0};
        if (ionisation_init(&ionisation, &request) != 0)
            return 0.0;
        lowest = i == 0 ? ionisation.barrier : fmin(lowest, ionisation.barrier);
    }
    return lowest;
}

/* Fields over the barrier: of a pulse as short as its spectrum allows, all pulses at once. */
static void note_barrier(const struct capillary_point *point,
                         const struct capillary_medium *medium, struct plane_layout *out)
{
    const double barrier = lowest_barrier(point);
    if (!(barrier > 0.0 && medium->high > 0.0))
        return;
    const double share = peak_field(point, medium, capillary_possible_peak(point)) / barrier;
    struct layout_note *const note =
        pulse_note(out, "peak field over barrier suppression", "1", share);
    if (share > 1.0 && point->rule == PLASMA_NONE)
        pulse_note_warn(note, "the input field lies above the field of barrier suppression: "
                              "the gas ionises, which plasma: none leaves out");
    else if (share > 1.0)
        pulse_note_warn(note,
                        "the input field, unchirped, lies above the field of barrier "
                        "suppression: the rate is not meant for it%s",
                        share > 2.0 ? " and saturates" : "");
}

/* A potential that is taken over from the model's source and is not the measured one. */
static void note_potential(const struct capillary_point *point, struct plane_layout *out)
{
    for (int i = 0; i < point->species && point->rule != PLASMA_NONE; i++)
        if (point->rate[i].gas == GAS_SF6)
            pulse_note_warn(pulse_note(out, "ionisation potential taken for SF6", "J",
                                       gas_info(GAS_SF6)->potential * PULSE_HARTREE),
                            "13.6 eV; measured is 15.3 eV, with which it ionises ten times "
                            "slower at the field of barrier suppression; of a single gas "
                            "plasma.table takes another rate");
}

static void note_pulse(const struct capillary_point *point,
                       const struct capillary_medium *medium, struct plane_layout *out)
{
    const double intensity = point->peak_power / input_area(point, medium);
    pulse_note(out, "pulse energy", "J", point->energy);
    pulse_note(out, "peak power", "W", point->peak_power);
    pulse_note(out, "peak intensity", "W m^-2", intensity);
    if (point->species > 1)
        pulse_note(out, "gases that ionise differently", "1", (double)point->species);
    note_potential(point, out);
    note_barrier(point, medium, out);
}

/* Where the rate ends. */
static double rate_ceiling(const struct capillary_point *point,
                           const struct ionisation *ionisation)
{
    const struct data_set *const set = point->rate_table;
    if (set == NULL || set->arrays == 0)
        return ionisation->ceiling;
    return set->array[0].real[set->array[0].length[0] - 1];
}

static int check_species(const struct capillary_point *point,
                         const struct capillary_medium *medium, double power, int species)
{
    struct ionisation ionisation;
    TRY(ionisation_init(&ionisation, &point->rate[species]));
    const double field = peak_field(point, medium, power);
    const double ceiling = rate_ceiling(point, &ionisation);
    if (field > ceiling)
        FAIL(ERR_ARGUMENT,
             "pulse: its field of %g V/m lies above %g V/m, where the ionisation rate of %s "
             "ends (%s); less energy or plasma: none",
             field, ceiling, gas_info(point->rate[species].gas)->name,
             point->rate_table != NULL ? "the last row of plasma.table"
                                       : "twice barrier suppression");
    return 0;
}

int capillary_check_field(const struct capillary_point *point,
                          const struct capillary_medium *medium)
{
    const double power = capillary_certain_peak(point);
    for (int i = 0; i < point->species && point->rule != PLASMA_NONE && power > 0.0; i++)
        TRY(check_species(point, medium, power, i));
    return 0;
}

/* Soliton figures where the gas is densest. */
static void note_lengths(const struct capillary_point *point,
                         const struct capillary_medium *medium, struct plane_layout *out)
{
    struct guide_figures f;
    const bool nonlinear = point->kerr && medium->high > 0.0;
    figures_at(point, medium, dense_place(medium), &f);
    pulse_note(out, "effective area", "m^2", f.area);
    pulse_note(out, "group-velocity dispersion", "s^2 m^-1", f.beta2);
    pulse_note(out, "dispersion length", "m", f.l_dispersion);
    if (!nonlinear)
        return;
    pulse_note(out, "nonlinear length", "m", f.l_nonlinear);
    struct layout_note *const order = pulse_note(out, "soliton number", "1", f.order);
    if (f.beta2 > 0.0)
        pulse_note_warn(order, "the dispersion at the carrier is normal: no solitons there");
    else
        pulse_note(out, "soliton fission length", "m", f.l_fission);
    const double critical = point->peak_power / f.critical_power;
    struct layout_note *const focus =
        pulse_note(out, "peak power over critical power", "1", critical);
    if (critical > 1.0)
        pulse_note_warn(focus,
                        "self-focusing couples to other modes, which one mode leaves out");
}

/* n_eff as the prefactor takes it at a place, over what it is there. */
static double prefactor_ratio(const struct capillary_medium *m, long k,
                              const struct capillary_place *at)
{
    const double omega = real_grid_omega(&m->grid, k);
    double tilt;
    capillary_medium_prefactor(m, k, false, &tilt);
    const double lean = 1.0 + capillary_medium_lean(m, at) * tilt;
    const double carrier = capillary_medium_drift(m, at, false)
                           / (at->at.radius / m->radius); /* taken over true */
    return capillary_medium_index(m, omega, &m->middle) * lean
           / (carrier * capillary_medium_index(m, omega, at));
}

/* What the prefactor leaves out along the way, relative: n_eff is not quite linear in the
 * density in the full form; where density and radius change, or the columns of a table, the
 * rest follows the carrier. */
static double prefactor_error(const struct capillary_point *point,
                              const struct capillary_medium *m)
{
    double worst = 0.0;
    const long stride = (m->grid.last - m->grid.first) / PREFACTOR_BINS + 1;
    for (int i = 0; i <= PREFACTOR_PLACES; i++) {
        const struct capillary_place at =
            capillary_medium_place(m, point->length * i / PREFACTOR_PLACES);
        for (long k = m->grid.first; k < m->grid.last; k += stride)
            worst = fmax(worst, fabs(prefactor_ratio(m, k, &at) - 1.0));
    }
    return worst;
}

/* Error of the Raman response along a gradient, and what it leaves out in a mixture. */
static void note_raman(const struct capillary_point *point,
                       const struct capillary_medium *medium, struct plane_layout *out)
{
    struct mixture_part part[MIXTURE_PARTS];
    const int parts = mixture_parts(&point->gas, part);
    double share = 0.0;
    bool oxygen = false;
    if (medium->raman.count > 1)
        pulse_note(out, "error of the Raman response between densities", "1",
                   medium->raman.error);
    if (!point->raman || parts == 1)
        return;
    for (int i = 0; i < point->delayed.count; i++)
        share += point->delayed.share[i];
    for (int i = 0; i < parts; i++)
        oxygen = oxygen || part[i].gas == GAS_O2;
    pulse_note_warn(pulse_note(out, "share of the particles with Raman lines", "1", share),
                    "approximation: line widths as in the pure gas at the density of all "
                    "particles%s",
                    oxygen ? "; the lines of O2, of unknown width, are left out" : "");
}

static void note_dispersion(const struct capillary_point *point,
                            const struct capillary_medium *medium, struct plane_layout *out)
{
    const struct guide_place at = dense_place(medium);
    const struct real_grid *const g = &point->grid;
    const bool own = medium->index.columns == 0;
    const double zdw =
        guide_zdw(&medium->guide, at, (struct guide_band){g->shortest, g->longest});
    const double rdw = guide_rdw(&medium->guide, at, carrier_wavelength(point), g->shortest);
    if (own && isfinite(zdw))
        pulse_note(out, "zero-dispersion wavelength", "m", zdw);
    if (own && isfinite(rdw))
        pulse_note(out, "dispersive wave, linear phase matching", "m", rdw);
    pulse_note(out, "linear transmission at the carrier", "1",
               capillary_medium_transmission(medium));
    if (medium->narrow != medium->wide)
        pulse_note(out, "narrowest core radius", "m", medium->narrow);
    if (medium->terms > 1)
        pulse_note(out, "terms of L", "1", (double)medium->terms);
    note_raman(point, medium, out);
    const double prefactor =
        medium->terms > 1 && !point->vacuum ? prefactor_error(point, medium) : 0.0;
    if (prefactor > PREFACTOR_TOLD)
        pulse_note(out, "error of the prefactor along the way", "1", prefactor);
    if (medium->error > 0.0)
        pulse_note(out, "phase error of the terms of L", "rad", medium->error);
}

/* Whether the mode is guided as its formulas suppose, and whether their loss, or a table's, is
 * cut. */
static void note_guide(const struct capillary_medium *medium, struct plane_layout *out)
{
    const struct real_grid *const g = &medium->grid;
    const bool table = medium->loss.columns > 0;
    const double grazing = capillary_medium_grazing(medium);
    double loss = capillary_medium_loss(medium, medium->omega0);
    for (long k = g->first; k < g->last && table; k++)
        loss = fmax(loss, capillary_medium_loss(medium, real_grid_omega(g, k)));
    if (medium->index.columns == 0 && grazing > GRAZING)
        pulse_note_warn(pulse_note(out, "(u/(k a))^2 at the carrier", "1", grazing),
                        "the core is narrow for this mode: its index and loss are made for "
                        "grazing incidence, far below 0.01");
    if (loss > GUIDE_ALPHA_MAX)
        pulse_note_warn(pulse_note(out,
                                   table ? "largest loss in the band, of guide.loss_table"
                                         : "loss at the carrier, of the wall",
                                   "m^-1", loss),
                        "loss is cut at %g a metre", GUIDE_ALPHA_MAX);
}

/* What the splines between the rows of the tables are off by. */
static int note_tables(const struct capillary_point *point,
                       const struct capillary_medium *medium, struct plane_layout *out)
{
    const double low = real_grid_omega(&point->grid, point->grid.first);
    const double high = real_grid_omega(&point->grid, point->grid.last - 1);
    double error = 0.0;
    if (medium->index.columns > 0) {
        TRY(band_table_error(point->index_table, low, high, 1, &error));
        error *= medium->length / PULSE_C;
        struct layout_note *const note =
            pulse_note(out, "phase error of guide.table, estimated", "rad", error);
        if (!(error <= TABLE_PHASE))
            pulse_note_warn(note, "too few rows, or rounded ones: the spline between them is "
                                  "not sure of the phase along the guide");
    }
    if (medium->loss.columns > 0) {
        TRY(band_table_error(point->loss_table, low, high, 0, &error));
        error *= medium->length * medium->loss_factor;
        struct layout_note *const note =
            pulse_note(out, "error of guide.loss_table, estimated", "1", error);
        if (!(error <= TABLE_LOSS))
            pulse_note_warn(note, "too few rows, or rounded ones: the spline between them is "
                                  "not sure of the transmission");
    }
    return 0;
}

/* Whether the fine samples hold what the response makes. */
static void note_fine(const struct real_grid *g, struct plane_layout *out)
{
    const double bins = (double)(g->last - g->first);
    const double samples = g->shortest / PULSE_C / (g->window / (double)g->fine);
    const bool real = !g->envelope;
    const double share = real ? samples : (double)g->fine / bins;
    struct layout_note *const fine = pulse_note(out,
                                                real ? "fine samples a period of the blue limit"
                                                     : "complex fine samples a bin of the band",
                                                "1", share);
    if (real && samples < REAL_GRID_SAMPLES)
        pulse_note_warn(fine,
                        "the third harmonic of the blue limit folds back; %g fine samples "
                        "hold it",
                        ceil(REAL_GRID_SAMPLES * g->window * PULSE_C / g->shortest));
    if (g->envelope && share < REAL_GRID_ENVELOPE)
        pulse_note_warn(fine,
                        "what the ends of the band make of each other folds back; %g fine "
                        "samples hold it",
                        REAL_GRID_ENVELOPE * bins);
}

/* What window and band leave of the pulses. */
static void note_entry(const struct capillary_point *point, struct plane_layout *out)
{
    double reach = 0.0;
    double cut = 0.0;
    for (int i = 0; i < point->pulses; i++) {
        reach = fmax(reach, capillary_reach(point, i));
        cut = fmax(cut, capillary_band_cut(point, i));
    }
    const double share = reach / capillary_flat(point);
    if (share > FLAT_SHARE)
        pulse_note_warn(
            pulse_note(out, "reach of the pulse over half the flat window", "1", share),
            "delay and phases bring the pulse close to the end of the window, where "
            "it wraps around");
    if (cut > BAND_CUT)
        pulse_note_warn(
            pulse_note(out, "energy of a shape outside of the band", "1", cut),
            "the rest is scaled up to what is asked for and has another duration; a "
            "wider grid.wavelengths holds the pulse");
}

static void note_grid(const struct capillary_point *point, struct plane_layout *out)
{
    const struct real_grid *const g = &point->grid;
    pulse_note(out, "fine samples", "1", (double)g->fine);
    pulse_note(out, "coarse samples", "1", (double)g->coarse);
    note_fine(g, out);
    const struct input_pulse *const pulse = &point->pulse[0];
    const double room = g->window / pulse->duration;
    struct layout_note *const wide = pulse_note(out, "window per pulse duration", "1", room);
    if (room < 10.0)
        pulse_note_warn(wide, "the window is %.2g durations; use at least 10", room);
    const double stretched = fabs(pulse->gdd) / (pulse->duration * pulse->duration);
    if (stretched > 0.25 * room)
        pulse_note_warn(wide, "the chirp spreads the pulse over the window");
    note_entry(point, out);
}

/* A gas that is ionised from the start is cut off by the window in time alone. Where that is
 * done within a period of the longest wave of the grid, twice the red limit, the edge reflects
 * it, and it grows. */
static void note_edges(const struct capillary_point *point, struct plane_layout *out)
{
    const struct real_grid *const g = &point->grid;
    if (point->rule == PLASMA_NONE || !(point->preionised > 0.0))
        return;
    const double periods = real_grid_taper(g) * PULSE_C / (2.0 * g->longest);
    struct layout_note *const note =
        pulse_note(out, "window taper in periods of twice the red limit", "1", periods);
    if (periods < 1.0)
        pulse_note_warn(note, "the preionised gas may make energy at the edges of the window; "
                              "windows.time: sin2, a wider window, a shorter red limit or "
                              "absorber.time");
}

/* What the prediction of transforms alone leaves out. */
static void note_column(const struct capillary_point *point, struct plane_layout *out)
{
    if (point->rule != PLASMA_NONE)
        pulse_note(out, "time of the plasma column over transforms", "1",
                   capillary_predicted_column(point) / capillary_transforms(point));
}

int capillary_notes(const struct capillary_point *point, const struct capillary_medium *medium,
                    struct plane_layout *out)
{
    const struct measured_grid grid = capillary_table_grid(&point->grid);
    note_pulse(point, medium, out);
    for (int i = 0; i < point->pulses; i++)
        pulse_note_table(out, point->pulse[i].measured, &grid);
    if (point->earlier != NULL)
        pulse_note_cut(out, point->cut);
    note_lengths(point, medium, out);
    note_dispersion(point, medium, out);
    note_guide(medium, out);
    TRY(note_tables(point, medium, out));
    note_grid(point, out);
    note_edges(point, out);
    note_column(point, out);
    return 0;
}

/* Names that have no effect, for one line. */
struct unused {
    int count;
    char names[120];
};

static void unused_add(struct unused *list, bool idle, const char *name)
{
    const size_t used = strlen(list->names);
    if (!idle)
        return;
    snprintf(list->names + used, sizeof list->names - used, "%s%s", list->count > 0 ? ", " : "",
             name);
    list->count++;
}

/* Options of the ionisation that the rates in use do not read. */
static void unused_plasma(const struct params *p, const struct capillary_point *point,
                          struct unused *list)
{
    const bool plasma = point->rule != PLASMA_NONE;
    bool formula[2] = {false, false};
    for (int i = 0; i < point->species && plasma && point->rate_table == NULL; i++)
        formula[point->rate[i].kind == RATE_PPT] = true;
    const bool none = !formula[0] && !formula[1];
    unused_add(list, !plasma && params_real(p, "plasma.preionised") > 0.0, "plasma.preionised");
    unused_add(list, none && params_real(p, "plasma.occupancy") != OCCUPANCY,
               "plasma.occupancy");
    unused_add(list, none && params_int(p, "plasma.cycle_average") == 1,
               "plasma.cycle_average");
    unused_add(list, !formula[0] && params_is_set(p, "plasma.adk_floor"), "plasma.adk_floor");
    unused_add(list, !formula[1] && params_int(p, "plasma.stark") == 0, "plasma.stark");
    unused_add(list, !formula[1] && params_int(p, "plasma.dipole") == 0, "plasma.dipole");
}

static void unused_guide(const struct params *p, const struct capillary_point *point,
                         struct unused *list)
{
    const bool table = point->index_table != NULL;
    const bool index = params_is_set(p, "guide.wall.index");
    const bool glass = params_int(p, "guide.wall.glass") != 0;
    unused_add(list, table && (index || glass), "guide.wall");
    unused_add(list, !table && index && glass, "guide.wall.glass");
    unused_add(list, !index && params_real(p, "guide.wall.absorption") > 0.0,
               "guide.wall.absorption");
    unused_add(list, table && params_int(p, "guide.model") != 0, "guide.model");
}

/* Bands of observables that the grid does not hold at all. */
static void unused_bands(const struct capillary_point *point, struct unused *list)
{
    static const char *const names[CAPILLARY_BANDS] = {"bands.rdw", "bands.uv", "bands.visible",
                                                       "bands.infrared"};
    const struct real_grid *const g = &point->grid;
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    const double shortest = turn / real_grid_omega(g, g->last - 1);
    const double longest = turn / real_grid_omega(g, g->first);
    for (int i = 0; i < CAPILLARY_BANDS; i++) {
        const struct wavelength_band *const b = &point->band[i];
        unused_add(list, b->longest > 0.0 && (b->longest < shortest || b->shortest > longest),
                   names[i]);
    }
}

void capillary_notes_unused(const struct params *params, const struct capillary_point *point,
                            struct plane_layout *out)
{
    struct unused list = {0};
    unused_plasma(params, point, &list);
    unused_guide(params, point, &list);
    unused_bands(point, &list);
    if (list.count > 0)
        pulse_note_warn(pulse_note(out, "options without effect", "1", (double)list.count),
                        "%s: not read beside the other options, or outside of the grid",
                        list.names);
}

/* The phase of the carrier that Kerr effect and dispersion turn, times the trial steps a radian
 * that the helium fixture takes at rtol 1e-6, scaled as observed with the tolerance; and a step
 * more for each plane, at which one is cut short. What ionisation costs in steps is not known
 * before. */
double capillary_predicted_rhs(const struct capillary_point *point,
                               const struct capillary_medium *medium, long planes)
{
    struct guide_figures f;
    figures_at(point, medium, medium->middle.at, &f);
    const bool nonlinear = point->kerr && medium->mean > 0.0;
    const double phase = nonlinear ? point->length / f.l_nonlinear : 0.0;
    const double known = step_params_rhs(&point->step);
    if (known > 0.0)
        return known;
    const double steps =
        60.0 * phase * pow(1e-6 / point->step.control.rtol, 0.2) + (double)planes;
    return 1.0 + 6.0 * steps;
}

double capillary_predicted_column(const struct capillary_point *point)
{
    /* Rates by formula, by field and by channel lie closer together than the machine's noise.
     */
    static const double transforms[] = {
        [PLASMA_NONE] = 0.0, [PLASMA_TRAPEZOID] = 0.5, [PLASMA_BAND] = 0.9};
    return transforms[point->rule];
}

double capillary_predicted_cost(const struct capillary_point *point)
{
    const double longer = point->raman ? 2.0 : 0.0; /* two transforms are of twice the window */
    return capillary_transforms(point) + longer + capillary_predicted_column(point);
}
