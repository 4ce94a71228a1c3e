/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COST_CACHE_H
#define RUNNER_COST_CACHE_H

#include "runner/cost.h"

/*
 * Times of earlier scans of a kind (the same model, the same scanned numbers), a small text
 * file for each kind in the user's cache folder. It speeds things up and nothing else: what
 * cannot be read or written is left.
 */

/** Begin with what the folder knows of this kind. @return whether it knows something */
bool cost_cache_read(const char *folder, struct cost *cost);

/** Keep the sums for the next scan of this kind; once a few members have been seen. */
bool cost_cache_write(const char *folder, const struct cost *cost);

/** Path of a kind's file. @param path [size] */
void cost_cache_path(const char *folder, const struct cost *cost, char *path, size_t size);

#endif
