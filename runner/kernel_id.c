/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/kernel_id.h"

#include <stdio.h>

void kernel_id_write(const struct backend *backend, const struct model_ops *ops,
                     const struct model *model, char *out)
{
    const bool own = model != NULL && ops->kernel != NULL;
    const char *const library = backend_fft_of(backend->ops->name);
    snprintf(out, KERNEL_ID_SIZE, "%.31s %.16s; %.40s", backend->ops->name, backend->isa,
             own               ? ops->kernel(model)
             : library != NULL ? library
                               : "no transforms");
}
