/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_JUDGING_H
#define RUNNER_JUDGING_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/prepare.h"
#include "runner/reference.h"
#include "scans/scan.h"

/*
 * What the envelope of a scan asks for (docs/contracts.md): which planes and members are
 * judged, how long that takes, and the column of the file that says who is chosen.
 */

/** Whether members of this scan are judged. */
bool judging_is_on(const struct scan *scan);

/** Whether they are judged on windows that are chosen by a measured gain (class N): they carry
 * noise, and a limit is declared. */
bool judging_measures(const struct scan *scan);

/**
 * The saved planes of a member that are judged: those of envelope.planes, all without.
 *
 * @param layout  the member's own
 * @param judged  [layout->planes] receives whether; NULL: only check
 * @return 0; ERR_ARGUMENT when a plane of envelope.planes is not saved, with its position
 */
int judging_planes(const struct scan *scan, const struct plane_layout *layout, bool *judged);

/** Whether an array of a plane is compared by the norm: complex fields, without any real ones.
 */
bool judging_compares(const struct scan *scan, const struct plane_layout *layout, int array);

/** Whether the model's planes have what the norm compares, and the planes that are judged:
 * ERR_PARSE, ERR_ARGUMENT, with the place in the scan file. */
int judging_check_layout(const struct scan *scan, const struct plane_layout *layout);

/** How many times as long as the member its judgment takes: the fifth root of the factor for a
 * method of order five (local error ~ h^5 a unit of length), next to nothing for a stored
 * reference. Where gains are measured there is a second run, and two of the member's own with a
 * stored reference. */
double judging_stretch(const struct scan *scan);

/** Path of the stored reference: relative ones from the folder of the scan file. @param path
 * [RUN_PATH_SIZE] */
void judging_path(const struct scan *scan, const char *scan_path, char *path);

/**
 * Key of an envelope: hash of what its verdicts depend on, never 0.
 *
 * @param reference  of ENVELOPE_STORED, else NULL
 */
uint64_t judging_key(const struct scan *scan, const struct reference *reference);

/** The key of the scan's envelope, whatever its reference. ERR_ARGUMENT, ERR_CONFLICT */
int judging_find_key(const struct scan *scan, const char *scan_path, uint64_t *key);

/** Whether each chosen member has its counterpart in a stored reference: before anything is
 * made. ERR_ARGUMENT with the member and what differs. */
int judging_check(const struct prepared *prepared);

/** The same for a plan. Of a large scan, whose members are too many to look at, the reference
 * is only opened. @param scan_path  relative references are found from its folder */
int judging_check_plan(struct scan *scan, const char *scan_path);

/**
 * Which of the members [first, first + count) the sample of an envelope chooses, by the rule of
 * judging_prepare. ERR_MEMORY
 *
 * @param asked   the scan whose envelope counts; its members are those of `spec`
 * @param chosen  [count] receives 1 or 0
 */
int judging_find_chosen(struct scan *asked, struct spec *spec, int64_t first, int64_t count,
                        uint8_t *chosen);

/**
 * Say in the file which members are judged, and forget judgments by another envelope. The
 * choice depends on the members' identities only: of a share or a number those with the
 * smallest hashes in the whole scan. Single writer, before the farm; the file is made or
 * compared.
 *
 * @return 0; ERR_ARGUMENT for a member without counterpart in the stored reference;
 * ERR_CONFLICT
 */
int judging_prepare(const struct prepared *prepared);

#endif
