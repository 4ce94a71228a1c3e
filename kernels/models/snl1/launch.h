/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_SNL1_LAUNCH_H
#define KERNELS_MODELS_SNL1_LAUNCH_H

#include "kernels/models/snl1/tables.h"

#define SNL1_LANES_MAX 16

/*
 * The block kernels: each computes the source term and its diagonal of up to its width of sea
 * points. Source: W3SNL1. The scratch is aligned to 64 bytes and written before it is read.
 */

/** Bits of the Fortran; 4 points. */
void snl1_parity(const struct snl1_tables *tables, const struct snl1_block *block,
                 void *scratch);
/** The same for AVX2; 8 points. */
void snl1_parity_v3(const struct snl1_tables *tables, const struct snl1_block *block,
                    void *scratch);
/** The same for AVX-512; 16 points. */
void snl1_parity_v4(const struct snl1_tables *tables, const struct snl1_block *block,
                    void *scratch);
/** Within 4e-6 of the largest value; 4 points. */
void snl1_fast(const struct snl1_tables *tables, const struct snl1_block *block, void *scratch);
/** The same for AVX2; 8 points. */
void snl1_fast_v3(const struct snl1_tables *tables, const struct snl1_block *block,
                  void *scratch);
/** The same for AVX-512; 16 points. */
void snl1_fast_v4(const struct snl1_tables *tables, const struct snl1_block *block,
                  void *scratch);

#endif
