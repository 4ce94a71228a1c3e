/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/contract.h"

static const struct {
    const char *name;
    const char *doc;
} classes[] = {[CONTRACT_P] = {"P", "structural"},
               [CONTRACT_R] = {"R", "matched"},
               [CONTRACT_T] = {"T", "adaptive"},
               [CONTRACT_N] = {"N", "noise-seeded"}};

const char *contract_class_name(enum contract_class class)
{
    return classes[class].name;
}

const char *contract_class_doc(enum contract_class class)
{
    return classes[class].doc;
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {[VERDICT_UNJUDGED] = "unjudged",
                                        [VERDICT_WITHIN] = "within",
                                        [VERDICT_OUTSIDE] = "outside"};
    return names[verdict];
}

enum verdict contract_judge(const struct comparison *comparison)
{
    return comparison->within ? VERDICT_WITHIN : VERDICT_OUTSIDE;
}
