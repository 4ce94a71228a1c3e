/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/reduce_sums.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The seven rows of `length` numbers. */
enum sums_row { ROW_SR, ROW_SI, ROW_Q, ROW_VARIANCE, ROW_G, ROW_D, ROW_D2, ROWS };

struct reduce_sums {
    long length;
    long members;     /* of the first pass */
    double coherence; /* of all members */
    double c_d, c_d2; /* sums of (coherence without member i) - coherence, and its square */
    double *row[ROWS];
    double *memory;
};

int reduce_sums_create(long length, struct reduce_sums **out)
{
    *out = NULL;
    struct reduce_sums *sums = NULL;
    TRY(MEM_NEW(1, &sums));
    const int rc = MEM_NEW(ROWS * length, &sums->memory);
    if (rc != 0) {
        mem_free(sums);
        return rc;
    }
    sums->length = length;
    for (int r = 0; r < ROWS; r++)
        sums->row[r] = sums->memory + r * length;
    *out = sums;
    return 0;
}

void reduce_sums_destroy(struct reduce_sums *sums)
{
    if (sums == NULL)
        return;
    mem_free(sums->memory);
    mem_free(sums);
}

void reduce_sums_begin(struct reduce_sums *sums)
{
    memset(sums->memory, 0, (size_t)(ROWS * sums->length) * sizeof *sums->memory);
    sums->members = 0;
    sums->c_d = 0;
    sums->c_d2 = 0;
}

void reduce_sums_add(struct reduce_sums *sums, const double *field)
{
    for (long k = 0; k < sums->length; k++) {
        const double r = field[2 * k];
        const double i = field[2 * k + 1];
        sums->row[ROW_SR][k] += r;
        sums->row[ROW_SI][k] += i;
        sums->row[ROW_Q][k] += r * r + i * i;
    }
    sums->members++;
}

/* | |S|^2 - Q | / ((M - 1) Q) */
static double degree(double sr, double si, double q, long members)
{
    return fabs(sr * sr + si * si - q) / ((double)(members - 1) * q);
}

void reduce_sums_mean(struct reduce_sums *sums)
{
    double weight = 0;
    double total = 0;
    for (long k = 0; k < sums->length; k++) {
        const double q = sums->row[ROW_Q][k];
        const double g = degree(sums->row[ROW_SR][k], sums->row[ROW_SI][k], q, sums->members);
        sums->row[ROW_G][k] = sums->members < 2 || !(q > 0) ? (double)NAN : g;
        if (q > 0) {
            weight += q;
            total += g * q;
        }
    }
    sums->coherence = sums->members < 2 || !(weight > 0) ? (double)NAN : total / weight;
}

void reduce_sums_leave_out(struct reduce_sums *sums, const double *field)
{
    double weight = 0;
    double total = 0;
    for (long k = 0; k < sums->length; k++) {
        const double r = field[2 * k];
        const double i = field[2 * k + 1];
        const double power = r * r + i * i;
        const double deviation = power - sums->row[ROW_Q][k] / (double)sums->members;
        sums->row[ROW_VARIANCE][k] += deviation * deviation;
        const double q = sums->row[ROW_Q][k] - power;
        const double g =
            degree(sums->row[ROW_SR][k] - r, sums->row[ROW_SI][k] - i, q, sums->members - 1);
        /* Sums of differences to the whole, which are small: no cancellation in the variance.
         */
        const double d = g - sums->row[ROW_G][k];
        sums->row[ROW_D][k] += d;
        sums->row[ROW_D2][k] += d * d;
        if (q > 0) {
            weight += q;
            total += g * q;
        }
    }
    const double d = total / weight - sums->coherence;
    sums->c_d += d;
    sums->c_d2 += d * d;
}

static double jackknife(double d, double d2, long members)
{
    const double m = (double)members;
    const double spread = d2 - d * d / m;
    if (isnan(spread) || members < 3)
        return (double)NAN;
    return sqrt((m - 1) / m * (spread > 0 ? spread : 0));
}

static double spectrum_value(const struct reduce_sums *sums, enum reduce_spectrum spectrum,
                             long k)
{
    const double m = (double)sums->members;
    const double mean = sums->members > 0 ? sums->row[ROW_Q][k] / m : (double)NAN;
    const double deviation =
        sums->members > 1 ? sqrt(sums->row[ROW_VARIANCE][k] / (m - 1)) : (double)NAN;
    switch (spectrum) {
    case REDUCE_MEAN:
        return mean;
    case REDUCE_STD:
        return deviation;
    case REDUCE_SNR:
        return mean > 0 ? mean / deviation : (double)NAN; /* infinite for identical members */
    case REDUCE_G12:
        return sums->row[ROW_G][k];
    case REDUCE_G12_ERROR:
        return jackknife(sums->row[ROW_D][k], sums->row[ROW_D2][k], sums->members);
    }
    return (double)NAN;
}

void reduce_sums_spectrum(const struct reduce_sums *sums, enum reduce_spectrum spectrum,
                          double *values)
{
    for (long k = 0; k < sums->length; k++)
        values[k] = spectrum_value(sums, spectrum, k);
}

double reduce_sums_coherence(const struct reduce_sums *sums, double *error)
{
    *error = jackknife(sums->c_d, sums->c_d2, sums->members);
    return sums->coherence;
}
