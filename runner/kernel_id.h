/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_KERNEL_ID_H
#define RUNNER_KERNEL_ID_H

#include "kernels/backend.h"
#include "kernels/model.h"

#define KERNEL_ID_SIZE 96

/**
 * What computes a model's members, as /member/kernel_id has it: backend, instruction set, and
 * the library of the transforms or the model's own kernel.
 *
 * @param model NULL: none is made yet
 * @param out   [KERNEL_ID_SIZE] receives it
 */
void kernel_id_write(const struct backend *backend, const struct model_ops *ops,
                     const struct model *model, char *out);

#endif
