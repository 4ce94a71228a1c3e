/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/command.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "slurm/choice.h"
#include "slurm/quote.h"
#include "tests/unit_main.h"

#define PROFILE   "profile.of-a-test"
#define WORDS_MAX 16

static char error[1024];

/* Read a command line, its words given with NULL behind them. */
static int read_words(struct choice *choice, const char *const *words)
{
    char *argv[WORDS_MAX] = {NULL};
    int argc = 0;
    bool help = false;
    for (; words[argc] != NULL; argc++)
        memcpy(&argv[argc], &words[argc], sizeof argv[argc]);
    status_capture(error, sizeof error);
    const int rc = choice_read(argc, argv, choice, &help);
    status_capture(NULL, 0);
    return rc;
}

#define READ(choice, ...)                                                                      \
    read_words((choice), (const char *const[]){"submit", __VA_ARGS__, NULL})

static void write_profile(const char *text)
{
    FILE *const file = fopen(PROFILE, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void setup(void)
{
    unsetenv("SCANFARM_PROFILE");
    char folder[] = "choice-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
    char folder[4096];
    unlink(PROFILE);
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(the_command_line_is_read_with_its_defaults)
{
    struct choice c;
    ck_assert_int_eq(READ(&c, "scan.yaml", "--shards", "16", "--time=2-12", "--mem", "16G",
                          "--sbatch-option", "--exclusive", "--set", "a=1", "--set=b=2"),
                     0);
    ck_assert_str_eq(c.scan, "scan.yaml");
    ck_assert_int_eq(c.shards, 16);
    ck_assert_int_eq(c.minutes, 3600);
    ck_assert_int_eq(c.nodes, 1);
    ck_assert_int_eq(c.workers, 1);
    ck_assert_int_eq(c.max_restarts, 20);
    ck_assert(c.collect && !c.retry && !c.dry_run);
    ck_assert_int_eq(c.sets.count, 2);
    ck_assert_str_eq(c.sets.word[1], "b=2");
    ck_assert_str_eq(c.sbatch_options.word[0], "--exclusive");
    ck_assert_ptr_null(c.partition);
    choice_clear(&c);
}
END_TEST

START_TEST(a_profile_gives_defaults_and_the_command_line_wins)
{
    struct choice c;
    write_profile("# our site\n\n  partition = standard  \r\ntime=30\nworkers-per-node = 8\n"
                  "setup = module load openmpi  # = with its hash\nsetup = export A='b c'\n"
                  "sbatch-option = --gres=lscratch:10\nno-collect = yes\nretry = no\n"
                  "account = p123");
    ck_assert_int_eq(READ(&c, "--profile", PROFILE, "s.yaml", "--time", "1:00:00",
                          "--sbatch-option=--exclusive"),
                     0);
    ck_assert_str_eq(c.partition, "standard");
    ck_assert_str_eq(c.account, "p123");
    ck_assert_int_eq(c.minutes, 60);
    ck_assert_int_eq(c.workers, 8);
    ck_assert(!c.collect && !c.retry);
    ck_assert_int_eq(c.setup.count, 2);
    ck_assert_str_eq(c.setup.word[0], "module load openmpi  # = with its hash");
    ck_assert_str_eq(c.setup.word[1], "export A='b c'");
    ck_assert_int_eq(c.sbatch_options.count, 2);
    ck_assert_str_eq(c.sbatch_options.word[1], "--exclusive");
    choice_clear(&c);
    setenv("SCANFARM_PROFILE", PROFILE, 1);
    ck_assert_int_eq(READ(&c, "s.yaml"), 0);
    ck_assert_int_eq(c.minutes, 30);
    choice_clear(&c);
}
END_TEST

START_TEST(a_wrong_profile_is_refused_with_its_line_and_the_nearest_key)
{
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"time = 30\npartion = x\n", ":2: unknown key 'partion'; did you mean 'partition'?"},
        {"colour = red\n", ":1: unknown key 'colour'; known: shards"},
        {"output = x.h5\n", "unknown key 'output'"}, /* is of one scan */
        {"set = a=1\n", "unknown key 'set'"},
        {"dry-run = yes\n", "unknown key 'dry-run'"},
        {"\n\ntime = soon\n", ":3: --time 'soon'"},
        {"retry = maybe\n", ":1: retry 'maybe': yes or no"},
        {"nodes = 0\n", ":1: --nodes '0'"},
        {"partition\n", ":1: 'partition' is no 'key = value'"},
        {"partition =\n", ":1: --partition"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct choice c;
        write_profile(bad[i].text);
        ck_assert_msg(READ(&c, "s.yaml", "--profile", PROFILE) == ERR_ARGUMENT, "%s",
                      bad[i].text);
        ck_assert_msg(strstr(error, bad[i].says) != NULL, "%s: %s", bad[i].text, error);
        ck_assert_ptr_nonnull(strstr(error, PROFILE));
        choice_clear(&c);
    }
    struct choice c;
    ck_assert_int_eq(READ(&c, "s.yaml", "--profile", "missing"), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error, "missing"));
    choice_clear(&c);
}
END_TEST

START_TEST(values_that_sbatch_would_refuse_are_refused_before_anything_is_written)
{
    static const char *const bad[][2] = {{"--mem", "4P"},
                                         {"--mem", "1.5G"},
                                         {"--mem", ""},
                                         {"--mem", "-1"},
                                         {"--shards", "0"},
                                         {"--shards", "1000001"},
                                         {"--nodes", "2x"},
                                         {"--max-running", "0"},
                                         {"--mail", ":END"},
                                         {"--mail", "a@b:SOON"},
                                         {"--mail", "a b"},
                                         {"--mail", "a\"b@x:END"},
                                         {"--mail", "a\\b@x"},
                                         {"--mail", "a@b:END,"},
                                         {"--launcher", "mpiexec"},
                                         {"--plot", "pie"},
                                         {"--plot", "observable"},
                                         {"--plot", "observable:"},
                                         {"--sbatch-option", "x"},
                                         {"--sbatch-option", "--array=1-2"},
                                         {"--sbatch-option", "--arr=1-2"},
                                         {"--sbatch-option", "-a1-2"},
                                         {"--sbatch-option", "-W"},
                                         {"--sbatch-option", "-H"},
                                         {"--sbatch-option", "--wra=x"},
                                         {"--sbatch-option", "--no-requeue"},
                                         {"--sbatch-option", "--time=5"},
                                         {"--sbatch-option", "--output=x"},
                                         {"--sbatch-option", "--signal=USR2"},
                                         {"--sbatch-option", "-p main"},
                                         {"--sbatch-option", "--"},
                                         {"--partition", ""},
                                         {"--account", "a\nb"},
                                         {"--set", "a=\x1b[0m"},
                                         {"--time", "1 day"}};
    static const char *const good[][2] = {{"--mem", "0"},
                                          {"--mem", "4000"},
                                          {"--mem", "4GB"},
                                          {"--mail", "a@b"},
                                          {"--mail", "a@b:END,TIME_LIMIT_80"},
                                          {"--max-restarts", "0"},
                                          {"--plot", "observable:energy"},
                                          {"--sbatch-option", "--wait-all-nodes=1"},
                                          {"--sbatch-option", "--time-min=10"},
                                          {"--sbatch-option", "--nodelist=n1"},
                                          {"--sbatch-option", "--comment=a b \"c\""},
                                          {"--constraint", "[a|b]&c"}};
    struct choice c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(READ(&c, "s.yaml", bad[i][0], bad[i][1]) == ERR_ARGUMENT, "%s %s",
                      bad[i][0], bad[i][1]);
        ck_assert_msg(strstr(error, bad[i][0]) != NULL, "%s %s: %s", bad[i][0], bad[i][1],
                      error);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(READ(&c, "s.yaml", good[i][0], good[i][1]) == 0, "%s %s: %s", good[i][0],
                      good[i][1], error);
    ck_assert_int_eq(READ(&c, "s.yaml", "--container", "i.sif", "--nodes", "2"),
                     ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error, "one node"));
    ck_assert_int_eq(READ(&c, "--shards", "2"), ERR_ARGUMENT);
}
END_TEST

/* What bash makes of a quoted word. */
static void ask_bash(const char *word)
{
    char *script = NULL;
    size_t size = 0;
    struct command_result result;
    FILE *const out = open_memstream(&script, &size);
    fputs("printf %s ", out);
    quote_shell(word, out);
    fclose(out);
    const char *const words[] = {"bash", "-euc", script, NULL};
    ck_assert_int_eq(command_run(words, 60, &result), 0);
    ck_assert_msg(strcmp(result.output, word) == 0, "%s: %s", script, result.output);
    command_clear(&result);
    free(script);
}

START_TEST(words_for_bash_mean_themselves_whatever_is_in_them)
{
    static const char *const words[] = {"plain-word_1.h5",
                                        "with space",
                                        "it's",
                                        "\"both\" 'of' them",
                                        "$HOME `id` \\ $(id)",
                                        "é ü 中文",
                                        "",
                                        "*?[a]",
                                        "~/x",
                                        "a;b&c|d>e<f",
                                        "%j %A",
                                        "#no",
                                        "!x",
                                        "-n",
                                        "'"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ask_bash(words[i]);
    ck_assert(!quote_can("a\nb"));
    ck_assert(!quote_can("\x7f"));
    ck_assert(quote_can("é \\ '"));
}
END_TEST

static void check_sbatch(const char *text, bool path, const char *expected)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&line, &size);
    if (path)
        quote_sbatch_path(text, "%j.out", out);
    else
        quote_sbatch(text, out);
    fclose(out);
    ck_assert_str_eq(line, expected);
    free(line);
}

START_TEST(values_of_settings_are_in_double_quotes_and_percent_signs_of_names_are_doubled)
{
    check_sbatch("a \"b\" \\ 'c' $d %e", false, "\"a \\\"b\\\" \\\\ 'c' $d %e\"");
    check_sbatch("/x %j/100%.", true, "\"/x %%j/100%%.%j.out\"");
}
END_TEST

static Suite *choice_suite(void)
{
    Suite *suite = suite_create("choice");
    TCase *tests = tcase_create("choice");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_command_line_is_read_with_its_defaults);
    tcase_add_test(tests, a_profile_gives_defaults_and_the_command_line_wins);
    tcase_add_test(tests, a_wrong_profile_is_refused_with_its_line_and_the_nearest_key);
    tcase_add_test(tests,
                   values_that_sbatch_would_refuse_are_refused_before_anything_is_written);
    tcase_add_test(tests, words_for_bash_mean_themselves_whatever_is_in_them);
    tcase_add_test(
        tests, values_of_settings_are_in_double_quotes_and_percent_signs_of_names_are_doubled);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(choice_suite());
}
