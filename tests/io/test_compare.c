/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>
#include <hdf5.h>

#include "io/canonical.h"
#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

static void assert_refused(const char *word)
{
    ck_assert_int_eq(store_compare(path, &fixture.spec), ERR_CONFLICT);
    ck_assert_msg(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
    ck_assert_msg(strstr(message, path) != NULL, "no path in: %s", message);
    ck_assert_ptr_null(strchr(message, '\n'));
}

static void write_text(const char *text)
{
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(the_same_scan_is_accepted)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
}
END_TEST

START_TEST(comments_resources_and_the_name_make_no_other_configuration)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    fixture.spec.config =
        "# another text of the same meaning, longer than the old one was before\n";
    fixture.spec.config_length = strlen(fixture.spec.config);
    fixture.spec.config_canonical = "axes.0.a: [1, 2.5]\n"
                                    "axes.1.pulse.b: [1e-14, 2e-14, 3e-14]\n"
                                    "limits.attempts: 7\n"
                                    "model: fixture\n"
                                    "parameters.length: 0.15\n"
                                    "resources.worker: socket\n"
                                    "save.planes: 4\n"
                                    "scan: another name\n";
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
}
END_TEST

START_TEST(another_configuration_is_refused_with_the_keys_and_both_values)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    fixture.spec.config_canonical = "axes.0.a: [1, 2.5]\n"
                                    "axes.1.pulse.b: [1e-14, 2e-14, 3e-14]\n"
                                    "model: fixture\n"
                                    "parameters.gamma: 0.11\n"
                                    "parameters.length: 0.25\n"
                                    "resources.worker: core\n"
                                    "save.planes: 4\n"
                                    "scan: made-up\n";
    assert_refused("parameters.length is 0.15 there and 0.25 here");
    ck_assert_ptr_nonnull(strstr(message, "parameters.gamma is absent there and 0.11 here"));
    ck_assert_ptr_null(strstr(message, "worker"));
    ck_assert_ptr_null(strstr(message, "planes"));
}
END_TEST

START_TEST(another_identity_of_one_member_is_refused)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    fixture.salt = 1;
    assert_refused("member 0 has identity");
}
END_TEST

START_TEST(another_layout_is_refused_with_the_dataset)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    fixture.spec.history = 17;
    assert_refused("step_index is [16] there and [17] here");
}
END_TEST

START_TEST(another_numerics_version_is_refused_by_number)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct model_info newer = *fixture.spec.model;
    newer.numerics_version = 4;
    fixture.spec.model = &newer;
    assert_refused("numerics version 3");
}
END_TEST

START_TEST(a_text_file_is_refused)
{
    write_text("This is a letter, not a result file.\n");
    assert_refused("not an HDF5 file");
}
END_TEST

START_TEST(an_empty_file_is_refused)
{
    write_text("");
    assert_refused("not an HDF5 file (0 bytes)");
}
END_TEST

START_TEST(a_directory_is_refused)
{
    ck_assert_int_eq(mkdir(path, 0755), 0);
    assert_refused("is a directory");
}
END_TEST

START_TEST(a_missing_file_is_an_input_error)
{
    ck_assert_int_eq(store_compare(path, &fixture.spec), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, "No such file or directory"));
}
END_TEST

START_TEST(a_foreign_hdf5_file_is_refused)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    H5Fclose(file);
    assert_refused("not one of scanfarm");
}
END_TEST

START_TEST(a_truncated_file_is_refused)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(truncate(path, info.st_size - 1), 0);
    assert_refused("is truncated");
    struct store *store = NULL;
    ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
    ck_assert_ptr_null(store);
}
END_TEST

START_TEST(a_file_cut_down_to_its_signature_is_refused)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(truncate(path, 8), 0);
    assert_refused("cannot be opened");
}
END_TEST

START_TEST(a_newer_format_is_refused_by_number)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    const int64_t version = 2;
    ck_assert_int_ge(H5Awrite(attribute, H5T_NATIVE_INT64, &version), 0);
    H5Aclose(attribute);
    H5Fclose(file);
    assert_refused("format version 2");
}
END_TEST

START_TEST(the_order_of_canonical_lines_does_not_matter)
{
    char text[400];
    int different = -1;
    ck_assert_int_eq(
        canonical_compare("b: 2\na: 1\n", "a: 1\nb: 2", text, sizeof text, &different), 0);
    ck_assert_int_eq(different, 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(many_differences_are_counted_and_long_values_cut)
{
    char there[2000] = "";
    char here[2000] = "";
    for (int i = 0; i < 10; i++) {
        const size_t a = strlen(there);
        const size_t b = strlen(here);
        snprintf(there + a, sizeof there - a, "k%d: %0100d\n", i, 1);
        snprintf(here + b, sizeof here - b, "k%d: %0100d\n", i, 2);
    }
    char text[1600];
    int different = 0;
    ck_assert_int_eq(canonical_compare(there, here, text, sizeof text, &different), 0);
    ck_assert_int_eq(different, 10);
    ck_assert_ptr_nonnull(strstr(text, "and 4 more"));
    ck_assert_ptr_nonnull(strstr(text, "00..."));
}
END_TEST

static Suite *compare_suite(void)
{
    Suite *const suite = suite_create("compare");
    TCase *const tests = tcase_create("compare");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_same_scan_is_accepted);
    tcase_add_test(tests, comments_resources_and_the_name_make_no_other_configuration);
    tcase_add_test(tests, another_configuration_is_refused_with_the_keys_and_both_values);
    tcase_add_test(tests, another_identity_of_one_member_is_refused);
    tcase_add_test(tests, another_layout_is_refused_with_the_dataset);
    tcase_add_test(tests, another_numerics_version_is_refused_by_number);
    tcase_add_test(tests, a_text_file_is_refused);
    tcase_add_test(tests, an_empty_file_is_refused);
    tcase_add_test(tests, a_directory_is_refused);
    tcase_add_test(tests, a_missing_file_is_an_input_error);
    tcase_add_test(tests, a_foreign_hdf5_file_is_refused);
    tcase_add_test(tests, a_truncated_file_is_refused);
    tcase_add_test(tests, a_file_cut_down_to_its_signature_is_refused);
    tcase_add_test(tests, a_newer_format_is_refused_by_number);
    tcase_add_test(tests, the_order_of_canonical_lines_does_not_matter);
    tcase_add_test(tests, many_differences_are_counted_and_long_values_cut);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(compare_suite());
}
