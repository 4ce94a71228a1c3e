/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RESPONSE_H
#define KERNELS_MODELS_PULSE_RESPONSE_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/model.h"
#include "kernels/models/pulse/ionisation.h"
#include "kernels/models/pulse/mixture.h"
#include "kernels/models/pulse/rate_table.h"
#include "kernels/numeric/taps.h"

/*
 * The response of a gas to a real field on the fine time grid (physics.md §4, numerics.md §6),
 * from samples of the field to samples of the polarisation, both of a column: one node of one
 * member, with 1 or 2 components. Columns are counted member after member, nodes within.
 *
 *   P = window (kerr E^3 + density sum_i share_i (plasma polarisation of a particle i) + extra
 * E)
 *
 * with E = scale times the field, i the species that ionise, each with its own rate, potential
 * and exposure. Synthesis and projection of one mode on one node are these
 * factors: nothing else is done for them (numerics.md §5).
 *
 * Without the third harmonic E^3 is replaced by (3/4) |E_an|^2 E; the caller gives the
 * imaginary part of the analytic signal, which is a second inverse transform: of -i times the
 * spectrum.
 *
 * Of an envelope (`envelope` in the set-up) the samples are complex, u = sum_k a_k exp(+2 pi i
 * j k/n), half the analytic signal; they receive half the polarisation's, 3 kerr |E|^2 E +
 * extra E with E = scale u: what the bins of a real field hold. No plasma: its rate follows the
 * carrier.
 *
 * Passes over the fine samples: 1 for Kerr alone and for the trapezoid rule with one component,
 * 3 else; of the plasma as many for each species, and one more for each beyond the first, in
 * which the responses are added. Transforms: none.
 */
#define RESPONSE_PASSES_KERR      1
#define RESPONSE_PASSES_TRAPEZOID 1
#define RESPONSE_PASSES_BAND      3
#define RESPONSE_PASSES_ADD       1

/* Species of a column, at most. */
#define RESPONSE_SPECIES MIXTURE_PARTS

/* How the plasma is integrated over time; none: Kerr alone. */
enum plasma_rule { PLASMA_NONE, PLASMA_TRAPEZOID, PLASMA_BAND };

/* How the rate is evaluated. */
enum rate_evaluation {
    RESPONSE_RATE_FIELD,   /* a table by field */
    RESPONSE_RATE_CHANNEL, /* a table by channel: PPT */
    RESPONSE_RATE_ADK      /* ADK's formula, in place */
};

/* Groups of a caller's own numbers, at most. */
#define RESPONSE_OWN 4

/* Numbers of a column that the caller's own kernels read or leave, in groups of
 * [columns][width]: they travel with those of the response. */
struct response_own {
    int groups;
    int width[RESPONSE_OWN];
};

/* Positions whose factors are kept at once, at most. */
#define RESPONSE_POSITIONS 8

/* What all columns have in common. */
struct response_setup {
    struct backend *backend;
    long n;         /* fine samples */
    long columns;   /* members x nodes */
    int components; /* 1 or 2 */
    enum plasma_rule rule;
    int species;                                 /* that ionise; 1 … RESPONSE_SPECIES */
    enum rate_evaluation rate[RESPONSE_SPECIES]; /* of each */
    bool third_harmonic; /* false: `quadrature` is given; one component only */
    bool extra;          /* `extra` is given */
    bool envelope;       /* complex samples; no plasma, one component, no third harmonic */
    int positions;       /* whose factors are kept at once; 0: 1 */
    struct response_own scalars; /* at each position */
    struct response_own sums;
};

/* A gas that ionises; copied. */
struct response_species {
    double share;                   /* of the particles, 0 … 1 */
    double potential;               /* I_p, J */
    const struct rate_table *table; /* RESPONSE_RATE_FIELD, _CHANNEL; must stay */
    const struct ionisation *adk;   /* RESPONSE_RATE_ADK */
};

/* A column of a member; copied. */
struct response_column {
    const double *window; /* [n] in time, 0 … 1 */
    double dt;            /* s */
    double preionised;    /* fraction p of each species, 0 … 1 */
    struct response_species species[RESPONSE_SPECIES];
    struct taps taps; /* PLASMA_BAND */
};

/* Factors at one position of the guide. */
struct response_factors {
    double scale;   /* V/m per unit of the field */
    double kerr;    /* unit of the output per (V/m)^3: rho eps0 gamma3, and what leads to it */
    double density; /* unit of the output per C m: rho, and the same */
};

/* Rows of one call, on the backend, those of its first column first. */
struct response_rows {
    double *samples; /* [columns][components][ld] the field; receives P where out is NULL */
    double *out;     /* [columns][ld] receives P, of one component; or NULL */
    long ld; /* multiple of 8; that of the windows, backend_stride of n doubles, for more
                than one column or species */
    const double *quadrature; /* [columns][ld] imaginary part of the analytic field; or NULL */
    const double
        *extra;         /* [columns][ld_extra] factor on E, e.g. of a Raman response; or NULL */
    long ld_extra;      /* 0: that of the windows */
    cplx *envelope;     /* [columns][ld] in place of samples, of an envelope; else NULL */
    cplx *envelope_out; /* [columns][ld] receives P of an envelope; or NULL: in place */
    const unsigned char *active; /* [columns] on the backend; NULL: all */
};

/* What the last call for a column saw, of all species with their shares. */
struct response_report {
    double electrons; /* a particle, at the end of the window, the preionised ones too */
    double most;      /* largest fraction, summed like electrons */
    double work;      /* I_p times the electrons freed, J a particle */
    long long
        undershoot;      /* samples whose exposure was negative and set to 0, of each species */
    long long saturated; /* samples above the ceiling of the rate of one of the species */
    bool finite;         /* none of these is NaN or infinite */
};

struct response;

/** Make a response; scratch is per thread, on a backend that is apart per column. @return 0,
 * ERR_UNSUPPORTED or ERR_MEMORY */
int response_create(const struct response_setup *setup, struct response **out);

/** Free; NULL is legal. */
void response_destroy(struct response *response);

/** Put a column of a member into its place. */
int response_load(struct response *response, long column, const struct response_column *in);

/** Keep the factors of a column at a position, until response_upload on the host. */
void response_factors(struct response *response, int position, long column,
                      const struct response_factors *factors);

/** A caller's own scalars of a column at a position: `group` of setup.scalars, on the host. */
double *response_scalars(struct response *response, int position, int group, long column);

/** The same on the backend, as response_upload brought them. */
const double *response_scalars_there(const struct response *response, int position, int group,
                                     long column);

/** Where a caller's kernels leave their sums: `group` of setup.sums, on the backend. */
double *response_sums_there(const struct response *response, int group, long column);

/** The same on the host, as response_gather brought them. */
const double *response_sums(const struct response *response, int group, long column);

/** Factors and the caller's scalars at the first `positions` positions to the backend; one copy
 * where all columns are meant. */
int response_upload(struct response *response, int positions, long column, long columns);

/**
 * P of columns [column, column + columns), in place of the samples or into `out`, with the
 * factors at a position as response_upload brought them. On a backend that is apart each kernel
 * is launched once; else columns come one after the other. May be called from several threads
 * for different columns.
 *
 * NaN and infinite samples give NaN.
 *
 * @param passes  receives those over a column
 */
int response_run(struct response *response, int position, long column, long columns,
                 const struct response_rows *rows, int *passes);

/** What the last calls for columns saw and their callers' sums to the host; one copy where all
 * columns are meant. */
int response_gather(struct response *response, long column, long columns);

/** What the last call for a column saw, as response_gather brought it; zeros without plasma. */
void response_seen(const struct response *response, long column, struct response_report *out);

/** Where on the backend the last call for a column left the numbers of a species, to be
 * fetched: [COLUMN_SUMS]. */
const double *response_species_there(const struct response *response, int species, long column);

/**
 * response_seen of numbers that were fetched from there.
 *
 * @param sums  [species][COLUMN_SUMS]
 */
void response_seen_in(const struct response *response, long column, const double *const *sums,
                      struct response_report *out);

/** response_factors, response_upload and response_run of one column at the first position. Adds
 * its passes to `st`. */
int response_apply(struct response *response, long column,
                   const struct response_factors *factors, const struct response_rows *rows,
                   struct row_status *st);

/** response_gather and response_seen of one column. */
int response_report(struct response *response, long column, struct response_report *out);

/** Bytes of one column; without the tables of its rate, and without scratch. */
size_t response_column_bytes(const struct response_setup *setup);

/** Bytes of a set of scratch rows: each column of a backend that is apart has one, else each
 * thread. */
size_t response_scratch_bytes(const struct response_setup *setup);

/** Bytes of what all columns share, without scratch. */
size_t response_shared_bytes(const struct response_setup *setup);

#endif
