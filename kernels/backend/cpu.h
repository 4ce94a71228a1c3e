/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_H
#define KERNELS_BACKEND_CPU_H

#include "kernels/backend.h"

/* Inside of the CPU backend: what kernels/backend.c and the launch files share. */

/* One launch file per instruction set. */
struct cpu_isa {
    const char *name;                         /* "x86-64-v3" */
    void (*fill)(struct kernel_table *table); /* sets the entries of fast.def */
    int (*supported)(void);                   /* whether this machine executes it */
    const char *needs;                        /* what a machine must have, for messages */
};

/** The instruction sets in this program, best first, ended by a row with name NULL. */
const struct cpu_isa *cpu_isa_list(void);

/**
 * The instruction set of this name, or the best one that this machine executes.
 *
 * @param name  auto, NULL (auto) or a name of cpu_isa_list
 * @return 0, ERR_UNSUPPORTED (not in this program) or ERR_DEVICE (not on this machine)
 */
int cpu_isa_choose(const char *name, const struct cpu_isa **out);

/** Model name of this machine's CPU. @param text [size] receives it. */
void cpu_model_name(char *text, size_t size);

/** Make a CPU backend. Options as in backend_create; the name is ignored. */
int cpu_backend_create(const struct backend_options *options, struct backend **out);

/** Set the entries of fast.def to the functions built for the baseline of the whole program. */
void cpu_fast_fill(struct kernel_table *table);

/** Set the entries of fast.def to the functions built with -march=x86-64-v3. */
void cpu_fast_fill_v3(struct kernel_table *table);

/** Set the entries of fast.def to the functions built with -march=x86-64-v4. */
void cpu_fast_fill_v4(struct kernel_table *table);

/** Set the entries of strict.def; one build serves all instruction sets. */
void cpu_strict_fill(struct kernel_table *table);

#endif
