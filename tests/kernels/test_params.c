/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/params.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

static const struct param_info table[] = {
    {.name = "pulse.duration", .kind = PARAM_REAL, .unit = "s"},
    {.name = "fibre.betas", .kind = PARAM_LIST, .list_unit = "s^%d m^-1", .list_first = 2},
    {.name = "grid.n", .kind = PARAM_INT, .unit = "1"},
    {.name = "fibre.gamma", .kind = PARAM_LIST, .unit = "W^-1 m^-1"},
};

static struct params params_new(void)
{
    struct params p;
    ck_assert_int_eq(params_init(&p, table, 4), 0);
    return p;
}

START_TEST(nothing_is_set_at_first)
{
    struct params p = params_new();
    int count = 7;
    for (int i = 0; i < 4; i++)
        ck_assert(!params_is_set(&p, table[i].name));
    ck_assert(isnan(params_real(&p, "pulse.duration")));
    ck_assert_int_eq(params_int(&p, "grid.n"), -1);
    params_list(&p, "fibre.betas", &count);
    ck_assert_int_eq(count, 0);
    params_clear(&p);
    params_clear(&p);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_misspelt_name_gives_nothing_that_passes_for_a_value)
{
    struct params p = params_new();
    int count = 7;
    ck_assert_int_eq(params_find(&p, "pulse.durations"), -1);
    ck_assert(!params_is_set(&p, "pulse.durations"));
    ck_assert(isnan(params_real(&p, "pulse.durations")));
    ck_assert_int_eq(params_int(&p, "pulse.durations"), -1);
    ck_assert_ptr_null(params_list(&p, "pulse.durations", &count));
    ck_assert_int_eq(count, 0);
    params_clear(&p);
}
END_TEST

START_TEST(a_value_is_read_back_as_number_integer_and_list)
{
    struct params p = params_new();
    int count;
    params_set(&p, params_find(&p, "grid.n"), 8192.0);
    ck_assert(params_is_set(&p, "grid.n"));
    ck_assert(exactly(params_real(&p, "grid.n"), 8192.0));
    ck_assert_int_eq(params_int(&p, "grid.n"), 8192);
    const double *list = params_list(&p, "grid.n", &count);
    ck_assert_int_eq(count, 1);
    ck_assert(exactly(list[0], 8192.0));
    params_clear(&p);
}
END_TEST

START_TEST(a_copy_has_the_values_and_is_its_own)
{
    struct params from = params_new();
    struct params to = params_new();
    params_set(&from, 0, 5e-14);
    from.planes = (struct plane_request){.kind = PLANES_COUNT, .count = 11};
    params_copy(&to, &from);
    params_set(&from, 0, 1.0);
    ck_assert(exactly(params_real(&to, "pulse.duration"), 5e-14));
    ck_assert_int_eq(to.planes.count, 11);
    params_clear(&from);
    params_clear(&to);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(units_of_list_elements_count_up)
{
    char text[32];
    param_unit(&table[1], 0, text, sizeof text);
    ck_assert_str_eq(text, "s^2 m^-1");
    param_unit(&table[1], 9, text, sizeof text);
    ck_assert_str_eq(text, "s^11 m^-1");
    param_unit(&table[0], 0, text, sizeof text);
    ck_assert_str_eq(text, "s");
    param_unit(&table[3], 4, text, sizeof text);
    ck_assert_str_eq(text, "W^-1 m^-1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("params");
    TCase *tests = tcase_create("params");
    tcase_add_test(tests, nothing_is_set_at_first);
    tcase_add_test(tests, a_misspelt_name_gives_nothing_that_passes_for_a_value);
    tcase_add_test(tests, a_value_is_read_back_as_number_integer_and_list);
    tcase_add_test(tests, a_copy_has_the_values_and_is_its_own);
    tcase_add_test(tests, units_of_list_elements_count_up);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
