/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/lane.h"

const struct cpu_isa *isa_named(const char *name)
{
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++)
        if (strcmp(isa->name, name) == 0)
            return isa;
    return NULL;
}

bool isa_runs(const struct cpu_isa *isa)
{
    static const struct cpu_isa *told;
    if (isa == NULL || isa->supported())
        return isa != NULL;
    if (told != isa)
        printf("skipped: %s needs %s, which this CPU lacks\n", isa->name, isa->needs);
    told = isa;
    return false;
}

const char *isa_under_test(void)
{
    const char *name = getenv("SCANFARM_TEST_ISA");
    return name != NULL ? name : "auto";
}

static bool has_backend(const char *name)
{
    for (const char *const *known = backend_names(); *known != NULL; known++)
        if (strcmp(name, *known) == 0)
            return true;
    printf("skipped: backend %s is not in this program\n", name);
    return false;
}

int isa_check(void)
{
    const char *name = isa_under_test();
    if (!has_backend(lane_backend()))
        return ISA_SKIPPED;
    if (strcmp(name, "auto") == 0)
        return 0;
    const struct cpu_isa *isa = isa_named(name);
    if (isa == NULL)
        printf("skipped: %s is not in this program\n", name);
    return isa_runs(isa) ? 0 : ISA_SKIPPED;
}
