/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The resonant dispersive wave of bench/rdw through the model `capillary` itself: what making
 * the model and its tables, the kernels, the host's loop and the planes take of a run. CPU time
 * of this thread; the kernels by timers around each launch and transform.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/timed.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/params.h"
#include "kernels/base/status.h"
#include "kernels/model.h"

#define USAGE                                                                                  \
    "options: --rtol X (default: that of the model) --points N --rule none|trapezoid|band "    \
    "--rate adk|ppt --planes N --isa NAME --rigour estimate|measure|patient"

struct options {
    const char *rtol, *rule, *rate, *isa;
    long points, planes;
    enum fft_rigour rigour;
};

/* CPU time, s. */
struct split {
    double layout, plans, create, load, advance, output;
    double wall; /* of advance, by the clock, as the timers' */
    double kernels;
    long planes;
};

struct run {
    const struct model_ops *ops;
    struct params params;
    struct backend *be;
    struct timed timed;
    struct model *model;
    struct row_status st;
    struct plane_buffers buffers;
    void *memory[LAYOUT_ARRAYS_MAX];
    struct split split;
};

/* A value as text, SI. */
static int set(struct params *p, const char *name, const char *text)
{
    const int i = params_find(p, name);
    if (i < 0)
        FAIL(ERR_BUG, "the model has no parameter %s", name);
    const struct param_info *const info = &p->info[i];
    p->values[i].set = false;
    if ((info->flags & PARAM_NONE) != 0
        && (strcmp(text, "none") == 0 || strcmp(text, "auto") == 0))
        return 0;
    if (info->kind == PARAM_BOOL)
        params_set(p, i, strcmp(text, "true") == 0 ? 1.0 : 0.0);
    else if (info->kind != PARAM_CHOICE)
        params_set(p, i, strtod(text, NULL));
    for (int k = 0; info->kind == PARAM_CHOICE && info->choices[k] != NULL; k++)
        if (strcmp(info->choices[k], text) == 0)
            params_set(p, i, k);
    if (!p->values[i].set)
        FAIL(ERR_ARGUMENT, "%s has no choice %s", name, text);
    return 0;
}

static int set_number(struct params *p, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return set(p, name, text);
}

static int set_case(struct params *p, const struct options *o)
{
    static const double band[2] = {90e-9, 4e-6};
    static const struct {
        const char *name, *text;
    } values[] = {{"gas.name", "He"},
                  {"core_radius.constant", "125e-6"},
                  {"length", "1.5"},
                  {"pressure.from", "0.8e5"},
                  {"pressure.to", "0"},
                  {"pulse.duration", "7.5e-15"},
                  {"pulse.energy", "275e-6"},
                  {"pulse.wavelength", "800e-9"},
                  {"guide.wall.index", "1.45"},
                  {"windows.time", "sin2"}};
    for (int i = 0; i < p->count; i++)
        if (p->info[i].fallback != NULL)
            TRY(set(p, p->info[i].name, p->info[i].fallback));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        TRY(set(p, values[i].name, values[i].text));
    if (o->rtol != NULL)
        TRY(set(p, "stepper.rtol", o->rtol));
    TRY(set_number(p, "grid.fine", (double)o->points));
    TRY(set_number(p, "grid.coarse", 0.5 * (double)o->points));
    TRY(set_number(p, "grid.window", (double)o->points * 5e-17));
    TRY(set_number(p, "grid.wavelengths", band[0]));
    struct param_value *const limits = &p->values[params_find(p, "grid.wavelengths")];
    limits->count = 2;
    memcpy(limits->list, band, sizeof band);
    const bool plasma = strcmp(o->rule, "none") != 0;
    TRY(set(p, "plasma.rate", plasma ? o->rate : "none"));
    if (plasma)
        TRY(set(p, "plasma.rule", o->rule));
    p->planes = o->planes == 1 ? (struct plane_request){PLANES_LAST, 1, NULL}
                               : (struct plane_request){PLANES_COUNT, o->planes, NULL};
    return 0;
}

static int make_buffers(struct run *r, const struct plane_layout *layout)
{
    for (int a = 0; a < layout->arrays; a++) {
        const long count = layout_array_count(layout, a);
        TRY(MEM_NEW(2 * count, (double **)&r->memory[a]));
        r->buffers.array[a] = r->memory[a];
    }
    return 0;
}

/* CPU time since the last call. */
static double lap(double *since)
{
    const double now = clock_cpu_thread();
    const double seconds = now - *since;
    *since = now;
    return seconds;
}

static int start(struct run *r, const struct options *o)
{
    struct plane_layout layout;
    const struct seed seed = {0};
    const struct backend_options want = {
        .name = "cpu", .isa = o->isa, .threads = 1, .rigour = o->rigour};
    TRY(params_init(&r->params, r->ops->info->params, r->ops->info->param_count));
    TRY(set_case(&r->params, o));
    TRY(backend_create(&want, &r->be));
    timed_init(&r->timed, r->be);
    double at = clock_cpu_thread();
    TRY(r->ops->layout(&r->params, &layout));
    r->split.layout = lap(&at);
    TRY(make_buffers(r, &layout));
    /* Plans are made once a process: found by a first model, known to the second. */
    at = clock_cpu_thread();
    TRY(r->ops->create(&r->params, &r->timed.base, 1, &r->model));
    r->split.plans = lap(&at);
    r->ops->destroy(r->model);
    at = clock_cpu_thread();
    TRY(r->ops->create(&r->params, &r->timed.base, 1, &r->model));
    r->split.create = lap(&at);
    r->split.plans -= r->split.create;
    r->st = (struct row_status){.deadline = (double)INFINITY};
    TRY(r->ops->load(r->model, 0, &r->params, &seed, NULL, &r->st));
    r->split.load = lap(&at);
    return 0;
}

static int go(struct run *r)
{
    struct run_control control = {0};
    double at = clock_cpu_thread();
    while (r->st.outcome == ROW_RUNNING) {
        r->timed.on = true;
        const double wall = clock_wall();
        TRY(r->ops->advance(r->model, &control, &r->st));
        r->split.wall += clock_wall() - wall;
        r->timed.on = false;
        r->split.advance += lap(&at);
        if (!r->st.plane_ready)
            continue;
        TRY(r->ops->plane(r->model, 0, &r->buffers));
        r->st.plane_ready = false;
        r->split.planes++;
        r->split.output += lap(&at);
    }
    if (r->st.outcome != ROW_DONE)
        FAIL(ERR_BUG, "the run did not end well: %s", r->st.reason);
    for (int p = 0; p < TIMED_PARTS; p++) /* a share of the wall time is one of the CPU time */
        r->split.kernels += r->timed.wall[p] / r->split.wall * r->split.advance;
    return 0;
}

static void print(const struct run *r, const struct options *o)
{
    const struct split *const s = &r->split;
    const double translation = s->create + s->load;
    const double total = translation + s->advance + s->output;
    printf("{\"case\": \"rdw_model\", \"n\": %ld, \"rule\": \"%s\", \"rate\": \"%s\", "
           "\"rtol\": %.17g, \"planes\": %ld, \"isa\": \"%s\", ",
           o->points, o->rule, o->rate, params_real(&r->params, "stepper.rtol"), s->planes,
           r->be->isa);
    printf("\"rhs_calls\": %lld, \"steps\": %lld, \"rejected\": %lld, ", r->st.rhs_calls,
           r->st.steps, r->st.rejected);
    printf("\"plan_s\": %.6g, \"layout_s\": %.6g, \"create_s\": %.6g, \"load_s\": %.6g, ",
           s->plans, s->layout, s->create, s->load);
    printf("\"kernels_s\": %.6g, \"host_s\": %.6g, \"output_s\": %.6g, \"total_s\": %.6g, ",
           s->kernels, s->advance - s->kernels, s->output, total);
    printf("\"plane_us\": %.4f, \"translation_share\": %.5f, \"output_share\": %.5f, "
           "\"observables\": {",
           1e6 * s->output / (double)s->planes, translation / total, s->output / total);
    for (int i = 0; i < r->ops->info->observable_count; i++)
        printf("%s\"%s\": %.17g", i == 0 ? "" : ", ", r->ops->info->observables[i].name,
               r->buffers.observable[i]);
    printf("}}\n");
}

static void clear(struct run *r)
{
    if (r->model != NULL)
        r->ops->destroy(r->model);
    backend_destroy(r->be);
    params_clear(&r->params);
    for (int a = 0; a < LAYOUT_ARRAYS_MAX; a++)
        mem_free(r->memory[a]);
}

static int read_rigour(const char *word, enum fft_rigour *out)
{
    static const char *const names[] = {
        [FFT_ESTIMATE] = "estimate", [FFT_MEASURE] = "measure", [FFT_PATIENT] = "patient"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(word, names[i]) == 0) {
            *out = (enum fft_rigour)i;
            return 0;
        }
    FAIL(ERR_ARGUMENT, USAGE);
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option names[] = {{"rtol", required_argument, NULL, 't'},
                                          {"points", required_argument, NULL, 'n'},
                                          {"rule", required_argument, NULL, 'u'},
                                          {"rate", required_argument, NULL, 'a'},
                                          {"planes", required_argument, NULL, 'p'},
                                          {"isa", required_argument, NULL, 'i'},
                                          {"rigour", required_argument, NULL, 'r'},
                                          {"json", no_argument, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    *out = (struct options){.rule = "band",
                            .rate = "adk",
                            .isa = "auto",
                            .points = 16384,
                            .planes = 201,
                            .rigour = FFT_MEASURE};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        const char **const texts[] = {
            ['t'] = &out->rtol, ['u'] = &out->rule, ['a'] = &out->rate, ['i'] = &out->isa};
        if (c == 'r')
            TRY(read_rigour(optarg, &out->rigour));
        else if (c == 'n')
            out->points = strtol(optarg, NULL, 10);
        else if (c == 'p')
            out->planes = strtol(optarg, NULL, 10);
        else if (c < (int)(sizeof texts / sizeof texts[0]) && texts[c] != NULL)
            *texts[c] = optarg;
        else if (c != 'j') /* the only form */
            FAIL(ERR_ARGUMENT, USAGE);
    }
    if (optind < argc || out->points < 1024 || out->points % 4 != 0 || out->planes < 1)
        FAIL(ERR_ARGUMENT, USAGE);
    return 0;
}

int main(int argc, char **argv)
{
    static struct run run;
    struct options options;
    run.ops = model_find("capillary");
    int rc = parse(argc, argv, &options);
    if (rc == 0)
        rc = start(&run, &options);
    if (rc == 0)
        rc = go(&run);
    if (rc == 0)
        print(&run, &options);
    clear(&run);
    return rc == 0 ? EXIT_SUCCESS : status_exit_code(rc);
}
