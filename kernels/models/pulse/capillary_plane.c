/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planes of the model. Where the host reaches the rows, what a plane needs is launched when it
 * is asked for, and read in place. On a device it leaves beside the next trial: all that the
 * trial would spoil is launched when rows stand on a plane, and fetched; the observables are
 * made from that on the host, whenever they are asked for.
 */
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary_model.h"
#include "kernels/models/pulse/capillary_observe.h"
#include "kernels/models/pulse/half_power.h"

/* What is fetched of a plane. An envelope has neither quadrature nor plasma. */
enum capillary_piece {
    PIECE_STATE,      /* the split row */
    PIECE_SAMPLES,    /* those of the field */
    PIECE_QUADRATURE, /* of a real field */
    PIECE_SEEN /* what the plasma saw, of each species, where no step has led to the plane */
};

_Static_assert(PIECE_SEEN + RESPONSE_SPECIES <= PLANE_PIECES, "a piece for each species");

int capillary_pieces(const struct capillary_point *point, size_t *bytes)
{
    const long bins = real_grid_bins(&point->grid);
    const size_t samples = (size_t)point->grid.fine * sizeof(double);
    const int species = point->rule == PLASMA_NONE ? 0 : point->species;
    bytes[PIECE_STATE] = (size_t)(stepper_split_stride(bins) + bins) * sizeof(double);
    bytes[PIECE_SAMPLES] = point->envelope ? 2 * samples : samples;
    bytes[PIECE_QUADRATURE] = samples;
    for (int i = 0; i < species; i++)
        bytes[PIECE_SEEN + i] = COLUMN_SUMS * sizeof(double);
    return point->envelope ? PIECE_QUADRATURE : PIECE_SEEN + species;
}

/* The imaginary part of the analytic signal of a real field, on all fine samples or, with
 * `half`, on every second one: -i times the spectrum, back. Both rows are those of the last
 * right-hand side, which nothing needs between steps and the caches still hold. */
static int find_quadrature(struct model *m, int row, bool half)
{
    struct backend *const be = m->be;
    const struct real_grid *const grid = &m->row[row].point.grid;
    const long bins = (half ? m->fine / 2 : m->fine) / 2 + 1;
    cplx *const spectrum = stepper_room(m->stepper, row);
    struct spectral_join_args turn = {.out = spectrum + grid->first,
                                      .zeros = {grid->first, bins - grid->last},
                                      .ld_spec = m->ld};
    turn.in = stepper_split(m->stepper, row, &turn.ld) + grid->first;
    TRY(be->kernels->spectral_quarter(be, &turn, 0, 1, grid->last - grid->first));
    return capillary_transform(m, half ? m->half_backward : m->backward, spectrum, m->ld,
                               m->reply + row * m->ld_real, m->ld_real);
}

/* Whether the right-hand side has left the quadrature. */
static bool has_quadrature(const struct model *m, int row)
{
    return m->row[row].fresh && !m->third_harmonic;
}

/* That on all fine samples. */
static int whole_quadrature(struct model *m, int row, const double **out)
{
    const bool known = has_quadrature(m, row);
    *out = (known ? m->quadrature : m->reply) + row * m->ld_real;
    return known ? 0 : find_quadrature(m, row, false);
}

/* The samples, where no right-hand side has left them: before the first step. */
static int find_samples(struct model *m, int row)
{
    cplx *field;
    if (m->row[row].fresh)
        return 0;
    TRY(stepper_field(m->stepper, row, &field));
    return m->is_envelope ? capillary_transform(m, m->backward, field, m->ld,
                                                m->envelope.samples + row * m->ld, m->ld)
                          : capillary_transform(m, m->backward, field, m->ld,
                                                m->samples + row * m->ld_real, m->ld_real);
}

/* Where the row stands, on a plane. */
static struct capillary_place place_of(const struct model *m, int row)
{
    const struct capillary_row *const r = &m->row[row];
    return capillary_medium_place(&r->medium, r->positions[stepper_plane(m->stepper, row)]);
}

/* Whether the plasma of the state is still to be found: the last right-hand side saw that of a
 * state that a step led to. */
static bool lacks_plasma(const struct model *m, int row)
{
    return m->rule != PLASMA_NONE && !m->row[row].fresh;
}

/* Plasma of the state, by the column that the steps use. It needs the field alone; what else
 * there is of the response is not read. */
static int find_plasma(struct model *m, int row)
{
    struct row_status apart = {0};
    const struct capillary_place at = place_of(m, row);
    const struct response_factors factors = capillary_factors(&m->row[row], &at);
    const struct response_rows rows = {
        .samples = m->samples + row * m->ld_real,
        .out = m->reply + row * m->ld_real,
        .ld = m->ld_real,
        .quadrature = m->third_harmonic ? NULL : m->quadrature + row * m->ld_real,
        .extra = m->raman ? m->delayed + row * m->ld_long : NULL,
        .ld_extra = m->ld_long};
    return response_apply(m->response, row, &factors, &rows, &apart);
}

/* The spectrum as it is stored; bins that are not active are zero. */
static void write_field(const struct model *m, int row, const double *state, long ld,
                        cplx *restrict out)
{
    const struct real_grid *const grid = &m->row[row].point.grid;
    memset(out, 0, (size_t)grid->first * sizeof *out);
#pragma omp simd
    for (long k = grid->first; k < grid->last; k++)
        out[k] = split_get(state, ld, k);
    memset(out + grid->last, 0, (size_t)(m->bins - grid->last) * sizeof *out);
}

/* The power |A_analytic|^2 of a real field. */
static void write_power(long n, const double *samples, const double *quadrature,
                        double *restrict power)
{
    for (long j = 0; j < n; j++)
        power[j] = samples[j] * samples[j] + quadrature[j] * quadrature[j];
}

/* The same of an envelope's samples. */
static void write_wave_power(long n, const cplx *samples, double *restrict power)
{
    for (long j = 0; j < n; j++)
        power[j] = 4.0 * cplx_abs2(samples[j]);
}

/* The powers of the bins, made on the backend, and their sums. */
static int find_powers(struct model *m, int row, struct capillary_powers *out)
{
    struct backend *const be = m->be;
    const struct real_grid *const grid = &m->row[row].point.grid;
    const double number = (double)grid->first;
    double *const powers = (double *)stepper_room(m->stepper, row);
    struct spectral_power_args args = {.over = m->over + grid->first,
                                       .shift = m->scalars + SCALAR_FIRST,
                                       .power = powers + grid->first,
                                       .out = m->work,
                                       .ld_real = m->ld_tilt};
    args.in = stepper_split(m->stepper, row, &args.ld) + grid->first;
    out->bin = powers;
    TRY(be->ops->upload(be, m->scalars + SCALAR_FIRST, &number, sizeof number));
    TRY(be->kernels->spectral_power(be, &args, 0, 1, grid->last - grid->first));
    return be->ops->download(be, out->sums, m->work, sizeof out->sums);
}

/* The sums of the chirp, by angles between neighbouring bins on the backend. */
static int find_line(struct model *m, int row, const struct capillary_pairs *pairs,
                     double *sums)
{
    struct backend *const be = m->be;
    double *const size = (double *)stepper_room(m->stepper, row);
    double *const out = m->work;
    long ld;
    const double *const state = stepper_split(m->stepper, row, &ld);
    const double numbers[CAPILLARY_SCALARS] = {
        [SCALAR_SHIFT] = pairs->shift, [SCALAR_LEAST] = pairs->least};
    const struct spectral_turn_args turn = {.in = state + pairs->from,
                                            .next = state + pairs->from + 1,
                                            .size = size,
                                            .angle = size + m->ld,
                                            .ld = ld,
                                            .ld_real = m->ld};
    const struct spectral_line_args weight = {.size = size,
                                              .angle = size + m->ld,
                                              .shift = m->scalars + SCALAR_SHIFT,
                                              .least = m->scalars + SCALAR_LEAST,
                                              .out = out,
                                              .ld = m->ld};
    struct spectral_line_args moment = weight;
    moment.out = out + LINE_SLOPE;
    TRY(be->ops->upload(be, m->scalars, numbers, sizeof numbers));
    TRY(be->kernels->spectral_turn(be, &turn, 0, 1, pairs->count));
    TRY(be->kernels->spectral_weight(be, &weight, 0, 1, pairs->count));
    TRY(be->kernels->spectral_moment(be, &moment, 0, 1, pairs->count));
    return be->ops->download(be, sums, out, CAPILLARY_LINE * sizeof *sums);
}

/* What follows from the spectrum. */
static int observe_spectrum(struct model *m, int row, double *values)
{
    const struct capillary_point *const point = &m->row[row].point;
    struct capillary_powers powers;
    struct capillary_pairs pairs;
    double sums[CAPILLARY_LINE] = {0.0};
    TRY(find_powers(m, row, &powers));
    capillary_observe_spectrum(point, &powers, values, &pairs);
    if (pairs.count > 0)
        TRY(find_line(m, row, &pairs, sums));
    values[CAPILLARY_CHIRP] = capillary_observe_chirp(&point->grid, sums);
    return 0;
}

/* The power of a real field by half a transform, and what follows from it. */
static int observe_half(struct model *m, int row, double *values)
{
    const struct capillary_point *const point = &m->row[row].point;
    struct half_power h = {.be = m->be,
                           .samples = m->samples + row * m->ld_real,
                           .quadrature = m->reply + row * m->ld_real,
                           .work = m->work,
                           .blocks = m->window};
    TRY(find_quadrature(m, row, true));
    TRY(half_power_init(&point->grid, &h));
    return half_power_observe(point, &h, values);
}

/* What follows from the power. The samples of a state that a step led to are those of the
 * right-hand side there, and so is the quadrature where that needs it. */
static int observe_power(struct model *m, int row, double *values)
{
    const struct capillary_point *const point = &m->row[row].point;
    const double *quadrature;
    if (m->is_envelope) {
        write_wave_power(m->fine, m->envelope.samples + row * m->ld, m->window);
    } else if (!has_quadrature(m, row) && m->half_backward != NULL
               && half_power_fits(&point->grid)) {
        return observe_half(m, row, values);
    } else {
        TRY(whole_quadrature(m, row, &quadrature));
        write_power(m->fine, m->samples + row * m->ld_real, quadrature, m->window);
    }
    capillary_observe_power(point, m->window, values);
    return 0;
}

/* A plane of a row that the host reaches. */
static int observe_here(struct model *m, int row, struct plane_buffers *out)
{
    long ld;
    const double *const state = stepper_split(m->stepper, row, &ld);
    if (out->array[ARRAY_FIELD] != NULL)
        write_field(m, row, state, ld, out->array[ARRAY_FIELD]);
    TRY(observe_spectrum(m, row, out->observable));
    TRY(find_samples(m, row));
    TRY(observe_power(m, row, out->observable));
    if (!lacks_plasma(m, row))
        return 0;
    TRY(find_plasma(m, row));
    return response_report(m->response, row, &m->row[row].report);
}

static int take_real(struct model *m, int row)
{
    struct plane_fetch *const f = m->planes_out;
    const double *quadrature;
    TRY(plane_fetch_take(f, row, PIECE_SAMPLES, m->samples + row * m->ld_real));
    TRY(whole_quadrature(m, row, &quadrature));
    TRY(plane_fetch_take(f, row, PIECE_QUADRATURE, quadrature));
    if (!lacks_plasma(m, row))
        return 0;
    TRY(find_plasma(m, row));
    for (int i = 0; i < m->species; i++)
        TRY(plane_fetch_take(f, row, PIECE_SEEN + i,
                             response_species_there(m->response, i, row)));
    return 0;
}

/* Launch what a plane of a row needs, and begin to fetch it. */
static int take_plane(struct model *m, int row)
{
    struct plane_fetch *const f = m->planes_out;
    long ld;
    const double *const state = stepper_split(m->stepper, row, &ld);
    TRY(plane_fetch_clear(f, row));
    TRY(plane_fetch_take(f, row, PIECE_STATE, state));
    TRY(find_samples(m, row));
    return m->is_envelope
               ? plane_fetch_take(f, row, PIECE_SAMPLES, m->envelope.samples + row * m->ld)
               : take_real(m, row);
}

int capillary_settled(void *model, long row, long rows, const bool *on)
{
    struct model *const m = model;
    for (long r = row; r < row + rows; r++)
        if (on[r - row])
            TRY(take_plane(m, (int)r));
    return 0;
}

/* What follows from a spectrum that was fetched. */
static void observe_state(const struct model *m, int row, const double *state,
                          struct plane_buffers *out)
{
    const struct capillary_point *const point = &m->row[row].point;
    const long ld = stepper_split_stride(m->bins);
    double *const values = out->observable;
    struct capillary_powers powers;
    struct capillary_pairs pairs;
    double sums[CAPILLARY_LINE];
    if (out->array[ARRAY_FIELD] != NULL)
        write_field(m, row, state, ld, out->array[ARRAY_FIELD]);
    capillary_observe_powers(&point->grid, state, ld, m->window, &powers);
    capillary_observe_spectrum(point, &powers, values, &pairs);
    capillary_observe_line(&pairs, state, ld, (double *)m->scratch, sums);
    values[CAPILLARY_CHIRP] = capillary_observe_chirp(&point->grid, sums);
}

/* What the plasma saw, where that was fetched; else the last right-hand side has told it. */
static void read_seen(struct model *m, int row, const void *const *data)
{
    const double *sums[RESPONSE_SPECIES] = {NULL};
    if (m->rule == PLASMA_NONE || data[PIECE_SEEN] == NULL)
        return;
    for (int i = 0; i < m->species; i++)
        sums[i] = data[PIECE_SEEN + i];
    response_seen_in(m->response, row, sums, &m->row[row].report);
}

/* A plane of a row on a device. A row that was loaded there, on a plane, has none on its way.
 */
static int observe_there(struct model *m, int row, struct plane_buffers *out)
{
    const void *data[PLANE_PIECES] = {NULL};
    bool here;
    TRY(plane_fetch_wait(m->planes_out, row, data, &here));
    if (!here) {
        TRY(take_plane(m, row));
        TRY(plane_fetch_wait(m->planes_out, row, data, &here));
    }
    observe_state(m, row, data[PIECE_STATE], out);
    if (m->is_envelope)
        write_wave_power(m->fine, data[PIECE_SAMPLES], m->window);
    else
        write_power(m->fine, data[PIECE_SAMPLES], data[PIECE_QUADRATURE], m->window);
    capillary_observe_power(&m->row[row].point, m->window, out->observable);
    read_seen(m, row, data);
    return 0;
}

int capillary_plane(struct model *m, int row, struct plane_buffers *out)
{
    const struct capillary_row *const r = &m->row[row];
    const double rho = place_of(m, row).at.rho;
    double *const values = out->observable;
    TRY(m->planes_out != NULL ? observe_there(m, row, out) : observe_here(m, row, out));
    values[CAPILLARY_IONISED_FRACTION] = r->report.electrons;
    values[CAPILLARY_ELECTRON_DENSITY] = r->report.electrons * rho;
    values[CAPILLARY_SATURATED] = (double)r->report.saturated;
    values[CAPILLARY_UNDERSHOOT] = (double)r->report.undershoot;
    values[CAPILLARY_DENSITY] = rho;
    values[CAPILLARY_IONISATION_LOSS] = r->path[PATH_IONISATION];
    values[CAPILLARY_ABSORBED] = r->path[PATH_ABSORBED];
    values[CAPILLARY_B_INTEGRAL] = r->path[PATH_B];
    if (out->array[ARRAY_PATH] != NULL)
        memcpy(out->array[ARRAY_PATH], r->path, sizeof r->path);
    return 0;
}
