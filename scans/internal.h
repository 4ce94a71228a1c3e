/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_INTERNAL_H
#define SCANS_INTERNAL_H

#include "scans/scan.h"
#include "scans/text.h"
#include "scans/units.h"
#include "scans/yaml.h"

/* Private to scans/ and its tests: what struct scan holds and who fills it. */

#define SCAN_MEMBERS_MAX     1000000000000000 /* 10^15 */
#define AXIS_CACHE_MAX       4096             /* computed axes up to here keep their values */
#define AXIS_LENGTH_MAX      SCAN_MEMBERS_MAX
#define PLANES_MAX           10000000
#define PLACE_SIZE           400  /* a long file name is cut */
#define NAMES_BOUND          64   /* longest name of a choice */
#define CANONICAL_VALUE_SIZE 1280 /* PARAM_LIST_MAX numbers and separators */
#define HISTORY_DEFAULT      8192
#define INPUTS_MAX           4096   /* files, or planes of files, that one axis may name */
#define HISTORY_MEMBERS_MAX  100000 /* above: history 0 by default */

/* How an axis was written. */
enum axis_form { AXIS_VALUES, AXIS_LINEAR, AXIS_STEP, AXIS_LOG };

/* Exact decimal arithmetic of a linear axis: value(i) = (first + i * advance) * scale, or
 * divided by scale; all whole numbers below 2^53 and scale exact, so that the one rounding of
 * the last operation gives the double nearest to the decimal value. */
struct axis_decimal {
    bool is_exact;
    bool divide;
    double first;
    double advance;
    double scale;
};

/* The values of one parameter on one axis. */
struct axis_values {
    enum axis_form form;
    int64_t length;
    double from, to, step; /* computed forms */
    struct axis_decimal decimal;
    double *value;  /* [length]: AXIS_VALUES, and short computed axes; else NULL */
    double *row;    /* [length][PARAM_LIST_MAX]: PARAM_LIST */
    int *row_count; /* [length] */
    char *texts;    /* canonical text of each value, short axes */
    size_t *start;  /* [length + 1] into texts */
    char *written;  /* as in the file */
    int line, column;
    const struct data_set **set; /* [length]: PARAM_DATA, once the inputs are bound; borrowed */
};

/* A file that a parameter of kind data names. */
struct input_file {
    char *written;
    char *place; /* "scan.yaml:12:9" */
};

/* A piece of a point's text: fixed text, or the value of an axis parameter. */
struct text_piece {
    size_t start, length; /* into scan->piece_bytes */
    int axis;             /* -1: fixed */
    int param;
};

/* Pieces of a text, with their bytes. */
struct piece_list {
    int count;
    struct text_piece *piece;
    char *bytes;
};

/* Where a key stands: "scan.yaml:12:9", or the --set that gave it. */
struct place {
    char *key; /* "grid.points", "save.planes", "model" */
    char *text;
    bool commanded; /* by --set */
};

/* A scan, read and checked. */
struct scan {
    char name[SCAN_NAME_SIZE];
    const struct model_ops *model;
    const struct model_info *info;
    char *text;
    size_t text_length;
    char *canonical;
    struct params base; /* fixed values; scanned parameters are not set */
    struct scan_ensemble ensemble;
    struct scan_save save;
    struct scan_resources resources;
    struct scan_limits limits;
    struct scan_store store;
    struct scan_envelope envelope;
    bool history_given;
    double *positions;          /* of save.planes */
    double *envelope_positions; /* of envelope.planes */
    int axes;
    struct scan_axis axis[SCAN_AXES_MAX];
    struct axis_values values[SCAN_AXES_MAX][SCAN_AXIS_PARAMS_MAX];
    int64_t points;
    int64_t realisations;
    int64_t members;
    struct piece_list point_pieces;
    struct piece_list identity_pieces;
    size_t text_bound;
    char *folder; /* of the scan file, with a slash at its end; NULL: unknown */
    int files;
    struct input_file *file; /* while reading: PARAM_DATA holds its index */
    int inputs;
    struct scan_input **input; /* once resolved: PARAM_DATA holds its index */
    int places;
    int places_room;
    struct place *place; /* [places_room] empty after scan_parse_canonical */
};

/* A scan while it is read. */
struct reader {
    struct scan *scan;
    const struct model_ops *const *models; /* NULL-terminated: what `model:` may name */
    const char *name;                      /* of the source, for messages */
    struct units *units;                   /* NULL: canonical form, bare SI numbers */
    bool replace;                          /* --set: what was given may be given again */
    int *given;                            /* [param_count] line where it was given, 0: not */
};

/** scan_parse with another list of models than model_list(): for tests. */
int scan_parse_models(const struct model_ops *const *models, const char *text, size_t length,
                      const char *name, const struct scan_override *overrides, int count,
                      struct scan **out);
/** scan_parse_canonical with another list of models: for tests. */
int scan_parse_canonical_models(const struct model_ops *const *models, const char *text,
                                size_t length, struct scan **out);

/* schema.c: parameters */

/** Read one value of a parameter and check it against its table row. */
int schema_value(struct reader *r, const struct param_info *info, const struct node *node,
                 struct param_value *out);
/**
 * Set parameters from a map of nested or dotted keys.
 *
 * @param prefix "" or "pulse." …: what the map's keys stand under
 */
int schema_map(struct reader *r, const struct node *map, const char *prefix);
/** Set one parameter or group by its dotted name. */
int schema_set(struct reader *r, const char *name, const struct node *node);
/** Index of a parameter by dotted name or group name; -1. */
int schema_index(const struct model_info *info, const char *name);
/** Fail because of an unknown parameter name: nearest name and what is accepted there. */
int schema_fail_unknown(const struct reader *r, const char *name, int line, int column);
/** Give defaults to what is not set; refuse a required parameter that is missing. */
int schema_finish(struct reader *r, const struct node *place);
/** Whether a parameter belongs to section `stepper`. */
bool schema_is_stepper(const char *name);
/** What values a number may have: "above 0 s", "0 to 1", "" for all. */
void schema_range(const struct param_info *info, char *text, size_t size);

/* read_value.c: the simple values of sections */

/** A number in a unit. */
int value_real(struct reader *r, const char *where, const struct node *node, const char *unit,
               double *out);
/** A number in a unit, where the message names what else is accepted: ", or last", "" for
 * nothing. */
int value_real_or(struct reader *r, const char *where, const struct node *node,
                  const char *unit, const char *words, double *out);
/** A whole number within limits. */
int value_int(struct reader *r, const char *where, const struct node *node, int64_t minimum,
              int64_t maximum, int64_t *out);
/** true or false. */
int value_bool(struct reader *r, const char *where, const struct node *node, bool *out);
/** One of NULL-terminated words; its index. */
int value_word(struct reader *r, const char *where, const struct node *node,
               const char *const *words, int *out);
/** A scalar's text; fails on lists, maps and empty values. @param what is wanted */
int value_text(struct reader *r, const char *where, const struct node *node, const char *what,
               const char **out);
/** Whether a node is this word. */
bool value_is(const struct node *node, const char *word);
/** Fail at a node. */
int value_fail(const struct reader *r, const struct node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* sections.c */

/** Read `ensemble`, `save`, …; false in *known when there is no such section. */
int section_read(struct reader *r, const char *section, const struct node *map, bool *known);
/** Read one key of a section, "ensemble.seed"; with key "" the whole section. */
int section_set(struct reader *r, const char *section, const char *key, const struct node *node,
                bool *known);
/** Defaults of all sections. */
void section_defaults(struct scan *scan);
/** The canonical lines of all sections. */
void section_write(const struct scan *scan, struct text *out);

/* places.c */

/** Remember where a key stands; of keys given twice (--set) the last. Canonical form: nothing.
 */
int places_note(struct reader *r, const char *key, const struct node *node);
/** Free. */
void places_clear(struct scan *scan);

/* axes.c */

/** Read the list under `axes`. */
int axes_read(struct reader *r, const struct node *list);
/** Read the values of one parameter: an axis of its own number (canonical form, overrides). */
int axes_read_param(struct reader *r, int axis, const char *name, const struct node *node);
/** Replace the values of a scanned parameter. */
int axes_replace(struct reader *r, const char *name, const struct node *node);
/** Find the axis that scans a parameter; false when none does. */
bool axes_find(const struct scan *scan, int param, int *axis, int *place);
/** Let a parameter join an axis: no values yet. @param out receives its place there */
int axes_join(struct reader *r, int axis, int param, int *out);
/** Check lengths, order zipped parameters, count the points. */
int axes_finish(struct reader *r);
/** Free. */
void axes_clear(struct scan *scan);

/* axis_values.c */

/** Read a list or {from, to, …}. */
int axis_values_read(struct reader *r, const struct param_info *info, const struct node *node,
                     struct axis_values *out);
/** Value at an index. */
double axis_values_at(const struct axis_values *values, int64_t index);
/** Value of a point's parameter at an index. */
void axis_values_set(const struct axis_values *values, int64_t index, struct param_value *out);
/** The canonical form of the whole axis, as it stands behind the key. */
void axis_values_write(const struct axis_values *values, const struct param_info *info,
                       struct text *out);
/** Free. */
void axis_values_clear(struct axis_values *values);

/* inputs.c */

/** Remember the file that a parameter of kind data names; the number is its index. */
int inputs_note_file(struct reader *r, const struct param_info *info, const struct node *node,
                     double *out);
/** The same in the canonical form, which has hashes; the number is the input's index. */
int inputs_note_hash(struct reader *r, const struct param_info *info, const struct node *node,
                     double *out);
/** Read a line `inputs.HASH: "label"` of the canonical form. */
int inputs_note_label(struct reader *r, const char *hash, const struct node *node);
/** Turn the files into inputs: what of which file each value of an axis needs. */
int inputs_resolve(struct reader *r);
/** The canonical lines of the inputs. */
void inputs_write(const struct scan *scan, struct text *out);
/** Free. */
void inputs_clear(struct scan *scan);

/* overrides.c */

/** Apply one --set key=value. */
int override_apply(struct reader *r, const char *text);
/** Set what a dotted key of a --set or of the canonical form names. */
int override_set(struct reader *r, const char *key, const struct node *node);

/* canonical.c */

/** Make scan->canonical and the pieces of the point texts. */
int canonical_make(struct scan *scan);
/** Make the pieces of the point texts (pieces.c). */
int pieces_make(struct scan *scan);
/** Write a value in canonical form. @return its length, as snprintf */
size_t canonical_value(const struct param_info *info, const struct param_value *value,
                       char *text, size_t size);

#endif
