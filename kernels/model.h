/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODEL_H
#define KERNELS_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/params.h"

struct backend;
struct model; /* each family defines its own */

/* Raised whenever a struct of this header changes: the size beside it in struct abi_tag is that
 * of struct model_ops alone. */
#define MODEL_ABI_VERSION 6
#define LAYOUT_ARRAYS_MAX 8
#define LAYOUT_DIMS_MAX   3
#define LAYOUT_AXES_MAX   8
#define LAYOUT_NOTES_MAX  32
#define LAYOUT_PLANS_MAX  6
#define OBSERVABLES_MAX   32
#define MODEL_REASON_SIZE 240

/* Element types of stored arrays (store.md). Complex numbers are {r, i}. */
enum element { ELEMENT_F64, ELEMENT_C128, ELEMENT_F32, ELEMENT_C64, ELEMENT_BF16, ELEMENT_I64 };

/** Bytes of one element. */
size_t element_size(enum element type);

/* Part: What a model is made of: static tables. */

/* A number saved with each plane. */
struct observable_info {
    const char *name; /* "energy" */
    const char *unit; /* udunits text */
    const char *doc;  /* one sentence; the long_name in the file */
};

/* Contract class of a quantity (numerics.md §1). */
enum contract_class { CONTRACT_P, CONTRACT_R, CONTRACT_T, CONTRACT_N };

/* One row of the model's error contract (numerics.md §1). */
struct bound_info {
    const char *quantity; /* "field", "seed", … */
    enum contract_class class;
    const char *norm;   /* "l2 of the spectrum", "bits" */
    const char *rule;   /* the bound in words and symbols */
    const char *source; /* where it comes from */
};

/* First in every model_ops: a model built against another header is refused. */
struct abi_tag {
    int version; /* MODEL_ABI_VERSION */
    int size;    /* sizeof(struct model_ops) */
};

/* What a model says of itself. */
struct model_info {
    const char *name;
    const char *doc;           /* one sentence */
    int numerics_version;      /* raised when results of the same input change */
    const char *convention;    /* sign and transform convention of stored fields, or "" */
    bool takes_noise;          /* `ensemble.noise` has a meaning for this model */
    bool single_plane;         /* a member has one plane, its result: `save.planes: last` is
                                  the default */
    bool on_devices;           /* rows are reached by upload and download alone, so that they
                                  may be on a device */
    const char *progress_unit; /* of save.planes positions; NULL: "1" */
    const struct param_info *params; /* own parameters, then the common stepper.* ones if any */
    int param_count;
    const struct observable_info *observables;
    int observable_count;
    const struct bound_info *bounds;
    int bound_count;
    const char *tolerance_doc; /* what values of stepper.rtol did to results of this model in a
                                  known case, with its source; NULL: nothing is known */
};

/* Part: Shapes. */

/* An axis that stored arrays refer to, or an auxiliary scale of the same length. */
struct layout_axis {
    const char *name; /* "omega" */
    const char *unit;
    const char *doc;
    long length;
    int dimension; /* index of the axis this one describes: itself for a dimension, else that
                      dimension's index (t and Omega describe omega's index space) */
};

/* An array that a model saves at each plane. */
struct layout_array {
    const char *name; /* "field" */
    const char *unit;
    const char *doc;
    enum element type;
    bool is_field; /* `save.field: false` leaves it out, `float32` narrows it */
    int dims;
    int axis[LAYOUT_DIMS_MAX]; /* indices into axes; slowest first */
};

/* One line of the sanity report: "soliton number 8.65". */
struct layout_note {
    char name[48];
    char unit[24];
    double value;
    char warning[160]; /* "" when all is well */
};

/* A transform that a model object plans on a device, for all its rows at once. */
struct layout_plan {
    int kind; /* enum fft_kind */
    long n;
};

/* All that rank 0, `plan` and the store know of a model's output. Plain data. */
struct plane_layout {
    const char *progress_name; /* "z" */
    const char *progress_unit;
    const char *progress_doc;
    double span; /* progress at the last plane, SI; planes of PLANES_COUNT are spread over it */
    long planes; /* saved planes of this member */
    int axes;
    struct layout_axis axis[LAYOUT_AXES_MAX];
    int arrays;
    struct layout_array array[LAYOUT_ARRAYS_MAX];
    int observables; /* of model_info; all are computed each plane */
    int notes;
    struct layout_note note[LAYOUT_NOTES_MAX];
    double transforms;     /* predicted number of FFTs of one member: the cost estimate */
    long transform_length; /* of a complex FFT that costs as much as one of them: of n real
                              samples n/2; 0 without transforms */
    double work;        /* predicted cost of one member, transforms and all that is known beside
                           them, in arbitrary but consistent units */
    size_t state_bytes; /* of a checkpoint */
    size_t shared_bytes; /* memory of one model object, whatever its capacity */
    size_t row_bytes;    /* memory of one row more */
    int plans;           /* whose work areas come to that on a device */
    struct layout_plan plan[LAYOUT_PLANS_MAX];
};

/** Number of elements of one plane of an array: the product of its axis lengths. */
long layout_array_count(const struct plane_layout *layout, int array);

/** Add a transform that a model object plans, `kind` of enum fft_kind, of LAYOUT_PLANS_MAX. */
void layout_add_plan(struct plane_layout *layout, int kind, long n);

/** Position of a saved plane, SI: exactly 0 and span at the ends of PLANES_COUNT. */
double layout_plane_position(const struct plane_layout *layout,
                             const struct plane_request *planes, long plane);

/* Part: Running. */

/* Shared with the worker's second thread. */
struct run_control {
    atomic_int stop;         /* set: advance returns after the current trial step */
    _Atomic double stop_at;  /* monotonic time (clock_wall) at which advance returns; 0: none.
                              * What a call has begun counts for the next one. */
    atomic_llong steps_done; /* trial steps since the start, written by advance */
    atomic_llong trials;     /* the same of rows that advance together, once for all of them; 0
                                of models that do not count them */
};

/* Noise of a realisation (scan-file.md `ensemble.noise`, physics A8). */
enum noise_kind { NOISE_NONE, NOISE_ONE_PHOTON, NOISE_HALF_PHOTON_GAUSSIAN, NOISE_DIRECT };

/* What the noise of a member is drawn from: equal seeds, equal noise. */
struct seed {
    enum noise_kind noise;
    uint64_t ensemble_seed;
    uint64_t point_key; /* 0 with common random numbers */
    uint64_t realisation;
    double perturbation; /* l2 norm of a perturbation of the input field, in units of that of
                            the field itself; 0: none. Models that take noise heed it: its
                            growth is what the dynamics amplify */
};

/* One trial step. */
struct step_record {
    double position; /* progress at its start */
    double length;
    double error; /* norm / tolerance; accepted when <= 1 */
    int order;
    int accepted; /* 0 or 1 */
};

/* What became of a row. */
enum row_outcome { ROW_EMPTY, ROW_RUNNING, ROW_DONE, ROW_FAILED, ROW_TIMED_OUT };

/* State of one row of a batch, shared by model and caller. load resets everything but the three
 * fields that the caller sets beforehand: deadline, history, history_capacity. */
struct row_status {
    enum row_outcome outcome;
    bool plane_ready; /* the row stands on `plane`; the caller reads it and clears this */
    long plane;       /* index of the plane reached last, -1 before the first */
    double progress;
    double
        deadline; /* monotonic time after which the row ends as ROW_TIMED_OUT; INFINITY: none */
    char reason[MODEL_REASON_SIZE]; /* why a row failed, with place and value */
    long long steps;                /* accepted steps */
    long long rejected;
    long long rhs_calls;
    long long transforms;
    long long passes;  /* over a row of bins or samples, transforms apart, since the row was
                          loaded: counted where they happen, not kept over a resume */
    long long bundles; /* times that a step asked for its positions along a guide that changes,
                          counted like passes */
    struct step_record *history; /* [history_capacity], caller's; may be NULL */
    long history_capacity;
    long history_count;
    bool history_truncated;
};

/* Buffers of one plane. A NULL array is not wanted. */
struct plane_buffers {
    void *array[LAYOUT_ARRAYS_MAX]; /* each layout_array_count elements of the layout's type */
    double observable[OBSERVABLES_MAX];
};

/* What a resume needs, as bytes of the model's own format; valid for the same numerics version.
 */
struct state_out {
    void *bytes; /* [capacity] caller's */
    size_t capacity;
    size_t length; /* written */
};

/* A saved state as load reads it; borrowed during the call. */
struct state_in {
    const void *bytes;
    size_t length;
};

/*
 * The interface of a kernel family. A model object holds a batch of `capacity` rows; members
 * come and go by row. Rows are independent: whatever happens in one changes nothing in another.
 */
struct model_ops {
    struct abi_tag abi;
    const struct model_info *info;

    /* Shapes, notes and cost of a point. Pure: no device, no allocation kept. Refuses
     * inconsistent parameters with ERR_ARGUMENT. */
    int (*layout)(const struct params *point, struct plane_layout *out);

    /* Values of a layout axis, SI: values[layout.axis[axis].length]. Pure. */
    int (*axis)(const struct params *point, int axis, double *values);

    /* Make an object for all points that agree in the PARAM_STRUCTURAL parameters and in
     * save.planes. All memory and plans are made here. */
    int (*create)(const struct params *point, struct backend *backend, int capacity,
                  struct model **out);

    /* Put a member into a row: st is reset (see struct row_status) and outcome = ROW_RUNNING.
     * With resume, the row continues from that state. A member that cannot be computed
     * becomes ROW_FAILED with the reason; a returned code is a run error. */
    int (*load)(struct model *m, int row, const struct params *point, const struct seed *seed,
                const struct state_in *resume, struct row_status *st);

    /* Until a running row reached its next plane (plane_ready), ended, or was stopped. A row
     * that stands on a plane is not advanced before the caller cleared plane_ready. After the
     * last plane was read (cleared), the next call sets ROW_DONE. Does not allocate. */
    int (*advance)(struct model *m, struct run_control *control, struct row_status *st);

    /* Arrays and observables of the plane a row stands on. Does not change the row. */
    int (*plane)(struct model *m, int row, struct plane_buffers *out);

    /* State of a running row; between steps. */
    int (*state)(struct model *m, int row, struct state_out *out);

    /* A state for load out of what was stored of a plane, with full precision: the row goes on
     * from there with a step length of its own choice, its counters and history begin anew. Not
     * the bits of an uninterrupted run. `in` holds the arrays that are fields. NULL: the model
     * cannot. */
    int (*from_plane)(const struct params *point, long plane, const struct plane_buffers *in,
                      struct state_out *out);

    void (*destroy)(struct model *m); /* NULL is legal */

    /* Which elements of a plane of an array are exactly zero on every plane: a hard mask holds
     * them there. zero[elements] 0 or 1. Pure. NULL: none is. */
    int (*zeros)(const struct params *point, int array, uint8_t *zero);

    /* What computes the rows, for the record of a member: "snl1-parity/x86-64-v3". Borrowed,
     * valid as long as the object. NULL: the backend's kernels and transforms do. */
    const char *(*kernel)(const struct model *m);
};

/** The built-in models, NULL-terminated. */
const struct model_ops *const *model_list(void);

/** Row i of a model's contract as it is shown: its own ones, then, of a model that takes noise,
 * that of members with noise. NULL behind the last. Only its own are stored with results. */
const struct bound_info *model_bound(const struct model_info *info, int i);

/** A built-in model by name, NULL when there is none. */
const struct model_ops *model_find(const char *name);

/* Parameters of the stepper, common to all models that use one: rows for a model's table.
 * Included by the tables of the models, so that `stepper.rtol` can be scanned like any other.
 */
#define STEPPER_PARAM_ROWS                                                                     \
    {.name = "stepper.method",                                                                 \
     .kind = PARAM_CHOICE,                                                                     \
     .unit = "1",                                                                              \
     .fallback = "rk45",                                                                       \
     .flags = PARAM_STRUCTURAL,                                                                \
     .choices = stepper_methods,                                                               \
     .doc = "Integration method: rk45 (Dormand-Prince 5(4), interaction picture); fixed: its " \
            "formulas on the steps of stepper.schedule, as they stand"},                       \
        {.name = "stepper.schedule.from",                                                      \
         .kind = PARAM_DATA,                                                                   \
         .unit = "1",                                                                          \
         .data = &schedule_data,                                                               \
         .doc = "Result file of an earlier run, whose accepted steps method fixed executes"},  \
        {.name = "stepper.schedule.member",                                                    \
         .kind = PARAM_INT,                                                                    \
         .unit = "1",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1e15,                                                                      \
         .doc = "Member of stepper.schedule.from; 0 when not given"},                          \
        {.name = "stepper.rtol",                                                               \
         .kind = PARAM_REAL,                                                                   \
         .unit = "1",                                                                          \
         .fallback = "1e-6",                                                                   \
         .minimum = 1e-14,                                                                     \
         .maximum = 0.1,                                                                       \
         .doc =                                                                                \
             "Relative tolerance of one step; a local control, not the error of the result"},  \
        {.name = "stepper.atol",                                                               \
         .kind = PARAM_REAL,                                                                   \
         .unit = "1",                                                                          \
         .fallback = "0",                                                                      \
         .minimum = 0,                                                                         \
         .maximum = 1e300,                                                                     \
         .doc = "Absolute tolerance in the field's unit"},                                     \
        {.name = "stepper.norm",                                                               \
         .kind = PARAM_CHOICE,                                                                 \
         .unit = "1",                                                                          \
         .fallback = "l2",                                                                     \
         .choices = stepper_norms,                                                             \
         .doc = "Norm of the step error: l2, rms_bin or max_bin"},                             \
        {.name = "stepper.first_step",                                                         \
         .kind = PARAM_REAL,                                                                   \
         .unit = "m",                                                                          \
         .fallback = "auto",                                                                   \
         .flags = PARAM_NONE | PARAM_OPEN,                                                     \
         .minimum = 0,                                                                         \
         .maximum = 1e300,                                                                     \
         .doc = "Length of the first step; auto: chosen from the size of the nonlinear term"}, \
    {                                                                                          \
        .name = "stepper.max_steps", .kind = PARAM_INT, .unit = "1", .fallback = "1000000",    \
        .minimum = 1, .maximum = 1e15, .doc = "Trial steps after which a member fails"         \
    }

extern const char *const stepper_methods[];
extern const char *const stepper_norms[];
extern const struct data_info schedule_data;

#endif
