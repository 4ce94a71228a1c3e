/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/run.h"
#include "runner/version.h"

#define OPTIONS_WORDS_MAX 1024 /* of a command that another program does */

/* `run` reads its own command line: a rank of a farm gets more than a user writes. */
static int run_run(const struct command *self, int argc, char **argv)
{
    (void)self;
    return run_command(argc, argv);
}

static const struct command run_entry = {
    .name = "run",
    .arguments = "SCAN.yaml",
    .doc = "Run what is not done yet; the same command resumes (-n N: on N workers)",
    .run = run_run,
};

/* The program beside this one, or the one of its name on the PATH, does these. */
static int run_beside(const struct command *self, int argc, char **argv)
{
    static const char name[] = "scanfarm-submit";
    char path[4096 + sizeof name];
    char *words[OPTIONS_WORDS_MAX];
    (void)self;
    if (argc + 2 > OPTIONS_WORDS_MAX)
        return options_exit(
            status_fail(ERR_ARGUMENT, "more than %d words", OPTIONS_WORDS_MAX - 2));
    words[0] = path;
    memcpy(words + 1, argv, ((size_t)argc + 1) * sizeof *argv);
    const ssize_t length = readlink("/proc/self/exe", path, 4096);
    for (ssize_t end = length; end > 0; end--)
        if (path[end - 1] == '/') {
            snprintf(path + end, sizeof path - (size_t)end, "%s", name);
            break;
        }
    if (length > 0)
        execv(path, words);
    execvp(name, words);
    return options_exit(
        status_fail(ERR_IO, "cannot start %s, neither beside this program nor on the PATH: %s",
                    name, strerror(errno)));
}

static const struct command submit_entry = {
    .name = "submit",
    .arguments = "SCAN.yaml",
    .doc = "Hand a scan to Slurm: one job or an array, and the jobs that follow",
    .run = run_beside,
};

static const struct command cancel_entry = {
    .name = "cancel",
    .arguments = "NAME.submission",
    .doc = "Take the jobs of a submission out of the queue",
    .run = run_beside,
};

static const struct command *const commands[] = {
    &run_entry,      &plan_command,   &status_command,   &log_command,  &collect_command,
    &verify_command, &diff_command,   &reduce_command,   &plot_command, &submit_entry,
    &cancel_entry,   &models_command, &describe_command, &init_command, &tune_command};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Commands of the design that this version has not. */
static const char *const later_commands[] = {"doctor", "export", NULL};

static void print_help(FILE *out)
{
    fprintf(out, "Usage: scanfarm COMMAND [option…] [argument…]\n"
                 "Runs scans and noise ensembles of a computation on a laptop, a node or a "
                 "cluster.\n\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->doc);
    fprintf(out,
            "\nscanfarm COMMAND --help   options of a command\n"
            "scanfarm --version        version, libraries, instruction sets\n\n"
            "First steps: scanfarm init gnlse -o my.yaml; scanfarm plan my.yaml; scanfarm run "
            "my.yaml\n\n"
            "Exit codes: 0 all done; 1 some members failed; 2 usage or scan-file error; 3 "
            "environment;\n4 file in use or of another configuration; 70 internal error; 75 "
            "stopped with work left;\n130 interrupted twice.\n");
}

static int fail_unknown(const char *word)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    const char *nearest = nearest_name(word, names);
    if (nearest != NULL)
        FAIL(ERR_ARGUMENT, "unknown command '%s'; did you mean '%s'?", word, nearest);
    char list[200];
    nearest_list(names, list, sizeof list);
    FAIL(ERR_ARGUMENT, "unknown command '%s'; commands: %s", word, list);
}

static int run_word(int argc, char **argv)
{
    const char *word = argv[0];
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc, argv);
    for (int i = 0; later_commands[i] != NULL; i++)
        if (strcmp(word, later_commands[i]) == 0)
            return options_exit(
                status_fail(ERR_UNSUPPORTED, "'%s' is not in this version of scanfarm", word));
    return options_exit(fail_unknown(word));
}

/* scanfarm help COMMAND = scanfarm COMMAND --help */
static int run_help(int argc, char **argv)
{
    char help[] = "--help";
    if (argc < 2) {
        print_help(stdout);
        return 0;
    }
    char *swapped[] = {argv[1], help, NULL};
    return run_word(2, swapped);
}

static int run_program(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return options_exit(ERR_ARGUMENT);
    }
    if (strcmp(argv[1], "--version") == 0)
        return options_exit(version_print(stdout));
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0
        || strcmp(argv[1], "help") == 0)
        return run_help(argc - 1, argv + 1);
    if (argv[1][0] == '-')
        return options_exit(
            status_fail(ERR_ARGUMENT,
                        "unknown option '%s'; --help, --version or a command is "
                        "wanted",
                        argv[1]));
    return run_word(argc - 1, argv + 1);
}

/* A standard stream that is closed must not become the first file that is opened: results would
 * be written into it. Opened for reading, it refuses them instead. */
static void hold_streams(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        while (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != -1)
            continue;
}

int main(int argc, char **argv)
{
    hold_streams();
    /* a file size limit must be an error that names the file, not the end of the process */
    signal(SIGXFSZ, SIG_IGN);
    const int code = run_program(argc, argv);
    /* results that did not reach a full disk or a closed pipe are not a success */
    if (fflush(stdout) != 0 && code == 0)
        return options_exit(
            status_fail(ERR_IO, "cannot write the results: %s", strerror(errno)));
    return code;
}
