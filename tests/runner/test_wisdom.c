/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "runner/wisdom.h"
#include "runner/wisdom_cache.h"
#include "tests/unit_main.h"

/* Each test is a process of its own: it starts without wisdom. */

static char folder[] = "/tmp/scanfarm-wisdom-XXXXXX";
static char file[64];

static void enter_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x.h5", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void remove_all(const char *path)
{
    char inside[512];
    DIR *open = opendir(path);
    for (const struct dirent *e = open != NULL ? readdir(open) : NULL; e != NULL;
         e = readdir(open)) {
        snprintf(inside, sizeof inside, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(inside) != 0)
            remove_all(inside);
    }
    if (open != NULL)
        closedir(open);
    rmdir(path);
}

static void leave_folder(void)
{
    ck_assert_int_eq(mem_live(), 0);
    remove_all(folder);
}

/* Make plans as a worker with these sources does. Returns how many had to be searched for. */
static long plan(struct wisdom *w, enum fft_rigour rigour, long n)
{
    struct backend_options options = {.name = "cpu", .threads = 1, .rigour = rigour};
    struct backend *be = NULL;
    if (w != NULL)
        options.source = wisdom_source(w);
    ck_assert_int_eq(backend_create(&options, &be), 0);
    for (int kind = FFT_C2C_FORWARD; kind <= FFT_C2R; kind++) {
        struct fft *made = NULL;
        ck_assert_int_eq(be->ops->fft_create(be, (enum fft_kind)kind, n, &made), 0);
        be->ops->fft_destroy(be, made);
    }
    const long searched = be->searched;
    backend_destroy(be);
    return searched;
}

static void share_by(int (*way)(struct wisdom *w, struct backend *be), struct wisdom *w)
{
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE};
    struct backend *be = NULL;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    ck_assert_int_eq(way(w, be), 0);
    backend_destroy(be);
}

static void share(struct wisdom *w)
{
    share_by(wisdom_share, w);
}

static char *text_of_process(void)
{
    char *text = NULL;
    ck_assert_int_eq(backend_wisdom(NULL, &text), 0);
    return text;
}

/* Wisdom of a length and a rigour, as another process would have made it. */
static char *foreign_text(enum fft_rigour rigour, long n)
{
    backend_forget_wisdom();
    plan(NULL, rigour, n);
    char *text = text_of_process();
    backend_forget_wisdom();
    return text;
}

static void put_into_cache(enum fft_rigour rigour, long n)
{
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE};
    struct backend *be = NULL;
    struct wisdom_key key;
    char cache[RUN_PATH_SIZE];
    char why[WISDOM_WHY_SIZE];
    char *text = foreign_text(rigour, n);
    ck_assert_int_eq(backend_create(&options, &be), 0);
    wisdom_cache_key(be, n, &key);
    backend_destroy(be);
    wisdom_cache_folder(cache, why);
    ck_assert_int_eq(wisdom_cache_write(cache, &key, text), 0);
    mem_free(text);
}

/* FFTW writes its table in any order. */
static bool same_lines(const char *a, const char *b)
{
    const size_t length = strlen(a);
    if (strlen(b) != length)
        return false;
    while (*a != '\0') {
        char line[256] = "";
        const size_t size = strcspn(a, "\n") + 1;
        ck_assert_uint_lt(size, sizeof line);
        memcpy(line, a, size);
        if (strstr(b, line) == NULL)
            return false;
        a += size;
    }
    return true;
}

START_TEST(the_first_plans_and_the_others_take_its_text)
{
    struct wisdom first;
    struct wisdom second;
    wisdom_init(&first, file, "host", "");
    wisdom_init(&second, file, "host", "");
    ck_assert_int_eq(plan(&first, FFT_MEASURE, 64), 4);
    ck_assert(first.claimed);
    share(&first);
    ck_assert(!first.claimed);
    ck_assert_int_ne(access(first.claim, F_OK), 0);
    backend_forget_wisdom();
    ck_assert_int_eq(plan(&second, FFT_MEASURE, 64), 0);
    ck_assert(!second.claimed);
    wisdom_clear(&first);
    wisdom_clear(&second);
}
END_TEST

START_TEST(a_shape_that_comes_later_joins_the_file)
{
    struct wisdom first;
    struct wisdom second;
    wisdom_init(&first, file, "host", "");
    wisdom_init(&second, file, "host", "");
    plan(&first, FFT_MEASURE, 64);
    share(&first);
    backend_forget_wisdom(); /* second is another process */
    ck_assert_int_eq(plan(&second, FFT_MEASURE, 128), 4);
    ck_assert(second.claimed);
    share(&second);
    wisdom_clear(&first);
    wisdom_clear(&second);
    backend_forget_wisdom();
    wisdom_init(&first, file, "host", "");
    ck_assert_int_eq(plan(&first, FFT_MEASURE, 64) + plan(&first, FFT_MEASURE, 128), 0);
    wisdom_clear(&first);
}
END_TEST

START_TEST(a_claim_that_nobody_redeems_costs_seconds_once_not_the_run)
{
    struct wisdom dead;
    struct wisdom other;
    wisdom_init(&dead, file, "host", "");
    wisdom_init(&other, file, "host", "");
    plan(&dead, FFT_MEASURE, 32);
    ck_assert(dead.claimed);
    backend_forget_wisdom();
    const double begin = clock_wall();
    ck_assert_int_eq(plan(&other, FFT_MEASURE, 32), 4);
    ck_assert_double_gt(clock_wall() - begin, 4.9);
    ck_assert_double_lt(clock_wall() - begin, 30);
    wisdom_clear(&other);
    ck_assert_int_eq(access(dead.claim, F_OK), 0); /* not its own */
    wisdom_clear(&dead);
    ck_assert_int_ne(access(dead.claim, F_OK), 0);
}
END_TEST

START_TEST(a_folder_that_takes_no_files_lets_everybody_plan)
{
    struct wisdom w;
    wisdom_init(&w, "/no-such-folder/x.h5", "host", "");
    const double begin = clock_wall();
    ck_assert_int_eq(plan(&w, FFT_MEASURE, 16), 4);
    share(&w);
    ck_assert_double_lt(clock_wall() - begin, 4.9); /* it does not wait for a claim */
    wisdom_clear(&w);
}
END_TEST

START_TEST(the_users_cache_spares_the_search_and_goes_into_the_nodes_file)
{
    struct wisdom w;
    char *text = NULL;
    put_into_cache(FFT_PATIENT, 64);
    wisdom_init(&w, file, "host", "");
    ck_assert_int_eq(plan(&w, FFT_MEASURE, 64), 0);
    ck_assert(!w.claimed);
    char *used = text_of_process();
    share(&w);
    ck_assert_int_eq(wisdom_read(&w, &text), 0);
    ck_assert(same_lines(text, used));
    mem_free(text);
    mem_free(used);
    wisdom_clear(&w);
}
END_TEST

/* A worker that has its plans from the cache, until `start` is closed. */
static pid_t fork_sharer(long n, const int start[2])
{
    const pid_t child = fork();
    if (child == 0) {
        struct wisdom w;
        char byte;
        close(start[1]);
        wisdom_init(&w, file, "host", "");
        bool ok = plan(&w, FFT_MEASURE, n) == 0;
        ok = read(start[0], &byte, 1) == 0 && ok;
        share_by(wisdom_share_last, &w);
        wisdom_clear(&w);
        _exit(ok ? 0 : 1);
    }
    return child;
}

START_TEST(workers_that_end_at_once_lose_no_plan)
{
    enum { SHARERS = 6 };
    pid_t child[SHARERS];
    int start[2];
    struct wisdom w;
    for (int i = 0; i < SHARERS; i++)
        put_into_cache(FFT_MEASURE, 16L << i);
    ck_assert_int_eq(pipe(start), 0);
    for (int i = 0; i < SHARERS; i++)
        child[i] = fork_sharer(16L << i, start);
    close(start[0]);
    close(start[1]);
    for (int i = 0; i < SHARERS; i++) {
        int status;
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
    setenv("XDG_CACHE_HOME", "/nowhere", 1); /* from the node's file alone */
    wisdom_init(&w, file, "host", "");
    for (int i = 0; i < SHARERS; i++)
        ck_assert_int_eq(plan(&w, FFT_MEASURE, 16L << i), 0);
    ck_assert(!w.claimed);
    wisdom_clear(&w);
}
END_TEST

START_TEST(plans_are_put_off_while_another_has_the_claim)
{
    struct wisdom other;
    struct wisdom w;
    put_into_cache(FFT_MEASURE, 64);
    wisdom_init(&other, file, "host", "");
    wisdom_init(&w, file, "host", "");
    ck_assert_int_eq(plan(&w, FFT_MEASURE, 64), 0);
    plan(&other, FFT_MEASURE, 128);
    ck_assert(other.claimed);
    share(&w);
    ck_assert(w.asked);
    ck_assert_int_ne(access(w.path, F_OK), 0);
    const double begin = clock_wall(); /* and the other is never heard of again */
    share_by(wisdom_share_last, &w);
    ck_assert_double_gt(clock_wall() - begin, 4.9);
    ck_assert(!w.asked);
    ck_assert_int_eq(access(w.path, F_OK), 0);
    wisdom_clear(&w);
    wisdom_clear(&other);
}
END_TEST

START_TEST(a_cache_of_less_rigour_than_asked_for_does_not_do)
{
    struct wisdom w;
    put_into_cache(FFT_MEASURE, 64);
    wisdom_init(&w, file, "host", "");
    ck_assert_int_eq(plan(&w, FFT_PATIENT, 64), 4);
    wisdom_clear(&w);
}
END_TEST

/* A resumed run keeps its plans, and with them its bits, though a better one was found since.
 */
START_TEST(the_text_of_the_file_counts_before_the_cache)
{
    struct wisdom w;
    char *stored = foreign_text(FFT_MEASURE, 64);
    put_into_cache(FFT_PATIENT, 64);
    wisdom_init(&w, file, "host", stored);
    ck_assert_int_eq(plan(&w, FFT_MEASURE, 64), 0);
    char *used = text_of_process();
    ck_assert(same_lines(used, stored));
    mem_free(used);
    ck_assert_int_eq(plan(&w, FFT_PATIENT, 64), 0); /* now the cache is needed */
    used = text_of_process();
    ck_assert(!same_lines(used, stored));
    mem_free(used);
    mem_free(stored);
    wisdom_clear(&w);
}
END_TEST

START_TEST(text_that_fftw_refuses_is_left_out)
{
    struct wisdom w;
    wisdom_init(&w, file, "host", "(fftw-2.1.5 fftw_wisdom #x0 #x0 #x0 #x0\n)\n");
    ck_assert_int_eq(plan(&w, FFT_ESTIMATE, 64), 4);
    wisdom_clear(&w);
}
END_TEST

static Suite *wisdom_suite(void)
{
    Suite *suite = suite_create("wisdom");
    TCase *tests = tcase_create("wisdom");
    tcase_set_timeout(tests, 20);
    tcase_add_checked_fixture(tests, enter_folder, leave_folder);
    tcase_add_test(tests, the_first_plans_and_the_others_take_its_text);
    tcase_add_test(tests, a_shape_that_comes_later_joins_the_file);
    tcase_add_test(tests, a_claim_that_nobody_redeems_costs_seconds_once_not_the_run);
    tcase_add_test(tests, a_folder_that_takes_no_files_lets_everybody_plan);
    tcase_add_test(tests, the_users_cache_spares_the_search_and_goes_into_the_nodes_file);
    tcase_add_test(tests, workers_that_end_at_once_lose_no_plan);
    tcase_add_test(tests, plans_are_put_off_while_another_has_the_claim);
    tcase_add_test(tests, a_cache_of_less_rigour_than_asked_for_does_not_do);
    tcase_add_test(tests, the_text_of_the_file_counts_before_the_cache);
    tcase_add_test(tests, text_that_fftw_refuses_is_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

/* Other libraries with FFTW's interface know no wisdom. */
int main(void)
{
    if (strncmp(backend_fft_library(), "fftw", 4) != 0) {
        printf("skipped: %s has no wisdom\n", backend_fft_library());
        return 77;
    }
    return unit_main(wisdom_suite());
}
