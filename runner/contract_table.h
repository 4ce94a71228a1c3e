/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_CONTRACT_TABLE_H
#define RUNNER_CONTRACT_TABLE_H

#include <stdio.h>

#include "kernels/model.h"

/** Write a model's error contract, row by row with its source, and every number of
 * kernels/contract/bounds.def with unit and source, as text. */
void contract_table_text(FILE *out, const struct model_info *info);

/** The same as one JSON object: model, contract [{quantity, class, norm, rule, source}], bounds
 * [{name, value, unit, source}]. */
void contract_table_json(FILE *out, const struct model_info *info);

#endif
