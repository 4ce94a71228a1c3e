/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_MODEL_H
#define KERNELS_MODELS_PULSE_CAPILLARY_MODEL_H

#include "kernels/backend.h"
#include "kernels/models/pulse/capillary_medium.h"
#include "kernels/models/pulse/capillary_params.h"
#include "kernels/models/pulse/plane_fetch.h"
#include "kernels/models/pulse/raman_mix.h"
#include "kernels/models/pulse/rate_table.h"
#include "kernels/models/pulse/response.h"
#include "kernels/numeric/host_fft.h"
#include "kernels/step/rk45.h"

/* Inside of the model: what capillary.c, capillary_load.c, capillary_plane.c and
 * capillary_rhs.c share. */

/* Arrays of a plane. */
enum capillary_array { ARRAY_FIELD, ARRAY_PATH, CAPILLARY_ARRAYS };

/* Integrals along the way: rates per metre, integrated over the steps from their values at the
 * states; what L takes, a part of PATH_ABSORBED, is known for each bin and step. */
enum capillary_path { PATH_IONISATION, PATH_ABSORBED, PATH_B, CAPILLARY_PATHS };

/* Numbers that kernels of a plane read. */
enum capillary_scalar { SCALAR_SHIFT, SCALAR_LEAST, SCALAR_FIRST, CAPILLARY_SCALARS };

/* Scalars of a row at a position, which go to the backend with those of the response. */
enum capillary_group {
    GROUP_LEAN,
    GROUP_MIX,     /* scale of the delayed response */
    GROUP_WEIGHTS, /* and its weights */
    GROUP_WAY,     /* integrals of the terms of L up to there */
    CAPILLARY_GROUPS
};

/* Sums over a row that its last evaluation at a state left. */
enum capillary_sum {
    SUM_SQUARES, /* of the samples, and the largest */
    SUM_EDGE,    /* what the absorber in time takes */
    SUM_LOSS,    /* what L took over the step */
    CAPILLARY_SUMS
};

/*
 * Dimensions of a member's field. The stepper holds a group of CAPILLARY_MODES states, one for
 * each mode and direction of it; the response is computed in CAPILLARY_NODES places of the
 * cross section, each a column of CAPILLARY_COMPONENTS rows of samples. Between them stand two
 * real matrices, the fields of the modes in the nodes, [nodes x components][modes], and those
 * times the nodes' weights, [modes][nodes x components]. Averaged over one mode both are a
 * number, which the factors of the response hold, and column and row of a member have one
 * number; what has more of any is refused where the mode is read.
 */
enum { CAPILLARY_MODES = 1, CAPILLARY_NODES = 1, CAPILLARY_COMPONENTS = 1 };

/* Positions that the stepper asks for at once, at most. */
#define CAPILLARY_POSITIONS 8

/* A tabulated rate, shared by the rows that ask for it. */
struct capillary_rate {
    struct rate_request request;
    char hash[DATA_HASH_SIZE]; /* of a user's table, else empty */
    struct rate_table *table;  /* NULL: free */
};

/* One row. Hidden state between load and advance: at, way, count, now, next, lost, path,
 * report, fresh. */
struct capillary_row {
    struct capillary_point point;
    struct capillary_medium medium;
    struct ionisation ionisation[RESPONSE_SPECIES];
    struct raman_mix raman;
    const struct capillary_rate *rate[RESPONSE_SPECIES]; /* NULL: none in use */
    double field_scale; /* V/m per sqrt(W), at the mean radius */
    bool leans;         /* the prefactor changes along the way */
    bool lossy;         /* some Re L_j is not zero */
    double b_rate;      /* of max A^2 and the density at the mean radius, rad m^2/W */
    struct capillary_place at[CAPILLARY_POSITIONS]; /* of the stepper's last call */
    double way[CAPILLARY_POSITIONS][STEP_TERMS]; /* integrals of the terms of L up to there */
    int count;                                   /* positions of it */
    double now[CAPILLARY_PATHS];                 /* rates at the state */
    double next[CAPILLARY_PATHS];                /* at the state that the trial leads to */
    double lost;                                 /* to L over the trial, J */
    double path[CAPILLARY_PATHS];
    double entry;                  /* energy of the field at 0, J */
    struct response_report report; /* of the last right-hand side at a state */
    bool fresh; /* samples, quadrature and report are of the row's state: the last right-hand
                   side was there. Not so before the first, after a rejected trial, or after one
                   of other rows. */
    double *positions; /* [planes], on the host */
};

/* What an envelope has in place of real samples. */
struct capillary_envelope {
    cplx *samples; /* [capacity][ld] half the analytic signal, carrier-free */
    cplx *reply;   /* [capacity][ld] the response at a state */
    cplx *lost;    /* [capacity][ld] -alpha/n of them; with the absorber in time only */
    /* host memory, Raman only */
    long over;            /* samples of the delayed response for each of the field */
    double *part;         /* [over fine] */
    double *response;     /* [over fine] */
    cplx *transfer;       /* [2 over fine] */
    struct host_fft *fft; /* of 2 over fine numbers */
};

/* A batch of rows. */
struct model {
    struct backend *be;
    int capacity;
    long bins;     /* of the state: coarse/2 + 1 */
    long spectrum; /* of the argument of N: fine/2 + 1, of an envelope fine */
    long fine;
    long planes;
    int terms; /* most that a row has */
    enum plasma_rule rule;
    int species; /* that ionise */
    enum rate_evaluation evaluation[RESPONSE_SPECIES];
    bool third_harmonic;
    bool raman;
    bool edge; /* absorber in time */
    bool is_envelope;
    struct capillary_envelope envelope; /* in place of samples, reply, quadrature and lost */
    long ld_tilt;
    long ld, ld_real;      /* of spectra and samples */
    long ld_long, ld_half; /* of the doubled window and its spectrum; Raman only */
    struct fft *forward, *backward, *long_forward, *long_backward;
    struct fft *half_backward; /* of half the fine samples; NULL where no row needs it */
    /* rows on the backend */
    double *samples;               /* [capacity][ld_real] */
    double *reply;                 /* the same, P of a state: a plane reads the samples */
    double *quadrature;            /* the same; without third harmonic only */
    cplx *turned;                  /* [capacity][ld]; without third harmonic only */
    double *square;                /* [capacity][ld_long] E^2, zeros behind; Raman only */
    double *delayed;               /* [capacity][ld_long] */
    cplx *half;                    /* [capacity][ld_half] */
    cplx *transfer[RAMAN_MIX_MAX]; /* [capacity][ld_half] */
    double *rate_edge;             /* [capacity][ld_real] -alpha/n; with the absorber in time
                                      only, as the next three */
    double *lost;                  /* [capacity][ld_real] -alpha A/n */
    cplx *lost_spectrum;           /* [capacity][ld] */
    cplx *factor;    /* [capacity][ld] prefactor, when the stepper's is only the mask */
    double *tilt;    /* [capacity][ld_tilt] of the prefactor */
    double *loss;    /* [capacity][terms][ld_tilt] Re L_j */
    double *scalars; /* [CAPILLARY_SCALARS] of a plane; where the host reaches the rows only, as
                        the next two */
    double *work;    /* [2 ld] of plane */
    double *over;    /* [ld_tilt] 1/k of bin k, 0 for k = 0 */
    struct response *response;
    struct stepper *stepper;
    struct plane_fetch *planes_out; /* NULL where the host reaches the rows */
    struct host_fft *input;         /* of load: the same bits in every process */
    struct capillary_row *row;      /* [capacity] */
    struct capillary_rate *rate;    /* [capacity x species] */
    /* host memory of load and plane */
    cplx *field;     /* [bins] */
    cplx *pre;       /* [bins] */
    cplx *scratch;   /* [fine] */
    double *li;      /* [terms][bins] */
    double *lr;      /* the same, Re L_j */
    double *window;  /* [fine] */
    double *doubled; /* [2 fine + 2]; Raman only */
};

/** Put a member into a row; as model_ops.load. */
int capillary_load(struct model *m, int row, const struct params *params,
                   const struct seed *seed, const struct state_in *resume,
                   struct row_status *st);

/** Read a plane; as model_ops.plane. */
int capillary_plane(struct model *m, int row, struct plane_buffers *out);

/** The stepper's hook where rows stand on planes: they leave before the other rows go on. */
int capillary_settled(void *model, long row, long rows, const bool *on);

/**
 * What leaves a device for a plane of a point.
 *
 * @param bytes  [PLANE_PIECES] receives those of each piece
 * @return the number of pieces
 */
int capillary_pieces(const struct capillary_point *point, size_t *bytes);

/** The stepper's right-hand side. */
int capillary_nonlinear(void *model, const struct step_call *call);

/** Its integrals of the terms of L, with the places kept for capillary_nonlinear. */
int capillary_path(void *model, long row, double z, const double *dz, int count,
                   double (*out)[STEP_TERMS]);

/** What the evaluations at states left on the backend: rates, loss, the plasma's report. */
int capillary_gather(void *model, const struct step_call *call);

/** Its hook after an accepted step: the integrals along the way; ends a member whose field has
 * more energy than it began with (bound energy_gain). */
void capillary_accepted(void *model, long row, double h, double square, struct row_status *st);

/** The same of an envelope. */
int capillary_envelope_nonlinear(void *model, const struct step_call *call);

/** Rows, transforms and host memory of an envelope. */
int capillary_envelope_create(struct model *m, const struct capillary_point *point);

/** Free them; legal when there are none. */
void capillary_envelope_destroy(struct model *m);

/** Bytes of what an envelope's batch shares, beside what a real field's does. */
size_t capillary_envelope_bytes(const struct capillary_point *point);

/**
 * A transfer function of the delayed response of an envelope, sampled as finely as for a real
 * field, in the bins of the doubled window.
 *
 * @param k      function of the row's mix
 * @param scale  factor on it
 */
int capillary_envelope_transfer(struct model *m, int row, int k, double scale);

/* Rows of a transform and their strides. */
struct capillary_rows {
    void *in;
    long ld_in;
    void *out;
    long ld_out;
    long rows;
};

/** A transform of `rows` rows from the given ones on. */
int capillary_execute(struct model *m, const struct fft *plan,
                      const struct capillary_rows *rows);

/** One of one row. */
int capillary_transform(struct model *m, const struct fft *plan, void *in, long ld_in,
                        void *out, long ld_out);

/* A call of the stepper as the model works it off. */
struct capillary_call {
    struct model *m;
    const struct step_call *step;
    long row, rows;              /* as the step_call's */
    const unsigned char *active; /* the same */
    int position;                /* of all places */
    bool state;                  /* at a state of the rows, not between */
    bool none;                   /* no row is evaluated */
};

/** Begin: the rows' scalars of all positions of a trial go to the backend with its first
 * evaluation. */
int capillary_begin(struct model *m, const struct step_call *step, struct capillary_call *out);

/** Count transforms and passes of the rows that are evaluated. */
void capillary_count(const struct capillary_call *c, int transforms, int passes);

/** At the end of a step what L took over it, into SUM_LOSS: from the state before it and the
 * argument of N. */
int capillary_step_loss(const struct capillary_call *c);

/** rho (h * square) into `delayed`, a factor on E: the spectrum of `square`, zeros behind it,
 * times the transfer function of the place, back. One pass, two transforms. */
int capillary_delay(const struct capillary_call *c);

/**
 * The response of the samples, and its spectrum into the call's: with what `delayed` holds, the
 * prefactor at the place and what the edges of the window absorb.
 *
 * @param rows  `out` of a real field, or `envelope_out`, is given; `extra` is not read
 */
int capillary_respond(const struct capillary_call *c, const struct response_rows *rows);

/** Factors of the response at a place. */
struct response_factors capillary_factors(const struct capillary_row *row,
                                          const struct capillary_place *at);

/** Terms that a point may have, at most. */
int capillary_terms_most(const struct capillary_point *point);

/** Transforms of one evaluation. */
int capillary_transforms(const struct capillary_point *point);

/** Bytes of a row's state behind the stepper's. */
size_t capillary_tail_bytes(void);

/** Put the integrals of a row behind the stepper's state. */
void capillary_tail_write(const double *path, const double *now, void *to);

/** How the rate of a species of a point is evaluated. */
enum rate_evaluation capillary_rate_evaluation(const struct capillary_point *point,
                                               int species);

/** How the response of a point is set up. */
struct response_setup capillary_response_setup(const struct capillary_point *point,
                                               struct backend *be, int capacity);

/** Save positions: within [0, length], ascending. */
int capillary_planes_check(const struct plane_request *planes,
                           const struct capillary_point *point);

#endif
