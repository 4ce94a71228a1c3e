/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_GROUP_H
#define KERNELS_BACKEND_GROUP_H

#include "kernels/backend.h"

/*
 * A member spread over several ranks: a three-dimensional transform whose arrays are cut into
 * slabs along the first axis (FFTW3-MPI). Library sf_group, the only part of kernels that knows
 * MPI; it is absent where FFTW's MPI library is (CMake option SCANFARM_FFTW_MPI).
 *
 *   X[k0][k1][k2] = sum over j of x[j0][j1][j2] exp(-+ 2 pi i (j0 k0/n0 + j1 k1/n1 + j2 k2/n2))
 *
 * with the signs, and the lack of a division by n0 n1 n2, of enum fft_kind.
 *
 * All calls that take a group_fft are collective: every rank of the communicator makes them, in
 * the same order, from its main thread, while no other thread plans a transform.
 */

/* Planes of the first axis that one rank holds: [offset, offset + count). */
struct group_span {
    long offset; /* that of the planes before it, also where count is 0 */
    long count;  /* 0 on the last ranks where planes are few */
};

/* Shape of the input or the output, as a whole. */
struct group_array {
    long n[3]; /* points; the last axis of a spectrum of reals has n[2]/2 + 1 */
    long row;  /* stored elements of a row (last axis): reals are padded to 2 (n[2]/2 + 1) */
};

/* Who holds what. Element (i, j, k) of an array lies on the rank whose span holds i, at
 * [((i - offset) * n[1] + j) * row + k] in elements of the array's type. */
struct group_layout {
    int ranks;
    int rank; /* this one */
    struct group_array in;
    struct group_array out;
    const struct group_span *span; /* [ranks], of both arrays; lives as long as the transform */
    long capacity; /* complex elements that each of this rank's two arrays must have room for:
                      at least 1, and more than its span where FFTW needs room to exchange */
};

/* A transform of up to three axes over the ranks of a communicator. */
struct group_options {
    long communicator;      /* MPI_Comm_c2f of an intracommunicator; MPI stays out of headers */
    enum fft_kind kind;     /* FFT_R2C and FFT_C2R: n are the points of the real array */
    long n[3];              /* points of the axes, >= 1, axis 1 or 2 > 1: a line along the cut
                               axis is refused. Fewer planes than ranks are legal */
    enum fft_rigour rigour; /* of planning */
    const char *wisdom; /* read on rank 0 alone: text of group_fft_wisdom to import, NULL: none.
                           Borrowed during the call. Text that FFTW does not accept is warned of
                           and left out. FFTW knows wisdom by its set of solvers, so text made
                           without MPI (backend_wisdom before the first group) is not accepted
                           here, nor this one by a process without a group. */
};

struct group_fft;

/**
 * Cut planes into one contiguous span a rank, as the transform does: ceil(planes / ranks) each
 * until none are left. Pure: no MPI, so that a plan can be made without the ranks.
 *
 * @param span [ranks], written
 * @return 0, or ERR_ARGUMENT when planes or ranks is below 1
 */
int group_spans(long planes, int ranks, struct group_span *span);

/**
 * Plan a transform over the ranks of a communicator. Rank 0's wisdom, with the options' text,
 * is given to all ranks first. Planning takes two arrays of the layout's capacity for a while.
 *
 * All ranks give the same options (wisdom apart); all succeed or all fail. The transform works
 * on a duplicate of the communicator on which an MPI error ends the program: FFTW does not look
 * at MPI's codes, and numbers lost on the way must not pass for results.
 *
 * @param out receives the transform; NULL on failure. Free it with group_fft_destroy.
 * @return 0, ERR_ARGUMENT (null or inter-communicator, MPI not running, a length below 1, an
 *         array beyond the address space, unknown kind or rigour, options that differ between
 *         ranks), ERR_UNSUPPORTED (n0 x 1 x 1; a slab beyond MPI's counts of 2^31 - 1 reals:
 *         take more ranks), ERR_MEMORY, ERR_MPI or ERR_DEVICE (FFTW made no plan)
 */
int group_fft_create(const struct group_options *options, struct group_fft **out);

/** Free a transform before MPI_Finalize; NULL on all ranks is legal. Collective. FFTW keeps its
 * solvers and wisdom until the process ends: fftw_mpi_cleanup would void every plan of the
 * process, those of the cpu backend too, and is not called. */
void group_fft_destroy(struct group_fft *plan);

/** Shapes, spans and room of a transform; lives as long as it. Not collective. */
const struct group_layout *group_fft_layout(const struct group_fft *plan);

/**
 * Transform the group's array. Does not allocate in scanfarm; FFTW may, to exchange slabs.
 *
 * @param in  this rank's slab, on a 64-byte boundary, of the layout's capacity; destroyed by
 *            FFT_C2R, else kept. Never NULL, even where the span is empty.
 * @param out the same, another array
 * @return 0, or ERR_BUG for arrays that are the same, NULL or not aligned: on this rank alone,
 *         while the others wait for it, so end the program
 */
int group_fft_execute(const struct group_fft *plan, void *in, void *out);

/**
 * FFTW wisdom gathered from all ranks, as text on rank 0. Collective. Ranks whose FFTW differs
 * (another instruction set) are not asked: rank 0's own text is returned then.
 *
 * @param text receives memory to mem_free on rank 0, NULL elsewhere
 * @return 0 or ERR_MEMORY, the same on all ranks
 */
int group_fft_wisdom(const struct group_fft *plan, char **text);

#endif
