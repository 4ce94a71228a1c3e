/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_INPUTS_H
#define RUNNER_INPUTS_H

#include "scans/scan.h"

/*
 * Parameters of kind data: the files that a scan names are read once, by the process that reads
 * the scan file; the other ranks of a farm get their contents as bytes. Nothing is read for a
 * scan that was parsed from its canonical form: it knows the hashes, which is enough to tell
 * members apart.
 */

#define INPUTS_BYTES_MAX (512L << 20) /* of all sets of a scan */

/**
 * Read all files that a scan names, check them, and make the scan whole (scan_bind).
 *
 * @return 0; ERR_ARGUMENT, ERR_PARSE, ERR_UNSUPPORTED: one line that names the place in the
 *         scan file, the file, its line or dataset, and what would be accepted; noise
 *         onto noise without ensemble.onto_noise; ERR_MEMORY
 */
int inputs_load(struct scan *scan);

/** Refuse inputs whose hash does not stand in a result file's canonical form: ERR_CONFLICT. */
int inputs_check(const struct scan *scan, const char *canonical, const char *file);

/** Bytes that inputs_pack writes; 0 without inputs. */
size_t inputs_packed_size(const struct scan *scan);

/** Write all sets as bytes. */
void inputs_pack(const struct scan *scan, char *bytes);

/** Give the sets to a scan that was parsed from the canonical form of the other one. */
int inputs_unpack(struct scan *scan, const char *bytes, size_t size);

#endif
