/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

/* A model with a table and a plane of an earlier run. */
static const char *const tables[] = {"x/y", "x/y/z", NULL};
static const struct data_column columns[] = {{"x", "m", "", true},
                                             {"y", "1", "", false},
                                             {"z", "1", "", false},
                                             {NULL, NULL, NULL, false}};
static const char *const replaced[] = {"a", NULL};
static const char *const served[] = {"b", NULL};
static const struct data_info table_info = {.columns = columns,
                                            .tables = tables,
                                            .columns_param = "table.columns",
                                            .replaces = replaced,
                                            .serves = served};
static const struct data_info plane_info = {
    .plane_array = "field", .member_param = "input.member", .plane_param = "input.plane"};
static const struct param_info table[] = {
    {.name = "table.file",
     .kind = PARAM_DATA,
     .flags = PARAM_GROUP | PARAM_NONE,
     .unit = "1",
     .data = &table_info,
     .doc = "Table"},
    {.name = "table.columns", .kind = PARAM_CHOICE, .unit = "1", .choices = tables, .doc = "C"},
    {.name = "input.from",
     .kind = PARAM_DATA,
     .flags = PARAM_GROUP,
     .unit = "1",
     .data = &plane_info,
     .doc = "Run"},
    {.name = "input.member", .kind = PARAM_INT, .unit = "1", .maximum = 1e15, .doc = "M"},
    {.name = "input.plane",
     .kind = PARAM_INT,
     .flags = PARAM_LAST,
     .unit = "1",
     .maximum = 1e15,
     .doc = "P"},
    {.name = "a",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0",
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Number"},
    {.name = "b", .kind = PARAM_INT, .unit = "1", .maximum = 9, .doc = "Part of the table"},
};
static const struct observable_info observables[] = {{"one", "1", "One"}};
static const struct model_info model_info = {.name = "data",
                                             .doc = "A table",
                                             .numerics_version = 1,
                                             .convention = "",
                                             .params = table,
                                             .param_count = sizeof table / sizeof table[0],
                                             .observables = observables,
                                             .observable_count = 1};
static const struct model_ops ops = {.info = &model_info};
static const struct model_ops *const models[] = {&ops, NULL};

#define HEAD "scan: s\nmodel: data\n"

static struct scan *parse(const char *text)
{
    char why[1024] = "";
    struct scan *scan = NULL;
    status_capture(why, sizeof why);
    const int rc = scan_parse_models(models, text, strlen(text), "dir/s.yaml", NULL, 0, &scan);
    status_capture(NULL, 0);
    ck_assert_msg(rc == 0, "refused: %s\n%s", why, text);
    return scan;
}

/* What a reader of files would do: hashes that tell the inputs apart. */
static void bind(struct scan *scan, int first)
{
    for (int i = 0; i < scan_inputs(scan); i++) {
        struct data_set *set = &scan_get_input(scan, i)->set;
        snprintf(set->hash, sizeof set->hash, "%032d", first + i);
        snprintf(set->label, sizeof set->label, "file %d: \"x\" [3] m", i);
    }
    ck_assert_int_eq(scan_bind(scan), 0);
}

/* The form parsed again gives the form and the identities of all points. */
static void check_form(const struct model_ops *const *known, const struct scan *scan)
{
    char here[2000];
    char there[2000];
    const char *form = scan_canonical(scan);
    struct scan *again = NULL;
    ck_assert_int_eq(scan_parse_canonical_models(known, form, strlen(form), &again), 0);
    ck_assert_str_eq(form, scan_canonical(again));
    ck_assert_int_eq(scan_points(scan), scan_points(again));
    for (int64_t point = 0; point < scan_points(scan); point++) {
        scan_identity_text(scan, point, here, sizeof here);
        scan_identity_text(again, point, there, sizeof there);
        ck_assert_str_eq(here, there);
    }
    scan_destroy(again);
}

static void refused(const char *text, const char *part)
{
    char why[1024] = "";
    struct scan *scan = NULL;
    status_capture(why, sizeof why);
    const int rc = scan_parse_models(models, text, strlen(text), "dir/s.yaml", NULL, 0, &scan);
    status_capture(NULL, 0);
    ck_assert_msg(rc != 0, "accepted: %s", text);
    ck_assert_msg(strstr(why, part) != NULL, "'%s' is not in: %s", part, why);
    ck_assert_ptr_null(scan);
}

START_TEST(a_path_is_relative_to_the_scan_file)
{
    struct scan *scan = parse(HEAD "parameters: {table: {file: t.txt, columns: [x, y]}}\n");
    ck_assert_int_eq(scan_inputs(scan), 1);
    ck_assert_str_eq(scan_get_input(scan, 0)->path, "dir/t.txt");
    ck_assert_str_eq(scan_get_input(scan, 0)->written, "t.txt");
    ck_assert_str_eq(scan_get_input(scan, 0)->place, "dir/s.yaml:3:28");
    ck_assert_str_eq(scan_get_input(scan, 0)->columns, "x/y");
    scan_destroy(scan);
    scan = parse(HEAD "parameters: {table: /abs/t.txt}\n");
    ck_assert_str_eq(scan_get_input(scan, 0)->path, "/abs/t.txt");
    ck_assert_ptr_null(scan_get_input(scan, 0)->columns);
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(the_hash_enters_identity_and_form_and_the_name_enters_neither)
{
    char text[3][2000];
    for (int i = 0; i < 3; i++) {
        struct scan *scan = parse(i < 2 ? HEAD "parameters: {table: t.txt}\n"
                                        : HEAD "parameters: {table: other.txt}\n");
        bind(scan, i == 1 ? 5 : 4);
        scan_identity_text(scan, 0, text[i], sizeof text[i]);
        const char *form = scan_canonical(scan);
        ck_assert_ptr_nonnull(strstr(form, i == 1 ? "\nparameters.table.file: 0000000000000000"
                                                    "0000000000000005\n"
                                                  : "\nparameters.table.file: 0000000000000000"
                                                    "0000000000000004\n"));
        check_form(models, scan);
        scan_destroy(scan);
    }
    ck_assert_str_ne(text[0], text[1]);
    ck_assert_str_eq(text[0], text[2]);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(files_and_members_can_be_scanned)
{
    struct scan *scan = parse(HEAD "parameters: {input: {from: r.h5, plane: last}}\n"
                                   "axes:\n  - table.file: [a.txt, b.txt]\n"
                                   "  - input.member: {from: 3, to: 7, step: 2}\n");
    ck_assert_int_eq(scan_points(scan), 6);
    ck_assert_int_eq(scan_inputs(scan), 5);
    bind(scan, 10);
    struct params params;
    ck_assert_int_eq(scan_params_init(scan, &params), 0);
    for (int point = 0; point < 6; point++) {
        scan_point(scan, point, &params);
        const struct data_set *file = params_data(&params, "table.file");
        const struct data_set *plane = params_data(&params, "input.from");
        for (int i = 0; i < 5; i++) {
            const struct scan_input *input = scan_get_input(scan, i);
            if (&input->set == file)
                ck_assert_str_eq(input->written, point < 3 ? "a.txt" : "b.txt");
            if (&input->set == plane)
                ck_assert_int_eq(input->member, 3 + 2 * (point % 3));
            ck_assert(input->plane == -1);
        }
        ck_assert_ptr_nonnull(file);
        ck_assert_ptr_nonnull(plane);
    }
    params_clear(&params);
    check_form(models, scan);
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(one_content_named_twice_is_read_once)
{
    struct scan *scan = parse(HEAD "parameters: {table: t.txt}\n"
                                   "axes: [{table.columns: [[x, y], [x, y, z], [x, y]]}]\n");
    ck_assert_int_eq(scan_inputs(scan), 2);
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(mistakes_are_refused_by_name)
{
    refused(HEAD "parameters: {input: r.h5}\n"
                 "axes: [{input.member: [0, 1]}, {input.plane: [0, 1]}]\n",
            "zip them to one axis");
    refused(HEAD "parameters: {input: r.h5}\n"
                 "axes: [{input.member: {from: 0, to: 5000, step: 1}}]\n",
            "a scan reads at most 4096");
    refused(HEAD "parameters: {table: {file: t.txt, columns: [x, q]}}\n",
            "accepted: x/y, x/y/z");
    refused(HEAD "parameters: {input: {from: r.h5, plane: first}}\n",
            "input.plane: not a number: 'first'; a number, or last is wanted");
    refused(HEAD "parameters: {table: {file: [1, 2]}}\n", "one file is wanted");
    refused(HEAD "parameters: {table: {file: {x: 2}}}\n", "the path of a file is wanted");
    refused(HEAD "axes: [{table.file: {from: 1, to: 2, points: 2}}]\n", "is for numbers");
    refused(HEAD "inputs: {}\n", "unknown key 'inputs'");
}
END_TEST

START_TEST(a_form_that_came_as_text_takes_the_data_later)
{
    struct scan *scan = parse(HEAD "axes: [{table.file: [a.txt, none, b.txt]}]\n");
    bind(scan, 1);
    struct scan *there = NULL;
    const char *form = scan_canonical(scan);
    ck_assert_int_eq(scan_parse_canonical_models(models, form, strlen(form), &there), 0);
    ck_assert_int_eq(scan_inputs(there), 2);
    ck_assert_int_eq(scan_get_input(there, 0)->set.arrays, 0);
    ck_assert_str_eq(scan_get_input(there, 1)->set.label, "file 1: ?x? [3] m");
    struct params params;
    ck_assert_int_eq(scan_params_init(there, &params), 0);
    scan_point(there, 1, &params);
    ck_assert_ptr_null(params_data(&params, "table.file"));
    ck_assert(!params_is_set(&params, "table.file"));
    scan_point(there, 2, &params);
    ck_assert_ptr_eq(params_data(&params, "table.file"), &scan_get_input(there, 1)->set);
    params_clear(&params);
    scan_destroy(there);
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Each would be ignored without a word; a default beside a file is no mistake. */
START_TEST(keys_that_a_file_replaces_and_selectors_of_no_file_are_refused)
{
    static const char both[] =
        "a and table.file are both given; the file stands in place of it";
    refused(HEAD "parameters: {table: t.txt, a: 1}\n", both);
    refused(HEAD "parameters: {table: t.txt}\naxes: [{a: [1, 2]}]\n", both);
    refused(HEAD "parameters: {a: 1}\naxes: [{table.file: [t.txt, u.txt]}]\n", both);
    refused(HEAD "parameters: {input: {plane: 3}}\n",
            "dir/s.yaml:3:22: input.plane has no effect without input.from; give both or none");
    refused(HEAD "axes: [{input.member: [3, 4]}]\n",
            "input.member has no effect without input.from");
    refused(HEAD "parameters: {b: 1}\n", "b has no effect without table.file; give both");
    refused(HEAD "axes: [{b: [1, 2]}]\n", "b has no effect without table.file");
    static const char *const right[] = {
        HEAD "parameters: {table: t.txt, b: 2}\n", HEAD "parameters: {table: t.txt}\n",
        HEAD "parameters: {table: none, a: 1}\n",
        HEAD "parameters: {a: 1, input: r.h5}\naxes: [{input.plane: [3, 4]}]\n"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct scan *scan = parse(right[i]);
        if (scan_inputs(scan) > 0)
            bind(scan, 0);
        check_form(models, scan);
        scan_destroy(scan);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("inputs");
    TCase *const tests = tcase_create("inputs");
    tcase_add_test(tests, a_path_is_relative_to_the_scan_file);
    tcase_add_test(tests, the_hash_enters_identity_and_form_and_the_name_enters_neither);
    tcase_add_test(tests, files_and_members_can_be_scanned);
    tcase_add_test(tests, one_content_named_twice_is_read_once);
    tcase_add_test(tests, mistakes_are_refused_by_name);
    tcase_add_test(tests, a_form_that_came_as_text_takes_the_data_later);
    tcase_add_test(tests, keys_that_a_file_replaces_and_selectors_of_no_file_are_refused);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
