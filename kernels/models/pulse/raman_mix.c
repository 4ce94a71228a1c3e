/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/raman_mix.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

/* Densities and times at which the polynomial is checked. */
#define DENSITIES 33
#define TIMES     256

static void make_nodes(struct raman_mix *mix, double low, double high)
{
    for (int i = 0; i < mix->count; i++) {
        const double x = cos(PULSE_PI * (i + 0.5) / mix->count);
        mix->rho[i] = mix->count == 1 ? high : 0.5 * (low + high) + 0.5 * (high - low) * x;
    }
}

void raman_mix_weights(const struct raman_mix *mix, double rho,
                       double weight[RAMAN_MIX_MAX - 1])
{
    const double first = (rho - mix->rho[0]) / mix->unit;
    weight[0] = mix->count > 1 ? first : 0.0;
    weight[1] = mix->count > 2 ? first * (rho - mix->rho[1]) / mix->unit : 0.0;
}

/* f_k = sum of c_i rho_i h_i: divided differences of order k. */
static void differences(const struct raman_mix *mix, int k, double c[RAMAN_MIX_MAX])
{
    for (int i = 0; i <= k; i++) {
        c[i] = 1.0;
        for (int j = 0; j <= k; j++)
            if (j != i)
                c[i] /= (mix->rho[i] - mix->rho[j]) / mix->unit;
    }
}

static int density_response(const struct raman_mix *mix, double rho, double window,
                            double *response)
{
    const struct raman_filling *const filling = &mix->filling;
    for (int t = 0; t < TIMES; t++)
        response[t] = 0.0;
    for (int i = 0; i < filling->count; i++) {
        struct raman_lines lines;
        const double scale = filling->share[i] * (rho / mix->unit);
        TRY(raman_gas_lines(filling->gas[i], filling->temperature, rho, &lines));
        for (int t = 0; t < TIMES; t++)
            response[t] += scale * raman_lines_response(&lines, window * t / TIMES);
    }
    return 0;
}

/* Functions f_k at the times. */
static int make_functions(const struct raman_mix *mix, double window, double (*function)[TIMES])
{
    double node[RAMAN_MIX_MAX][TIMES];
    for (int i = 0; i < mix->count; i++)
        TRY(density_response(mix, mix->rho[i], window, node[i]));
    for (int k = 0; k < mix->count; k++) {
        double c[RAMAN_MIX_MAX];
        differences(mix, k, c);
        for (int t = 0; t < TIMES; t++) {
            function[k][t] = 0.0;
            for (int i = 0; i <= k; i++)
                function[k][t] += c[i] * node[i][t];
        }
    }
    return 0;
}

static int find_error(struct raman_mix *mix, double low, double high, double window)
{
    double function[RAMAN_MIX_MAX][TIMES];
    double response[TIMES];
    double most = 0.0;
    double worst = 0.0;
    TRY(make_functions(mix, window, function));
    for (int d = 0; d < DENSITIES; d++) {
        /* closer together towards the thinnest gas, where widths grow */
        const double share = (double)d / (DENSITIES - 1);
        const double rho = low + (high - low) * share * share * share;
        double weight[RAMAN_MIX_MAX - 1];
        double size = 0.0;
        double error = 0.0;
        TRY(density_response(mix, rho, window, response));
        raman_mix_weights(mix, rho, weight);
        for (int t = 0; t < TIMES; t++) {
            double got = function[0][t];
            for (int k = 1; k < mix->count; k++)
                got += weight[k - 1] * function[k][t];
            size += fabs(response[t]);
            error += fabs(got - response[t]);
        }
        most = fmax(most, size);
        worst = fmax(worst, error);
    }
    mix->error = most > 0.0 ? worst / most : 0.0;
    return 0;
}

int raman_mix_init(const struct raman_filling *filling, double low, double high, double window,
                   struct raman_mix *out)
{
    *out = (struct raman_mix){.filling = *filling, .unit = high > 0.0 ? high : 1.0};
    for (out->count = low == high ? 1 : 2; out->count <= RAMAN_MIX_MAX; out->count++) {
        make_nodes(out, low, high);
        if (low == high)
            return 0;
        TRY(find_error(out, low, high, window));
        if (out->error <= RAMAN_MIX_ERROR)
            return 0;
    }
    out->count = 0;
    FAIL(
        ERR_UNSUPPORTED,
        "raman: along this gradient %d responses hold that of %s to %g, %g is asked for; use a "
        "shorter window, one pressure or raman: none",
        RAMAN_MIX_MAX, filling->count == 1 ? gas_info(filling->gas[0])->name : "the mixture",
        out->error, RAMAN_MIX_ERROR);
}

/* Adds weight times the samples of all molecules at a density. */
static int add_samples(const struct raman_filling *filling, double rho, double weight,
                       double dt, long n, double *scratch, double *out)
{
    for (int i = 0; i < filling->count; i++) {
        struct raman_lines lines;
        const double scale = weight * filling->share[i];
        TRY(raman_gas_lines(filling->gas[i], filling->temperature, rho, &lines));
        raman_lines_sample(&lines, dt, n, scratch);
        for (long j = 0; j < n; j++)
            out[j] += scale * scratch[j];
    }
    return 0;
}

int raman_mix_sample(const struct raman_mix *mix, int k, double dt, long n, double *scratch,
                     double *out)
{
    double c[RAMAN_MIX_MAX];
    differences(mix, k, c);
    for (long j = 0; j < n; j++)
        out[j] = 0.0;
    for (int i = 0; i <= k; i++)
        TRY(add_samples(&mix->filling, mix->rho[i], c[i] * mix->rho[i], dt, n, scratch, out));
    return 0;
}
