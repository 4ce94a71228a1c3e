/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#    include <xmmintrin.h>
#endif

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/early.h"
#include "runner/placement.h"
#include "tests/unit_main.h"

/* A machine of two packages with four cores each; core i has the hardware threads i and i + 8.
 */
static void make_machine(struct core_list *cores)
{
    memset(cores, 0, sizeof *cores);
    ck_assert_int_eq(MEM_NEW(PLACEMENT_CORES_MAX, &cores->mask), 0);
    for (size_t i = 0; i < 8; i++) {
        CPU_ZERO(&cores->mask[i]);
        CPU_SET(i, &cores->mask[i]);
        CPU_SET(i + 8, &cores->mask[i]);
        cores->package[i] = i < 4 ? 0 : 1;
    }
    cores->count = 8;
}

static struct placement choose(struct scan_resources resources, int index, int workers)
{
    struct core_list cores;
    struct placement placement;
    make_machine(&cores);
    ck_assert_int_eq(placement_choose(&cores, &resources, index, workers, &placement), 0);
    core_list_clear(&cores);
    return placement;
}

static void assert_mask(const struct placement *placement, const char *text)
{
    char found[128];
    placement_text(&placement->mask, found, sizeof found);
    ck_assert_str_eq(found, text);
}

START_TEST(a_core_worker_gets_one_core_with_its_threads)
{
    const struct scan_resources core = {.worker = WORKER_CORE};
    for (int i = 0; i < 8; i++) {
        char text[32];
        const struct placement p = choose(core, i, 8);
        snprintf(text, sizeof text, "%d,%d", i, i + 8);
        assert_mask(&p, text);
        ck_assert_int_eq(p.threads, 1);
        ck_assert_int_eq(p.capacity, 1);
        ck_assert(!p.shared_core);
    }
}
END_TEST

START_TEST(more_workers_than_cores_begin_again_and_say_so)
{
    const struct scan_resources core = {.worker = WORKER_CORE};
    const struct placement p = choose(core, 9, 10);
    assert_mask(&p, "1,9");
    ck_assert(p.shared_core);
}
END_TEST

START_TEST(a_worker_of_three_threads_gets_three_cores_and_three_rows)
{
    const struct scan_resources three = {.worker = WORKER_THREADS, .threads = 3};
    const struct placement first = choose(three, 0, 2);
    const struct placement second = choose(three, 1, 2);
    assert_mask(&first, "0-2,8-10");
    assert_mask(&second, "3-5,11-13");
    ck_assert_int_eq(second.capacity, 3);
    ck_assert(!second.shared_core);
    const struct placement third = choose(three, 2, 3);
    assert_mask(&third, "0,6-8,14-15");
    ck_assert(third.shared_core);
}
END_TEST

START_TEST(a_socket_worker_gets_the_cores_of_one_package)
{
    const struct scan_resources socket = {.worker = WORKER_SOCKET};
    const struct placement second = choose(socket, 1, 2);
    assert_mask(&second, "4-7,12-15");
    ck_assert_int_eq(second.threads, 4);
    ck_assert(!second.shared_core);
    ck_assert(choose(socket, 2, 3).shared_core);
}
END_TEST

/* Hardware threads of the second package. */
static cpu_set_t second_package(void)
{
    cpu_set_t near;
    CPU_ZERO(&near);
    for (size_t i = 4; i < 8; i++) {
        CPU_SET(i, &near);
        CPU_SET(i + 8, &near);
    }
    return near;
}

static struct placement beside(cpu_set_t near, int index, int workers)
{
    struct core_list cores;
    struct placement placement;
    make_machine(&cores);
    ck_assert_int_eq(placement_beside(&cores, &near, index, workers, &placement), 0);
    core_list_clear(&cores);
    return placement;
}

START_TEST(workers_on_devices_share_the_cores_beside_them)
{
    struct placement p = beside(second_package(), 0, 2);
    assert_mask(&p, "4-5,12-13");
    ck_assert_int_eq(p.threads, 2);
    ck_assert(!p.shared_core);
    p = beside(second_package(), 1, 2);
    assert_mask(&p, "6-7,14-15");
    p = beside(second_package(), 2, 3);
    assert_mask(&p, "6-7,14-15"); /* 4, 5, then 6 and 7 */
    p = beside(second_package(), 0, 1);
    assert_mask(&p, "4-7,12-15");
}
END_TEST

START_TEST(without_a_core_beside_them_they_share_all)
{
    cpu_set_t near;
    CPU_ZERO(&near);
    struct placement p = beside(near, 1, 2);
    assert_mask(&p, "4-7,12-15");
    CPU_SET(100, &near); /* of another job's part of the node */
    p = beside(near, 0, 2);
    assert_mask(&p, "0-3,8-11");
}
END_TEST

START_TEST(more_workers_than_cores_beside_them_say_so)
{
    struct placement p = beside(second_package(), 4, 5);
    ck_assert_int_eq(p.threads, 1);
    ck_assert(p.shared_core);
    assert_mask(&p, "7,15");
}
END_TEST

START_TEST(what_cannot_be_had_is_refused_by_name)
{
    struct core_list cores;
    struct placement placement;
    char text[256];
    make_machine(&cores);
    const struct scan_resources many = {.worker = WORKER_THREADS, .threads = 9};
    status_capture(text, sizeof text);
    ck_assert_int_eq(placement_choose(&cores, &many, 0, 1, &placement), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "9"));
    status_capture(NULL, 0);
    core_list_clear(&cores);
}
END_TEST

START_TEST(the_cores_of_this_machine_lie_within_the_allowed_set)
{
    struct core_list cores;
    cpu_set_t all;
    CPU_ZERO(&all);
    ck_assert_int_eq(core_list_read(early_allowed(), &cores), 0);
    ck_assert_int_ge(cores.count, 1);
    for (int i = 0; i < cores.count; i++) {
        cpu_set_t common;
        CPU_AND(&common, &all, &cores.mask[i]);
        ck_assert_int_eq(CPU_COUNT(&common), 0); /* no thread in two cores */
        CPU_OR(&all, &all, &cores.mask[i]);
    }
    ck_assert(CPU_EQUAL(&all, early_allowed()));
    core_list_clear(&cores);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(packed_sets_overlap_when_they_share_a_thread)
{
    cpu_set_t a;
    cpu_set_t b;
    uint8_t packed_a[PROTOCOL_MASK_SIZE];
    uint8_t packed_b[PROTOCOL_MASK_SIZE];
    CPU_ZERO(&a);
    CPU_ZERO(&b);
    CPU_SET(3, &a);
    CPU_SET(1023, &a);
    CPU_SET(4, &b);
    placement_pack(&a, packed_a);
    placement_pack(&b, packed_b);
    ck_assert(!placement_overlap(packed_a, packed_b));
    CPU_SET(1023, &b);
    placement_pack(&b, packed_b);
    ck_assert(placement_overlap(packed_a, packed_b));
}
END_TEST

START_TEST(limits_of_this_machine_make_sense)
{
    ck_assert_double_gt(placement_quota(), 0);
    ck_assert_double_gt(placement_memory(), 1e6);
    ck_assert_int_eq(placement_check_rounding(), 0);
}
END_TEST

/* Flushing changes numbers below 1e-308 alone: no comparison of results sees it, so the start
 * does. MXCSR: bit 15 flushes results, bit 6 takes sub-normal operands as zero. */
START_TEST(a_unit_that_flushes_to_zero_is_refused)
{
#ifdef __SSE2__
    static const unsigned bits[] = {1U << 15, 1U << 6};
    const unsigned before = _mm_getcsr();
    char text[200];
    for (int i = 0; i < 2; i++) {
        status_capture(text, sizeof text);
        _mm_setcsr(before | bits[i]);
        const int rc = placement_check_rounding();
        _mm_setcsr(before);
        status_capture(NULL, 0);
        ck_assert_int_eq(rc, ERR_DEVICE);
        ck_assert_ptr_nonnull(strstr(text, "flushed to zero"));
    }
    ck_assert_int_eq(placement_check_rounding(), 0);
#endif
}
END_TEST

START_TEST(a_job_with_fewer_cpus_than_it_may_use_is_not_confined)
{
    unsetenv("SLURM_CPUS_ON_NODE");
    ck_assert(!placement_is_unconfined(8));
    setenv("SLURM_CPUS_ON_NODE", "8", 1);
    ck_assert(!placement_is_unconfined(8));
    setenv("SLURM_CPUS_ON_NODE", "16", 1); /* hardware threads */
    ck_assert(!placement_is_unconfined(8));
    setenv("SLURM_CPUS_ON_NODE", "2", 1);
    ck_assert(placement_is_unconfined(8));
    setenv("SLURM_CPUS_ON_NODE", "", 1);
    ck_assert(!placement_is_unconfined(8));
}
END_TEST

static Suite *placement_suite(void)
{
    Suite *suite = suite_create("placement");
    TCase *tests = tcase_create("placement");
    tcase_add_test(tests, a_core_worker_gets_one_core_with_its_threads);
    tcase_add_test(tests, more_workers_than_cores_begin_again_and_say_so);
    tcase_add_test(tests, a_worker_of_three_threads_gets_three_cores_and_three_rows);
    tcase_add_test(tests, a_socket_worker_gets_the_cores_of_one_package);
    tcase_add_test(tests, workers_on_devices_share_the_cores_beside_them);
    tcase_add_test(tests, without_a_core_beside_them_they_share_all);
    tcase_add_test(tests, more_workers_than_cores_beside_them_say_so);
    tcase_add_test(tests, what_cannot_be_had_is_refused_by_name);
    tcase_add_test(tests, the_cores_of_this_machine_lie_within_the_allowed_set);
    tcase_add_test(tests, packed_sets_overlap_when_they_share_a_thread);
    tcase_add_test(tests, a_job_with_fewer_cpus_than_it_may_use_is_not_confined);
    tcase_add_test(tests, limits_of_this_machine_make_sense);
    tcase_add_test(tests, a_unit_that_flushes_to_zero_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(placement_suite());
}
