/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/contract_table.h"
#include "runner/options.h"
#include "runner/text.h"

enum { MODELS_MAX = 64 };

static int find_model(const char *name, const struct model_info **out)
{
    const struct model_ops *model = model_find(name);
    if (model != NULL) {
        *out = model->info;
        return 0;
    }
    const char *names[MODELS_MAX + 1] = {NULL};
    int count = 0;
    for (const struct model_ops *const *m = model_list(); *m != NULL && count < MODELS_MAX; m++)
        names[count++] = (*m)->info->name;
    const char *nearest = nearest_name(name, names);
    char list[400];
    nearest_list(names, list, sizeof list);
    if (nearest != NULL)
        FAIL(ERR_ARGUMENT, "unknown model '%s'; did you mean '%s'? Models: %s", name, nearest,
             list);
    FAIL(ERR_ARGUMENT, "unknown model '%s'; models: %s", name, list);
}

/* Reads a command line whose only option is its first row, a flag or an argument. */
static int read_line(struct options *o, const struct command *self, int argc, char **argv,
                     const char **given, bool *help)
{
    int row = 0;
    *given = NULL;
    options_begin(o, self, argc, argv);
    TRY(options_next(o, &row));
    while (row != OPTIONS_END) {
        *help = row == OPTIONS_HELP;
        if (*help)
            return 0;
        *given = o->value != NULL ? o->value : "";
        TRY(options_next(o, &row));
    }
    return 0;
}

static void write_models_json(void)
{
    printf("{\"models\":[");
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++) {
        const struct model_info *info = (*m)->info;
        printf("%s{\"name\":", m != model_list() ? "," : "");
        json_text(stdout, info->name);
        printf(",\"doc\":");
        json_text(stdout, info->doc);
        printf(",\"numerics_version\":%d,\"parameters\":%d,\"observables\":%d}",
               info->numerics_version, info->param_count, info->observable_count);
    }
    printf("]}\n");
}

static int list_models(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *json = NULL;
    bool help = false;
    TRY(read_line(&o, self, argc, argv, &json, &help));
    if (help)
        return 0;
    TRY(options_require(&o, 0, 0));
    if (json != NULL) {
        write_models_json();
        return 0;
    }
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++)
        printf("%-10s %s\n", (*m)->info->name, (*m)->info->doc);
    return 0;
}

enum describe_row { DESCRIBE_JSON, DESCRIBE_CONTRACT, DESCRIBE_ROWS };

static int describe_model(const struct command *self, int argc, char **argv)
{
    static void (*const write[2][2])(FILE *, const struct model_info *) = {
        {describe_text, describe_json}, {contract_table_text, contract_table_json}};
    struct options o;
    const struct model_info *info = NULL;
    bool given[DESCRIBE_ROWS] = {false};
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        given[row] = true;
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, 1));
    TRY(find_model(o.argument[0], &info));
    write[given[DESCRIBE_CONTRACT]][given[DESCRIBE_JSON]](stdout, info);
    return 0;
}

/* A file that exists is somebody's work: never replaced. */
static int write_new_file(const char *path, const struct model_info *info)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        FAIL(ERR_ARGUMENT, "%s exists already; init replaces no file", path);
    if (fd < 0)
        FAIL(ERR_IO, "cannot write %s: %s", path, strerror(errno));
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        close(fd);
        unlink(path);
        FAIL(ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    describe_init(out, info);
    const int bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        const int error = errno;
        unlink(path); /* a part of an example is nobody's */
        FAIL(ERR_IO, "cannot write %s: %s", path, strerror(error));
    }
    printf("%s\n", path);
    return 0;
}

static int init_scan(const struct command *self, int argc, char **argv)
{
    struct options o;
    const struct model_info *info = NULL;
    const char *path = NULL;
    bool help = false;
    TRY(read_line(&o, self, argc, argv, &path, &help));
    if (help)
        return 0;
    TRY(options_require(&o, 1, 1));
    TRY(find_model(o.argument[0], &info));
    if (path != NULL)
        return write_new_file(path, info);
    describe_init(stdout, info);
    return 0;
}

static int run_models(const struct command *self, int argc, char **argv)
{
    return options_exit(list_models(self, argc, argv));
}

static int run_describe(const struct command *self, int argc, char **argv)
{
    return options_exit(describe_model(self, argc, argv));
}

static int run_init(const struct command *self, int argc, char **argv)
{
    return options_exit(init_scan(self, argc, argv));
}

static const struct option_row json_option[] = {
    {"json", 0, NULL, "one JSON object instead of text"}, {NULL, 0, NULL, NULL}};
static const struct option_row describe_options[] = {
    [DESCRIBE_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    [DESCRIBE_CONTRACT] = {"contract", 0, NULL,
                           "the error contract alone, and every tolerance with its source"},
    [DESCRIBE_ROWS] = {NULL, 0, NULL, NULL}};
static const struct option_row init_options[] = {
    {"output", 'o', "FILE", "write a new file instead of stdout"}, {NULL, 0, NULL, NULL}};

const struct command models_command = {
    .name = "models",
    .arguments = "",
    .doc = "List the models",
    .options = json_option,
    .run = run_models,
};

const struct command describe_command = {
    .name = "describe",
    .arguments = "MODEL",
    .doc =
        "Every parameter of a model with unit, default, range, meaning; observables; contract",
    .options = describe_options,
    .run = run_describe,
};

const struct command init_command = {
    .name = "init",
    .arguments = "MODEL",
    .doc = "Write a commented example scan of a model",
    .options = init_options,
    .run = run_init,
};
