/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_SCAN_H
#define SCANS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/data.h"
#include "kernels/base/params.h"
#include "kernels/model.h"

/*
 * A scan: the meaning of one scan file (docs/scan-file.md). Points are never materialised: each
 * is computed from its index. Member id = point * realisations + realisation, last axis
 * fastest. Seven places of the file: scan, model, parameters, axes, ensemble, stepper, save, …
 * are parsed against the static parameter table of the model named in it.
 */

#define SCAN_AXES_MAX        16
#define SCAN_AXIS_PARAMS_MAX 8
#define SCAN_NAME_SIZE       81

/* `save.field` */
enum scan_field { SAVE_FIELD_NO, SAVE_FIELD_YES, SAVE_FIELD_FLOAT32 };
/* `resources.worker` */
enum scan_worker { WORKER_CORE, WORKER_SOCKET, WORKER_GPU, WORKER_THREADS };
/* `store.sync` */
enum scan_sync { SYNC_NEVER, SYNC_MEMBER };
/* `envelope.reference` */
enum envelope_reference { ENVELOPE_NONE, ENVELOPE_TIGHTER, ENVELOPE_STORED };

/* What an ensemble that stops itself is judged by: `ensemble.until.quantity`. */
enum until_kind {
    UNTIL_NONE,          /* realisations are given */
    UNTIL_MEAN_SPECTRUM, /* relative l2 error of the mean spectrum */
    UNTIL_G12,           /* error of the coherence over all bins */
    UNTIL_OBSERVABLE     /* relative error of its mean */
};

#define SCAN_UNTIL_LEAST 8  /* realisations of the first look, at least … */
#define SCAN_UNTIL_MIN   20 /* … and by default */

/* `ensemble: {until: …, min: …, max: …}`, of the last saved plane. */
struct scan_until {
    enum until_kind kind;
    char quantity[80]; /* as in the scan file */
    int observable;    /* of UNTIL_OBSERVABLE: index in model_info */
    double error;      /* wanted */
    bool banded;       /* of a spectrum: only these bins */
    double band[2];    /* m, wavelengths, ascending */
    int64_t min;       /* realisations of the first look, 0: not given … */
    int64_t max;       /* … and of the last one */
};

/* `ensemble:` */
struct scan_ensemble {
    bool present; /* false: one realisation, no noise */
    bool counted; /* realisations were given */
    int64_t realisations;
    struct scan_until until;
    uint64_t seed;
    enum noise_kind noise;
    bool common;     /* common random numbers: point key 0 for every point */
    bool onto_noise; /* noise may be added to a plane that carries noise */
};

/* `save:` */
struct scan_save {
    struct plane_request planes;
    enum scan_field field;
    bool all_observables;
    bool observable[OBSERVABLES_MAX]; /* by index in model_info, when not all */
};

/* `resources:` */
struct scan_resources {
    enum scan_worker worker;
    int threads;   /* of WORKER_THREADS */
    double memory; /* bytes a worker, 0: none */
};

/* `limits:` */
struct scan_limits {
    double timeout;      /* s, 0: none */
    double times_median; /* 0: none */
    int attempts;
};

/* `store:` */
struct scan_store {
    enum scan_sync sync;
    double checkpoint; /* s */
    long history;      /* steps kept a member; default 8192, 0 above 10^5 members */
};

/* What an error is measured in: `envelope.norm`. */
enum envelope_norm {
    NORM_FIELD_L2,    /* ||c - r|| / ||r|| of a stored field */
    NORM_SPECTRUM_L2, /* the same of |c|^2, whatever the phases */
    NORM_OBSERVABLE   /* |c - r| / |r| of a number; `energy` is one of them */
};

/* Which members are judged: `envelope.sample`. */
enum envelope_sample { SAMPLE_ALL, SAMPLE_SHARE, SAMPLE_COUNT, SAMPLE_POINTS };

/* `envelope:`, the error that members are judged by. */
struct scan_envelope {
    enum envelope_reference reference;
    char file[256]; /* of ENVELOPE_STORED */
    double factor;
    double safety;
    char norm[80];               /* field_l2 | spectrum_l2 | energy | observable NAME */
    double tolerance;            /* the error expected in the norm; 0: not given */
    struct plane_request planes; /* count 0: not given, those of save */
    char sample[256];            /* all | 5 % | N | points [0, 3, …] */
    double gain; /* noise-seeded members are judged where the dynamics amplify less; 0: gains
                    are not measured */
};

/* One axis: one parameter, or several zipped ones. */
struct scan_axis_param {
    int param;     /* index into the model's parameter table */
    char name[80]; /* dotted name; with dots replaced by '_' it names the file's scale */
};

/* An axis of the scan: parameters that change together. */
struct scan_axis {
    int64_t length;
    int params; /* 1, or the number of zipped parameters */
    struct scan_axis_param param[SCAN_AXIS_PARAMS_MAX];
};

/* What a parameter of kind data names: a file, and what of it is wanted. */
struct scan_input {
    const char *param;            /* "pulse.file"; "" after scan_parse_canonical */
    const struct data_info *info; /* what is accepted */
    char *written;                /* as in the scan file */
    char *path;                   /* relative ones from the scan file's folder */
    char *place;                  /* "scan.yaml:12:9" */
    const char *columns;          /* one of info->tables, NULL: not named */
    int64_t member;               /* of an earlier run */
    int64_t plane;                /* of an earlier run, -1: the last */
    struct data_set set;          /* filled by whoever reads the file */
};

struct scan; /* opaque; read with the functions below */

/* One --set key=value of the command line; the value is YAML in flow style. Keys: a parameter
 * ("pulse.duration=50 fs", "parameters.pulse.duration=…"), "axis.PARAMETER=[…]" or
 * "axis.PARAMETER={from: …}" for the values of an axis there is, or a key of stepper, ensemble,
 * save, envelope, resources, limits, store ("ensemble.realisations=2"). */
struct scan_override {
    const char *text;
};

/**
 * Read a scan file: rank 0 only (units need udunits2).
 *
 * Errors are one line `file:line:col: what, where, what would be accepted`.
 *
 * A scan that names data files (scan_inputs) is not whole until scan_bind: it has no canonical
 * form and no points before.
 *
 * @param path       the file; directories, binary files, files above 8 MB are refused
 * @param overrides  [count] applied to fixed parameters after reading; they enter the identity
 * @return 0, ERR_ARGUMENT (no such file, a directory, too large: exit code 2), ERR_PARSE,
 *         ERR_MEMORY, ERR_IO (no units database)
 */
int scan_read(const char *path, const struct scan_override *overrides, int count,
              struct scan **out);

/**
 * Parse a scan from text in memory (name is used in messages). Otherwise as scan_read.
 */
int scan_parse(const char *text, size_t length, const char *name,
               const struct scan_override *overrides, int count, struct scan **out);

/**
 * Parse the canonical SI text that scan_canonical made: no units, no udunits. Every rank but 0.
 * Gives bit for bit the same points as the original.
 */
int scan_parse_canonical(const char *text, size_t length, struct scan **out);

/**
 * Where a key of the scan file stands: "scan.yaml:12:9", "--set 'grid.points=17'", or NULL when
 * it was not given. Keys: "model", a parameter or its group ("grid.points", "grid"),
 * "save.planes" and the like. Borrowed; rank 0 only (scan_parse_canonical knows no places).
 */
const char *scan_place(const struct scan *scan, const char *key);

/**
 * The place that a message about a scan's meaning concerns: of the longest dotted name of a
 * given key in it (those of --set first), else of the group it begins with ("pulse: …"), else
 * of `model:`. NULL when no place is known.
 */
const char *scan_blame(const struct scan *scan, const char *message);

/** Fail with a message, its place in front. @return code */
int scan_fail(const struct scan *scan, int code, const char *message);

/** Free a scan; NULL is legal. */
void scan_destroy(struct scan *scan);

/** Name of the scan: the value of `scan:`. */
const char *scan_name(const struct scan *scan);
/** The model. */
const struct model_ops *scan_model(const struct scan *scan);
/** The scan file's text as read (rank 0; "" after scan_parse_canonical). @param length bytes */
const char *scan_text(const struct scan *scan, size_t *length);
/** Canonical form: sorted keys, SI values with 17 digits, defaults written out, YAML that
 *  scan_parse_canonical reads. One `key: value` a line with dotted keys, so that two forms can
 * be compared line by line. Borrowed. */
const char *scan_canonical(const struct scan *scan);

/** The `ensemble:` section. Borrowed. */
const struct scan_ensemble *scan_get_ensemble(const struct scan *scan);
/** The `save:` section. Borrowed. */
const struct scan_save *scan_get_save(const struct scan *scan);
/** The `resources:` section. Borrowed. */
const struct scan_resources *scan_get_resources(const struct scan *scan);
/** The `limits:` section. Borrowed. */
const struct scan_limits *scan_get_limits(const struct scan *scan);
/** The `store:` section. Borrowed. */
const struct scan_store *scan_get_store(const struct scan *scan);
/** The `envelope:` section. Borrowed. */
const struct scan_envelope *scan_get_envelope(const struct scan *scan);

/** The norm of the envelope. @param observable receives the model's index of NORM_OBSERVABLE */
enum envelope_norm scan_envelope_norm(const struct scan *scan, int *observable);

/** Which members are judged. @param amount receives the share (0 to 1) or the number of members
 */
enum envelope_sample scan_envelope_sample(const struct scan *scan, double *amount);

/** The list of SAMPLE_POINTS: its index-th point; false behind the last one. */
bool scan_envelope_point(const struct scan *scan, int index, int64_t *point);

/** Number of axes. */
int scan_axes(const struct scan *scan);
/** One axis, slowest first. */
const struct scan_axis *scan_get_axis(const struct scan *scan, int axis);
/** Value of an axis parameter at an index, SI (bool 0/1, choice: index; list: the index
 * itself). */
double scan_axis_value(const struct scan *scan, int axis, int param, int64_t index);
/** The axis as it stands in the file, e.g. "{from: 5 kW, to: 10 kW, points: 4}". Borrowed. */
const char *scan_axis_written(const struct scan *scan, int axis, int param);

/** Number of points, of realisations a point, of members: at most 10^15, refused above. */
int64_t scan_points(const struct scan *scan);
/** Number of realisations a point. */
int64_t scan_realisations(const struct scan *scan);
/** Number of members: points times realisations. */
int64_t scan_members(const struct scan *scan);

/** Indices of a point on each axis: index[scan_axes]. */
void scan_point_indices(const struct scan *scan, int64_t point, int64_t *index);

/** Make an empty parameter set of the right size for scan_point. Free with params_clear. */
int scan_params_init(const struct scan *scan, struct params *out);
/** Fill the parameters of a point. Does not allocate. */
void scan_point(const struct scan *scan, int64_t point, struct params *out);

/** Number of things that must be read from other files: 0 for most scans. */
int scan_inputs(const struct scan *scan);
/** One of them; its set is to be filled. Borrowed. */
struct scan_input *scan_get_input(const struct scan *scan, int input);
/** Bytes of all sets. */
size_t scan_input_bytes(const struct scan *scan);
/**
 * Make a scan whole once all sets have their hash and label; of a scan that was read from the
 * canonical form the arrays may come later. The sets must not move any more.
 *
 * @return 0, ERR_MEMORY
 */
int scan_bind(struct scan *scan);
/** Set of an axis parameter of kind data at an index, NULL: none. Borrowed. */
const struct data_set *scan_axis_data(const struct scan *scan, int axis, int param,
                                      int64_t index);

/**
 * Grids: points that agree in every PARAM_GRID parameter share stored axes (t, omega). Grid ids
 * are the mixed radix over the axes that scan such parameters.
 */
int64_t scan_grids(const struct scan *scan);
/** Grid id of a point. */
int64_t scan_grid_of(const struct scan *scan, int64_t point);
/** The first point that has a grid. */
int64_t scan_grid_point(const struct scan *scan, int64_t grid);

/** Structural keys, likewise: members of one GIVE agree in it. */
int64_t scan_structures(const struct scan *scan);
/** Structural key of a point. */
int64_t scan_structure_of(const struct scan *scan, int64_t point);
/** The first point that has a structural key. */
int64_t scan_structure_point(const struct scan *scan, int64_t structure);

/**
 * Layout classes: points that agree in PARAM_GRID or PARAM_STRUCTURAL parameters, for finding
 * the largest shapes without visiting every point. Same scheme.
 */
int64_t scan_shapes(const struct scan *scan);
/** The first point of a shape. */
int64_t scan_shape_point(const struct scan *scan, int64_t shape);

/**
 * Canonical SI text of a point's parameters, what its seed depends on: sorted `name=value`
 * lines of the model's own parameters (17 digits), never stepper.*. Returns the length that was
 * needed; text is cut at size.
 */
size_t scan_point_text(const struct scan *scan, int64_t point, char *text, size_t size);

/**
 * Canonical text of a member's identity without its seed key: model, numerics version,
 * parameters, stepper, ensemble noise model and seed. Same return.
 */
size_t scan_identity_text(const struct scan *scan, int64_t point, char *text, size_t size);

/** Longest length that the two functions above can need. */
size_t scan_text_bound(const struct scan *scan);

#endif
