/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulated device notices what a device would not forgive, and runs threads as one would.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/gpu.h"
#include "kernels/base/status.h"
#include "tests/emu/machine.h"
#include "tests/unit_main.h"

#define THREADS 64
#define BLOCKS  5

/* What the bodies below are given. */
struct work {
    double *numbers;
    long *order; /* [BLOCKS * THREADS] in the order of the visits; [count] first */
    const void *tag;
};

static void run(void (*body)(const void *), const struct work *work, unsigned blocks)
{
    const struct emu_launch launch = {.kernel = "test",
                                      .blocks = {blocks, 1, 1},
                                      .threads = THREADS,
                                      .body = body,
                                      .call = work,
                                      .arguments = work,
                                      .size = sizeof(double *)};
    emu_run(&launch);
}

/* Faults are to end the test, not to be reported by a sanitizer. */
static void plain_signals(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}

START_TEST(a_host_that_reads_device_memory_crashes)
{
    volatile double *const there = emu_memory_new(64);
    plain_signals();
    ck_assert_double_lt(there[3], 1.0);
}
END_TEST

START_TEST(a_host_that_writes_device_memory_crashes)
{
    volatile double *const there = emu_memory_new(64);
    plain_signals();
    there[3] = 1.0;
}
END_TEST

START_TEST(device_memory_is_shut_again_after_a_copy)
{
    char *const there = emu_memory_new(8);
    const char here[8] = "abcdefg";
    emu_copy_up(there, here, sizeof here);
    plain_signals();
    ck_assert_int_eq(((volatile char *)there)[0], 'a');
}
END_TEST

START_TEST(copies_go_there_and_back)
{
    char *const first = emu_memory_new(8);
    char *const second = emu_memory_new(8);
    const char here[8] = "abcdefg";
    char back[8] = "";
    emu_copy_up(second, here, sizeof here);
    emu_memory_zero(first, 8);
    emu_copy_down(back, second, sizeof back);
    ck_assert_str_eq(back, here);
    ck_assert_int_eq(emu_live(), 2);
    emu_memory_free(first);
    emu_copy_down(back, second, sizeof back);
    ck_assert_str_eq(back, here);
    emu_memory_free(second);
    emu_memory_free(NULL);
    ck_assert_int_eq(emu_live(), 0);
}
END_TEST

START_TEST(an_upload_to_host_memory_is_stopped)
{
    char here[8] = "";
    char other[8] = "";
    emu_memory_free(emu_memory_new(8));
    emu_copy_up(here, other, sizeof here);
}
END_TEST

START_TEST(a_copy_behind_the_end_is_stopped)
{
    char here[16] = "";
    emu_copy_up(emu_memory_new(8), here, sizeof here);
}
END_TEST

START_TEST(a_copy_to_freed_memory_is_stopped)
{
    char here[8] = "";
    char *const there = emu_memory_new(8);
    emu_memory_free(there);
    emu_copy_down(here, there, sizeof here);
}
END_TEST

static void write_behind(const void *call)
{
    const struct work *const w = call;
    w->numbers[8] = 1.0;
}

START_TEST(a_kernel_that_writes_behind_the_end_is_found_when_memory_is_freed)
{
    const struct work work = {.numbers = emu_memory_new(8 * sizeof(double))};
    run(write_behind, &work, 1);
    emu_memory_free(work.numbers);
}
END_TEST

START_TEST(an_address_of_the_host_as_an_argument_is_stopped)
{
    double here[9];
    const struct work work = {.numbers = here};
    run(write_behind, &work, 1);
}
END_TEST

/* Each thread notes its number when it comes by. */
static void note(const void *call)
{
    const struct work *const w = call;
    w->order[1 + w->order[0]++] = (long)(emu_here.block.x * THREADS + emu_here.thread.x);
}

static void noted(unsigned long seed, long *order)
{
    const size_t bytes = (1 + BLOCKS * THREADS) * sizeof(long);
    const struct work work = {.order = emu_memory_new(bytes)};
    emu_memory_zero(work.order, bytes);
    emu_shuffle(seed);
    run(note, &work, BLOCKS);
    emu_copy_down(order, work.order, bytes);
    emu_memory_free(work.order);
}

/* All of them, each once. */
static void check_all(const long *order)
{
    int seen[BLOCKS * THREADS] = {0};
    ck_assert_int_eq(order[0], BLOCKS * THREADS);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        seen[order[1 + i]]++;
    for (int i = 0; i < BLOCKS * THREADS; i++)
        ck_assert_int_eq(seen[i], 1);
}

START_TEST(a_seed_says_in_which_order_blocks_and_threads_run)
{
    long plain[1 + BLOCKS * THREADS];
    long first[1 + BLOCKS * THREADS];
    long again[1 + BLOCKS * THREADS];
    long other[1 + BLOCKS * THREADS];
    noted(0, plain);
    noted(3, first);
    noted(3, again);
    noted(4, other);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        ck_assert_int_eq(plain[1 + i], i);
    check_all(first);
    check_all(other);
    int moved = 0;
    int differ = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        ck_assert_int_eq(first[1 + i], again[1 + i]);
        moved += first[1 + i] != i;
        differ += first[1 + i] != other[1 + i];
    }
    ck_assert_int_gt(moved, BLOCKS * THREADS / 2);
    ck_assert_int_gt(differ, BLOCKS * THREADS / 2);
}
END_TEST

/* The sum of the numbers of all threads, by shared memory; each round ends at barriers. */
static void add_up(const void *call)
{
    const struct work *const w = call;
    double *const shared = emu_shared(w->tag, THREADS * sizeof(double));
    const unsigned t = emu_here.thread.x;
    shared[t] = t;
    emu_barrier(1);
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            shared[t] += shared[t + half];
        emu_barrier(2);
    }
    if (t == 0)
        w->numbers[emu_here.block.x] = shared[0];
}

START_TEST(threads_meet_at_barriers_whatever_the_order)
{
    static const char tag;
    const struct work work = {.numbers = emu_memory_new(BLOCKS * sizeof(double)), .tag = &tag};
    for (unsigned long seed = 0; seed < 5; seed++) {
        double sums[BLOCKS];
        emu_shuffle(seed);
        run(add_up, &work, BLOCKS);
        emu_copy_down(sums, work.numbers, sizeof sums);
        for (int b = 0; b < BLOCKS; b++)
            ck_assert_int_eq((int)sums[b], THREADS * (THREADS - 1) / 2);
    }
    emu_memory_free(work.numbers);
}
END_TEST

/* Reads what another thread of the block writes, with no barrier between. */
static void race(const void *call)
{
    const struct work *const w = call;
    const unsigned t = emu_here.thread.x;
    w->numbers[t] = 1.0;
    w->numbers[THREADS + t] = w->numbers[(t + 1) % THREADS];
}

START_TEST(a_missing_barrier_changes_the_result_with_the_order)
{
    double first[THREADS] = {0.0};
    double other[THREADS] = {0.0};
    const size_t bytes = 2 * sizeof first;
    const struct work work = {.numbers = emu_memory_new(bytes)};
    for (unsigned long seed = 1; seed < 3; seed++) {
        emu_memory_zero(work.numbers, bytes);
        emu_shuffle(seed);
        run(race, &work, 1);
        emu_copy_down(seed == 1 ? first : other, work.numbers + THREADS, sizeof first);
    }
    int differ = 0;
    for (int t = 0; t < THREADS; t++)
        differ += (int)first[t] != (int)other[t];
    ck_assert_int_gt(differ, 0);
    emu_memory_free(work.numbers);
}
END_TEST

static void half_meets(const void *call)
{
    (void)call;
    if (emu_here.thread.x % 2 == 0)
        emu_barrier(1);
}

static void two_places(const void *call)
{
    (void)call;
    emu_barrier(emu_here.thread.x % 2 == 0 ? 1 : 2);
}

static void early_end(const void *call)
{
    (void)call;
    emu_barrier(1);
    if (emu_here.thread.x % 2 == 0)
        emu_barrier(2);
}

static void too_much(const void *call)
{
    const struct work *const w = call;
    emu_shared(w->tag, EMU_SHARED_MAX + 1);
}

START_TEST(threads_that_do_not_all_meet_are_stopped)
{
    static void (*const bodies[])(const void *) = {half_meets, two_places, early_end, too_much};
    static const char tag;
    const struct work work = {.tag = &tag};
    run(bodies[_i], &work, 1);
}
END_TEST

/* Devices shown while the environment is as given. */
static void assert_shown(const char *devices, const char *visible, const char *expected)
{
    char text[128] = "";
    setenv(EMU_DEVICES, devices, 1);
    if (visible != NULL)
        setenv(EMU_VISIBLE, visible, 1);
    for (int i = 0; i < emu_devices(); i++) {
        char bus[32];
        emu_bus(i, bus, sizeof bus);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", bus);
    }
    unsetenv(EMU_DEVICES);
    unsetenv(EMU_VISIBLE);
    ck_assert_str_eq(text, expected);
}

START_TEST(the_environment_says_which_devices_are_shown)
{
    assert_shown("0", NULL, "");
    assert_shown("2", NULL, " 0000:e0:00.0 0000:e1:00.0");
    assert_shown("3", "2,0", " 0000:e2:00.0 0000:e0:00.0");
    assert_shown("3", "2,7,0", " 0000:e2:00.0"); /* what follows a wrong one is not shown */
    assert_shown("3", "", "");
}
END_TEST

START_TEST(a_backend_takes_the_device_that_is_asked_for)
{
    struct backend_options options = {.apart = true, .threads = 1, .device = 1};
    struct backend_device device;
    struct backend *be = NULL;
    void *memory = NULL;
    char text[200];
    size_t before = 0;
    size_t after = 0;
    int count = 0;
    setenv(EMU_DEVICES, "2", 1);
    ck_assert_int_eq(emu_device_count(&count), 0);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(emu_describe(1, &device), 0);
    ck_assert_str_eq(device.bus, "0000:e1:00.0");
    ck_assert_int_eq(emu_live(), 0); /* nothing was taken for that */
    ck_assert_int_eq(emu_backend_create(&options, &be), 0);
    ck_assert_str_eq(be->on.bus, "0000:e1:00.0");
    ck_assert_str_eq(be->device, "emulated device, PCI 0000:e1:00.0");
    ck_assert_int_eq(emu_device_left(be, &before), 0);
    ck_assert_int_eq(be->ops->alloc(be, 1000, 8, &memory), 0);
    ck_assert_int_eq(emu_device_left(be, &after), 0);
    ck_assert_uint_ge(before, after + 8000);
    be->ops->release(be, memory);
    backend_destroy(be);
    options.device = 2;
    status_capture(text, sizeof text);
    ck_assert_int_eq(emu_backend_create(&options, &be), ERR_DEVICE);
    ck_assert_str_eq(text, "backend 'emu': device 2 is not among the 2 that are shown here");
    status_capture(text, sizeof text);
    ck_assert_int_eq(emu_describe(-1, &device), ERR_DEVICE);
    status_capture(NULL, 0);
    unsetenv(EMU_DEVICES);
}
END_TEST

START_TEST(memory_ends_where_the_environment_says)
{
    setenv(EMU_MEMORY, "10000", 1);
    ck_assert_uint_eq(emu_memory_all(), 10000);
    void *const some = emu_memory_new(4000);
    ck_assert_ptr_nonnull(some);
    const size_t left = emu_memory_left();
    ck_assert(left <= 6000 && left >= 5000);
    ck_assert_ptr_null(emu_memory_new(6001));
    setenv(EMU_CLAIMS, "20000", 1);
    ck_assert_uint_eq(emu_memory_all(), 20000);
    ck_assert_uint_eq(emu_memory_left(), left + 10000);
    ck_assert_ptr_null(emu_memory_new(6001));
    emu_memory_free(some);
    ck_assert_uint_eq(emu_memory_left(), 20000);
    unsetenv(EMU_CLAIMS);
    unsetenv(EMU_MEMORY);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("emulated device");
    TCase *const tests = tcase_create("machine");
    tcase_set_timeout(tests, 20);
    tcase_add_test_raise_signal(tests, a_host_that_reads_device_memory_crashes, SIGSEGV);
    tcase_add_test_raise_signal(tests, a_host_that_writes_device_memory_crashes, SIGSEGV);
    tcase_add_test_raise_signal(tests, device_memory_is_shut_again_after_a_copy, SIGSEGV);
    tcase_add_test(tests, copies_go_there_and_back);
    tcase_add_test_raise_signal(tests, an_upload_to_host_memory_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(tests, a_copy_behind_the_end_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(tests, a_copy_to_freed_memory_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(
        tests, a_kernel_that_writes_behind_the_end_is_found_when_memory_is_freed, SIGABRT);
    tcase_add_test_raise_signal(tests, an_address_of_the_host_as_an_argument_is_stopped,
                                SIGABRT);
    tcase_add_test(tests, a_seed_says_in_which_order_blocks_and_threads_run);
    tcase_add_test(tests, threads_meet_at_barriers_whatever_the_order);
    tcase_add_test(tests, a_missing_barrier_changes_the_result_with_the_order);
    tcase_add_loop_test_raise_signal(tests, threads_that_do_not_all_meet_are_stopped, SIGABRT,
                                     0, 4);
    tcase_add_test(tests, the_environment_says_which_devices_are_shown);
    tcase_add_test(tests, a_backend_takes_the_device_that_is_asked_for);
    tcase_add_test(tests, memory_ends_where_the_environment_says);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
