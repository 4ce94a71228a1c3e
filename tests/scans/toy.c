/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/scans/toy.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "kernels/base/status.h"
#include "tests/exact.h"

static const char *const shapes[] = {"sech", "gauss", "square", NULL};
static const char *const guides[] = {"none", "hollow", "solid", NULL};

#define REAL(id, u, low, high)                                                                 \
    .name = id, .kind = PARAM_REAL, .unit = u, .minimum = low, .maximum = high, .doc = "Number"

static const struct param_info toy_params[] = {
    {REAL("length", "m", 0, 1e6), .flags = PARAM_REQUIRED | PARAM_OPEN},
    {REAL("pulse.duration", "s", 0, 1), .fallback = "50e-15", .flags = PARAM_OPEN},
    {REAL("pulse.power", "W", 0, 1e300), .fallback = "10e3"},
    {REAL("pulse.phases.cep", "rad", -1e3, 1e3), .fallback = "0"},
    {.name = "pulse.shape",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .fallback = "sech",
     .choices = shapes,
     .doc = "Shape"},
    {.name = "betas",
     .kind = PARAM_LIST,
     .unit = "s^2 m^-1",
     .list_unit = "s^%d m^-1",
     .list_first = 2,
     .minimum = -1e300,
     .maximum = 1e300,
     .fallback = "[-1e-26, 1e-39]",
     .doc = "List"},
    {REAL("gamma", "W^-1 m^-1", -1e300, 1e300), .fallback = "0"},
    {REAL("loss", "m^-1", 0, 1e300), .fallback = "0"},
    {REAL("omega", "rad/s", -1e300, 1e300), .fallback = "0"},
    {REAL("frequency", "Hz", -1e300, 1e300), .fallback = "0"},
    {REAL("temperature", "K", 0, 1e5), .fallback = "293.15"},
    {REAL("pressure", "Pa", 0, 1e300), .fallback = "1e5"},
    {REAL("share", "1", 0, 1), .fallback = "0.05"},
    {.name = "shock", .kind = PARAM_BOOL, .unit = "1", .fallback = "true", .doc = "Switch"},
    {.name = "grid.points",
     .kind = PARAM_INT,
     .unit = "1",
     .flags = PARAM_GRID | PARAM_STRUCTURAL,
     .minimum = 1,
     .maximum = 1e15,
     .fallback = "1024",
     .doc = "Whole number"},
    {REAL("grid.window", "s", 0, 1), .fallback = "1e-12", .flags = PARAM_GRID},
    {.name = "grid.modes",
     .kind = PARAM_INT,
     .unit = "1",
     .flags = PARAM_STRUCTURAL,
     .minimum = 1,
     .maximum = 100,
     .fallback = "1",
     .doc = "Whole number"},
    {.name = "guide.model",
     .kind = PARAM_CHOICE,
     .flags = PARAM_GROUP,
     .unit = "1",
     .fallback = "none",
     .choices = guides,
     .doc = "Group scalar that is a choice"},
    {REAL("guide.radius", "m", 0, 1), .fallback = "1e-5"},
    {REAL("edge.share", "1", 0, 0.5), .fallback = "none",
     .flags = PARAM_GROUP | PARAM_NONE | PARAM_OPEN},
    {REAL("edge.width", "m", 0, 1), .fallback = "0.01"},
    {REAL("edge.late", "m", 0, 1), .fallback = "none", .flags = PARAM_NONE},
    {REAL("choice_of_two", "J", 0, 1e300)},
    STEPPER_PARAM_ROWS,
};

static const struct param_info bare_params[] = {
    {REAL("a", "1", -1e300, 1e300), .fallback = "0"},
};

static const struct observable_info observables[] = {
    {"energy", "J", "Energy"}, {"peak_power", "W", "Power"}, {"fwhm_t", "s", "Width"}};

static const struct model_info toy_info = {.name = "toy",
                                           .doc = "A table",
                                           .numerics_version = 7,
                                           .convention = "",
                                           .takes_noise = true,
                                           .progress_unit = "m",
                                           .params = toy_params,
                                           .param_count =
                                               sizeof toy_params / sizeof toy_params[0],
                                           .observables = observables,
                                           .observable_count = 3};

static const struct model_info bare_info = {.name = "bare",
                                            .doc = "A small table",
                                            .numerics_version = 1,
                                            .convention = "",
                                            .params = bare_params,
                                            .param_count = 1,
                                            .observables = observables,
                                            .observable_count = 1};

static const struct model_ops toy_ops = {.info = &toy_info};
static const struct model_ops bare_ops = {.info = &bare_info};
const struct model_ops *const toy_models[] = {&toy_ops, &bare_ops, NULL};

struct scan *toy_scan_set(const char *text, const struct scan_override *overrides, int count)
{
    char why[2048];
    struct scan *scan = NULL;
    status_capture(why, sizeof why);
    const int rc =
        scan_parse_models(toy_models, text, strlen(text), "file", overrides, count, &scan);
    status_capture(NULL, 0);
    ck_assert_msg(rc == 0, "refused: %s\n%s", why, text);
    return scan;
}

struct scan *toy_scan(const char *text)
{
    return toy_scan_set(text, NULL, 0);
}

void toy_refused(const char *text, const struct scan_override *overrides, int count,
                 const char *const *parts)
{
    char why[2048];
    struct scan *scan = NULL;
    status_capture(why, sizeof why);
    const int rc =
        scan_parse_models(toy_models, text, strlen(text), "file", overrides, count, &scan);
    status_capture(NULL, 0);
    ck_assert_msg(rc == ERR_PARSE, "code %d (%s) instead of a refusal:\n%s", rc, why, text);
    ck_assert_ptr_null(scan);
    ck_assert_ptr_null(strchr(why, '\n'));
    for (; *parts != NULL; parts++)
        ck_assert_msg(strstr(why, *parts) != NULL, "'%s' is not in: %s", *parts, why);
}

double toy_value(const struct scan *scan, int64_t point, const char *name)
{
    struct params params;
    ck_assert_int_eq(scan_params_init(scan, &params), 0);
    scan_point(scan, point, &params);
    const double value = params_real(&params, name);
    params_clear(&params);
    return value;
}

void toy_has_line(const struct scan *scan, const char *line)
{
    const char *form = scan_canonical(scan);
    const size_t length = strlen(line);
    for (const char *p = form; p != NULL && *p != '\0'; p = strchr(p, '\n') + 1)
        if (strncmp(p, line, length) == 0 && p[length] == '\n')
            return;
    ck_abort_msg("no line '%s' in\n%s", line, form);
}

static void check_texts(const struct scan *a, const struct scan *b, int64_t point)
{
    const size_t size = scan_text_bound(a);
    char *x = malloc(size);
    char *y = malloc(size);
    ck_assert(x != NULL && y != NULL);
    ck_assert_uint_lt(scan_point_text(a, point, x, size), size);
    scan_point_text(b, point, y, size);
    ck_assert_str_eq(x, y);
    ck_assert_uint_lt(scan_identity_text(a, point, x, size), size);
    scan_identity_text(b, point, y, size);
    ck_assert_str_eq(x, y);
    free(x);
    free(y);
}

static bool same_bits(const struct param_value *a, const struct param_value *b)
{
    if (!a->set || !b->set)
        return a->set == b->set;
    return a->count == b->count && exactly(a->number, b->number)
           && equal_bits(a->list, b->list, (size_t)a->count * sizeof a->list[0]);
}

static void check_points(const struct scan *a, const struct scan *b)
{
    struct params x;
    struct params y;
    ck_assert_int_eq(scan_params_init(a, &x), 0);
    ck_assert_int_eq(scan_params_init(b, &y), 0);
    const int64_t count = scan_points(a);
    const int64_t stride = count > 5000 ? count / 5000 : 1;
    for (int64_t point = 0; point < count; point += stride) {
        scan_point(a, point, &x);
        scan_point(b, point, &y);
        for (int i = 0; i < x.count; i++)
            if (!same_bits(&x.values[i], &y.values[i]))
                ck_abort_msg("point %lld: %s differs", (long long)point, x.info[i].name);
    }
    check_texts(a, b, 0);
    check_texts(a, b, count / 2);
    check_texts(a, b, count - 1);
    params_clear(&x);
    params_clear(&y);
}

void toy_check_canonical(const struct model_ops *const *models, const struct scan *scan)
{
    const char *form = scan_canonical(scan);
    struct scan *again = NULL;
    ck_assert_int_eq(scan_parse_canonical_models(models, form, strlen(form), &again), 0);
    ck_assert_str_eq(form, scan_canonical(again));
    ck_assert_int_eq(scan_members(scan), scan_members(again));
    ck_assert_int_eq(scan_get_store(scan)->history, scan_get_store(again)->history);
    ck_assert_int_eq(scan_get_save(scan)->planes.count, scan_get_save(again)->planes.count);
    check_points(scan, again);
    scan_destroy(again);
}
