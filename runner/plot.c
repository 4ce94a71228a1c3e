/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plot.h"

#include <limits.h>
#include <string.h>

#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"

enum {
    ROW_WHAT,
    ROW_OUTPUT,
    ROW_MEMBER,
    ROW_POINT,
    ROW_PLANE,
    ROW_OBSERVABLE,
    ROW_AXIS,
    ROW_X,
    ROW_X_RANGE,
    ROW_LOG_RANGE,
    ROW_LABEL,
    ROW_SIZE,
    ROW_CONTRACT
};

enum { WIDTH_LEAST = 480, HEIGHT_LEAST = 320, SIZE_MOST = 20000 };

static const struct option_row plot_options[] = {
    [ROW_WHAT] =
        {"what", 'w', "KIND",
         "evolution (default), spectrum, coherence, observable, steps, timing or contract"},
    [ROW_OUTPUT] = {"output", 'o', "OUT",
                    "picture: .png, .svg or .pdf (default FILE-KIND.png)"},
    [ROW_MEMBER] = {"member", 'm', "N", "this member (default: the first of the point)"},
    [ROW_POINT] = {"point", 'p', "N", "this point (default 0); repeat for several curves"},
    [ROW_PLANE] = {"plane", 'k', "K", "this saved plane (default: the last)"},
    [ROW_OBSERVABLE] = {"observable", 0, "NAME", "energy, coherence, …"},
    [ROW_AXIS] = {"axis", 0, "NAME", "draw against this scanned parameter, or z"},
    [ROW_X] = {"x", 0, "X", "wavelength (default), frequency or omega"},
    [ROW_X_RANGE] = {"x-range", 0, "LOW:HIGH", "limits of x in nm, THz or rad/fs"},
    [ROW_LOG_RANGE] = {"log-range", 0, "DB", "dB shown below the maximum (default 40)"},
    [ROW_LABEL] = {"label", 'l', "TEXT", "name of a file in the legend; repeat, one a FILE"},
    [ROW_SIZE] = {"size", 0, "WxH", "size in pixels, from 480x320 (default 1100x700)"},
    [ROW_CONTRACT] = {"contract", 0, NULL, "as --what contract"},
    {NULL, 0, NULL, NULL}};

static const char *const kind_names[] = {"evolution", "spectrum", "coherence", "observable",
                                         "steps",     "timing",   "contract",  NULL};
static int (*const kinds[])(struct plot_request *) = {
    plot_evolution, plot_spectrum, plot_coherence, plot_observable,
    plot_steps,     plot_timing,   plot_contract};
static const char *const x_names[] = {"wavelength", "frequency", "omega", NULL};

/* The command line while it is read. */
struct plot_line {
    struct options options;
    struct plot_request request;
    int kind;
    int labels;
    const char *label[PLOT_FILES_MAX];
    char output[PATH_MAX];
};

static int parse_size(const struct options *o, struct picture *picture)
{
    int used = 0;
    /* NOLINTNEXTLINE(cert-err34-c): five digits do not overflow */
    if (sscanf(o->value, "%5dx%5d%n", &picture->width, &picture->height, &used) != 2
        || o->value[used] != '\0' || picture->width < WIDTH_LEAST
        || picture->height < HEIGHT_LEAST || picture->width > SIZE_MOST
        || picture->height > SIZE_MOST)
        FAIL(ERR_ARGUMENT,
             "--size %s: WIDTHxHEIGHT from %dx%d, below which labels have no room, to %dx%d is "
             "wanted",
             o->value, WIDTH_LEAST, HEIGHT_LEAST, SIZE_MOST, SIZE_MOST);
    return 0;
}

static int parse_window(const struct options *o, struct plot_request *request)
{
    int used = 0;
    /* NOLINTNEXTLINE(cert-err34-c): overflow gives infinity, a legal end */
    if (sscanf(o->value, "%lf:%lf%n", &request->window[0], &request->window[1], &used) != 2
        || o->value[used] != '\0' || !(request->window[0] < request->window[1]))
        FAIL(ERR_ARGUMENT, "--x-range %s: LOW:HIGH is wanted, such as 400:1400", o->value);
    request->window_set = true;
    return 0;
}

static int take_label(struct plot_line *line)
{
    if (line->labels == PLOT_FILES_MAX)
        FAIL(ERR_ARGUMENT, "more than %d --label", PLOT_FILES_MAX);
    line->label[line->labels++] = line->options.value;
    return 0;
}

static int take_number(const struct options *o, const char *name, int64_t *out)
{
    long value = 0;
    TRY(options_integer(o, name, 0, 1000000000000000, &value));
    *out = value;
    return 0;
}

static int take_point(struct plot_line *line)
{
    struct plot_request *r = &line->request;
    if (r->points == PLOT_CURVES_MAX)
        FAIL(ERR_ARGUMENT, "more than %d --point", PLOT_CURVES_MAX);
    TRY(take_number(&line->options, "point", &r->point_list[r->points++]));
    r->point = r->point_list[0];
    return 0;
}

static int take_kind(struct plot_line *line, int (*draw)(struct plot_request *))
{
    for (line->kind = 0; kinds[line->kind] != draw;)
        line->kind++;
    return 0;
}

static int take_option(struct plot_line *line, int row)
{
    const struct options *o = &line->options;
    struct plot_request *r = &line->request;
    int x = (int)r->x;
    switch (row) {
    case ROW_WHAT:
        return options_word(o, "what", kind_names, &line->kind);
    case ROW_OUTPUT:
        r->picture.path = o->value;
        return 0;
    case ROW_MEMBER:
        return take_number(o, "member", &r->member);
    case ROW_POINT:
        return take_point(line);
    case ROW_PLANE:
        return options_integer(o, "plane", 0, 1000000000, &r->plane);
    case ROW_OBSERVABLE:
        r->observable = o->value;
        return 0;
    case ROW_AXIS:
        r->axis = o->value;
        return 0;
    case ROW_X:
        TRY(options_word(o, "x", x_names, &x));
        r->x = (enum plot_x)x;
        return 0;
    case ROW_X_RANGE:
        return parse_window(o, r);
    case ROW_LOG_RANGE:
        return options_real(o, "log-range", 1, 400, &r->range);
    case ROW_LABEL:
        return take_label(line);
    case ROW_CONTRACT:
        return take_kind(line, plot_contract);
    default:
        return parse_size(o, &r->picture);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Names of the legend: as given, else the scans' names when they differ, else the files'. */
static void name_sources(struct plot_line *line)
{
    struct plot_request *r = &line->request;
    bool equal = false;
    for (int i = 0; i < r->files; i++)
        for (int j = 0; j < i; j++)
            equal = equal || strcmp(r->source[i].scan, r->source[j].scan) == 0;
    for (int i = 0; i < r->files; i++) {
        struct plot_source *s = &r->source[i];
        const char *label = i < line->labels ? line->label[i]
                            : equal          ? base_name(s->path)
                                             : s->scan;
        snprintf(s->label, sizeof s->label, "%s", label);
    }
}

/* FILE-KIND.png beside the file. */
static int name_output(struct plot_line *line)
{
    struct plot_request *r = &line->request;
    if (r->picture.path == NULL) {
        const char *path = line->options.argument[0];
        const size_t length = strlen(path);
        const bool h5 = length > 3 && strcmp(path + length - 3, ".h5") == 0;
        const int written =
            snprintf(line->output, sizeof line->output, "%.*s-%s.png",
                     (int)(h5 ? length - 3 : length), path, kind_names[line->kind]);
        if (written >= (int)sizeof line->output)
            FAIL(ERR_ARGUMENT, "the picture's name is too long");
        r->picture.path = line->output;
    }
    enum picture_format format;
    return picture_format_of(r->picture.path, &format);
}

/* A shard holds some members of the scan, and no reductions. */
static int check_shard(const struct plot_source *s, const struct plot_request *r, int kind)
{
    if (kinds[kind] == plot_timing || (r->member >= 0 && kinds[kind] != plot_coherence))
        return 0;
    return store_refuse_shard(
        s->store, "a picture is of whole points, or of a single member with --member");
}

/* The members and points asked for exist in every file and do not contradict each other. */
static int check_choice(const struct plot_request *r, int kind)
{
    for (int i = 0; i < r->files; i++) {
        const struct plot_source *s = &r->source[i];
        for (int p = 0; p < r->points; p++)
            if (r->point_list[p] >= s->points)
                FAIL(ERR_ARGUMENT, "%s: point %lld does not exist; the points are 0 to %lld",
                     s->path, (long long)r->point_list[p], (long long)s->points - 1);
        TRY(check_shard(s, r, kind));
        if (r->member >= 0)
            TRY(plot_source_check_member(s, r->member));
        for (int p = 0; p < r->points && r->member >= 0; p++)
            if (r->member / s->realisations != r->point_list[p])
                FAIL(ERR_ARGUMENT,
                     "%s: member %lld belongs to point %lld, not to point %lld; one of "
                     "--member and --point is wanted",
                     s->path, (long long)r->member, (long long)(r->member / s->realisations),
                     (long long)r->point_list[p]);
    }
    return 0;
}

static int draw(struct plot_line *line)
{
    struct plot_request *r = &line->request;
    int rc = 0;
    for (int i = 0; i < line->options.arguments; i++) {
        TRY_OR(rc, done, options_check_file(line->options.argument[i]));
        TRY_OR(rc, done, plot_source_open(line->options.argument[i], &r->source[i]));
        r->files = i + 1;
    }
    name_sources(line);
    TRY_OR(rc, done, check_choice(r, line->kind));
    if (r->points > 1 && kinds[line->kind] != plot_coherence
        && kinds[line->kind] != plot_spectrum)
        TRY_OR(rc, done,
               status_fail(ERR_ARGUMENT, "--what %s takes one --point; %d were given",
                           kind_names[line->kind], r->points));
    TRY_OR(rc, done, kinds[line->kind](r));
    printf("%s\n", r->picture.path);
done:
    for (int i = 0; i < r->files; i++)
        plot_source_close(&r->source[i]);
    return rc;
}

static int plot_files(const struct command *self, int argc, char **argv)
{
    struct plot_line line = {.request = {.member = -1,
                                         .point = -1,
                                         .plane = -1,
                                         .range = 40,
                                         .picture = {.width = 1100, .height = 700}}};
    int row = 0;
    options_begin(&line.options, self, argc, argv);
    TRY(options_next(&line.options, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        TRY(take_option(&line, row));
        TRY(options_next(&line.options, &row));
    }
    if (line.options.arguments > PLOT_FILES_MAX)
        FAIL(ERR_ARGUMENT, "'plot' draws at most %d files into one picture; %d were given",
             PLOT_FILES_MAX, line.options.arguments);
    TRY(options_require(&line.options, 1, PLOT_FILES_MAX));
    if (line.labels > line.options.arguments)
        FAIL(ERR_ARGUMENT, "%d --label for %d files", line.labels, line.options.arguments);
    TRY(name_output(&line));
    return draw(&line);
}

static int run_plot(const struct command *self, int argc, char **argv)
{
    return options_exit(plot_files(self, argc, argv));
}

const struct command plot_command = {
    .name = "plot",
    .arguments = "FILE…",
    .doc = "Draw evolution, spectrum, coherence, an observable, steps, timing or contract: "
           "PNG, SVG, PDF",
    .details =
        "Kinds:\n"
        "  evolution   spectrum and temporal power of a member over z\n"
        "  spectrum    a member's spectrum, or the mean of an ensemble with its single shots\n"
        "  coherence   |g12| and mean spectrum of an ensemble\n"
        "  observable  --observable NAME over --axis NAME; ensemble observables too\n"
        "  steps       step lengths of a member\n"
        "  timing      where each worker's time went\n"
        "  contract    an observable and the errors of the envelope, over one axis or two\n"
        "Several files are drawn into one picture (not for evolution and contract). Needs "
        "gnuplot.\n",
    .options = plot_options,
    .run = run_plot,
};
