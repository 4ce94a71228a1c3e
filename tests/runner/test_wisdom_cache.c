/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/wisdom_cache.h"
#include "runner/wisdom_text.h"
#include "tests/unit_main.h"

static char top[] = "/tmp/scanfarm-cache-XXXXXX";
static char folder[64];
static char path[RUN_PATH_SIZE + 256];
static const struct wisdom_key key = {
    .library = "fftw-3.3.10-sse2-avx", .cpu = "Some CPU (R) @ 2.5 GHz", .threads = 1, .n = 96};
static const char wisdom[] = "(fftw-3.3.10 fftw_wisdom #x1\n  (solver 1 #x2)\n)\n";

static void enter_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/a/scanfarm", top);
    wisdom_cache_path(folder, &key, path);
}

static void leave_folder(void)
{
    char above[64];
    int removed = 0;
    ck_assert_int_eq(wisdom_cache_clear(folder, &removed), 0);
    rmdir(folder);
    snprintf(above, sizeof above, "%s/a", top);
    rmdir(above);
    ck_assert_int_eq(rmdir(top), 0); /* nothing of ours is left */
    ck_assert_int_eq(mem_live(), 0);
}

/* What the cache gives for a key: "" when it has nothing or leaves it out. */
static void expect(const struct wisdom_key *wanted, const char *text, bool complaint)
{
    char why[WISDOM_WHY_SIZE];
    char *found = NULL;
    ck_assert_int_eq(wisdom_cache_read(folder, wanted, &found, why), 0);
    ck_assert_str_eq(found, text);
    ck_assert_msg((why[0] != '\0') == complaint, "why: '%s'", why);
    mem_free(found);
}

START_TEST(what_was_kept_comes_back_for_its_key_only)
{
    struct wisdom_key other = key;
    expect(&key, "", false);
    ck_assert_int_eq(wisdom_cache_write(folder, &key, wisdom), 0);
    expect(&key, wisdom, false);
    other.n = 48;
    expect(&other, "", false);
    other = key;
    snprintf(other.library, sizeof other.library, "fftw-3.3.9-sse2-avx");
    expect(&other, "", false);
}
END_TEST

START_TEST(names_that_fall_together_are_told_apart_by_the_first_lines)
{
    struct wisdom_key other = key;
    char there[sizeof path];
    snprintf(other.cpu, sizeof other.cpu, "Some CPU [R] @ 2.5 GHz");
    wisdom_cache_path(folder, &other, there);
    ck_assert_str_eq(there, path);
    ck_assert_int_eq(wisdom_cache_write(folder, &key, wisdom), 0);
    expect(&other, "", true);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_left_out_with_the_reason)
{
    char *whole = NULL;
    ck_assert_int_eq(wisdom_cache_write(folder, &key, wisdom), 0);
    ck_assert_int_eq(wisdom_text_read(path, &whole), 0);
    for (size_t length = 0; length < strlen(whole); length++) {
        ck_assert_int_eq(truncate(path, (off_t)length), 0);
        expect(&key, "", true);
        ck_assert(wisdom_text_write(path, whole, true));
    }
    expect(&key, wisdom, false);
    mem_free(whole);
}
END_TEST

START_TEST(one_changed_byte_is_seen_wherever_it_is)
{
    char *whole = NULL;
    ck_assert_int_eq(wisdom_cache_write(folder, &key, wisdom), 0);
    ck_assert_int_eq(wisdom_text_read(path, &whole), 0);
    for (size_t i = 0; i < strlen(whole); i++) {
        whole[i] ^= 1;
        ck_assert(wisdom_text_write(path, whole, true));
        whole[i] ^= 1;
        expect(&key, "", true);
    }
    mem_free(whole);
}
END_TEST

START_TEST(something_that_is_no_file_is_left_out)
{
    ck_assert_int_eq(wisdom_cache_try(folder), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    expect(&key, "", true);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(a_listing_has_every_file_and_clearing_leaves_the_others_alone)
{
    struct wisdom_key second = {.library = "fftw-4", .cpu = "Other", .threads = 2, .n = 7};
    struct wisdom_file *files = NULL;
    char own[96];
    char damaged[96];
    int count = -1;
    ck_assert_int_eq(wisdom_cache_list(folder, &files, &count), 0);
    ck_assert_int_eq(count, 0);
    wisdom_cache_list_free(files, count);
    ck_assert_int_eq(wisdom_cache_write(folder, &key, wisdom), 0);
    ck_assert_int_eq(wisdom_cache_write(folder, &second, wisdom), 0);
    snprintf(own, sizeof own, "%s/notes.txt", folder);
    snprintf(damaged, sizeof damaged, "%s/aaa.wisdom", folder);
    ck_assert(wisdom_text_write(own, "mine", true));
    ck_assert(wisdom_text_write(damaged, "nothing", true));
    ck_assert_int_eq(wisdom_cache_list(folder, &files, &count), 0);
    ck_assert_int_eq(count, 3);
    ck_assert(files[0].damaged && !files[1].damaged && !files[2].damaged);
    ck_assert(wisdom_key_same_machine(&files[1].key, &key) && files[1].key.n == 96);
    ck_assert_str_eq(files[1].text, wisdom);
    ck_assert(files[2].key.threads == 2 && files[2].key.n == 7);
    wisdom_cache_list_free(files, count);
    ck_assert_int_eq(wisdom_cache_clear(folder, &count), 0);
    ck_assert_int_eq(count, 3);
    ck_assert_int_eq(access(own, F_OK), 0);
    ck_assert_int_eq(unlink(own), 0);
}
END_TEST

START_TEST(the_folder_is_where_the_variables_say)
{
    char found[RUN_PATH_SIZE];
    char why[WISDOM_WHY_SIZE];
    setenv("XDG_CACHE_HOME", "/x/cache", 1);
    setenv("HOME", "/x/home", 1);
    wisdom_cache_folder(found, why);
    ck_assert_str_eq(found, "/x/cache/scanfarm");
    setenv("XDG_CACHE_HOME", "", 1);
    wisdom_cache_folder(found, why);
    ck_assert_str_eq(found, "/x/home/.cache/scanfarm");
    ck_assert_str_eq(why, "");
    setenv("XDG_CACHE_HOME", "relative", 1);
    wisdom_cache_folder(found, why);
    ck_assert_str_eq(found, "");
    ck_assert_ptr_nonnull(strstr(why, "relative"));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME"); /* the account's, or the reason why there is none */
    wisdom_cache_folder(found, why);
    ck_assert((found[0] == '/') == (why[0] == '\0'));
}
END_TEST

START_TEST(a_folder_that_takes_nothing_is_an_error_that_names_it)
{
    char text[WISDOM_WHY_SIZE];
    status_capture(text, sizeof text);
    ck_assert_int_eq(wisdom_cache_write("/dev/null/scanfarm", &key, wisdom), ERR_IO);
    ck_assert_ptr_nonnull(strstr(text, "/dev/null/scanfarm"));
    ck_assert_int_eq(wisdom_cache_try("/dev/null/scanfarm"), ERR_IO);
    status_capture(NULL, 0);
}
END_TEST

static Suite *cache_suite(void)
{
    Suite *suite = suite_create("wisdom_cache");
    TCase *tests = tcase_create("wisdom_cache");
    tcase_add_checked_fixture(tests, enter_folder, leave_folder);
    tcase_add_test(tests, what_was_kept_comes_back_for_its_key_only);
    tcase_add_test(tests, names_that_fall_together_are_told_apart_by_the_first_lines);
    tcase_add_test(tests, a_file_cut_anywhere_is_left_out_with_the_reason);
    tcase_add_test(tests, one_changed_byte_is_seen_wherever_it_is);
    tcase_add_test(tests, something_that_is_no_file_is_left_out);
    tcase_add_test(tests, a_listing_has_every_file_and_clearing_leaves_the_others_alone);
    tcase_add_test(tests, the_folder_is_where_the_variables_say);
    tcase_add_test(tests, a_folder_that_takes_nothing_is_an_error_that_names_it);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(cache_suite());
}
