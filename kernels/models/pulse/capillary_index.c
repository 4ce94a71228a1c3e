/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refractive index of a medium and what the prefactor makes of it. */
#include "kernels/models/pulse/capillary_medium.h"

/* Re n_eff at several places; what depends on the frequency alone is found once. */
static void indices_at(const struct capillary_medium *m, double omega,
                       const struct capillary_place *at, int places, double *out)
{
    struct guide_bin bin;
    const bool own = m->index.columns == 0;
    if (own)
        guide_bin_load(&m->guide, omega, 0, &bin);
    for (int i = 0; i < places; i++) {
        out[i] = 1.0 + (own ? guide_excess_value(&m->guide, &bin, at[i].at).r : 0.0);
        for (int j = 0; j < m->index.columns; j++)
            out[i] += at[i].weight[j] * band_table_read(&m->index, j, omega, 0).c[0].r;
    }
}

double capillary_medium_index(const struct capillary_medium *medium, double omega,
                              const struct capillary_place *at)
{
    double index;
    indices_at(medium, omega, at, 1, &index);
    return index;
}

/* Whether something else than what the lean follows changes n_eff. */
static bool has_rest(const struct capillary_medium *m)
{
    return m->index.columns > 2
           || (m->index.columns == 0 && m->low != m->high && m->narrow != m->wide);
}

double capillary_medium_lean(const struct capillary_medium *medium,
                             const struct capillary_place *at)
{
    if (medium->index.columns > 0)
        return medium->index.columns == 2 ? at->weight[1] - medium->middle.weight[1] : 0.0;
    if (medium->low != medium->high)
        return (at->at.rho - medium->mean) / medium->set.rho;
    const double here = medium->set.radius / at->at.radius;
    const double middle = medium->set.radius / medium->radius;
    return here * here - middle * middle;
}

/* The places between whose leans n_eff is linear, and behind them the middle. */
static void lean_ends(const struct capillary_medium *m, struct capillary_place ends[3])
{
    ends[0] = ends[1] = ends[2] = m->middle;
    if (m->index.columns == 2) {
        ends[0].weight[0] = ends[1].weight[1] = 1.0;
        ends[0].weight[1] = ends[1].weight[0] = 0.0;
    } else if (m->index.columns == 0 && m->low != m->high) {
        ends[0].at.rho = m->low;
        ends[1].at.rho = m->high;
    } else if (m->index.columns == 0) {
        ends[0].at.radius = m->wide;
        ends[1].at.radius = m->narrow;
    }
}

/* Change of n_eff over n_eff in the middle, per lean; `middle` receives the latter. */
static double tilt_at(const struct capillary_medium *m, double omega, double *middle)
{
    struct capillary_place ends[3];
    double index[3];
    lean_ends(m, ends);
    const double span = capillary_medium_lean(m, &ends[1]) - capillary_medium_lean(m, &ends[0]);
    indices_at(m, omega, ends, 3, index);
    *middle = index[2];
    return span != 0.0 ? (index[1] - index[0]) / span / index[2] : 0.0;
}

double capillary_medium_prefactor(const struct capillary_medium *medium, long k, bool vacuum,
                                  double *tilt)
{
    double index;
    const double w = real_grid_omega(&medium->grid, k);
    *tilt = tilt_at(medium, w, &index);
    return w * real_grid_spectral(&medium->grid, k) / (vacuum ? 1.0 : index);
}

double capillary_medium_drift(const struct capillary_medium *medium,
                              const struct capillary_place *at, bool vacuum)
{
    const double area = at->at.radius / medium->radius; /* of sqrt(Aeff) */
    if (vacuum || !has_rest(medium))
        return area;
    double index;
    const double tilt = tilt_at(medium, medium->omega0, &index);
    const double taken = index * (1.0 + capillary_medium_lean(medium, at) * tilt);
    return area * taken / capillary_medium_index(medium, medium->omega0, at);
}
