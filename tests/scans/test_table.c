/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/table.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static const struct data_column columns[] = {
    {"time", "s", "", true},         {"wavelength", "m", "", true},
    {"omega", "rad s^-1", "", true}, {"intensity", "1", "", false},
    {"phase", "rad", "", false},     {NULL, NULL, NULL, false}};
static const char *const tables[] = {"time/intensity", "time/intensity/phase",
                                     "wavelength/intensity", "omega/intensity", NULL};
static const struct data_info info = {.columns = columns, .tables = tables};

/* Read a text as a table and take its columns; `why` receives what went wrong. */
static int take_bytes(const char *bytes, size_t length, const char *wanted,
                      struct data_set *set, char why[1024])
{
    char path[] = "table-XXXXXX";
    struct data_table table;
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes, length), (ssize_t)length);
    close(descriptor);
    *set = (struct data_set){0};
    why[0] = '\0';
    status_capture(why, 1024);
    int rc = table_read(path, &table);
    if (rc == 0)
        rc = table_take(&table, &info, wanted, set);
    status_capture(NULL, 0);
    unlink(path);
    data_table_clear(&table);
    return rc;
}

static int take(const char *text, const char *wanted, struct data_set *set, char why[1024])
{
    return take_bytes(text, strlen(text), wanted, set, why);
}

static void accepts(const char *text, int arrays, const double *values)
{
    struct data_set set;
    char why[1024];
    ck_assert_msg(take(text, NULL, &set, why) == 0, "refused: %s\n%s", why, text);
    ck_assert_int_eq(set.arrays, arrays);
    for (int i = 0; i < arrays; i++)
        for (long k = 0; k < set.array[i].length[0]; k++) {
            const double right = values[i * set.array[i].length[0] + k];
            ck_assert_rounding(set.array[i].real[k], right, 1e-15);
        }
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(a_header_and_rows_are_read_in_any_common_spelling)
{
    static const double right[] = {1e-15, 2e-15, 3e-15, 0.5, 1.0, 0.25};
    static const char *const texts[] = {
        "time [fs] intensity\n1 .5\n2 1\n3 0.25\n",
        "\xef\xbb\xbftime [fs] intensity\n1 .5\n2 1\n3 0.25\n",
        "\xef\xbb\xbf# time [fs], intensity\r\n1, .5\r\n2, 1\r\n3, 0.25\r\n",
        "time (fs), intensity (1)\r\n1, 0.5\r\n2, 1.\r\n3, 25e-2\r\n",
        "# from the spectrometer\n\n#time [fs]\tintensity\n1\t0.5\n\n2\t1 # peak\n3\t0.25",
        "intensity;time [s]\n0.5;1e-15\n1;2e-15\n0.25;3e-15\n",
        "  time[fs]  other [V]  intensity\n 1 7 0.5\n 2 8 1\n 3 9 0.25\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        accepts(texts[i], 2, right);
}
END_TEST

START_TEST(units_are_converted_and_a_falling_axis_is_turned)
{
    static const double right[] = {800e-9, 900e-9, 1e-6, 3.0, 2.0, 1.0};
    accepts("wavelength [nm] intensity\n1000 1\n900 2\n800 3\n", 2, right);
    static const double angles[] = {
        1e-12, 2e-12, 1.0, 1.0, 3.14159265358979323846 / 2.0, 3.14159265358979323846};
    accepts("time [ps] intensity phase [deg]\n1 1 90\n2 1 180\n", 3, angles);
    static const double fast[] = {1e15, 2e15, 1.0, 2.0};
    accepts("omega [rad/fs] intensity\n1 1\n2 2\n", 2, fast);
}
END_TEST

START_TEST(the_longest_combination_counts_unless_columns_are_named)
{
    struct data_set set;
    char why[1024];
    const char *text = "time [s] intensity phase [rad]\n0 1 2\n1 1 2\n";
    ck_assert_int_eq(take(text, NULL, &set, why), 0);
    ck_assert_int_eq(set.arrays, 3);
    ck_assert_str_eq(set.array[2].name, "phase");
    data_clear(&set);
    ck_assert_int_eq(take(text, "time/intensity", &set, why), 0);
    ck_assert_int_eq(set.arrays, 2);
    data_clear(&set);
}
END_TEST

struct refusal {
    const char *text;
    const char *parts[4];
};

static void refuses(const struct refusal *r)
{
    struct data_set set;
    char why[1024];
    ck_assert_msg(take(r->text, NULL, &set, why) != 0, "accepted: %s", r->text);
    for (int i = 0; i < 4 && r->parts[i] != NULL; i++)
        ck_assert_msg(strstr(why, r->parts[i]) != NULL, "'%s' is not in: %s", r->parts[i], why);
    ck_assert_ptr_null(strchr(why, '\n'));
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(each_mistake_is_told_with_its_line)
{
    static const struct refusal cases[] = {
        {"time [fs] intensity\n1 1\n2 nan\n",
         {":3:3: ", "column intensity", "'nan'", "finite"}},
        {"time [fs] intensity\n1 1\n2 inf\n", {":3:3: ", "'inf'"}},
        {"time [fs] intensity\n1 1\n2 1e999\n", {":3:3: ", "'1e999'"}},
        {"time [fs] intensity\n1 1\n2 1,5\n", {":3:1: ", "3 numbers", "2 columns"}},
        {"time [fs] intensity\n1 1\n3 1\n2 1\n",
         {":4:1: ", "column time", "2 follows 3", "rise"}},
        {"time [fs] intensity\n1 1\n1 1\n", {":3:1: ", "1 follows 1"}},
        {"wavelength [nm] intensity\n3 1\n2 1\n4 1\n", {":4:1: ", "4 follows 2", "fall"}},
        {"time [fs] intensity\n1 1\n2\n", {":3:1: ", "1 numbers", "2 columns"}},
        {"time [fs] power\n1 1\n2 1\n", {"time, power", "accepted", "time/intensity/phase"}},
        {"time intensity\n1 1\n2 1\n", {"column time", "has no unit", "a unit of s"}},
        {"time [m] intensity\n1 1\n2 1\n", {"column time", "a unit of s is wanted"}},
        {"time [fs] intensity phase\n1 1 1\n2 1 1\n", {"column phase", "a unit of rad"}},
        {"omega [THz] intensity\n1 1\n2 1\n", {"column omega", "a unit of rad s^-1 is wanted"}},
        {"time [fs] intensity intensity\n1 1 1\n2 1 1\n",
         {"2 columns are called intensity", "time/intensity needs one"}},
        {"phase [rad] time [fs] intensity phase [deg]\n1 1 1 1\n2 2 1 1\n",
         {"2 columns are called phase", "time/intensity/phase needs one"}},
        {"1 1\n2 1\n", {":1:1: ", "no header", "time [fs]"}},
        {"\xef\xbb\xbf"
         "1 1\n2 1\n",
         {":1:1: ", "no header"}},
        {"", {":1:1: ", "no header"}},
        {"time [fs] intensity\n", {"no numbers follow"}},
        {"time [fs] intensity\nmore words\n1 1\n", {":2:1: ", "a second line of words"}},
        {"time [fs] wavelength [nm] intensity\n1 1 1\n2 2 2\n",
         {"time/intensity and wavelength/intensity", "name the columns"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuses(&cases[i]);
}
END_TEST

START_TEST(a_file_that_is_no_text_is_refused)
{
    struct data_set set;
    char why[1024];
    ck_assert_int_eq(take_bytes("time\0[fs]", 9, NULL, &set, why), ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(why, "neither text nor an HDF5 file"));
    struct data_table table;
    status_capture(why, sizeof why);
    ck_assert_int_eq(table_read("no/such.txt", &table), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(why, "no/such.txt: cannot be opened"));
    status_capture(why, sizeof why);
    ck_assert_int_eq(table_read(".", &table), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(why, "a directory"));
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("table");
    TCase *const tests = tcase_create("table");
    tcase_add_test(tests, a_header_and_rows_are_read_in_any_common_spelling);
    tcase_add_test(tests, units_are_converted_and_a_falling_axis_is_turned);
    tcase_add_test(tests, the_longest_combination_counts_unless_columns_are_named);
    tcase_add_test(tests, each_mistake_is_told_with_its_line);
    tcase_add_test(tests, a_file_that_is_no_text_is_refused);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
