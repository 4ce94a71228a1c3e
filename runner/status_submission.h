/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_SUBMISSION_H
#define RUNNER_STATUS_SUBMISSION_H

#include <stdbool.h>

#include "kernels/base/submission.h"

/**
 * Write to stdout what has become of a submission: what the queue says of its jobs, and what
 * the files say of the scan. The queue is asked once, for 10 s at most; what it does not say is
 * unknown, and never done: only the files say what is done.
 *
 * @param json   a JSON object, also when the submission cannot be read
 * @param alive  receives whether jobs are in the queue or a file is being written
 * @return 0, or the code of the first file that could not be read
 */
int status_submission(const char *path, bool json, bool *alive);

#endif
