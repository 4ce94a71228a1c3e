/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_SNL1_SNL1_H
#define KERNELS_MODELS_SNL1_SNL1_H

/*
 * The discrete interaction approximation of the nonlinear source term of ocean waves, for many
 * sea points at once. This header is installed and needs nothing but libc.
 *
 * Source: Hasselmann et al. 1985, J. Phys. Oceanogr. 15, 1378, in the form of WAVEWATCH III
 * 7.14, routines INSNL1 (tables) and W3SNL1 (points).
 *
 * The `parity` kernels give the bits of that Fortran; the `fast` ones stay within 4e-6 of the
 * largest |S| (and |D|) of a point, for lam >= 0.1: below, the partners nearly coincide and the
 * sums cancel. Nothing here needs MPI or OpenMP, prints, or ends the
 * program.
 * A handle may be shared by threads: each call has its own scratch.
 *
 * A pointer that is missing is refused like a wrong value: SNL1_ARGUMENT, 0, NULL or "".
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SNL1_TEXT_SIZE 256
#define SNL1_WEIGHTS   8
#define SNL1_ROWS_MAX  4096 /* of the spectrum with its tail */
#define SNL1_NTH_MAX   4096

/* What a call returns; the text says more. */
enum snl1_code {
    SNL1_OK = 0,
    SNL1_ARGUMENT = 1,    /* a value outside of its range, a length that does not fit */
    SNL1_UNSUPPORTED = 3, /* another method than the DIA (IQTYPE < 0), an unknown kernel */
    SNL1_MEMORY = 4,      /* no memory */
    SNL1_SCRATCH = 5,     /* the scratch is smaller than snl1_scratch_bytes says */
    SNL1_DEVICE = 7       /* this processor lacks the instruction set */
};

/* Physics packages: they differ in nlprop and, for ST1, in the tail. */
enum snl1_package { SNL1_ST2, SNL1_ST4, SNL1_ST6, SNL1_WAM };

/* Rounding: as the Fortran's, or within a bound. */
enum snl1_arithmetic { SNL1_PARITY, SNL1_FAST };

/* The configuration of a run, as in the namelists. */
struct snl1_config {
    int32_t nk;     /* frequencies, >= 1 */
    int32_t nth;    /* directions of the full circle, >= 1 */
    float xfr;      /* ratio of frequencies, >= 1.00001 */
    float fr1;      /* first frequency, Hz, > 0 */
    float lam;      /* shape of the quadruplet, 0 < lam < 0.5; some below 3e-4 are refused */
    float nlprop;   /* constant of proportionality, >= 0 */
    float kdcon;    /* factor of the relative depth */
    float kdmin;    /* least relative depth, > 0 */
    float snls1;    /* depth factor 1 + snls1/x (1 - snls2 x) exp(snls3 x) */
    float snls2;    /*   "  */
    float snls3;    /*   "  */
    float fachf;    /* the frequency spectrum falls as f^-fachf beyond the last row */
    int32_t iqtype; /* >= 0: DIA; below: another method, refused */
};

/* All numbers of a configuration that the kernels use. An array with more elements than the
 * configuration has rows ends early. */
struct snl1_numbers {
    int32_t nk, nth;
    int32_t ifrp, ifrm; /* rows to the near + and - partners; ifrm <= 0 */
    int32_t ithp, ithm; /* directions to them */
    int32_t nfrhgh;     /* rows of the spectrum with its tail */
    int32_t nfrchg;     /* rows of centres */
    float wfrp, wfrm;   /* weights of the far rows */
    float wthp, wthm;   /* weights of the far directions */
    float awg[SNL1_WEIGHTS];
    float swg[SNL1_WEIGHTS];
    float dal[3];
    float snlc1, kdcon, kdmin, snls1, snls2, snls3, fachfe;
    const float *sig;  /* [nk] radian frequencies, rad/s */
    const float *af11; /* [nfrchg] f^11, Hz^11 */
};

/* One call: npts points. Lengths are given so that they can be checked. */
struct snl1_batch {
    int64_t npts;
    int32_t nspec;       /* nk nth of the caller's arrays */
    int32_t nk;          /* of the caller's cg */
    const float *a;      /* [npts][nspec] action, directions fastest */
    const float *cg;     /* [npts][nk] group velocity, m/s, > 0 */
    const float *kdmean; /* [npts] mean wavenumber times depth */
    float *s;            /* [npts][nspec] receives the source term, 1/s of the action's unit */
    float *d;            /* [npts][nspec] receives its diagonal derivative, 1/s */
    void *scratch;       /* [scratch_bytes] one a call */
    size_t scratch_bytes;
    unsigned char
        *flags; /* [npts] receives enum snl1_flag, SNL1_NONFINITE on an error; or NULL */
};

/* What is to be said of a point; combined with |. */
enum snl1_flag {
    SNL1_NEGATIVE = 1,       /* the spectrum has a value below 0; it is used as it is */
    SNL1_NONFINITE = 2,      /* S or D has an infinity or no number */
    SNL1_INPUT_NONFINITE = 4 /* so has the spectrum or kdmean */
};

struct snl1;

/**
 * Fill a configuration with the defaults of a physics package, on the grid of 32 frequencies
 * from 0.0373 Hz with ratio 1.1 and 36 directions.
 *
 * @return SNL1_OK, or SNL1_ARGUMENT for an unknown package
 */
int snl1_defaults(int package, struct snl1_config *out);

/**
 * Make the tables of a configuration.
 *
 * @param sig  [nk] the caller's radian frequencies, compared bit for bit with those of the
 *             chain from fr1, so that an array that begins at another row is refused; NULL:
 *             not compared
 * @param out  receives the handle, NULL on failure; free with snl1_destroy
 * @param text [SNL1_TEXT_SIZE] receives what is wrong; may be NULL
 * @return SNL1_OK or a code
 */
int snl1_create(const struct snl1_config *config, const float *sig, struct snl1 **out,
                char *text);

/**
 * Make a handle of ready numbers, without a call of the mathematical library: for tables that
 * were made elsewhere. Arrays are copied. Otherwise as snl1_create.
 */
int snl1_create_ready(const struct snl1_numbers *numbers, struct snl1 **out, char *text);

/** Free a handle; NULL is legal. No call with it may be under way. */
void snl1_destroy(struct snl1 *handle);

/**
 * Choose the kernel. Without this call: parity, the best instruction set of the processor.
 * Not while another thread computes with the handle.
 *
 * @param isa  "x86-64", "x86-64-v3", "x86-64-v4"; NULL or "auto": the best one here
 * @return SNL1_OK, SNL1_ARGUMENT, SNL1_UNSUPPORTED or SNL1_DEVICE
 */
int snl1_choose(struct snl1 *handle, int arithmetic, const char *isa);

/** Name of the kernel that will run: "snl1-parity/x86-64-v3". Valid as long as the handle. */
const char *snl1_kernel(const struct snl1 *handle);

/** The numbers of a handle; borrowed. */
const struct snl1_numbers *snl1_numbers(const struct snl1 *handle);

/** Scratch that a call needs, bytes, whatever npts and the kernel; any alignment will do. */
size_t snl1_scratch_bytes(const struct snl1 *handle);

/**
 * Source term and diagonal of npts points. A point's result depends on nothing but its own
 * input: not on npts, order, kernel width or threads. Every element of S and D is written; on
 * an error with NaN, as far as the lengths allow.
 *
 * @return SNL1_OK or a code; infinities and NaN are results, told by the flags
 */
int snl1_compute(struct snl1 *handle, const struct snl1_batch *batch);

/**
 * What the last failed call with this handle said; "" when none failed.
 *
 * @param text [SNL1_TEXT_SIZE] receives it
 */
void snl1_message(struct snl1 *handle, char *text);

/**
 * Keep a text as that of the last failed call: for an interface in another language, which
 * checks what this one cannot see. NULL does nothing.
 */
void snl1_note_failure(struct snl1 *handle, const char *said);

/**
 * The address tables as INSNL1 has them: 1-based, rows below the first fold into the pad
 * 1-nth to 0. The kernels do without them.
 *
 * @param ip  [2][4][nfrchg nth] + partners
 * @param im  [2][4][nfrchg nth] - partners
 * @param ic  [8][2][nk nth] centres that reach a bin; each may be NULL: it is not wanted
 */
void snl1_addresses(const struct snl1 *handle, int32_t *ip, int32_t *im, int32_t *ic);

/**
 * Radian frequencies of a configuration, the chain of multiplications from fr1.
 *
 * @param sig [count] from the first frequency on
 */
void snl1_frequencies(const struct snl1_config *config, int count, float *sig);

#ifdef __cplusplus
}
#endif

#endif
