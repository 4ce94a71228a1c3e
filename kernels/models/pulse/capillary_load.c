/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary_input.h"
#include "kernels/models/pulse/capillary_model.h"
#include "kernels/models/pulse/capillary_notes.h"
#include "kernels/models/pulse/perturb.h"
#include "kernels/models/pulse/raman_gas.h"

/* Rates below this, 1/s, are cut off: over a window of a picosecond an exposure of 1e-20. */
#define RATE_LEAST     1e-8
#define RATE_TOLERANCE bound(BOUND_rate_table)

/* Taps a side of the band rule. */
#define BAND_SIDE 4
/* Its band: at least this omega dt, so that runs of one grid share their taps. */
#define BAND_EDGE (0.35 * PULSE_PI)

/* Of the highest density: below it, that at the start is no measure of what comes. */
#define RISING     0.1
#define FIRST_STEP 1e-3 /* of the length, there */
#define TAIL_TAG   0x636170696c000002ULL

/* Behind the stepper's state. */
struct capillary_tail {
    uint64_t tag;
    double path[CAPILLARY_PATHS];
    double now[CAPILLARY_PATHS];
};

size_t capillary_tail_bytes(void)
{
    return sizeof(struct capillary_tail);
}

void capillary_tail_write(const double *path, const double *now, void *to)
{
    struct capillary_tail tail = {.tag = TAIL_TAG};
    for (int i = 0; i < CAPILLARY_PATHS; i++) {
        tail.path[i] = path[i];
        tail.now[i] = now != NULL ? now[i] : 0.0;
    }
    memcpy(to, &tail, sizeof tail);
}

static int tail_read(struct capillary_row *row, const struct state_in *state, size_t before)
{
    struct capillary_tail tail;
    if (state->length != before + sizeof tail)
        FAIL(ERR_ARGUMENT, "state of a row has %zu bytes; %zu are expected", state->length,
             before + sizeof tail);
    memcpy(&tail, (const char *)state->bytes + before, sizeof tail);
    if (tail.tag != TAIL_TAG)
        FAIL(ERR_ARGUMENT, "state of a row is damaged or of another version");
    memcpy(row->path, tail.path, sizeof tail.path);
    memcpy(row->now, tail.now, sizeof tail.now);
    return 0;
}

int capillary_planes_check(const struct plane_request *planes,
                           const struct capillary_point *point)
{
    const double length = point->length;
    for (long i = 0; planes->kind == PLANES_LIST && i < planes->count; i++) {
        const double z = planes->positions[i];
        if (!(z >= 0.0 && z <= length * (1.0 + STEP_MINIMUM)))
            FAIL(ERR_ARGUMENT,
                 "save.planes: position %g m lies outside the capillary, 0 to %g m", z, length);
        if (i > 0 && !(z > planes->positions[i - 1]))
            FAIL(ERR_ARGUMENT, "save.planes: position %g m follows %g m; positions must ascend",
                 z, planes->positions[i - 1]);
    }
    return step_planes_check(&point->step, planes);
}

/* Whether as many species ionise, each with a rate that is evaluated the same way. */
static bool same_species(const struct model *m, const struct capillary_point *p)
{
    if (p->species != m->species)
        return false;
    for (int i = 0; i < m->species && p->rule != PLASMA_NONE; i++)
        if (capillary_rate_evaluation(p, i) != m->evaluation[i])
            return false;
    return true;
}

static bool fits(const struct model *m, const struct capillary_point *p)
{
    return real_grid_bins(&p->grid) == m->bins && p->grid.fine == m->fine
           && capillary_terms_most(p) <= m->terms && p->rule == m->rule && same_species(m, p)
           && p->raman == m->raman && p->third_harmonic == m->third_harmonic
           && p->envelope == m->is_envelope && (p->time_length > 0.0) == m->edge;
}

/* Read and check a member; what is wrong becomes its reason. */
static int read_member(struct model *m, struct capillary_row *row, const struct params *params,
                       struct row_status *st)
{
    const struct status_saved saved = status_capture_save();
    capillary_medium_clear(&row->medium);
    status_capture(st->reason, sizeof st->reason);
    int rc = capillary_point_read(params, &row->point);
    if (rc == 0)
        rc = capillary_planes_check(&params->planes, &row->point);
    if (rc == 0 && !fits(m, &row->point))
        rc = status_fail(ERR_BUG,
                         "a member of %ld fine samples was given to an object of %ld "
                         "or of another kind",
                         row->point.grid.fine, m->fine);
    if (rc == 0)
        rc = capillary_medium_data_check(&row->point);
    if (rc == 0)
        rc = capillary_medium_init(&row->point, &row->medium);
    if (rc == 0)
        rc = capillary_check_field(&row->point, &row->medium);
    status_capture_restore(saved);
    return rc;
}

/* Whether two rates are the same. */
static bool same_rate(const struct rate_request *a, const struct rate_request *b)
{
    return a->kind == b->kind && a->gas == b->gas && a->occupancy == b->occupancy
           && a->cycle_average == b->cycle_average && a->adk_floor == b->adk_floor
           && a->wavelength == b->wavelength && a->stark == b->stark && a->dipole == b->dipole;
}

static bool has_rate(const struct capillary_rate *rate, const struct capillary_point *point,
                     int species)
{
    const char *const hash = point->rate_table != NULL ? point->rate_table->hash : "";
    return rate->table != NULL && same_rate(&rate->request, &point->rate[species])
           && strcmp(rate->hash, hash) == 0;
}

/* The formula by channel, or a user's points. */
static int make_rate(const struct capillary_row *row, int species, struct capillary_rate *out)
{
    const struct rate_limits limits = {RATE_LEAST, RATE_TOLERANCE};
    const struct data_set *const set = row->point.rate_table;
    rate_table_destroy(out->table);
    *out = (struct capillary_rate){.request = row->point.rate[species]};
    if (set == NULL)
        return rate_table_create(&row->ionisation[species], RATE_BY_CHANNEL, &limits,
                                 &out->table);
    snprintf(out->hash, sizeof out->hash, "%s", set->hash);
    return rate_table_from_points(set->array[0].real, set->array[1].real,
                                  set->array[0].length[0], RATE_TOLERANCE, &out->table);
}

static bool is_used(const struct model *m, const struct capillary_rate *rate)
{
    for (int r = 0; r < m->capacity; r++)
        for (int i = 0; i < m->species; i++)
            if (m->row[r].rate[i] == rate)
                return true;
    return false;
}

/* The table of a rate of a row: one that is there, or a new one in a place that no row uses. */
static int find_table(struct model *m, struct capillary_row *row, int species)
{
    const int places = m->capacity * m->species;
    struct capillary_rate *found = NULL;
    row->rate[species] = NULL;
    for (int i = 0; i < places && found == NULL; i++)
        if (has_rate(&m->rate[i], &row->point, species))
            found = &m->rate[i];
    for (int i = 0; i < places && found == NULL; i++)
        found = is_used(m, &m->rate[i]) ? NULL : &m->rate[i];
    if (found == NULL)
        FAIL(ERR_BUG, "capillary: more rates than rows");
    if (!has_rate(found, &row->point, species))
        TRY(make_rate(row, species, found));
    row->rate[species] = found;
    return 0;
}

static int load_species(struct model *m, struct capillary_row *row, int i,
                        struct response_species *out)
{
    TRY(ionisation_init(&row->ionisation[i], &row->point.rate[i]));
    out->share = row->point.share[i];
    out->potential = row->ionisation[i].potential * PULSE_HARTREE;
    out->adk = &row->ionisation[i];
    if (m->evaluation[i] == RESPONSE_RATE_ADK)
        return 0;
    TRY(find_table(m, row, i));
    out->table = row->rate[i]->table;
    return 0;
}

static int load_response(struct model *m, int index, struct capillary_row *row)
{
    const struct real_grid *const grid = &row->point.grid;
    const double dt = grid->window / (double)grid->fine;
    struct response_column column = {
        .window = m->window, .dt = dt, .preionised = row->point.preionised};
    for (long j = 0; j < m->fine; j++)
        m->window[j] = real_grid_temporal(grid, j);
    for (int i = 0; i < m->species && m->rule != PLASMA_NONE; i++)
        TRY(load_species(m, row, i, &column.species[i]));
    const double theta = real_grid_omega(grid, grid->last - 1) * dt;
    if (m->rule == PLASMA_BAND)
        TRY(taps_band(BAND_SIDE, fmax(theta, BAND_EDGE), &column.taps));
    return response_load(m->response, index, &column);
}

/* A transfer function of the delayed response, with all constants: rho, the field's scale
 * squared, 1/n of the transforms. */
static int load_transfer(struct model *m, int index, int k)
{
    struct backend *const be = m->be;
    struct capillary_row *const row = &m->row[index];
    const struct real_grid *const grid = &row->point.grid;
    const double scale = row->field_scale * row->field_scale / (2.0 * (double)grid->fine);
    if (m->is_envelope)
        return capillary_envelope_transfer(m, index, k, scale);
    double *const square = m->square + index * m->ld_long;
    cplx *const transfer = m->transfer[k] + index * m->ld_half;
    memset(m->doubled, 0, 2 * (size_t)m->fine * sizeof *m->doubled);
    TRY(raman_mix_sample(&row->raman, k, grid->window / (double)grid->fine, m->fine, m->window,
                         m->doubled));
    for (long j = 0; j < m->fine; j++)
        m->doubled[j] *= scale;
    TRY(be->ops->upload(be, square, m->doubled, 2 * (size_t)m->fine * sizeof *m->doubled));
    const struct fft_rows rows = {square, m->ld_long, transfer, m->ld_half, 0, 1, NULL};
    return be->ops->fft_execute(be, m->long_forward, &rows);
}

/* The transfer functions, and the zeros behind the squared field. */
static int load_raman(struct model *m, int index, struct capillary_row *row)
{
    struct backend *const be = m->be;
    const size_t bytes = 2 * (size_t)m->fine * sizeof *m->doubled;
    row->raman = row->medium.raman;
    for (int k = 0; k < row->raman.count; k++)
        TRY(load_transfer(m, index, k));
    memset(m->doubled, 0, bytes + sizeof(cplx));
    /* Functions that other rows have are mixed into this one's with the weight 0. */
    for (int k = row->raman.count; k < RAMAN_MIX_MAX; k++)
        TRY(be->ops->upload(be, m->transfer[k] + index * m->ld_half, m->doubled,
                            bytes + sizeof(cplx)));
    return be->ops->upload(be, m->square + index * m->ld_long, m->doubled, bytes);
}

/* Tables of the linear operator, of the tilt into m->window, and the prefactor -i omega window
 * sqrt(Aeff)/(4 s n_eff fine), s = sqrt(eps0 c/2) (physics.md §3.4). */
static void make_tables(struct model *m, struct capillary_row *row)
{
    const struct capillary_medium *const medium = &row->medium;
    const struct real_grid *const grid = &row->point.grid;
    const double constant =
        sqrt(medium->area) / (4.0 * sqrt(0.5 * PULSE_EPS0 * PULSE_C) * (double)grid->fine);
    const size_t count = (size_t)m->terms * (size_t)m->bins;
    memset(m->pre, 0, (size_t)m->bins * sizeof *m->pre);
    memset(m->li, 0, count * sizeof *m->li);
    memset(m->lr, 0, count * sizeof *m->lr);
    memset(m->window, 0, (size_t)m->bins * sizeof *m->window);
    for (long k = grid->first; k < grid->last; k++) {
        double li[CAPILLARY_TERMS];
        double lr[CAPILLARY_TERMS];
        capillary_medium_linear(medium, k, li, lr);
        for (int j = 0; j < medium->terms; j++) {
            m->li[j * m->bins + k] = li[j];
            m->lr[j * m->bins + k] = lr[j];
        }
        const double pre =
            capillary_medium_prefactor(medium, k, row->point.vacuum, &m->window[k]);
        m->pre[k] = cplx_make(0.0, -constant * pre);
    }
}

/* The absorber in time: its rates, and the prefactor apart, so that the stepper's is the mask.
 */
static int load_edge(struct model *m, int index, struct capillary_row *row)
{
    struct backend *const be = m->be;
    const struct real_grid *const grid = &row->point.grid;
    for (long j = 0; j < m->fine; j++) {
        const double alpha =
            capillary_absorber(real_grid_temporal(grid, j)) / row->point.time_length;
        m->window[j] = -alpha / (double)m->fine;
    }
    TRY(be->ops->upload(be, m->rate_edge + index * m->ld_real, m->window,
                        (size_t)m->fine * sizeof(double)));
    TRY(be->ops->upload(be, m->factor + index * m->ld, m->pre, (size_t)m->bins * sizeof(cplx)));
    for (long k = grid->first; k < grid->last; k++)
        m->pre[k] = cplx_make(1.0, 0.0);
    return 0;
}

/* How the prefactor changes with the density, as make_tables found it. */
static int load_tilt(struct model *m, int index, struct capillary_row *row)
{
    struct backend *const be = m->be;
    row->leans = row->medium.terms > 1 && row->medium.index.columns <= 2 && !row->point.vacuum;
    return be->ops->upload(be, m->tilt + index * m->ld_tilt, m->window,
                           (size_t)m->bins * sizeof(double));
}

/* The loss of each bin, as make_tables found it; zero of the terms that the row lacks. */
static int load_loss(struct model *m, int index, struct capillary_row *row)
{
    struct backend *const be = m->be;
    row->lossy = false;
    for (long i = 0; i < row->medium.terms * m->bins && !row->lossy; i++)
        row->lossy = m->lr[i] != 0.0;
    for (int j = 0; j < m->terms; j++)
        TRY(be->ops->upload(be, m->loss + ((long)index * m->terms + j) * m->ld_tilt,
                            m->lr + j * m->bins, (size_t)m->bins * sizeof(double)));
    return 0;
}

/* The stepper's requests. Where the pressure rises from little or nothing, N at the start says
 * nothing about the way, and an automatic first step could be all of it: it is a thousandth. */
static struct step_control control_of(const struct capillary_row *row)
{
    const struct capillary_medium *const medium = &row->medium;
    struct step_control control = row->point.step.control;
    const double density = capillary_medium_place(medium, 0.0).at.rho;
    if (control.first_step == 0.0 && density < RISING * medium->high)
        control.first_step = FIRST_STEP * control.length;
    return control;
}

static int load_stepper(struct model *m, int index, const struct params *params,
                        const struct state_in *resume, struct row_status *st)
{
    struct capillary_row *const row = &m->row[index];
    const struct plane_layout layout = {.span = row->point.length};
    for (long i = 0; i < m->planes; i++)
        row->positions[i] = layout_plane_position(&layout, &params->planes, i);
    const struct step_member member = {.control = control_of(row),
                                       .schedule = row->point.step.schedule,
                                       .positions = row->positions,
                                       .field = m->field,
                                       .li = m->li,
                                       .lr = row->lossy ? m->lr : NULL,
                                       .pre = m->pre,
                                       .terms = row->medium.terms};
    TRY(stepper_load(m->stepper, index, &member, st));
    for (int i = 0; i < CAPILLARY_PATHS; i++)
        row->path[i] = row->now[i] = row->next[i] = 0.0;
    row->fresh = false;
    row->count = 0;
    row->lost = 0.0;
    row->report = (struct response_report){0};
    if (resume == NULL)
        return 0;
    const size_t before = stepper_state_bytes(m->bins);
    TRY(tail_read(row, resume, before));
    const struct state_in state = {resume->bytes, before};
    return stepper_resume(m->stepper, index, &state, st);
}

static double field_energy(const struct model *m, const struct capillary_row *r)
{
    double sum = 0.0;
    for (long k = r->point.grid.first; k < r->point.grid.last; k++)
        sum += cplx_abs2(m->field[k]);
    return 4.0 * r->point.grid.window * sum;
}

int capillary_load(struct model *m, int row, const struct params *params,
                   const struct seed *seed, const struct state_in *resume,
                   struct row_status *st)
{
    struct capillary_row *const r = &m->row[row];
    st->reason[0] = '\0';
    st->outcome = ROW_FAILED;
    TRY(plane_fetch_clear(m->planes_out, row));
    if (read_member(m, r, params, st) != 0)
        return 0;
    const double rho = capillary_medium_place(&r->medium, 0.0).at.rho;
    r->field_scale = 1.0 / sqrt(0.5 * PULSE_EPS0 * PULSE_C * r->medium.area);
    r->b_rate = r->point.kerr && rho > 0.0
                    ? mixture_n2(&r->medium.gas, rho, r->point.omega0) / rho * r->point.omega0
                          / (PULSE_C * r->medium.area)
                    : 0.0;
    TRY(load_response(m, row, r));
    if (m->raman)
        TRY(load_raman(m, row, r));
    make_tables(m, r);
    TRY(load_tilt(m, row, r));
    TRY(load_loss(m, row, r));
    if (m->edge)
        TRY(load_edge(m, row, r));
    TRY(capillary_input(&r->point, m->input, m->scratch, m->field));
    capillary_noise_add(&r->point, seed, m->field);
    const struct real_grid *const grid = &r->point.grid;
    const struct perturb_bins bins = {m->field, m->bins, grid->first, grid->last - grid->first};
    TRY(pulse_perturb(&bins, seed));
    r->entry = field_energy(m, r);
    return load_stepper(m, row, params, resume, st);
}
