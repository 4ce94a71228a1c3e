/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the configure-time check of contraction compiles: a sum of products, and the complex
 * product that gcc 12 fuses in vector code in spite of -ffp-contract=off. */
double contraction_sum(double a, double b, double c);
void contraction_product(const double *restrict a, const double *restrict b,
                         double *restrict out);

double contraction_sum(double a, double b, double c)
{
    return a * b + c;
}

void contraction_product(const double *restrict a, const double *restrict b,
                         double *restrict out)
{
    for (long i = 0; i < 1024; i++) {
        out[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        out[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    }
}
