/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_CONTRACT_H
#define KERNELS_CONTRACT_CONTRACT_H

#include "kernels/contract/compare.h"
#include "kernels/model.h"

/* Verdict on a quantity, as stored in the file (numerics.md §1). */
enum verdict { VERDICT_UNJUDGED = 0, VERDICT_WITHIN = 1, VERDICT_OUTSIDE = 2 };

/** Letter of a contract class: "P", "R", "T" or "N". */
const char *contract_class_name(enum contract_class class);

/** What a contract class is in one word: "structural", "matched", "adaptive", "noise-seeded".
 */
const char *contract_class_doc(enum contract_class class);

/** Name of a verdict: "unjudged", "within", "outside". */
const char *verdict_name(enum verdict verdict);

/** Verdict of a comparison that was made. */
enum verdict contract_judge(const struct comparison *comparison);

#endif
