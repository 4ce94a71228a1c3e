/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_REFERENCE_H
#define RUNNER_REFERENCE_H

#include <stdint.h>

#include "io/store.h"
#include "scans/scan.h"

/*
 * A stored converged reference (`envelope.reference: stored FILE`): members of another file
 * that agree in all parameters but the stepper's, and in the noise.
 */

struct reference;

/**
 * Open the file and find out whose members it has. Only done members count.
 *
 * @param scan  the scan that is judged, borrowed
 * @param out   free with reference_close
 * @return 0; ERR_ARGUMENT for another model or ensemble, a configuration that is not
 *         understood, no file; ERR_CONFLICT for a file that is none of ours
 */
int reference_open(const char *path, const struct scan *scan, struct reference **out);

/** The member of the reference for one of the scan, of several that with the smallest
 * stepper.rtol; -1: it has none. */
int64_t reference_find(struct reference *reference, int64_t member);

/** Whether the counterpart of a member has a smaller stepper.rtol: else it may be the member
 * itself. A replay has none that counts. Models without a stepper pass. ERR_ARGUMENT */
int reference_check_tighter(struct reference *reference, int64_t member);

/** Fail with a member that has no counterpart, and what differs. @return ERR_ARGUMENT */
int reference_refuse(struct reference *reference, int64_t member);

/** Plane of a member of the reference at a position, -1: none is within 1e-9 of the span.
 * ERR_IO */
int reference_plane(struct reference *reference, int64_t member, double position, double span,
                    long *plane);

/** The open file. Borrowed. */
struct store *reference_store(const struct reference *reference);

/** Its canonical configuration. Borrowed. */
const char *reference_canonical(const struct reference *reference);

/** Close and free; NULL is legal. */
void reference_close(struct reference *reference);

#endif
