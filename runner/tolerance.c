/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner/survey.h"

static int rtol_index(const struct model_info *model)
{
    for (int i = 0; i < model->param_count; i++)
        if (strcmp(model->params[i].name, "stepper.rtol") == 0)
            return i;
    return -1;
}

static bool axis_range(const struct scan *scan, int param, double range[2])
{
    for (int a = 0; a < scan_axes(scan); a++) {
        const struct scan_axis *axis = scan_get_axis(scan, a);
        for (int p = 0; p < axis->params; p++) {
            if (axis->param[p].param != param)
                continue;
            const double first = scan_axis_value(scan, a, p, 0);
            const double last = scan_axis_value(scan, a, p, axis->length - 1);
            range[0] = fmin(first, last);
            range[1] = fmax(first, last);
            for (int64_t i = 1; i < axis->length && i < 1000; i++) {
                const double value = scan_axis_value(scan, a, p, i);
                range[0] = fmin(range[0], value);
                range[1] = fmax(range[1], value);
            }
            return true;
        }
    }
    return false;
}

void tolerance_range(const struct scan *scan, double range[2])
{
    range[0] = range[1] = (double)NAN;
    const int param = rtol_index(scan_model(scan)->info);
    if (param < 0 || axis_range(scan, param, range))
        return;
    struct params params;
    if (scan_params_init(scan, &params) != 0)
        return;
    scan_point(scan, 0, &params);
    range[0] = range[1] = params.values[param].number;
    params_clear(&params);
}

void tolerance_text(const struct scan *scan, char *text, size_t size)
{
    double range[2];
    char numbers[64];
    text[0] = '\0';
    tolerance_range(scan, range);
    if (!isfinite(range[0]))
        return;
    if (range[0] < range[1])
        snprintf(numbers, sizeof numbers, "%g to %g", range[0], range[1]);
    else
        snprintf(numbers, sizeof numbers, "%g", range[0]);
    const char *known = scan_model(scan)->info->tolerance_doc;
    snprintf(text, size,
             "rtol %s limits the estimated error of each step, not the error of the result%s%s",
             numbers, known != NULL ? "; " : "", known != NULL ? known : "");
}
