/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REDUCE_SUMS_H
#define IO_REDUCE_SUMS_H

/*
 * Ensemble statistics of complex spectra of one plane in two passes over the members; private
 * to io. With M members a_i, S = sum a_i, Q = sum |a_i|^2 per bin (docs/run-file.md,
 * "Ensemble"):
 *
 *     g12 = | |S|^2 - Q | / ((M - 1) Q)            Dudley and Coen 2002, pairs i != j
 *     coherence = sum_k g12_k Q_k / sum_k Q_k      bins without energy have no weight
 *
 * The second pass forms, for each member, both numbers of the M - 1 others exactly (S - a_i,
 * Q - |a_i|^2) and from them the jackknife error sqrt((M - 1)/M sum_i (g_i - mean g)^2).
 */

/* The spectra of a point that the sums give. */
enum reduce_spectrum { REDUCE_MEAN, REDUCE_STD, REDUCE_SNR, REDUCE_G12, REDUCE_G12_ERROR };

struct reduce_sums;

/** Memory for spectra of `length` bins. ERR_MEMORY */
int reduce_sums_create(long length, struct reduce_sums **out);
/** Free; NULL is legal. */
void reduce_sums_destroy(struct reduce_sums *sums);
/** Begin a plane. */
void reduce_sums_begin(struct reduce_sums *sums);
/** First pass: one member. @param field [length] pairs {r, i} */
void reduce_sums_add(struct reduce_sums *sums, const double *field);
/** Between the passes. */
void reduce_sums_mean(struct reduce_sums *sums);
/** Second pass: the same members in the same order. */
void reduce_sums_leave_out(struct reduce_sums *sums, const double *field);
/** One result. NaN where it is not defined: all without members; g12 and std below 2, its error
 *  below 3 members; g12 and snr of an empty bin. @param values [length] */
void reduce_sums_spectrum(const struct reduce_sums *sums, enum reduce_spectrum spectrum,
                          double *values);
/** Overall coherence and its jackknife error; NaN as above. */
double reduce_sums_coherence(const struct reduce_sums *sums, double *error);

#endif
