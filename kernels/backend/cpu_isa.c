/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which launch file runs here: the instruction sets in this program and this machine's CPU. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "kernels/backend/cpu.h"
#include "kernels/backend/cpu_features.h"
#include "kernels/base/status.h"

static int baseline_supported(void)
{
    return 1;
}

const struct cpu_isa *cpu_isa_list(void)
{
    static const struct cpu_isa list[] = {
#ifdef CPU_HAS_V4
        {"x86-64-v4", cpu_fast_fill_v4, cpu_supports_v4, "AVX-512 F, BW, CD, DQ and VL"},
#endif
#ifdef CPU_HAS_V3
        {"x86-64-v3", cpu_fast_fill_v3, cpu_supports_v3, "AVX2, FMA and BMI2"},
#endif
#ifdef __x86_64__
        {"x86-64", cpu_fast_fill, baseline_supported, "nothing"},
#else
        {"baseline", cpu_fast_fill, baseline_supported, "nothing"},
#endif
        {NULL, NULL, NULL, NULL}};
    return list;
}

static int refuse(const char *name)
{
    char known[128] = "auto";
    size_t used = strlen(known);
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++)
        used += (size_t)snprintf(known + used, sizeof known - used, ", %s", isa->name);
    FAIL(ERR_UNSUPPORTED, "instruction set '%s' is not in this program; it has: %s", name,
         known);
}

int cpu_isa_choose(const char *name, const struct cpu_isa **out)
{
    const int any = name == NULL || strcmp(name, "auto") == 0;
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++) {
        *out = isa;
        if (any && isa->supported())
            return 0;
        if (any || strcmp(name, isa->name) != 0)
            continue;
        if (!isa->supported())
            FAIL(ERR_DEVICE, "instruction set '%s' needs %s, which this CPU lacks; use auto",
                 name, isa->needs);
        return 0;
    }
    return refuse(name);
}

/* The text after the colon of the first line "model name : …" of /proc/cpuinfo. */
static int cpuinfo_model(char *text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return 0;
    char line[256];
    int found = 0;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
            found = text[0] != '\0';
        }
    }
    fclose(file);
    return found;
}

void cpu_model_name(char *text, size_t size)
{
    struct utsname machine;
    if (cpuinfo_model(text, size))
        return;
    snprintf(text, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown CPU");
}
