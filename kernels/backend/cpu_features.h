/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_FEATURES_H
#define KERNELS_BACKEND_CPU_FEATURES_H

/** Whether this processor executes what -march=x86-64-v3 makes; 0 where there is no such thing.
 */
int cpu_supports_v3(void);

/** The same of -march=x86-64-v4. */
int cpu_supports_v4(void);

#endif
