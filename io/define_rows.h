/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_DEFINE_ROWS_H
#define IO_DEFINE_ROWS_H

#include <stdint.h>

#include "io/schema.h"
#include "io/store.h"

/* The data that a new file holds from its definition on; private to io. */

/** Values of all scales: indices, scanned values, the layout's axes of every grid. */
int define_scales(int64_t file, const char *path, const struct schema *schema,
                  const struct store_spec *spec);

/** /config, /config_canonical and the model's bounds. */
int define_texts(int64_t file, const char *path, const struct store_spec *spec);

/** Facts of the members, in blocks: memory does not grow with their number. */
int define_members(int64_t file, const char *path, const struct store_spec *spec);

#endif
