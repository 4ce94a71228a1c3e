/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_DESCRIBE_H
#define SCANS_DESCRIBE_H

#include <stdio.h>

#include "kernels/model.h"

/*
 * What a model's static tables say, for people and for scripts. All three write to a stream and
 * leave its error flag to the caller.
 */

/** Write a model's parameters (unit, default, range, choices, meaning), observables and error
 * contract as text. */
void describe_text(FILE *out, const struct model_info *info);

/** The same as one JSON object. */
void describe_json(FILE *out, const struct model_info *info);

/** Write a commented example scan of the model, every key of the scan file in it; it is valid
 * as it stands. */
void describe_init(FILE *out, const struct model_info *info);

#endif
