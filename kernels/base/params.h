/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_PARAMS_H
#define KERNELS_BASE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/data.h"

#define PARAM_LIST_MAX 32

/* What a parameter holds. */
enum param_kind {
    PARAM_REAL,   /* number, SI */
    PARAM_INT,    /* integer, exact to 2^53 */
    PARAM_BOOL,   /* 0 or 1 */
    PARAM_CHOICE, /* index into choices */
    PARAM_LIST,   /* up to PARAM_LIST_MAX numbers; see list_unit */
    PARAM_DATA    /* arrays out of a file; see data */
};

/* Properties of a parameter, to be combined with |. */
enum param_flag {
    PARAM_STRUCTURAL = 1, /* another value needs another model object (array sizes, variants) */
    PARAM_GRID = 2,       /* another value changes a stored axis (t, omega, …) */
    PARAM_REQUIRED = 4,   /* the scan file must give it */
    PARAM_NONE = 8,   /* the words `none` and `auto` are legal: the parameter is then not set */
    PARAM_GROUP = 16, /* a scalar in place of its group sets it: `raman: none` = raman.model */
    PARAM_OPEN = 32,  /* minimum is excluded: value > minimum */
    PARAM_LAST = 64   /* the word `last` is legal: the parameter is then not set */
};

/* One parameter of a model (or of the stepper). Static tables of these are the only place where
 * a parameter is described: parsing, `describe`, `init`, identity and storage read them. */
struct param_info {
    const char *name; /* dotted: "pulse.duration" */
    enum param_kind kind;
    unsigned flags;       /* enum param_flag */
    const char *unit;     /* udunits text of the stored value, "1" for none. PARAM_LIST whose
                             elements differ (betas): unit of element i is
                             list_unit with %d replaced by i + list_first */
    const char *fallback; /* default as it would be written in the scan file, NULL: none */
    double minimum;       /* of each element, SI, inclusive unless PARAM_OPEN */
    double maximum;       /* inclusive */
    const char *const *choices;   /* PARAM_CHOICE: NULL-terminated names */
    const char *list_unit;        /* PARAM_LIST: e.g. "s^%d m^-1", else NULL */
    int list_first;               /* first number put into list_unit */
    const struct data_info *data; /* PARAM_DATA: what the file may hold, else NULL */
    const char *doc;              /* one sentence, shown by `describe` */
};

/* What a scan gives a parameter. */
struct param_value {
    bool set;
    int count;                   /* 1, or the length of a list */
    double number;               /* value; for a list its first element */
    const struct data_set *data; /* PARAM_DATA: borrowed from the scan, else NULL */
    double list[PARAM_LIST_MAX];
};

/* How `save.planes` is written: a number, a list, the end alone. */
enum plane_kind { PLANES_COUNT, PLANES_LIST, PLANES_LAST };

/* Where planes are saved (`save.planes`). */
struct plane_request {
    enum plane_kind kind;
    long count;              /* number of planes; 1 for PLANES_LAST */
    const double *positions; /* PLANES_LIST: [count], ascending, SI; borrowed from the scan */
};

/* The parameters of one point. Plain data: copy with params_copy. */
struct params {
    const struct param_info *info; /* [count], static */
    int count;
    struct param_value *values; /* [count], owned */
    struct plane_request planes;
};

/**
 * Make a parameter set with nothing set.
 *
 * @param info  [count] static table, borrowed
 * @param out   receives the object; free with params_clear
 * @return 0 or ERR_MEMORY
 */
int params_init(struct params *out, const struct param_info *info, int count);

/** Free the values. Legal on a zeroed or cleared object. */
void params_clear(struct params *params);

/** Copy all values; both must have been made from the same table. */
void params_copy(struct params *to, const struct params *from);

/** Index of a parameter by its dotted name, -1 when there is none. */
int params_find(const struct params *params, const char *name);

/** Whether a parameter has a value (given, or by default). False for an unknown name. */
bool params_is_set(const struct params *params, const char *name);

/**
 * Value of a parameter, SI (PARAM_BOOL: 0 or 1, PARAM_CHOICE: index).
 * NaN when it is not set or there is no such name, so that a misspelt name cannot pass a test.
 */
double params_real(const struct params *params, const char *name);

/** Value of an integer parameter, bool or choice; -1 when it is not set. */
long params_int(const struct params *params, const char *name);

/** List of a parameter. @param count receives its length (0 when not set). Borrowed. */
const double *params_list(const struct params *params, const char *name, int *count);

/** Arrays of a parameter of kind PARAM_DATA; NULL when it is not set. Borrowed. */
const struct data_set *params_data(const struct params *params, const char *name);

/** Set a numeric parameter by index; for tests and axis values. */
void params_set(struct params *params, int index, double value);

/**
 * Unit of element i of a parameter, udunits text.
 *
 * @param text [size] receives the unit
 */
void param_unit(const struct param_info *info, int element, char *text, size_t size);

#endif
