/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SPEC_H
#define RUNNER_SPEC_H

#include <stdbool.h>

#include "io/store.h"
#include "scans/scan.h"

/* What a scan asks of its file: the bridge from scans/ and kernels/ to io/. */
struct spec {
    struct store_spec store; /* all its pointers live as long as this object */
    struct store_until until;
    const struct scan *scan;
    int64_t *axis_length;
    struct store_param *param;
    double **values;                  /* [store.params] owned */
    struct plane_layout *layout;      /* the largest shape */
    struct plane_layout *grid_layout; /* [grids] */
    bool *observable;
    struct params params; /* scratch of the callbacks */
    char *text;           /* scratch, scan_text_bound bytes */
    size_t text_size;
};

/**
 * Make the store's specification of a scan.
 *
 * @param scan  borrowed, must outlive the object
 * @param out   free with spec_destroy
 * @return 0, ERR_ARGUMENT when the model refuses a shape, ERR_UNSUPPORTED, ERR_MEMORY
 */
int spec_create(const struct scan *scan, struct spec **out);

/** Refuse a scan that one file cannot hold: ERR_UNSUPPORTED with what to split. */
int spec_check(const struct scan *scan);

/* Bytes of a file. */
struct spec_size {
    double apparent; /* as store_bytes has it */
    double data;
    double plane; /* one plane of a member */
};

/**
 * Bytes of a scan's file. Visits neither points nor values.
 *
 * @param largest the largest shape of the scan
 * @param window  of a shard; NULL: the whole scan
 */
int spec_bytes(const struct scan *scan, const struct plane_layout *largest,
               const struct store_window *window, struct spec_size *out);

/** What a scan's file keeps as one number a plane or a point: store_number_names. */
int spec_number_names(const struct scan *scan, const struct plane_layout *largest,
                      char **names);

/**
 * Compare a file that is there with what the scan asks of it.
 *
 * @param whole  all of it, as before writing into it; false: the configuration alone
 * @param hint   what one can do about another configuration
 * @return 0, ERR_CONFLICT, as store_compare
 */
int spec_compare(const struct spec *spec, const char *path, bool whole, const char *hint);

/** The file is that of a shard of the scan, which makes no reductions; 1 of 1 changes nothing.
 */
void spec_set_window(struct spec *spec, const struct store_window *window);

/** Free; NULL is legal. */
void spec_destroy(struct spec *spec);

/** Whether points of this scan are reduced: an ensemble with stored complex fields. */
bool spec_reduces(const struct spec *spec);

/**
 * The seed of a member: key and realisation of its noise.
 *
 * @param text [size >= scan_text_bound] scratch
 */
void spec_seed(const struct scan *scan, int64_t member, char *text, size_t size,
               struct seed *seed);

#endif
