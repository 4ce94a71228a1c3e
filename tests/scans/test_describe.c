/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/describe.h"
#include "scans/table.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

/* What a function writes, as text to be freed. */
static char *written(void (*write)(FILE *, const struct model_info *),
                     const struct model_info *info)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    write(stream, info);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

START_TEST(the_description_names_every_parameter_and_observable)
{
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++) {
        const struct model_info *info = (*m)->info;
        char *text = written(describe_text, info);
        char *json = written(describe_json, info);
        for (int i = 0; i < info->param_count; i++) {
            char name[96];
            snprintf(name, sizeof name, "\"name\": \"%s\"", info->params[i].name);
            ck_assert_ptr_nonnull(strstr(text, info->params[i].name));
            ck_assert_ptr_nonnull(strstr(text, info->params[i].doc));
            ck_assert_ptr_nonnull(strstr(json, name));
        }
        for (int i = 0; i < info->observable_count; i++)
            ck_assert_ptr_nonnull(strstr(text, info->observables[i].doc));
        for (int i = 0; i < info->bound_count; i++)
            ck_assert_ptr_nonnull(strstr(text, info->bounds[i].rule));
        free(text);
        free(json);
    }
}
END_TEST

START_TEST(ranges_and_choices_are_described)
{
    char *text = written(describe_text, toy_models[0]->info);
    ck_assert_ptr_nonnull(strstr(text, "number in m, above 0, at most 1000000 m; required"));
    ck_assert_ptr_nonnull(strstr(text, "one of sech, gauss, square; default sech"));
    ck_assert_ptr_nonnull(strstr(text, "or none; default none"));
    ck_assert_ptr_nonnull(strstr(text, "in s^2 m^-1, s^3 m^-1, …"));
    ck_assert_ptr_nonnull(strstr(text, "no default"));
    free(text);
}
END_TEST

START_TEST(the_example_of_each_model_is_a_valid_scan)
{
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++) {
        char *text = written(describe_init, (*m)->info);
        struct scan *scan = NULL;
        ck_assert_int_eq(scan_parse(text, strlen(text), "init", NULL, 0, &scan), 0);
        ck_assert_int_gt(scan_points(scan), 1);
        struct params params;
        struct plane_layout layout;
        ck_assert_int_eq(scan_params_init(scan, &params), 0);
        scan_point(scan, scan_points(scan) - 1, &params);
        ck_assert_int_eq((*m)->layout(&params, &layout), 0);
        params_clear(&params);
        scan_destroy(scan);
        free(text);
    }
    char *text = written(describe_init, toy_models[0]->info);
    struct scan *scan = toy_scan(text); /* a model that has no example values */
    scan_destroy(scan);
    free(text);
}
END_TEST

/* The text tables of an example, with hashes that tell them apart. */
static void read_tables(struct scan *scan)
{
    for (int i = 0; i < scan_inputs(scan); i++) {
        struct scan_input *input = scan_get_input(scan, i);
        struct data_table table;
        ck_assert_int_eq(table_read(input->path, &table), 0);
        ck_assert_int_eq(table_take(&table, input->info, input->columns, &input->set), 0);
        snprintf(input->set.hash, sizeof input->set.hash, "%032d", i);
        snprintf(input->set.label, sizeof input->set.label, "%s", input->written);
        data_table_clear(&table);
    }
    if (scan_inputs(scan) > 0)
        ck_assert_int_eq(scan_bind(scan), 0);
}

START_TEST(the_stored_examples_are_valid_scans)
{
    static const struct {
        const char *name;
        int64_t members;
    } files[] = {{"capillary-blue-shift", 4},    {"capillary-convergence", 10},
                 {"capillary-raman", 4},         {"capillary-rdw", 63},
                 {"capillary-soliton", 5},       {"convergence-rtol", 7},
                 {"dudley-coherence", 480},      {"measured-pulse", 3},
                 {"modulation-instability", 30}, {"probe-codes", 30},
                 {"soliton-fission", 1},         {"tolerance-decoherence", 40}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.yaml", SCAN_EXAMPLES, files[i].name);
        struct scan *scan = NULL;
        ck_assert_int_eq(scan_read(path, NULL, 0, &scan), 0);
        read_tables(scan);
        ck_assert_str_eq(scan_name(scan), files[i].name);
        ck_assert_int_eq(scan_members(scan), files[i].members);
        struct params params;
        struct plane_layout layout;
        ck_assert_int_eq(scan_params_init(scan, &params), 0);
        for (int64_t point = 0; point < scan_points(scan); point++) {
            scan_point(scan, point, &params);
            ck_assert_int_eq(scan_model(scan)->layout(&params, &layout), 0);
        }
        params_clear(&params);
        toy_check_canonical(model_list(), scan);
        scan_destroy(scan);
    }
}
END_TEST

START_TEST(the_nearest_name_is_found)
{
    static const char *const names[] = {"realisations", "seed", "noise", "common", "run", NULL};
    ck_assert_str_eq(nearest_name("sede", names), "seed"); /* swapped neighbours: one error */
    ck_assert_str_eq(nearest_name("realizations", names), "realisations");
    ck_assert_str_eq(nearest_name("Noise", names), "noise");
    ck_assert_str_eq(nearest_name("rnu", names), "run");
    ck_assert_str_eq(nearest_name("seed", names), "seed");
    ck_assert_ptr_null(nearest_name("frobnicate", names));
    ck_assert_ptr_null(nearest_name("x", names));
    ck_assert_ptr_null(nearest_name("", names));
    char text[24];
    nearest_list(names, text, sizeof text);
    ck_assert_str_eq(text, "realisations, seed, …");
    char all[64];
    nearest_list(names, all, sizeof all);
    ck_assert_str_eq(all, "realisations, seed, noise, common, run");
}
END_TEST

static Suite *describe_suite(void)
{
    Suite *suite = suite_create("describe");
    TCase *tcase = tcase_create("describe");
    tcase_add_test(tcase, the_description_names_every_parameter_and_observable);
    tcase_add_test(tcase, ranges_and_choices_are_described);
    tcase_add_test(tcase, the_example_of_each_model_is_a_valid_scan);
    tcase_add_test(tcase, the_stored_examples_are_valid_scans);
    tcase_add_test(tcase, the_nearest_name_is_found);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(describe_suite());
}
