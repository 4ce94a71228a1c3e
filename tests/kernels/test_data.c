/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that stay in their file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/data.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

#define COUNT  12
#define BEFORE 20 /* bytes before the first value */

static char path[] = "/tmp/test_data_XXXXXX";

/* A file with the numbers 0 to COUNT - 1, in halves. */
static void file_make(void)
{
    float values[COUNT];
    char begin[BEFORE] = "";
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    for (int i = 0; i < COUNT; i++)
        values[i] = 0.5f * (float)i;
    ck_assert_int_eq((int)write(file, begin, sizeof begin), BEFORE);
    ck_assert_int_eq((int)write(file, values, sizeof values), (int)sizeof values);
    close(file);
}

static void set_make(struct data_set *set)
{
    const long length[2] = {3, 4};
    double *here;
    *set = (struct data_set){.hash = "0123", .label = "a label"};
    file_make();
    ck_assert_int_eq(data_add_place(set, "there", "m", 2, length, path, BEFORE), 0);
    ck_assert_int_eq(data_add_real(set, "here", "1", 1, length, &here), 0);
    for (int i = 0; i < 3; i++)
        here[i] = 10.0 + i;
}

START_TEST(values_are_read_where_they_lie)
{
    struct data_set set;
    float values[5] = {0};
    set_make(&set);
    ck_assert_uint_eq(data_bytes(&set), 3 * sizeof(double));
    ck_assert_int_eq(data_read(data_find(&set, "there"), 4, 5, values), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_exactly((double)values[i], 0.5 * (double)(4 + i));
    ck_assert_int_eq(data_read(data_find(&set, "here"), 1, 2, values), 0);
    ck_assert_exactly((double)values[0], 11.0);
    ck_assert_exactly((double)values[1], 12.0);
    data_clear(&set);
    unlink(path);
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

/* In memory at once, in a file when they are read, also by another process. */
START_TEST(numbers_that_stand_for_none_are_read_as_none)
{
    struct data_set set;
    struct data_set copy;
    float values[COUNT];
    size_t used = 0;
    set_make(&set);
    data_add_fill(&set.array[0], 2.5);
    data_add_fill(&set.array[0], -1.0);
    data_add_fill(&set.array[1], 11.0);
    char *const bytes = malloc(data_packed_size(&set));
    data_pack(&set, bytes);
    ck_assert_int_eq(data_unpack(&copy, bytes, &used), 0);
    const struct data_set *const both[] = {&set, &copy};
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(data_read(data_find(both[k], "there"), 0, COUNT, values), 0);
        for (int i = 0; i < COUNT; i++)
            ck_assert(i == 5 ? isnan(values[i]) : exactly((double)values[i], 0.5 * (double)i));
        ck_assert_int_eq(data_read(data_find(both[k], "here"), 0, 3, values), 0);
        ck_assert(exactly((double)values[0], 10.0) && isnan(values[1])
                  && exactly((double)values[2], 12.0));
    }
    free(bytes);
    data_clear(&set);
    data_clear(&copy);
    unlink(path);
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

START_TEST(another_process_finds_the_same_file)
{
    struct data_set set;
    struct data_set copy;
    float value = 0.0f;
    size_t used = 0;
    set_make(&set);
    char *const bytes = malloc(data_packed_size(&set));
    data_pack(&set, bytes);
    ck_assert_int_eq(data_unpack(&copy, bytes, &used), 0);
    ck_assert_uint_eq(used, data_packed_size(&set));
    data_clear(&set);
    ck_assert_int_eq(copy.arrays, 2);
    ck_assert_str_eq(copy.hash, "0123");
    ck_assert_int_eq(data_read(data_find(&copy, "there"), COUNT - 1, 1, &value), 0);
    ck_assert_exactly((double)value, 0.5 * (COUNT - 1));
    ck_assert_exactly(data_find(&copy, "here")->real[2], 12.0);
    data_clear(&copy);
    free(bytes);
    unlink(path);
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

static void refused(const struct data_set *set, long first, long count, int code,
                    const char *word)
{
    char text[300] = "";
    float values[COUNT + 1];
    status_capture(text, sizeof text);
    ck_assert_int_eq(data_read(data_find(set, "there"), first, count, values), code);
    status_capture(NULL, 0);
    ck_assert_msg(strstr(text, word) != NULL, "'%s' is not in '%s'", word, text);
}

START_TEST(a_file_that_changed_or_went_is_told)
{
    struct data_set set;
    set_make(&set);
    refused(&set, COUNT - 1, 2, ERR_IO, "ends before");
    FILE *const file = fopen(path, "ab");
    ck_assert_ptr_nonnull(file);
    fputc('x', file);
    fclose(file);
    refused(&set, 0, 1, ERR_CONFLICT, "has changed");
    unlink(path);
    refused(&set, 0, 1, ERR_IO, path);
    data_clear(&set);
    ck_assert_int_eq((int)mem_live(), 0);
}
END_TEST

static Suite *data_suite(void)
{
    Suite *const suite = suite_create("data");
    TCase *const tests = tcase_create("data");
    tcase_add_test(tests, values_are_read_where_they_lie);
    tcase_add_test(tests, numbers_that_stand_for_none_are_read_as_none);
    tcase_add_test(tests, another_process_finds_the_same_file);
    tcase_add_test(tests, a_file_that_changed_or_went_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(data_suite());
}
