/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"

enum { CODE_HELP = 1000, CODE_FIRST = 1001 };

static int row_count(const struct command *command)
{
    int count = 0;
    if (command->options != NULL)
        while (command->options[count].name != NULL)
            count++;
    return count;
}

void options_begin(struct options *options, const struct command *command, int argc,
                   char **argv)
{
    *options = (struct options){.command = command, .argc = argc, .argv = argv};
    optind = 0; /* glibc: forget an earlier command line */
    opterr = 0; /* we say it ourselves, in one line */
}

/* "N" is wanted, "[=N]" may be left out: then the option's value is NULL. */
static int argument_kind(const struct option_row *row)
{
    if (row->argument == NULL)
        return no_argument;
    return row->argument[0] == '[' ? optional_argument : required_argument;
}

/* getopt's two descriptions of the table; long options come back as CODE_FIRST + row. */
static void describe_rows(const struct command *command, char *letters,
                          struct option *long_options)
{
    int used = 0;
    int row = 0;
    letters[used++] = ':';
    for (; row < row_count(command); row++) {
        const struct option_row *o = &command->options[row];
        long_options[row] = (struct option){o->name, argument_kind(o), NULL, CODE_FIRST + row};
        if (o->letter == 0)
            continue;
        letters[used++] = o->letter;
        if (o->argument != NULL)
            letters[used++] = ':';
    }
    long_options[row] = (struct option){"help", no_argument, NULL, CODE_HELP};
    long_options[row + 1] = (struct option){NULL, 0, NULL, 0};
    letters[used] = '\0';
}

/* "--jsno" or "-x", as it stands on the command line. */
static const char *offending_word(const struct options *options, char letter[3])
{
    if (optopt > 0 && optopt < CODE_HELP) {
        letter[0] = '-';
        letter[1] = (char)optopt;
        letter[2] = '\0';
        return letter;
    }
    const int place = optind > 0 && optind <= options->argc ? optind - 1 : 0;
    return options->argv[place];
}

/* Options that begin so, as getopt sees them. */
static int find_beginning(const struct command *command, const char *bare, const char **found)
{
    int count = 0;
    for (int i = 0; i < row_count(command); i++)
        if (strncmp(command->options[i].name, bare, strlen(bare)) == 0)
            found[count++] = command->options[i].name;
    found[count] = NULL;
    return count;
}

static int fail_unknown(const struct options *options)
{
    char letter[3];
    const char *word = offending_word(options, letter);
    const char *names[OPTIONS_ROWS_MAX + 2] = {NULL};
    const int count = row_count(options->command);
    for (int i = 0; i < count; i++)
        names[i] = options->command->options[i].name;
    names[count] = "help";
    char bare[80];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2 * (word[1] == '-'), "="),
             word + 2 * (word[1] == '-'));
    const char *beginning[OPTIONS_ROWS_MAX + 1];
    if (word[1] == '-' && bare[0] != '\0'
        && find_beginning(options->command, bare, beginning) > 1) {
        char list[300];
        nearest_list(beginning, list, sizeof list);
        FAIL(ERR_ARGUMENT, "option '%s' of '%s' is ambiguous: %s", word, options->command->name,
             list);
    }
    const char *nearest = word[1] == '-' ? nearest_name(bare, names) : NULL;
    if (nearest != NULL)
        FAIL(ERR_ARGUMENT, "unknown option '%s' of '%s'; did you mean '--%s'?", word,
             options->command->name, nearest);
    FAIL(ERR_ARGUMENT, "unknown option '%s' of '%s'; 'scanfarm %s --help' lists them", word,
         options->command->name, options->command->name);
}

static int row_of_letter(const struct command *command, int letter)
{
    for (int i = 0; i < row_count(command); i++)
        if (command->options[i].letter == letter)
            return i;
    return -1;
}

int options_next(struct options *options, int *row)
{
    char letters[2 * OPTIONS_ROWS_MAX + 2];
    struct option long_options[OPTIONS_ROWS_MAX + 2];
    if (row_count(options->command) > OPTIONS_ROWS_MAX)
        FAIL(ERR_BUG, "'%s' has more than %d options", options->command->name,
             OPTIONS_ROWS_MAX);
    describe_rows(options->command, letters, long_options);
    optopt = 0;
    const int code = getopt_long(options->argc, options->argv, letters, long_options, NULL);
    options->value = optarg;
    if (code == -1) {
        *row = OPTIONS_END;
        options->arguments = options->argc - optind;
        options->argument = options->argv + optind;
        return 0;
    }
    if (code == CODE_HELP) {
        options_print_help(options->command, stdout);
        *row = OPTIONS_HELP;
        return 0;
    }
    if (code == '?')
        return fail_unknown(options);
    if (code == ':') {
        const int owner = optopt >= CODE_FIRST ? optopt - CODE_FIRST
                                               : row_of_letter(options->command, optopt);
        if (owner < 0)
            return fail_unknown(options);
        FAIL(ERR_ARGUMENT, "option '--%s' of '%s' needs an argument: %s",
             options->command->options[owner].name, options->command->name,
             options->command->options[owner].argument);
    }
    *row = code >= CODE_FIRST ? code - CODE_FIRST : row_of_letter(options->command, code);
    return 0;
}

void options_print_help(const struct command *command, FILE *out)
{
    const int count = row_count(command);
    fprintf(out, "Usage: scanfarm %s%s%s%s\n%s\n", command->name, count > 0 ? " [option…]" : "",
            command->arguments[0] != '\0' ? " " : "", command->arguments, command->doc);
    fprintf(out, "\nOptions:\n");
    for (int i = 0; i < count; i++) {
        const struct option_row *o = &command->options[i];
        if (o->doc == NULL)
            continue;
        char left[64];
        char letter[8] = "    ";
        if (o->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name,
                 argument_kind(o) == required_argument ? " " : "",
                 o->argument != NULL ? o->argument : "");
        fprintf(out, "  %-30s %s\n", left, o->doc);
    }
    fprintf(out, "  %-30s %s\n", "    --help", "print this text");
    if (command->details != NULL)
        fprintf(out, "\n%s", command->details);
}

int options_read_flag(struct options *options, bool *given, bool *help)
{
    int row = 0;
    *given = *help = false;
    TRY(options_next(options, &row));
    while (row != OPTIONS_END && !*help) {
        *help = row == OPTIONS_HELP;
        *given = *given || !*help;
        if (!*help)
            TRY(options_next(options, &row));
    }
    return 0;
}

int options_require(const struct options *options, int least, int most)
{
    const struct command *c = options->command;
    if (options->arguments < least)
        FAIL(ERR_ARGUMENT, "'%s' needs %s; usage: scanfarm %s %s", c->name, c->arguments,
             c->name, c->arguments);
    if (options->arguments > most)
        FAIL(ERR_ARGUMENT, "'%s' takes no argument '%s'; usage: scanfarm %s %s", c->name,
             options->argument[most], c->name, c->arguments);
    return 0;
}

int options_integer(const struct options *options, const char *name, long minimum, long maximum,
                    long *out)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(options->value, &end, 10);
    if (end == options->value || *end != '\0' || errno != 0 || value < minimum
        || value > maximum)
        FAIL(ERR_ARGUMENT, "--%s '%s': a whole number from %ld to %ld is wanted", name,
             options->value, minimum, maximum);
    *out = value;
    return 0;
}

int options_real(const struct options *options, const char *name, double minimum,
                 double maximum, double *out)
{
    char *end = NULL;
    const double value = strtod(options->value, &end);
    if (end == options->value || *end != '\0' || !isfinite(value) || value < minimum
        || value > maximum)
        FAIL(ERR_ARGUMENT, "--%s '%s': a number from %g to %g is wanted", name, options->value,
             minimum, maximum);
    *out = value;
    return 0;
}

int options_word(const struct options *options, const char *name, const char *const *words,
                 int *out)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], options->value) == 0) {
            *out = i;
            return 0;
        }
    }
    char list[400];
    nearest_list(words, list, sizeof list);
    FAIL(ERR_ARGUMENT, "--%s '%s': one of %s is wanted", name, options->value, list);
}

int options_exit(int status)
{
    return status_exit_code(status);
}
