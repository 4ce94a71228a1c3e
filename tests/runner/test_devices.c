/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/batch.h"
#include "runner/devices.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

#define WORKERS 8

/* A node of two packages: devices 0 and 1 beside the first, 2 and 3 beside the second. */
static void shown_all(struct device_offer *offer, int rank, int package)
{
    memset(offer, 0, sizeof *offer);
    offer->rank = rank;
    offer->count = 4;
    for (int i = 0; i < 4; i++) {
        offer->key[i] = (uint64_t)(100 + i);
        offer->near[i] = i < 2 ? 7 : 8;
        if (package >= 0 && i / 2 == package)
            offer->beside |= UINT64_C(1) << i;
    }
}

static void assert_devices(const struct device_offer *offer, int workers, const int *expected)
{
    int device[WORKERS];
    device_assign(offer, workers, device);
    for (int w = 0; w < workers; w++)
        ck_assert_int_eq(device[w], expected[w]);
}

START_TEST(each_worker_gets_a_device_beside_its_cores)
{
    struct device_offer offer[4];
    const int package[4] = {1, 0, 1, 0};
    for (int w = 0; w < 4; w++)
        shown_all(&offer[w], w + 1, package[w]);
    assert_devices(offer, 4, (const int[]){2, 0, 3, 1});
}
END_TEST

START_TEST(devices_that_are_equally_near_go_by_number)
{
    struct device_offer offer[3];
    for (int w = 0; w < 3; w++)
        shown_all(&offer[w], w + 1, -1);
    assert_devices(offer, 3, (const int[]){0, 1, 2});
}
END_TEST

START_TEST(a_free_device_is_better_than_a_near_one)
{
    struct device_offer offer[4];
    for (int w = 0; w < 4; w++)
        shown_all(&offer[w], w + 1, 0);
    assert_devices(offer, 4, (const int[]){0, 1, 2, 3});
}
END_TEST

START_TEST(more_workers_than_devices_spread_evenly)
{
    struct device_offer offer[6];
    struct device_list list = {.backend = "emu", .count = 4, .number = {0, 1, 2, 3}};
    struct device_choice choice;
    int device[6];
    for (int w = 0; w < 6; w++)
        shown_all(&offer[w], w + 1, -1);
    device_assign(offer, 6, device);
    const int sharers[6] = {2, 2, 1, 1, 2, 2};
    for (int w = 0; w < 6; w++) {
        ck_assert_int_eq(device[w], w % 4);
        device_choose(&list, offer, device, 6, w, &choice);
        ck_assert_int_eq(choice.sharers, sharers[w]);
    }
}
END_TEST

START_TEST(each_may_be_shown_devices_of_its_own)
{
    /* The batch system shows each rank one: all know theirs as number 0. */
    struct device_offer offer[3] = {{.rank = 1, .count = 1, .key = {103}},
                                    {.rank = 2, .count = 1, .key = {101}},
                                    {.rank = 3, .count = 1, .key = {103}}};
    struct device_list list = {.backend = "emu", .count = 1};
    struct device_choice choice;
    int device[3];
    assert_devices(offer, 3, (const int[]){0, 0, 0});
    device_assign(offer, 3, device);
    device_choose(&list, offer, device, 3, 0, &choice);
    ck_assert_int_eq(choice.sharers, 2);
    ck_assert_uint_eq(choice.key, 103);
    device_choose(&list, offer, device, 3, 1, &choice);
    ck_assert_int_eq(choice.sharers, 1);
}
END_TEST

START_TEST(who_is_shown_none_gets_none)
{
    struct device_offer offer[3] = {{.rank = 1}, {.rank = 2}, {.rank = 3}};
    struct device_list list = {.backend = "cpu"};
    struct device_choice choice;
    char text[96];
    shown_all(&offer[1], 2, -1);
    const int expected[] = {-1, 0, -1};
    assert_devices(offer, 3, expected);
    device_choose(&list, offer, expected, 3, 0, &choice);
    ck_assert_int_eq(choice.sharers, 0);
    ck_assert_uint_eq(choice.key, 0);
    device_text(&choice, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(neighbours_have_devices_beside_the_same_cores)
{
    struct device_offer offer[4];
    const int device[4] = {2, 0, 3, 1};
    int place = -1;
    int count = -1;
    for (int w = 0; w < 4; w++)
        shown_all(&offer[w], w + 1, -1);
    device_neighbours(offer, device, 4, 2, &place, &count);
    ck_assert_int_eq(place, 1); /* behind worker 0 */
    ck_assert_int_eq(count, 2);
    device_neighbours(offer, device, 4, 1, &place, &count);
    ck_assert_int_eq(place, 0);
    ck_assert_int_eq(count, 2);
}
END_TEST

/* Devices granted of `shown` while variables are as given; NULL: not set. `note`: a part of
 * what is said, "" when nothing is. Expected "": refused. */
static void assert_noted(const char *step, const char *job, const char *visible, int shown,
                         const char *expected, const char *note)
{
    static const char *const names[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS",
                                        "CUDA_VISIBLE_DEVICES"};
    const char *const values[] = {step, job, visible};
    int number[DEVICES_MAX];
    char text[64] = "";
    char said[DEVICE_TEXT_SIZE];
    char why[512];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        unsetenv(names[i]);
        if (values[i] != NULL)
            setenv(names[i], values[i], 1);
    }
    status_capture(why, sizeof why);
    const int rc = device_granted(shown, number, &count, said);
    status_capture(NULL, 0);
    for (int i = 0; i < 3; i++)
        unsetenv(names[i]);
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d", i > 0 ? " " : "", number[i]);
    }
    ck_assert_int_eq(rc, expected[0] != '\0' ? 0 : ERR_DEVICE);
    const char *const heard = rc != 0 ? why : said;
    ck_assert_msg(note[0] != '\0' ? strstr(heard, note) != NULL : heard[0] == '\0', "%s",
                  heard);
    if (rc == 0)
        ck_assert_str_eq(text, expected);
}

static void assert_granted(const char *step, const char *job, const char *visible, int shown,
                           const char *expected)
{
    assert_noted(step, job, visible, shown, expected, "");
}

START_TEST(slurm_names_devices_of_the_job)
{
    assert_granted(NULL, NULL, NULL, 3, "0 1 2");
    assert_granted(NULL, "1,3", NULL, 4, "1 3");
    assert_granted(NULL, "0,2-3", NULL, 4, "0 2 3");
    assert_granted("3", "1,3", NULL, 4, "3");     /* the step's own */
    assert_granted(NULL, "1,3", "1,3", 2, "0 1"); /* hidden already, and numbered anew */
    assert_granted(NULL, "", NULL, 2, "0 1");
    assert_granted("", "1", NULL, 2, "1");
}
END_TEST

/* Numbers of the node that the runtime does not know. */
START_TEST(slurms_numbers_that_are_not_there_are_never_passed_over_in_silence)
{
    static const char confined[] = "numbers of its own: all of them are taken";
    assert_noted(NULL, "5,7", NULL, 2, "0 1", "SLURM_JOB_GPUS is '5,7'");
    assert_noted("5", "5,7", NULL, 1, "0", confined);
    assert_noted("1-2", NULL, NULL, 2, "0 1", confined); /* the first alone is there */
    assert_noted("5-7", NULL, NULL, 2, "0 1", confined); /* confined to fewer */
    assert_noted("5", NULL, NULL, 2, "", "SLURM_STEP_GPUS is '5', and the 2 devices");
    assert_noted("1,5", NULL, NULL, 4, "", "CUDA_VISIBLE_DEVICES");
    assert_granted("5", NULL, "1", 1, "0"); /* heeded by the runtime: not asked for */
    assert_noted("gpu:1", NULL, NULL, 2, "0 1", "no list of numbers");
    assert_noted("3-1", NULL, NULL, 4, "0 1 2 3", "no list of numbers");
    assert_noted("0-99999999", NULL, NULL, 2, "0 1", "no list of numbers");
}
END_TEST

/* 1000 bytes, of which 900 are free; 100 for tables, 50 a row. */
static struct batch_ledger ledger(void)
{
    return (struct batch_ledger){.all = 1000,
                                 .left = 900,
                                 .reserve = 60,
                                 .shares = 1,
                                 .shared = 100,
                                 .row = 50,
                                 .most = 1000};
}

static int64_t rows_of(struct batch_ledger l, const char *bound)
{
    ck_assert_int_eq(batch_count(&l, "device"), 0);
    ck_assert_str_eq(l.bound, bound);
    return l.rows;
}

START_TEST(rows_are_what_free_memory_holds)
{
    struct batch_ledger l = ledger();
    ck_assert_int_eq(rows_of(l, "its memory"), 14); /* (900 - 60 - 100) / 50 = 14.8 */
    l.shares = 2;
    ck_assert_int_eq(rows_of(l, "its memory"), 6); /* (840 / 2 - 100) / 50 = 6.4 */
    l.shares = 1;
    l.limit = 260;
    ck_assert_int_eq(rows_of(l, "resources.memory"), 3);
    l.limit = 10000;
    ck_assert_int_eq(rows_of(l, "its memory"), 14);
    l.most = 5;
    ck_assert_int_eq(rows_of(l, "the members there are"), 5);
    l.most = 14;
    ck_assert_int_eq(rows_of(l, "the members there are"), 14);
}
END_TEST

/* 30 bytes for the transforms of a row, 10 for those of each row more. */
START_TEST(transforms_have_their_share)
{
    struct batch_ledger l = ledger();
    char text[BATCH_TEXT_SIZE];
    l.work = 30;
    l.work_row = 10;
    ck_assert_int_eq(rows_of(l, "its memory"), 12); /* 1 + (900 - 60 - 100 - 50 - 30) / 60 */
    ck_assert_int_eq(batch_count(&l, "device"), 0);
    ck_assert_exactly(batch_bytes(&l, 1), 180.0);
    ck_assert_exactly(batch_bytes(&l, 12), 840.0);
    batch_text(&l, text, sizeof text);
    ck_assert_str_eq(text, "900 B of 1 kB free, 60 B kept; tables 100 B + 12 rows of 50 B + "
                           "transforms 140 B = 840 B, by its memory");
    l.left = 240; /* 60 + 100 + 50 + 30 */
    ck_assert_int_eq(rows_of(l, "its memory"), 1);
    l.left = 239;
    status_capture(text, sizeof text);
    ck_assert_int_eq(batch_count(&l, "card 7"), ERR_DEVICE);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "180 bytes"));
}
END_TEST

START_TEST(rows_have_an_end)
{
    struct batch_ledger l = ledger();
    l.left = 1e12;
    l.most = 1000000;
    ck_assert_int_eq(rows_of(l, "what a worker takes at most"), BATCH_MOST);
    l.row = 0;
    ck_assert_int_eq(rows_of(l, "what a worker takes at most"), BATCH_MOST);
    l.most = 7;
    ck_assert_int_eq(rows_of(l, "the members there are"), 7);
}
END_TEST

START_TEST(no_room_for_one_row_is_refused_with_the_bytes)
{
    struct batch_ledger l = ledger();
    char text[512];
    l.left = 209; /* 60 + 100 + 50 are needed */
    status_capture(text, sizeof text);
    ck_assert_int_eq(batch_count(&l, "card 7"), ERR_DEVICE);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "card 7"));
    ck_assert_ptr_nonnull(strstr(text, "150 bytes"));
    l.left = 210;
    ck_assert_int_eq(rows_of(l, "its memory"), 1);
    l.left = 20; /* less than the reserve */
    status_capture(text, sizeof text);
    ck_assert_int_eq(batch_count(&l, "card 7"), ERR_DEVICE);
    status_capture(NULL, 0);
}
END_TEST

START_TEST(a_ledger_names_all_its_rows)
{
    struct batch_ledger l = ledger();
    char text[BATCH_TEXT_SIZE];
    ck_assert_int_eq(batch_count(&l, "device"), 0);
    batch_text(&l, text, sizeof text);
    ck_assert_str_eq(text, "900 B of 1 kB free, 60 B kept; tables 100 B + 14 rows of 50 B = "
                           "800 B, by its memory");
    char cut[12];
    batch_text(&l, cut, sizeof cut);
    ck_assert_uint_lt(strlen(cut), sizeof cut);
}
END_TEST

/* What can be told of a program without a backend for devices, as this one is. */
START_TEST(a_device_that_cannot_be_is_refused_by_name)
{
    const struct model_info here = {.name = "here", .on_devices = true};
    const struct model_info never = {.name = "never"};
    const struct scan_resources core = {.worker = WORKER_CORE};
    const struct scan_resources gpu = {.worker = WORKER_GPU};
    char text[512];
    struct device_list *list = NULL;
    ck_assert_int_eq(device_check("auto", &never, &core), 0);
    ck_assert_int_eq(device_check("cpu", &never, &core), 0);
    ck_assert_int_eq(device_check("cuda", &here, &core), 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(device_check("cuda", &never, &core), ERR_DEVICE);
    ck_assert_ptr_nonnull(strstr(text, "--backend cuda: model never does not run on a device"));
    status_capture(text, sizeof text);
    ck_assert_int_eq(device_check("cpu", &here, &gpu), ERR_DEVICE);
    ck_assert_ptr_nonnull(strstr(text, "resources.worker: gpu"));
    status_capture(text, sizeof text);
    ck_assert_int_eq(device_check("cuda", &never, &gpu), ERR_DEVICE);
    ck_assert_ptr_nonnull(strstr(text, "model never"));
    status_capture(NULL, 0);
    ck_assert_int_eq(MEM_NEW(1, &list), 0);
    ck_assert_int_eq(device_list_read("cpu", &here, &core, list), 0);
    ck_assert_int_eq(list->count, 0);
    ck_assert_str_eq(list->backend, "cpu");
    mem_free(list);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("devices");
    TCase *core = tcase_create("core");
    tcase_add_test(core, each_worker_gets_a_device_beside_its_cores);
    tcase_add_test(core, devices_that_are_equally_near_go_by_number);
    tcase_add_test(core, a_free_device_is_better_than_a_near_one);
    tcase_add_test(core, more_workers_than_devices_spread_evenly);
    tcase_add_test(core, each_may_be_shown_devices_of_its_own);
    tcase_add_test(core, who_is_shown_none_gets_none);
    tcase_add_test(core, neighbours_have_devices_beside_the_same_cores);
    tcase_add_test(core, slurm_names_devices_of_the_job);
    tcase_add_test(core, slurms_numbers_that_are_not_there_are_never_passed_over_in_silence);
    tcase_add_test(core, rows_are_what_free_memory_holds);
    tcase_add_test(core, transforms_have_their_share);
    tcase_add_test(core, rows_have_an_end);
    tcase_add_test(core, no_room_for_one_row_is_refused_with_the_bytes);
    tcase_add_test(core, a_ledger_names_all_its_rows);
    tcase_add_test(core, a_device_that_cannot_be_is_refused_by_name);
    suite_add_tcase(s, core);
    return s;
}

int main(void)
{
    return unit_main(suite());
}
