/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

START_TEST(arrays_are_zero_and_aligned)
{
    for (long count = 1; count < 200; count += 13) {
        double *array;
        ck_assert_int_eq(MEM_NEW(count, &array), 0);
        ck_assert_uint_eq((uintptr_t)array % MEM_ALIGNMENT, 0);
        for (long i = 0; i < count; i++)
            ck_assert(exactly(array[i], 0.0));
        memset(array, 0xff, (size_t)count * sizeof *array); /* the next may get this memory */
        mem_free(array);
    }
}
END_TEST

START_TEST(live_counts_what_is_not_freed_and_total_all)
{
    char *a;
    char *b;
    const long total = mem_total();
    ck_assert_int_eq(mem_live(), 0);
    ck_assert_int_eq(MEM_NEW(10, &a), 0);
    ck_assert_int_eq(mem_copy_text("text", &b), 0);
    ck_assert_str_eq(b, "text");
    ck_assert_int_eq(mem_live(), 2);
    mem_free(a);
    mem_free(NULL);
    ck_assert_int_eq(mem_live(), 1);
    mem_free(b);
    ck_assert_int_eq(mem_live(), 0);
    ck_assert_int_eq(mem_total(), total + 2);
}
END_TEST

START_TEST(an_empty_array_is_a_valid_pointer)
{
    int *array;
    ck_assert_int_eq(MEM_NEW(0, &array), 0);
    ck_assert_ptr_nonnull(array);
    mem_free(array);
}
END_TEST

START_TEST(impossible_sizes_are_refused_with_their_value)
{
    char text[200];
    double *array = (void *)text;
    status_capture(text, sizeof text);
    ck_assert_int_eq(MEM_NEW(-1, &array), ERR_ARGUMENT);
    ck_assert_ptr_null(array);
    ck_assert_str_eq(text, "cannot allocate -1 elements of 8 bytes");
    ck_assert_int_eq(MEM_NEW(LONG_MAX, &array), ERR_ARGUMENT);
    ck_assert_int_eq(mem_alloc(1, SIZE_MAX, (void **)&array), ERR_ARGUMENT);
    ck_assert_int_eq(mem_alloc(1, 0, (void **)&array), ERR_ARGUMENT);
    ck_assert_ptr_null(array);
    status_capture(NULL, 0);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
/* The sanitizer ends the program where malloc returns NULL. */
START_TEST(memory_that_is_not_there_is_an_error)
{
    char text[200];
    char *array;
    status_capture(text, sizeof text);
    ck_assert_int_eq(mem_alloc(LONG_MAX / 2, 1, (void **)&array), ERR_MEMORY);
    status_capture(NULL, 0);
    ck_assert_ptr_null(array);
    ck_assert_ptr_nonnull(strstr(text, "out of memory"));
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("mem");
    TCase *tests = tcase_create("mem");
    tcase_add_test(tests, arrays_are_zero_and_aligned);
    tcase_add_test(tests, live_counts_what_is_not_freed_and_total_all);
    tcase_add_test(tests, an_empty_array_is_a_valid_pointer);
    tcase_add_test(tests, impossible_sizes_are_refused_with_their_value);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(tests, memory_that_is_not_there_is_an_error);
#endif
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
