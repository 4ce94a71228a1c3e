/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/model.h"

#include <string.h>

#include "kernels/models/probe.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/snl1/snl1_model.h"

const char *const stepper_methods[] = {"rk45", "fixed", NULL};
const char *const stepper_norms[] = {"l2", "rms_bin", "max_bin", NULL};

size_t element_size(enum element type)
{
    static const size_t sizes[] = {[ELEMENT_F64] = 8, [ELEMENT_C128] = 16, [ELEMENT_F32] = 4,
                                   [ELEMENT_C64] = 8, [ELEMENT_BF16] = 2,  [ELEMENT_I64] = 8};
    return sizes[type];
}

void layout_add_plan(struct plane_layout *layout, int kind, long n)
{
    if (layout->plans < LAYOUT_PLANS_MAX)
        layout->plan[layout->plans++] = (struct layout_plan){kind, n};
}

long layout_array_count(const struct plane_layout *layout, int array)
{
    const struct layout_array *a = &layout->array[array];
    long count = 1;
    for (int d = 0; d < a->dims; d++)
        count *= layout->axis[a->axis[d]].length;
    return count;
}

double layout_plane_position(const struct plane_layout *layout,
                             const struct plane_request *planes, long plane)
{
    if (planes->kind == PLANES_LIST)
        return planes->positions[plane];
    if (planes->kind == PLANES_LAST || plane == planes->count - 1)
        return layout->span;
    return layout->span * ((double)plane / (double)(planes->count - 1));
}

const struct model_ops *const *model_list(void)
{
    static const struct model_ops *const models[] = {&gnlse_ops, &capillary_ops, &snl1_ops,
                                                     &probe_ops, NULL};
    return models;
}

const struct bound_info *model_bound(const struct model_info *info, int i)
{
    static const struct bound_info noisy = {"field with noise", CONTRACT_N,
                                            "that of the envelope",
                                            "as the field, up to the first plane where a "
                                            "perturbation of the input has grown more than "
                                            "envelope.gain times",
                                            "numerics.md §1"};
    if (i < info->bound_count)
        return &info->bounds[i];
    return info->takes_noise && i == info->bound_count ? &noisy : NULL;
}

const struct model_ops *model_find(const char *name)
{
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++)
        if (strcmp((*m)->info->name, name) == 0)
            return *m;
    return NULL;
}
