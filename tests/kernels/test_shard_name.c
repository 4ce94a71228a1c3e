/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "tests/unit_main.h"

static void expect(const char *result, long shard, long shards, const char *name)
{
    char out[256];
    ck_assert_int_eq(shard_file_name(result, shard, shards, out, sizeof out), 0);
    ck_assert_str_eq(out, name);
}

static void refuse(const char *result, long shard, long shards, size_t size, const char *text)
{
    char out[256] = "";
    char why[256] = "";
    status_capture(why, sizeof why);
    const int rc = shard_file_name(result, shard, shards, out, size);
    status_capture(NULL, 0);
    ck_assert_int_eq(rc, ERR_ARGUMENT);
    ck_assert_msg(strstr(why, text) != NULL, "\"%s\" says nothing of \"%s\"", why, text);
}

START_TEST(a_shard_stands_beside_the_result_with_its_number_as_wide_as_the_last)
{
    expect("runs/x.h5", 3, 16, "runs/x.shard-03-of-16.h5");
    expect("x.h5", 1, 9, "x.shard-1-of-9.h5");
    expect("x.h5", 7, 1000000, "x.shard-0000007-of-1000000.h5");
    expect("x.h5", 10, 10, "x.shard-10-of-10.h5");
}
END_TEST

START_TEST(only_the_ending_of_a_result_is_replaced)
{
    expect("/a b/it's.h5.d/x.y.h5", 1, 2, "/a b/it's.h5.d/x.y.shard-1-of-2.h5");
    expect("x.hdf5", 1, 2, "x.hdf5.shard-1-of-2.h5");
    expect(".h5", 1, 2, ".h5.shard-1-of-2.h5");
}
END_TEST

START_TEST(the_only_shard_is_the_result)
{
    expect("runs/x.h5", 1, 1, "runs/x.h5");
}
END_TEST

START_TEST(numbers_and_names_that_cannot_be_are_refused)
{
    refuse("x.h5", 0, 4, 256, "shard 0/4");
    refuse("x.h5", 5, 4, 256, "shard 5/4");
    refuse("x.h5", 1, 0, 256, "shard 1/0");
    refuse("x.h5", 1, 1000001, 256, "1000000/1000000");
    refuse("", 1, 4, 256, "names no result file");
    refuse("runs/", 1, 4, 256, "names no result file");
    refuse("x.h5", 1, 4, 17, "too long: 17 bytes, 16 fit");
}
END_TEST

static Suite *suite(void)
{
    Suite *const s = suite_create("shard_name");
    TCase *const t = tcase_create("names");
    tcase_add_test(t, a_shard_stands_beside_the_result_with_its_number_as_wide_as_the_last);
    tcase_add_test(t, only_the_ending_of_a_result_is_replaced);
    tcase_add_test(t, the_only_shard_is_the_result);
    tcase_add_test(t, numbers_and_names_that_cannot_be_are_refused);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return unit_main(suite());
}
