/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/choice.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "slurm/profile.h"
#include "slurm/quote.h"
#include "slurm/walltime.h"

#define RESTARTS_DEFAULT 20
#define COUNT_MAX        1000000

enum {
    ROW_SHARDS,
    ROW_NODES,
    ROW_WORKERS,
    ROW_GPUS,
    ROW_TIME,
    ROW_PARTITION,
    ROW_ACCOUNT,
    ROW_QOS,
    ROW_CONSTRAINT,
    ROW_MEM,
    ROW_MAIL,
    ROW_MAX_RUNNING,
    ROW_MAX_RESTARTS,
    ROW_CONTAINER,
    ROW_LAUNCHER,
    ROW_OPTION,
    ROW_RETRY,
    ROW_NO_COLLECT,
    ROW_PLOT,
    ROW_PROFILE, /* from here to SETUP: not in a profile */
    ROW_OUTPUT,
    ROW_SET,
    ROW_DRY_RUN,
    ROW_PRINT,
    ROW_SETUP /* in a profile only: no row of the command line */
};

static const struct option_row rows[] = {
    [ROW_SHARDS] = {"shards", 0, "N",
                    "divide the scan into N jobs of equal cost, an array with a file each (1)"},
    [ROW_NODES] = {"nodes", 0, "N", "nodes of a job (1)"},
    [ROW_WORKERS] = {"workers-per-node", 0, "N", "workers on each node (1)"},
    [ROW_GPUS] = {"gpus-per-node", 0, "N", "GPUs of each node"},
    [ROW_TIME] = {"time", 't', "T",
                  "time limit of a job: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS"},
    [ROW_PARTITION] = {"partition", 'p', "NAME", "partition"},
    [ROW_ACCOUNT] = {"account", 'A', "NAME", "account that is charged"},
    [ROW_QOS] = {"qos", 'q', "NAME", "quality of service"},
    [ROW_CONSTRAINT] = {"constraint", 'C', "TEXT", "features that the nodes must have"},
    [ROW_MEM] = {"mem", 0, "SIZE", "memory of a node: 4000M, 16G; 0: all of it"},
    [ROW_MAIL] = {"mail", 0, "ADDRESS[:EVENTS]", "who is told of END,FAIL, or other events"},
    [ROW_MAX_RUNNING] = {"max-running", 0, "N", "shards that run at the same time, at most"},
    [ROW_MAX_RESTARTS] = {"max-restarts", 0, "N",
                          "how often a job that stopped with work left is requeued (20)"},
    [ROW_CONTAINER] = {"container", 0, "IMAGE",
                       "run in an apptainer or singularity image; one node only"},
    [ROW_LAUNCHER] = {"launcher", 0, "NAME", "auto, srun or mpirun starts the ranks (auto)"},
    [ROW_OPTION] = {"sbatch-option", 0, "TEXT",
                    "anything else for sbatch, as --exclusive or --gres=lscratch:10; may be "
                    "repeated"},
    [ROW_RETRY] = {"retry", 0, NULL, "afterwards, compute members that failed once more"},
    [ROW_NO_COLLECT] = {"no-collect", 0, NULL, "do not join the shards' files afterwards"},
    [ROW_PLOT] = {"plot", 0, "KIND",
                  "at the end, draw evolution, spectrum, coherence, steps, timing or "
                  "observable:NAME; may be repeated"},
    [ROW_PROFILE] = {"profile", 0, "FILE",
                     "a site's defaults, lines 'key = value'; default: $SCANFARM_PROFILE"},
    [ROW_OUTPUT] = {"output", 'o', "FILE", "result file; default: the scan's name and .h5"},
    [ROW_SET] = {"set", 's', "KEY=VALUE", "override a fixed parameter; may be repeated"},
    [ROW_DRY_RUN] = {"dry-run", 0, NULL,
                     "print the scripts and the calls of sbatch, write and submit nothing"},
    [ROW_PRINT] = {"print", 0, NULL, "the same"},
    {NULL, 0, NULL, NULL}};

const struct command choice_command = {
    .name = "submit",
    .arguments = "SCAN.yaml",
    .doc = "Hand a scan to Slurm: one job or an array, and the jobs that follow.",
    .details =
        "The scripts are written beside the result file, with NAME.submission, which\n"
        "`scanfarm status`, `collect` and `cancel` read.\n"
        "Exit codes: 0 submitted; 2 usage or scan file; 3 Slurm or disk; 4 jobs of this\n"
        "result are in the queue, or its files are of another scan or number of shards.\n",
    .options = rows,
};

void choice_init(struct choice *choice)
{
    *choice = (struct choice){.shards = 1,
                              .nodes = 1,
                              .workers = 1,
                              .max_restarts = RESTARTS_DEFAULT,
                              .collect = true};
}

static int add_word(struct choice_list *list, const char *name, const char *value)
{
    if (list->count == CHOICE_LIST_MAX)
        FAIL(ERR_ARGUMENT, "more than %d times --%s", CHOICE_LIST_MAX, name);
    list->word[list->count++] = value;
    return 0;
}

/* What sbatch would read, so that a mistake is found before anything is written. */
static int check_memory(const char *value)
{
    const size_t digits = strspn(value, "0123456789");
    const char *rest = value + digits;
    if (*rest != '\0' && strchr("KMGTkmgt", *rest) != NULL)
        rest += rest[1] == 'B' || rest[1] == 'b' ? 2 : 1;
    if (digits == 0 || digits > 12 || *rest != '\0')
        FAIL(ERR_ARGUMENT,
             "--mem '%s': a whole number with K, M, G or T is wanted (alone: megabytes)",
             value);
    return 0;
}

static bool is_event(const char *text, size_t length)
{
    static const char *const events[] = {
        "NONE",       "BEGIN",         "END",           "FAIL",          "REQUEUE",    "ALL",
        "TIME_LIMIT", "TIME_LIMIT_90", "TIME_LIMIT_80", "TIME_LIMIT_50", "ARRAY_TASKS"};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strlen(events[i]) == length && strncmp(events[i], text, length) == 0)
            return true;
    return false;
}

static int check_mail(const char *value)
{
    const char *const colon = strchr(value, ':');
    if (value[0] == '\0' || value[0] == ':' || strpbrk(value, " \"'\\") != NULL)
        FAIL(ERR_ARGUMENT,
             "--mail '%s': ADDRESS or ADDRESS:EVENTS is wanted, without blanks, quotes and "
             "backslashes",
             value);
    for (const char *event = colon != NULL ? colon + 1 : NULL; event != NULL;) {
        const size_t length = strcspn(event, ",");
        if (!is_event(event, length))
            FAIL(ERR_ARGUMENT,
                 "--mail '%s': the events are BEGIN, END, FAIL, REQUEUE, ALL, NONE, "
                 "TIME_LIMIT, TIME_LIMIT_50, _80, _90, ARRAY_TASKS, with commas between them",
                 value);
        event = event[length] == ',' ? event + length + 1 : NULL;
    }
    return 0;
}

/* Options of sbatch that the scripts depend on; as long as sbatch takes shortened names, these
 * are refused too. */
static bool is_ours(const char *name, size_t length)
{
    static const char *const ours[] = {
        "array",    "signal",  "open-mode",  "wrap",   "wait", "hold",       "test-only",
        "parsable", "requeue", "no-requeue", "output", "time", "dependency", "nodes"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(name, ours[i], length) == 0)
            return true;
    return false;
}

static int check_option(const char *value)
{
    if (value[0] == '-' && value[1] != '-' && value[1] != '\0')
        FAIL(ERR_ARGUMENT,
             "--sbatch-option '%s': write the long name, as in --exclusive or "
             "--gres=lscratch:10",
             value);
    const char *const name = value + strspn(value, "-");
    const size_t length = strcspn(name, "= ");
    if (value[0] != '-' || length == 0)
        FAIL(ERR_ARGUMENT,
             "--sbatch-option '%s': an option of sbatch is wanted, as in --sbatch-option "
             "--exclusive or --sbatch-option --gres=lscratch:10",
             value);
    if (name[length] == ' ')
        FAIL(ERR_ARGUMENT, "--sbatch-option '%s': write it with '=', as in --name=value",
             value);
    if (is_ours(name, length))
        FAIL(ERR_ARGUMENT, "--sbatch-option '%s': submit sets this one itself", value);
    return 0;
}

/* A kind of picture, for the pictures of observables with their names. */
static int check_plot(const char *value)
{
    static const char *const kinds[] = {"evolution", "spectrum", "coherence",
                                        "steps",     "timing",   NULL};
    static const char observable[] = "observable:";
    for (int i = 0; kinds[i] != NULL; i++)
        if (strcmp(kinds[i], value) == 0)
            return 0;
    if (strncmp(value, observable, sizeof observable - 1) == 0
        && value[sizeof observable - 1] != '\0' && strchr(value, '/') == NULL)
        return 0;
    FAIL(ERR_ARGUMENT,
         "--plot '%s': evolution, spectrum, coherence, steps, timing or observable:NAME is "
         "wanted",
         value);
}

static int set_number(struct choice *choice, int row, const struct options *o)
{
    const struct {
        long *value;
        long most;
    } numbers[] = {[ROW_SHARDS] = {&choice->shards, SHARDS_MAX},
                   [ROW_NODES] = {&choice->nodes, COUNT_MAX},
                   [ROW_WORKERS] = {&choice->workers, COUNT_MAX},
                   [ROW_GPUS] = {&choice->gpus, COUNT_MAX},
                   [ROW_MAX_RUNNING] = {&choice->max_running, COUNT_MAX},
                   [ROW_MAX_RESTARTS] = {&choice->max_restarts, COUNT_MAX}};
    const long least = row == ROW_MAX_RESTARTS ? 0 : 1;
    return options_integer(o, rows[row].name, least, numbers[row].most, numbers[row].value);
}

static bool is_number_row(int row)
{
    return row == ROW_SHARDS || row == ROW_NODES || row == ROW_WORKERS || row == ROW_GPUS
           || row == ROW_MAX_RUNNING || row == ROW_MAX_RESTARTS;
}

static struct choice_list *list_of(struct choice *choice, int row)
{
    return row == ROW_OPTION  ? &choice->sbatch_options
           : row == ROW_SET   ? &choice->sets
           : row == ROW_PLOT  ? &choice->plots
           : row == ROW_SETUP ? &choice->setup
                              : NULL;
}

/* Options that are a word for somebody else. */
static const char **word_of(struct choice *choice, int row)
{
    const char **const words[] = {[ROW_PARTITION] = &choice->partition,
                                  [ROW_ACCOUNT] = &choice->account,
                                  [ROW_QOS] = &choice->qos,
                                  [ROW_CONSTRAINT] = &choice->constraint,
                                  [ROW_MEM] = &choice->mem,
                                  [ROW_MAIL] = &choice->mail,
                                  [ROW_CONTAINER] = &choice->container,
                                  [ROW_LAUNCHER] = &choice->launcher,
                                  [ROW_PROFILE] = &choice->profile,
                                  [ROW_OUTPUT] = &choice->output};
    return row < (int)(sizeof words / sizeof *words) ? words[row] : NULL;
}

static int set_flag(struct choice *choice, int row, const char *value)
{
    bool on = true;
    if (value != NULL) { /* of a profile */
        on = strcmp(value, "yes") == 0;
        if (!on && strcmp(value, "no") != 0)
            FAIL(ERR_ARGUMENT, "%s '%s': yes or no is wanted", rows[row].name, value);
    }
    if (row == ROW_RETRY)
        choice->retry = on;
    else if (row == ROW_NO_COLLECT)
        choice->collect = !on;
    else
        choice->dry_run = on;
    return 0;
}

static int set_word(struct choice *choice, int row, const struct options *o)
{
    static const char *const launchers[] = {"auto", "srun", "mpirun", NULL};
    int word = 0;
    if (row == ROW_MEM)
        TRY(check_memory(o->value));
    if (row == ROW_MAIL)
        TRY(check_mail(o->value));
    if (row == ROW_LAUNCHER)
        TRY(options_word(o, "launcher", launchers, &word));
    if (o->value[0] == '\0')
        FAIL(ERR_ARGUMENT, "--%s: a %s is wanted, not ''", rows[row].name, rows[row].argument);
    const char **const place = word_of(choice, row);
    if (place == NULL)
        FAIL(ERR_BUG, "--%s has no place", rows[row].name);
    *place = o->value;
    return 0;
}

int choice_set(struct choice *choice, int row, const char *value)
{
    const struct options o = {.command = &choice_command, .value = value};
    const char *const name = row == ROW_SETUP ? "setup" : rows[row].name;
    if (value != NULL && !quote_can(value))
        FAIL(ERR_ARGUMENT, "--%s: a newline or control character cannot stand in a script",
             name);
    if (row != ROW_SETUP && rows[row].argument == NULL)
        return set_flag(choice, row, value);
    if (value == NULL)
        FAIL(ERR_BUG, "--%s without a value", name);
    if (is_number_row(row))
        return set_number(choice, row, &o);
    if (row == ROW_TIME)
        return walltime_read("time", value, &choice->minutes);
    if (row == ROW_OPTION)
        TRY(check_option(value));
    if (row == ROW_PLOT)
        TRY(check_plot(value));
    if (list_of(choice, row) != NULL)
        return add_word(list_of(choice, row), name, value);
    return set_word(choice, row, &o);
}

int choice_row_of_key(const char *key)
{
    for (int row = 0; row < ROW_PROFILE; row++)
        if (strcmp(key, rows[row].name) == 0)
            return row;
    return strcmp(key, "setup") == 0 ? ROW_SETUP : -1;
}

void choice_keys(const char *names[OPTIONS_ROWS_MAX])
{
    for (int row = 0; row < ROW_PROFILE; row++)
        names[row] = rows[row].name;
    names[ROW_PROFILE] = "setup";
    names[ROW_PROFILE + 1] = NULL;
}

/* One pass over the command line. The first looks for --profile and --help only. */
static int read_line(int argc, char **argv, bool first, struct choice *choice, bool *help)
{
    struct options o;
    int row = 0;
    options_begin(&o, &choice_command, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        *help = row == OPTIONS_HELP;
        if (*help)
            return 0;
        if (!first || row == ROW_PROFILE)
            TRY(choice_set(choice, row, o.value));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, 1));
    choice->scan = o.argument[0];
    return 0;
}

static int check_whole(const struct choice *choice)
{
    if (choice->container != NULL && choice->nodes > 1)
        FAIL(ERR_UNSUPPORTED,
             "--container with --nodes %ld: a container runs on one node; divide the scan by "
             "--shards instead",
             choice->nodes);
    if (choice->container != NULL && choice->launcher != NULL
        && strcmp(choice->launcher, "srun") == 0)
        FAIL(ERR_UNSUPPORTED, "--container with --launcher srun: mpirun inside the image "
                              "starts the ranks there");
    if (!quote_can(choice->scan))
        FAIL(ERR_ARGUMENT, "the scan file's name has a newline or control character");
    return 0;
}

int choice_read(int argc, char **argv, struct choice *choice, bool *help)
{
    choice_init(choice);
    *help = false;
    TRY(read_line(argc, argv, true, choice, help));
    if (*help)
        return 0;
    const char *const site = getenv("SCANFARM_PROFILE");
    if (choice->profile == NULL && site != NULL && site[0] != '\0')
        choice->profile = site;
    if (choice->profile != NULL)
        TRY(profile_read(choice->profile, choice));
    TRY(read_line(argc, argv, false, choice, help));
    return check_whole(choice);
}

void choice_clear(struct choice *choice)
{
    mem_free(choice->text);
    choice->text = NULL;
}
