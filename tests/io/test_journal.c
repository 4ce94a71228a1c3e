/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>

#include "io/journal.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/fixture.h"
#include "tests/unit_main.h"

static char folder[256];
static char path[512];
static char journal_path[560];
static char content[100000];

static void setup(void)
{
    fixture_folder(folder);
    fixture_path(folder, "out.h5", path);
    snprintf(journal_path, sizeof journal_path, "%s.journal", path);
}

static void teardown(void)
{
    fixture_folder_remove(folder);
    ck_assert_int_eq(mem_live(), 0);
}

static struct journal *open_journal(const char *run, int64_t attempt)
{
    struct journal *journal = NULL;
    ck_assert_int_eq(journal_open(path, run, attempt, &journal), 0);
    return journal;
}

/* The file's bytes; number of lines that hold `word`. */
static int count_lines(const char *word)
{
    FILE *const file = fopen(journal_path, "r");
    ck_assert_ptr_nonnull(file);
    const size_t length = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[length] = '\0';
    int count = 0;
    for (const char *at = strstr(content, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

static void append(const char *text)
{
    const int fd = open(journal_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
}

START_TEST(no_journal_means_no_end)
{
    struct journal_end end;
    struct journal_summary summary;
    ck_assert_int_eq(journal_read_end(path, NULL, &end), 0);
    ck_assert(!end.found);
    ck_assert_int_eq(journal_read_summary(path, &summary), 0);
    ck_assert(!summary.found);
}
END_TEST

START_TEST(the_end_record_is_read_back_with_its_text)
{
    struct journal *journal = open_journal("host-1", 4);
    const char *const text = "stopped: \"SIGINT\" {at} C:\\x, 3 µs\nsecond line";
    ck_assert_int_eq(journal_write_end(journal, 75, text), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    struct journal_end end;
    ck_assert_int_eq(journal_read_end(path, "host-1", &end), 0);
    ck_assert(end.found);
    ck_assert_int_eq(end.code, 75);
    ck_assert_int_eq(end.attempt, 4);
    ck_assert_str_eq(end.text, text);
    ck_assert_uint_eq(strlen(end.time), 24);
    ck_assert_int_eq(journal_read_end(path, "host-2", &end), 0);
    ck_assert(!end.found);
}
END_TEST

START_TEST(the_newest_end_counts)
{
    struct journal *journal = open_journal("a", 0);
    ck_assert_int_eq(journal_write_end(journal, 3, "first"), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    journal = open_journal("b", -1);
    journal_set_attempt(journal, 1);
    ck_assert_int_eq(journal_write_end(journal, 0, "second"), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    struct journal_end end;
    ck_assert_int_eq(journal_read_end(path, NULL, &end), 0);
    ck_assert_str_eq(end.text, "second");
    ck_assert_int_eq(end.attempt, 1);
    ck_assert_int_eq(journal_read_end(path, "a", &end), 0);
    ck_assert_int_eq(end.code, 3);
}
END_TEST

START_TEST(torn_lines_are_skipped)
{
    struct journal *journal = open_journal("a", 0);
    ck_assert_int_eq(journal_write_end(journal, 1, "whole"), 0);
    /* what a process killed inside write(2) or a full disk leaves behind */
    append("\n{\"record\":\"end\",\"attempt\":0,\"sequence\":9,\"code\":0,\"te");
    append("\n{\"record\":\"end\",\"code\":0,{\"record\":\"end\",\"code\":5}");
    append("\n\n}\n{\n");
    struct journal_end end;
    ck_assert_int_eq(journal_read_end(path, NULL, &end), 0);
    ck_assert_int_eq(end.code, 1);
    ck_assert_str_eq(end.text, "whole");
    /* the next record begins on a line of its own */
    append("{\"record\":\"end\",\"co");
    ck_assert_int_eq(journal_write_end(journal, 75, "after"), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    ck_assert_int_eq(journal_read_end(path, NULL, &end), 0);
    ck_assert_int_eq(end.code, 75);
}
END_TEST

START_TEST(every_cut_of_a_journal_reads_as_a_whole_number_of_records)
{
    struct journal *journal = open_journal("a", 0);
    ck_assert_int_eq(journal_write_end(journal, 1, "one"), 0);
    const int first = count_lines("code") == 1 ? (int)strlen(content) : -1;
    ck_assert_int_eq(journal_write_end(journal, 2, "two"), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    count_lines("x");
    const int whole = (int)strlen(content);
    for (int length = whole; length >= 0; length--) {
        ck_assert_int_eq(truncate(journal_path, length), 0);
        struct journal_end end;
        ck_assert_int_eq(journal_read_end(path, NULL, &end), 0);
        const int expected = length == whole ? 2 : length >= first ? 1 : 0;
        ck_assert_int_eq(end.found ? end.code : 0, expected);
    }
}
END_TEST

START_TEST(neighbouring_members_of_equal_state_share_a_record)
{
    struct journal *journal = open_journal("a", 0);
    for (int64_t m = 100; m < 1100; m++)
        ck_assert_int_eq(journal_write_members(journal, m, 1, "done", ""), 0);
    ck_assert_int_eq(journal_write_members(journal, 1100, 1, "failed", "NaN at z = 1 m"), 0);
    ck_assert_int_eq(journal_write_members(journal, 1101, 1, "done", ""), 0);
    ck_assert_int_eq(journal_write_members(journal, 1103, 1, "done", ""), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    const int records = count_lines("\"record\":\"member\"");
    ck_assert_int_ge(records, 4);
    ck_assert_int_le(records, 10); /* 4 unless the machine stood still for seconds */
    ck_assert_ptr_nonnull(strstr(content, "\"first\":100,"));
    ck_assert_ptr_nonnull(strstr(content, "\"first\":1100,\"last\":1100,\"state\":\"failed\""));
    ck_assert_ptr_nonnull(strstr(content, "\"first\":1103,\"last\":1103"));
}
END_TEST

START_TEST(the_summary_is_that_of_the_newest_attempt)
{
    struct journal *journal = open_journal("a", 0);
    const struct journal_counts old = {.members = 30, .done = 1, .rate = 1, .eta = 2};
    ck_assert_int_eq(journal_write_begin(journal, 30, 4, "scanfarm run x.yaml"), 0);
    ck_assert_int_eq(journal_write_heartbeat(journal, &old), 0);
    ck_assert_int_eq(journal_write_end(journal, 75, "stopped"), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    journal = open_journal("b", 1);
    const struct journal_counts counts = {30, 10, 3, 15, 1, 1, 0, 2.5, (double)NAN, 3.5, 8.25};
    ck_assert_int_eq(journal_write_begin(journal, 30, 2, "scanfarm run x.yaml"), 0);
    ck_assert_int_eq(journal_write_worker(journal, 1, "node17", 4711, "ready"), 0);
    ck_assert_int_eq(journal_write_heartbeat(journal, &counts), 0);
    struct journal_summary summary;
    ck_assert_int_eq(journal_read_summary(path, &summary), 0);
    ck_assert(summary.found);
    ck_assert_int_eq(summary.attempt, 1);
    ck_assert_int_eq(summary.workers, 2);
    ck_assert_str_eq(summary.run, "b");
    ck_assert_int_eq(summary.counts.done, 15);
    ck_assert_int_eq(summary.counts.running, 3);
    ck_assert_exactly(summary.counts.rate, 2.5);
    ck_assert(isnan(summary.counts.eta));
    ck_assert_exactly(summary.counts.eta_low, 3.5);
    ck_assert_exactly(summary.counts.eta_high, 8.25);
    ck_assert(!summary.end.found); /* that of attempt 0 is not ours */
    ck_assert_int_eq(journal_close(journal), 0);
}
END_TEST

START_TEST(members_that_end_in_any_order_make_few_records)
{
    struct journal *journal = open_journal("a", 0);
    const int64_t members = 100000;
    for (int64_t i = 0; i < members; i++) /* each once, no neighbours after each other */
        ck_assert_int_eq(journal_write_members(journal, i * 37003 % members, 1, "done", ""), 0);
    ck_assert_int_eq(journal_write_given(journal, 3, 17, 2), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    ck_assert_int_le(count_lines("\"record\""), 300); /* 17 a second */
    struct journal_reader *reader = NULL;
    struct journal_record *record = NULL;
    int64_t told = 0;
    ck_assert_int_eq(MEM_NEW(1, &record), 0);
    ck_assert_int_eq(journal_reader_open(path, false, &reader), 0);
    while (journal_reader_next(reader, record)) {
        ck_assert_int_eq(record->kind, JOURNAL_MEMBER);
        ck_assert_int_ge(record->last - record->first + 1, record->count);
        if (record->rank == 3) {
            ck_assert_str_eq(record->word, "running");
            ck_assert(record->first == 17 && record->last == 18 && record->count == 2);
            continue;
        }
        ck_assert_str_eq(record->word, "done");
        ck_assert_int_eq(record->rank, 0);
        ck_assert(record->first >= 0 && record->last < members);
        told += record->count;
    }
    ck_assert_int_eq(told, members);
    journal_reader_close(reader);
    mem_free(record);
}
END_TEST

START_TEST(records_are_read_back_with_what_they_say)
{
    struct journal *journal = open_journal("a", -1);
    ck_assert_int_eq(journal_write_reuse(journal, "old \"x\".h5", 12, 1), 0);
    journal_set_attempt(journal, 6);
    ck_assert_int_eq(journal_write_worker(journal, 2, "node17", 4711, "ready"), 0);
    ck_assert_int_eq(journal_write_members(journal, 5, 1, "failed", "at {z} = 1 m"), 0);
    struct journal_load load[JOURNAL_LOADS_MAX];
    for (int i = 0; i < JOURNAL_LOADS_MAX; i++)
        load[i] =
            (struct journal_load){65000 + i, i, INT32_MAX, INT64_C(123456789012) + i, 99.25};
    ck_assert_int_eq(journal_write_load(journal, load, JOURNAL_LOADS_MAX), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    struct journal_reader *reader = NULL;
    struct journal_record *r = NULL;
    ck_assert_int_eq(MEM_NEW(1, &r), 0);
    ck_assert_int_eq(journal_reader_open(path, false, &reader), 0);
    ck_assert(journal_reader_next(reader, r));
    ck_assert_int_eq(r->kind, JOURNAL_REUSE);
    ck_assert_int_eq(r->attempt, -1);
    ck_assert_int_eq(r->count, 12);
    ck_assert_str_eq(r->text, "old \"x\".h5");
    ck_assert(journal_reader_next(reader, r));
    ck_assert_int_eq(r->kind, JOURNAL_WORKER);
    ck_assert(r->rank == 2 && r->pid == 4711 && r->attempt == 6);
    ck_assert_str_eq(r->host, "node17");
    ck_assert_str_eq(r->word, "ready");
    ck_assert(journal_reader_next(reader, r));
    ck_assert_int_eq(r->kind, JOURNAL_MEMBER);
    ck_assert(r->first == 5 && r->last == 5 && r->count == 1);
    ck_assert_str_eq(r->text, "at {z} = 1 m");
    ck_assert(journal_reader_next(reader, r));
    ck_assert_int_eq(r->kind, JOURNAL_LOAD);
    ck_assert_int_eq(r->loads, JOURNAL_LOADS_MAX);
    ck_assert(r->load[63].rank == 65063 && r->load[63].held == 63);
    ck_assert(r->load[63].ended == INT32_MAX && r->load[63].steps == INT64_C(123456789075));
    ck_assert_exactly(r->load[63].silent, 99.25);
    ck_assert(!journal_reader_next(reader, r));
    journal_reader_close(reader);
    mem_free(r);
}
END_TEST

static struct journal_summary write_attempt(int64_t attempt, int beats)
{
    struct journal *journal = open_journal("a", attempt);
    const struct journal_counts counts = {.members = 30, .done = beats};
    struct journal_summary summary;
    ck_assert_int_eq(journal_write_begin(journal, 30, 2, "x.yaml"), 0);
    for (int i = 0; i < beats; i++)
        ck_assert_int_eq(journal_write_heartbeat(journal, &counts), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    ck_assert_int_eq(journal_read_summary(path, &summary), 0);
    return summary;
}

START_TEST(a_long_journal_is_read_from_its_newest_attempt_on)
{
    const int many = 1000; /* more than is looked at from the end */
    ck_assert_int_eq(write_attempt(0, many).attempt, 0);
    ck_assert_int_eq(write_attempt(1, many).counts.done, many);
    struct journal_reader *reader = NULL;
    struct journal_record *r = NULL;
    int records = 0;
    ck_assert_int_eq(MEM_NEW(1, &r), 0);
    ck_assert_int_eq(journal_reader_open(path, true, &reader), 0);
    ck_assert(journal_reader_next(reader, r));
    ck_assert(r->kind == JOURNAL_BEGIN && r->attempt == 1);
    while (journal_reader_next(reader, r))
        records++;
    ck_assert_int_eq(records, many);
    journal_reader_close(reader);
    mem_free(r);
    /* a run that has only begun: its beginning is behind that of the one before */
    ck_assert_int_eq(write_attempt(2, 0).attempt, 2);
    /* a place that is none, as in a journal that was cut by hand */
    const int fd = open(journal_path, O_WRONLY | O_TRUNC);
    for (int i = 0; i < 1500; i++)
        ck_assert_int_gt(dprintf(fd, "\n{\"record\":\"heartbeat\",\"begin_at\":777}"), 0);
    close(fd);
    ck_assert_int_eq(write_attempt(3, 1).attempt, 3);
}
END_TEST

START_TEST(every_line_is_json)
{
    struct journal *journal = open_journal("a\tb", 0);
    ck_assert_int_eq(journal_write_members(journal, 3, 1, "failed", "tab\t quote\" \x01 }{"),
                     0);
    const struct journal_load load[2] = {{1, 2, 3, 4, 0.5}, {2, 0, 1, 9, 1}};
    const struct journal_counts counts = {.eta = (double)NAN, .eta_low = 1, .eta_high = 2};
    ck_assert_int_eq(journal_write_begin(journal, 3, 1, "x"), 0);
    ck_assert_int_eq(journal_write_heartbeat(journal, &counts), 0);
    ck_assert_int_eq(journal_write_load(journal, load, 2), 0);
    ck_assert_int_eq(journal_write_reuse(journal, "o.h5", 1, 0), 0);
    ck_assert_int_eq(journal_write_given(journal, 1, 4, 9), 0);
    ck_assert_int_eq(journal_write_end(journal, 0, ""), 0);
    ck_assert_int_eq(journal_close(journal), 0);
    char command[1200];
    snprintf(
        command, sizeof command,
        "/usr/bin/python3 -c 'import json, sys; r = [json.loads(l) for l in open(sys.argv[1]) "
        "if l.strip()]; assert [x[\"sequence\"] for x in r] == list(range(7)); "
        "assert r[3][\"held\"] == [2, 0]; "
        "assert r[0][\"reason\"] == \"tab\\t quote\\\" \\x01 }{\"' %s",
        journal_path);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_journal_that_cannot_be_written_is_named)
{
    char message[600] = "";
    status_capture(message, sizeof message);
    struct journal *journal = NULL;
    ck_assert_int_eq(journal_open("/no-such-folder/out.h5", "a", 0, &journal), ERR_IO);
    ck_assert_ptr_null(journal);
    ck_assert_ptr_nonnull(strstr(message, "/no-such-folder/out.h5.journal"));
    status_capture(NULL, 0);
}
END_TEST

static Suite *journal_suite(void)
{
    Suite *const suite = suite_create("journal");
    TCase *const tests = tcase_create("journal");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, no_journal_means_no_end);
    tcase_add_test(tests, the_end_record_is_read_back_with_its_text);
    tcase_add_test(tests, the_newest_end_counts);
    tcase_add_test(tests, torn_lines_are_skipped);
    tcase_add_test(tests, every_cut_of_a_journal_reads_as_a_whole_number_of_records);
    tcase_add_test(tests, neighbouring_members_of_equal_state_share_a_record);
    tcase_add_test(tests, the_summary_is_that_of_the_newest_attempt);
    tcase_add_test(tests, members_that_end_in_any_order_make_few_records);
    tcase_add_test(tests, records_are_read_back_with_what_they_say);
    tcase_add_test(tests, a_long_journal_is_read_from_its_newest_attempt_on);
    tcase_add_test(tests, every_line_is_json);
    tcase_add_test(tests, a_journal_that_cannot_be_written_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(journal_suite());
}
