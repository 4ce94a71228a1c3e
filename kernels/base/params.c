/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int params_init(struct params *out, const struct param_info *info, int count)
{
    *out = (struct params){.info = info, .count = count};
    return MEM_NEW(count, &out->values);
}

void params_clear(struct params *params)
{
    mem_free(params->values);
    *params = (struct params){0};
}

void params_copy(struct params *to, const struct params *from)
{
    memcpy(to->values, from->values, (size_t)from->count * sizeof *from->values);
    to->planes = from->planes;
}

int params_find(const struct params *params, const char *name)
{
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->info[i].name, name) == 0)
            return i;
    return -1;
}

bool params_is_set(const struct params *params, const char *name)
{
    const int i = params_find(params, name);
    return i >= 0 && params->values[i].set;
}

double params_real(const struct params *params, const char *name)
{
    const int i = params_find(params, name);
    return i >= 0 && params->values[i].set ? params->values[i].number : (double)NAN;
}

long params_int(const struct params *params, const char *name)
{
    const double value = params_real(params, name);
    return isfinite(value) ? lrint(value) : -1;
}

const double *params_list(const struct params *params, const char *name, int *count)
{
    const int i = params_find(params, name);
    *count = i >= 0 && params->values[i].set ? params->values[i].count : 0;
    return i >= 0 ? params->values[i].list : NULL;
}

const struct data_set *params_data(const struct params *params, const char *name)
{
    const int i = params_find(params, name);
    return i >= 0 && params->values[i].set ? params->values[i].data : NULL;
}

void params_set(struct params *params, int index, double value)
{
    params->values[index].set = true;
    params->values[index].count = 1;
    params->values[index].number = value;
    params->values[index].list[0] = value;
}

void param_unit(const struct param_info *info, int element, char *text, size_t size)
{
    const char *place = info->list_unit != NULL ? strstr(info->list_unit, "%d") : NULL;
    if (place == NULL) {
        snprintf(text, size, "%s", info->list_unit != NULL ? info->list_unit : info->unit);
        return;
    }
    snprintf(text, size, "%.*s%d%s", (int)(place - info->list_unit), info->list_unit,
             element + info->list_first, place + 2);
}
