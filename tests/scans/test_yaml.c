/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

static char *repeat(const char *piece, int count, const char *head)
{
    const size_t length = strlen(piece);
    char *text = malloc(strlen(head) + (size_t)count * length + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, head, strlen(head));
    char *end = text + strlen(head);
    for (int i = 0; i < count; i++, end += length)
        memcpy(end, piece, length);
    *end = '\0';
    return text;
}

/* Refused with these parts, in well under a second. */
static void refused_quickly(const char *text, const char *const *parts)
{
    const double start = clock_cpu_thread();
    toy_refused(text, NULL, 0, parts);
    ck_assert_double_lt(clock_cpu_thread() - start, 0.5);
}

START_TEST(a_tree_knows_line_and_column_of_each_node)
{
    static const char text[] = "a: 1\nb:\n  - x\n  - {c: \"y z\"}\n# é\nd: é\n";
    struct tree tree;
    ck_assert_int_eq(yaml_parse(text, strlen(text), "t", true, &tree), 0);
    const struct node *b = node_child(tree.root, "b");
    ck_assert_int_eq(tree.root->count, 3);
    ck_assert_int_eq(b->kind, NODE_LIST);
    ck_assert_int_eq(b->key_line, 2);
    ck_assert_int_eq(b->first->line, 3);
    ck_assert_int_eq(b->first->column, 5);
    const struct node *c = node_child(b->first->next, "c");
    ck_assert_str_eq(c->text, "y z");
    ck_assert_int_eq(c->line, 4);
    ck_assert_int_eq(c->key_column, 6);
    ck_assert_int_eq(c->column, 9);
    ck_assert_int_eq(node_child(tree.root, "d")->line, 6);
    char flow[64];
    node_write(tree.root, flow, sizeof flow);
    ck_assert_str_eq(flow, "{a: 1, b: [x, {c: y z}], d: é}");
    node_write(tree.root, flow, 16);
    ck_assert_ptr_nonnull(strstr(flow, "…"));
    yaml_clear(&tree);
}
END_TEST

START_TEST(what_a_scan_file_never_holds_is_refused_where_it_stands)
{
    toy_refuses("a: &x 1\n", "file:1:4: ", "anchors", "&x");
    toy_refuses("a: &x [1]\n", "file:1:4: ", "anchors");
    toy_refuses("a: 1\nb: *x\n", "file:2:4: ", "aliases", "*x");
    toy_refuses("a: !!int 3\n", "file:1:4: ", "tags");
    toy_refuses("a: !mine {b: 1}\n", "file:1:4: ", "tags");
    toy_refuses("a: {<<: {b: 1}}\n", "file:1:5: ", "merge keys");
    toy_refuses("a: 1\nb: 2\na: 3\n", "file:3:1: ", "duplicate key 'a'", "line 1");
    toy_refuses("z: {b: 1, c: 2, b: 3, c: 4}\n", "file:1:17: ", "duplicate key 'b'");
    toy_refuses(TOY "---\nscan: second\n", "file:4:1: ", "second document");
    toy_refuses("%YAML 1.1\n---\na: 1\n", "file:1:1: ", "directives");
    toy_refuses("? [a, b]\n: 1\n", "file:1:3: ", "a key must be a name");
    toy_refuses("a: \"x\\0y\"\n", "file:1:4: ", "NUL");
    toy_refuses("a: [1, 2\nb: 3\n", "file:2:", "not valid YAML");
    toy_refuses("a: 'x\n", "file:", "not valid YAML", "quoted");
    toy_refuses("- a\n", "file:1:1: ", "a list stands here");
    toy_refuses("just text\n", "file:1:1: ", "a value stands here");
}
END_TEST

START_TEST(bytes_that_are_no_text_are_refused_where_they_stand)
{
    char why[2048];
    struct scan *scan = NULL;
    static const struct {
        const char *bytes;
        size_t length;
        const char *place;
        const char *part;
    } cases[] = {{"scan: x\n\0\1\2", 11, "file:2:1: ", "binary"},
                 {"\x7f"
                  "ELF\2\1\1\0",
                  8, "file:1:1: ", "control character"},
                 {"a:\n\tb: 1\n", 9, "file:2:1: ", "tab"},
                 {"a: 1\t# x\n", 9, "file:1:5: ", "tab"},
                 {"a: \xff\xfe\n", 6, "file:1:4: ", "0xff is not valid UTF-8"},
                 {"a: \xc0\xaf\n", 6, "file:1:4: ", "UTF-8"},
                 {"a: \xed\xa0\x80\n", 7, "file:1:4: ", "UTF-8"},
                 {"a: é\xc3", 6, "file:1:5: ", "UTF-8"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        status_capture(why, sizeof why);
        const int rc = scan_parse_models(toy_models, cases[i].bytes, cases[i].length, "file",
                                         NULL, 0, &scan);
        status_capture(NULL, 0);
        ck_assert_int_eq(rc, ERR_PARSE);
        ck_assert_msg(strstr(why, cases[i].place) && strstr(why, cases[i].part), "%s", why);
    }
}
END_TEST

START_TEST(empty_texts_are_refused)
{
    toy_refuses("", "file:1:1: ", "empty", "model: NAME");
    toy_refuses("# only a comment\n\n", "file:1:1: ", "empty");
    toy_refuses("---\n...\n", "file:1:1: ", "empty");
}
END_TEST

START_TEST(deep_nesting_ends_at_once)
{
    char *lists = repeat("[", 200000, "a: ");
    char *maps = repeat("{b: ", 50000, "a: ");
    char *dashes = repeat("- ", 100000, "a:\n");
    char *questions = repeat("? ", 100000, "");
    refused_quickly(lists, (const char *const[]){"file:1:", "64 levels", NULL});
    refused_quickly(maps, (const char *const[]){"file:1:", "64 levels", NULL});
    refused_quickly(dashes, (const char *const[]){"file:2:", "64 levels", NULL});
    refused_quickly(questions, (const char *const[]){"file:1:", NULL});
    free(lists);
    free(maps);
    free(dashes);
    free(questions);
}
END_TEST

START_TEST(an_alias_bomb_ends_at_its_first_anchor)
{
    char *bomb = repeat("b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n", 10000, "a: &a [lol,lol]\n");
    refused_quickly(bomb, (const char *const[]){"file:1:4: ", "anchors", NULL});
    free(bomb);
}
END_TEST

START_TEST(more_than_a_million_nodes_are_refused)
{
    char *list = repeat("1,", 1000001, "a: [");
    toy_refuses(list, "file:1:", "1000000 values", "{from, to, points}");
    free(list);
}
END_TEST

START_TEST(many_keys_are_compared_quickly)
{
    char *text = malloc(3000000);
    ck_assert_ptr_nonnull(text);
    size_t used = 0;
    for (int i = 0; i < 100000; i++)
        used += (size_t)snprintf(text + used, 3000000 - used, "k%d: %d\n", i, i);
    snprintf(text + used, 3000000 - used, "k5: 1\n");
    const double start = clock_cpu_thread();
    toy_refuses(text, "file:100001:1: ", "duplicate key 'k5'", "line 6");
    ck_assert_double_lt(clock_cpu_thread() - start, 2.0);
    free(text);
}
END_TEST

/* Files */

static char folder[] = "/tmp/scanfarm-yaml-XXXXXX";

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    unlink("file");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void refuses_file(const char *path, const char *part)
{
    char why[2048];
    struct scan *scan = NULL;
    status_capture(why, sizeof why);
    const int rc = scan_read(path, NULL, 0, &scan);
    status_capture(NULL, 0);
    ck_assert_int_eq(status_exit_code(rc), 2);
    ck_assert_msg(strncmp(why, path, strlen(path)) == 0 && strstr(why, part), "%s", why);
    ck_assert_ptr_null(strchr(why, '\n'));
}

static void write_file(const char *text, size_t length, off_t size)
{
    const int descriptor = open("file", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, length), (ssize_t)length);
    if (size > 0)
        ck_assert_int_eq(ftruncate(descriptor, size), 0);
    close(descriptor);
}

START_TEST(files_that_are_no_scan_files_are_refused_by_name)
{
    refuses_file("missing.yaml", "No such file");
    refuses_file("/", "is a directory");
    refuses_file("/dev/null", "a device");
    write_file("", 0, 0);
    refuses_file("file", "empty");
    write_file("a: \0", 4, 0);
    refuses_file("file", "binary");
}
END_TEST

START_TEST(a_100_MB_file_is_refused_by_its_size)
{
    write_file("scan: x\n", 8, 100000000);
    const double start = clock_cpu_thread();
    refuses_file("file", "100000000 bytes");
    ck_assert_double_lt(clock_cpu_thread() - start, 0.01);
    write_file("scan: x\n", 8, YAML_BYTES_MAX + 1);
    refuses_file("file", "8000001 bytes");
}
END_TEST

START_TEST(only_regular_files_are_read_and_nobody_waits_for_a_writer)
{
    refuses_file("/dev/zero", "a regular file is wanted");
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    refuses_file("fifo", "a pipe");
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    refuses_file(path, "a pipe");
    close(ends[0]);
    close(ends[1]);
    unlink("fifo");
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    static const char text[] = "\xEF\xBB\xBFscan: x\nmodel: [\n";
    struct tree tree;
    ck_assert_int_eq(yaml_parse(text, 11, "t", true, &tree), 0);
    ck_assert_str_eq(node_child(tree.root, "scan")->text, "x");
    ck_assert_int_eq(tree.root->column, 1);
    yaml_clear(&tree);
    char why[200];
    status_capture(why, sizeof why);
    ck_assert_int_eq(yaml_parse(text, strlen(text), "t", true, &tree), ERR_PARSE);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(why, "t:3:1:"));
    yaml_clear(&tree);
}
END_TEST

START_TEST(a_file_is_read_whole_and_kept)
{
    static const char text[] = "scan: kept\nmodel: probe\n# comment\n";
    write_file(text, strlen(text), 0);
    struct scan *scan = NULL;
    size_t length = 0;
    const long before = mem_live();
    ck_assert_int_eq(scan_read("file", NULL, 0, &scan), 0);
    ck_assert_str_eq(scan_text(scan, &length), text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(scan_name(scan), "kept");
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), before);
}
END_TEST

static Suite *yaml_suite(void)
{
    Suite *suite = suite_create("yaml");
    TCase *text = tcase_create("text");
    tcase_add_test(text, a_tree_knows_line_and_column_of_each_node);
    tcase_add_test(text, what_a_scan_file_never_holds_is_refused_where_it_stands);
    tcase_add_test(text, bytes_that_are_no_text_are_refused_where_they_stand);
    tcase_add_test(text, empty_texts_are_refused);
    tcase_add_test(text, deep_nesting_ends_at_once);
    tcase_add_test(text, an_alias_bomb_ends_at_its_first_anchor);
    tcase_add_test(text, more_than_a_million_nodes_are_refused);
    tcase_add_test(text, many_keys_are_compared_quickly);
    tcase_set_timeout(text, 30);
    suite_add_tcase(suite, text);
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, files_that_are_no_scan_files_are_refused_by_name);
    tcase_add_test(files, a_100_MB_file_is_refused_by_its_size);
    tcase_add_test(files, only_regular_files_are_read_and_nobody_waits_for_a_writer);
    tcase_add_test(text, a_byte_order_mark_is_skipped);
    tcase_add_test(files, a_file_is_read_whole_and_kept);
    suite_add_tcase(suite, files);
    return suite;
}

int main(void)
{
    return unit_main(yaml_suite());
}
