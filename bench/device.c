/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A device against the CPU, and against its own transforms (bench/device): trial steps of a
 * batch (device_case.h). One part a call, one line of JSON. Times of a device end on an event
 * that has come, after a turn to warm up.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device_case.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"

#define USAGE                                                                                  \
    "options: --part about|compare|trial|change --backend NAME --rows N --points N --rule "    \
    "none|trapezoid|band --trials N --rounds N --change form|block|recorded|copies|planes "    \
    "--column "                                                                                \
    "auto|rows|tiles --block N --recorded --each --wrong"

#define ROUNDS_MAX 20
#define MANY       (1L << 40)

struct options {
    const char *part, *backend, *rule, *change, *column;
    long rows, points, trials, rounds, block;
    bool recorded, each, wrong;
    enum device_planes planes;
};

/* Of one repetition. */
struct timing {
    double wall;   /* s, until the device was done */
    double device; /* s between events */
    double waited; /* s, by the host within copies */
    double launches, transforms, copies, waits, up_bytes, down_bytes;
};

static enum device_rule rule_of(const char *name)
{
    return strcmp(name, "none") == 0   ? DEVICE_KERR
           : strcmp(name, "band") == 0 ? DEVICE_BAND
                                       : DEVICE_TRAPEZOID;
}

static bool is_one_of(const char *word, const char *const words[3])
{
    return strcmp(word, words[0]) == 0 || strcmp(word, words[1]) == 0
           || strcmp(word, words[2]) == 0;
}

/* A word that is misspelt must not measure something else. */
static int check_words(const struct options *o)
{
    static const char *const rules[3] = {"none", "trapezoid", "band"};
    static const char *const columns[3] = {"auto", "rows", "tiles"};
    if (!is_one_of(o->rule, rules))
        FAIL(ERR_ARGUMENT, "--rule %s: none, trapezoid and band are accepted", o->rule);
    if (!is_one_of(o->column, columns))
        FAIL(ERR_ARGUMENT, "--column %s: auto, rows and tiles are accepted", o->column);
    return 0;
}

static struct device_case case_of(const struct options *o)
{
    return (struct device_case){.rows = o->rows,
                                .points = o->points,
                                .rule = rule_of(o->rule),
                                .recorded = o->recorded,
                                .each = o->each,
                                .planes = o->planes};
}

static int backend_of(const struct options *o, const char *name, struct backend **out)
{
    struct backend_options want = {
        .name = name, .apart = true, .threads = 1, .rigour = FFT_MEASURE};
    if (strcmp(o->column, "auto") != 0)
        want.threshold[THRESHOLD_device_column_rows] =
            strcmp(o->column, "rows") == 0 ? 1 : MANY;
    want.threshold[THRESHOLD_device_block] = o->block;
    return backend_create(&want, out);
}

static struct device_counts counts_of(struct backend *be)
{
    return be->ops->device != NULL ? *be->ops->device->counts(be) : (struct device_counts){0};
}

typedef int work(struct device_run *run);

/* Seconds by the clock and, of a device, between two events. */
static int timed(struct device_run *run, work *what, long count, double *wall, double *device)
{
    const struct device_ops *const d = run->be->ops->device;
    const double start = clock_wall();
    if (d != NULL)
        TRY(d->mark(run->be, 0));
    for (long i = 0; i < count; i++)
        TRY(what(run));
    if (d != NULL) {
        TRY(d->mark(run->be, 1));
        TRY(d->between(run->be, 0, 1, device));
    }
    *wall = clock_wall() - start;
    if (d == NULL)
        *device = *wall;
    return 0;
}

static int measure(struct device_run *run, work *what, long count, struct timing *out)
{
    double wall;
    double device;
    TRY(timed(run, what, 1, &wall, &device)); /* warm */
    const struct device_counts before = counts_of(run->be);
    TRY(timed(run, what, count, &wall, &device));
    const struct device_counts after = counts_of(run->be);
    const double n = (double)count;
    *out = (struct timing){
        .wall = wall / n,
        .device = device / n,
        .waited = (after.waited - before.waited) / n,
        .launches = (double)(after.launches - before.launches) / n,
        .transforms = (double)(after.transforms - before.transforms) / n,
        .copies =
            (double)(after.uploads + after.downloads - before.uploads - before.downloads) / n,
        .waits = (double)(after.waits - before.waits) / n,
        .up_bytes = (double)(after.upload_bytes - before.upload_bytes) / n,
        .down_bytes = (double)(after.download_bytes - before.download_bytes) / n};
    return 0;
}

/* Bytes a second that a copy within the backend's memory reads and writes. */
static int copy_rate(struct device_run *run, double *rate)
{
    const size_t bytes = (size_t)(run->c.rows * run->ld_real) * sizeof(double);
    const struct device_ops *const d = run->be->ops->device;
    double seconds = 0.0;
    const double start = clock_wall();
    for (int i = 0; i < 11; i++) {
        if (d == NULL)
            memmove(run->window, run->samples, bytes);
        else
            TRY(d->copy(run->be, run->window, run->samples, bytes));
        if (d != NULL && i == 0)
            TRY(d->mark(run->be, 0));
    }
    if (d != NULL) {
        TRY(d->mark(run->be, 1));
        TRY(d->between(run->be, 0, 1, &seconds));
    }
    const double one = d != NULL ? seconds / 10.0 : (clock_wall() - start) / 11.0;
    *rate = 2.0 * (double)bytes / one;
    return 0;
}

static void say_machine(const struct backend *be)
{
    printf("\"backend\": \"%s\", \"device\": \"%s\", \"isa\": \"%s\", \"apart\": %s",
           be->ops->name, be->device, be->isa, be->apart ? "true" : "false");
    for (int i = 0; i < THRESHOLDS; i++)
        printf(", \"%s\": %ld", backend_thresholds()[i].name, be->threshold[i]);
}

static int about(const struct options *o)
{
    struct backend *be;
    TRY(backend_of(o, o->backend, &be));
    printf("{\"part\": \"about\", ");
    say_machine(be);
    printf(", \"host_transforms\": \"%s\"}\n", backend_fft_library());
    backend_destroy(be);
    return 0;
}

/* Everything that is timed of one setting. */
struct figures {
    struct timing trial, copies, floor, passes, response;
    double copy_bytes_a_second;
    long long allocated;
};

static int trial_figures(struct device_run *run, long trials, struct figures *out)
{
    TRY(measure(run, device_trial, trials, &out->trial));
    TRY(measure(run, device_copies, trials, &out->copies));
    TRY(device_samples(run));
    TRY(measure(run, device_response, trials, &out->response));
    /* These leave numbers without meaning, and take no longer for that. */
    TRY(measure(run, device_passes, trials, &out->passes));
    TRY(measure(run, device_floor, trials, &out->floor));
    out->allocated = counts_of(run->be).allocated;
    return copy_rate(run, &out->copy_bytes_a_second);
}

static void say_timing(const char *name, const struct timing *t)
{
    printf(", \"%s\": {\"wall_s\": %.6g, \"device_s\": %.6g, \"waited_s\": %.6g, "
           "\"launches\": %g, \"transforms\": %g, \"copies\": %g, \"waits\": %g, "
           "\"up_bytes\": %g, \"down_bytes\": %g}",
           name, t->wall, t->device, t->waited, t->launches, t->transforms, t->copies, t->waits,
           t->up_bytes, t->down_bytes);
}

static void say_figures(const struct options *o, const struct device_run *run,
                        const struct figures *f)
{
    const double passes = device_passes_bytes(run) / f->passes.device;
    const double response = device_response_bytes(run) / f->response.device;
    printf("{\"part\": \"trial\", ");
    say_machine(run->be);
    printf(
        ", \"rows\": %ld, \"points\": %ld, \"bins\": %ld, \"rule\": \"%s\", \"trials\": %ld, "
        "\"recorded\": %s, \"each\": %s",
        o->rows, o->points, run->bins, o->rule, o->trials, o->recorded ? "true" : "false",
        o->each ? "true" : "false");
    say_timing("trial", &f->trial);
    say_timing("copies", &f->copies);
    say_timing("floor", &f->floor);
    say_timing("passes", &f->passes);
    say_timing("response", &f->response);
    printf(", \"member_trials_a_second\": %.6g, \"over_floor\": %.5g, "
           "\"host_s\": %.6g, \"copy_bytes_a_second\": %.5g, \"passes_share\": %.4g, "
           "\"response_share\": %.4g, \"allocated_bytes\": %lld}\n",
           (double)o->rows / f->trial.wall, f->trial.device / f->floor.device,
           f->trial.wall - f->trial.waited, f->copy_bytes_a_second,
           passes / f->copy_bytes_a_second, response / f->copy_bytes_a_second, f->allocated);
}

static int trial(const struct options *o)
{
    const struct device_case c = case_of(o);
    struct device_run run = {0};
    struct figures f;
    struct backend *be;
    int rc;
    TRY(backend_of(o, o->backend, &be));
    TRY_OR(rc, done, device_create(&c, be, &run));
    rc = trial_figures(&run, o->trials, &f);
    if (rc == 0)
        say_figures(o, &run, &f);
    device_clear(&run);
done:
    backend_destroy(be);
    return rc;
}

/* Two settings in turns. */
struct side {
    struct options o;
    struct backend *be;
    struct device_run run;
    double wall[ROUNDS_MAX], device[ROUNDS_MAX];
};

static int side_open(struct side *s)
{
    const struct device_case c = case_of(&s->o);
    TRY(backend_of(&s->o, s->o.backend, &s->be));
    TRY(device_create(&c, s->be, &s->run));
    double wall;
    double device;
    return timed(&s->run, device_trial, 2, &wall, &device);
}

static void side_close(struct side *s)
{
    if (s->run.be != NULL)
        device_clear(&s->run);
    backend_destroy(s->be);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, long n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return 0.5 * (x[n / 2] + x[(n - 1) / 2]);
}

static int sides_set(const struct options *o, struct side *a, struct side *b)
{
    a->o = *o;
    b->o = *o;
    if (strcmp(o->change, "form") == 0) {
        a->o.column = "tiles";
        b->o.column = "rows";
    } else if (strcmp(o->change, "block") == 0) {
        a->o.block = 256;
        b->o.block = 128;
    } else if (strcmp(o->change, "recorded") == 0) {
        b->o.recorded = true;
    } else if (strcmp(o->change, "copies") == 0) {
        a->o.each = true;
    } else if (strcmp(o->change, "planes") == 0) {
        a->o.planes = PLANES_DOWNLOAD;
        b->o.planes = PLANES_FETCH;
    } else {
        FAIL(ERR_ARGUMENT, "--change %s: form, block, recorded, copies and planes are accepted",
             o->change);
    }
    return 0;
}

static int sides_turn(struct side *a, struct side *b, long rounds, long trials)
{
    for (long i = 0; i < rounds; i++) {
        struct side *const first = i % 2 == 0 ? a : b;
        struct side *const second = i % 2 == 0 ? b : a;
        TRY(timed(&first->run, device_trial, trials, &first->wall[i], &first->device[i]));
        TRY(timed(&second->run, device_trial, trials, &second->wall[i], &second->device[i]));
    }
    return 0;
}

static int change(const struct options *o)
{
    struct side a = {.be = NULL};
    struct side b = {.be = NULL};
    int rc;
    if (o->rounds < 1 || o->rounds > ROUNDS_MAX)
        FAIL(ERR_ARGUMENT, "--rounds %ld: 1 to %d", o->rounds, ROUNDS_MAX);
    TRY(sides_set(o, &a, &b));
    TRY_OR(rc, done, side_open(&a));
    TRY_OR(rc, done, side_open(&b));
    TRY_OR(rc, done, sides_turn(&a, &b, o->rounds, o->trials));
    const double n = (double)o->trials;
    const double before = median(a.wall, o->rounds) / n;
    const double after = median(b.wall, o->rounds) / n;
    printf("{\"part\": \"change\", \"change\": \"%s\", \"rows\": %ld, \"points\": %ld, "
           "\"rule\": \"%s\", \"rounds\": %ld, \"trials\": %ld, \"before_s\": %.6g, "
           "\"after_s\": %.6g, \"ratio\": %.5g, \"before_range\": [%.6g, %.6g], "
           "\"after_range\": [%.6g, %.6g]}\n",
           o->change, o->rows, o->points, o->rule, o->rounds, o->trials, before, after,
           after / before, a.wall[0] / n, a.wall[o->rounds - 1] / n, b.wall[0] / n,
           b.wall[o->rounds - 1] / n);
done:
    side_close(&a);
    side_close(&b);
    return rc;
}

/* What a batch looks like on the way. */
#define LOOKS 3 /* N of the input, the state after one step and after eight */

static int looks_take(struct device_run *run, double *out)
{
    const long count = 2 * run->bins * run->c.rows;
    TRY(device_evaluate(run));
    TRY(device_spectra(run, out));
    for (int i = 0; i < 8; i++) {
        TRY(device_trial(run));
        if (i == 0)
            TRY(device_states(run, out + count));
    }
    return device_states(run, out + 2 * count);
}

static int looks_of(const struct options *o, const char *backend, double **out, long *bins)
{
    struct device_case c = case_of(o);
    struct device_run run = {0};
    struct backend *be;
    int rc;
    *out = NULL;
    TRY(backend_of(o, backend, &be));
    c.recorded = c.recorded && be->ops->device != NULL;
    c.wrong = o->wrong && be->ops->device == NULL;
    TRY_OR(rc, done, device_create(&c, be, &run));
    *bins = run.bins;
    rc = MEM_NEW(LOOKS * 2 * run.bins * o->rows, out);
    if (rc == 0)
        rc = looks_take(&run, *out);
    device_clear(&run);
done:
    backend_destroy(be);
    return rc;
}

static double peak_of(const double *x, long n)
{
    double peak = 0.0;
    for (long i = 0; i < n; i++)
        peak = fmax(peak, fabs(x[i]));
    return peak;
}

/* How far the states went from the first step to the eighth, of the peak: else nothing would
 * have been compared. */
static double way_of(const double *looks, long count)
{
    double most = 0.0;
    for (long i = 0; i < count; i++)
        most = fmax(most, fabs(looks[2 * count + i] - looks[count + i]));
    return most / peak_of(looks + count, count);
}

/* Largest error over its bound, of all rows. */
static int look_margin(const struct options *o, int look, long bins, const double *got,
                       const double *want, double *margin)
{
    *margin = 0.0;
    for (long r = 0; r < o->rows; r++) {
        const long at = (look * o->rows + r) * 2 * bins;
        const struct comparison_input in = {
            .value = got + at, .reference = want + at, .n = 2 * bins};
        struct comparison result;
        double limit;
        if (look == 0) { /* two transforms, and what lies between rounds less than they */
            TRY(bound_fft(o->points, &limit));
            TRY(comparison_norm(&in, 2.0 * limit, &result));
        } else {
            struct comparison_input with = in;
            TRY(bound_steps(look == 1 ? 1 : 8, peak_of(in.reference, in.n), &limit));
            with.atol = limit;
            TRY(comparison_run(&with, &result));
        }
        *margin = fmax(*margin, result.margin);
    }
    return 0;
}

static int compare(const struct options *o)
{
    double *got = NULL;
    double *want = NULL;
    double margin[LOOKS];
    long bins = 0;
    int rc;
    TRY_OR(rc, done, looks_of(o, o->backend, &got, &bins));
    TRY_OR(rc, done, looks_of(o, "cpu", &want, &bins));
    bool within = true;
    for (int look = 0; look < LOOKS; look++) {
        TRY_OR(rc, done, look_margin(o, look, bins, got, want, &margin[look]));
        within = within && margin[look] <= 1.0;
    }
    printf("{\"part\": \"compare\", \"rows\": %ld, \"points\": %ld, \"rule\": \"%s\", "
           "\"column\": \"%s\", \"recorded\": %s, \"evaluation\": %.4g, \"one_step\": %.4g, "
           "\"eight_steps\": %.4g, \"way\": %.4g, \"within\": %s}\n",
           o->rows, o->points, o->rule, o->column, o->recorded ? "true" : "false", margin[0],
           margin[1], margin[2], way_of(want, 2 * bins * o->rows), within ? "true" : "false");
    rc = within ? 0 : ERR_DEVICE;
done:
    mem_free(got);
    mem_free(want);
    return rc;
}

static int set_text(struct options *o, int which, const char *text)
{
    const char **const texts[] = {&o->part, &o->backend, &o->rule, &o->change, &o->column};
    long *const numbers[] = {&o->rows, &o->points, &o->trials, &o->rounds, &o->block};
    char *end;
    if (which < 5) {
        *texts[which] = text;
        return 0;
    }
    *numbers[which - 5] = strtol(text, &end, 10);
    if (*end != '\0' || *numbers[which - 5] < 1)
        FAIL(ERR_ARGUMENT, "%s: a number from 1 on is accepted", text);
    return 0;
}

static int options_read(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {
        {"part", required_argument, NULL, 0},   {"backend", required_argument, NULL, 1},
        {"rule", required_argument, NULL, 2},   {"change", required_argument, NULL, 3},
        {"column", required_argument, NULL, 4}, {"rows", required_argument, NULL, 5},
        {"points", required_argument, NULL, 6}, {"trials", required_argument, NULL, 7},
        {"rounds", required_argument, NULL, 8}, {"block", required_argument, NULL, 9},
        {"recorded", no_argument, NULL, 10},    {"each", no_argument, NULL, 11},
        {"wrong", no_argument, NULL, 12},       {0}};
    int which;
    *o = (struct options){.part = "trial",
                          .backend = "auto",
                          .rule = "trapezoid",
                          .change = "form",
                          .column = "auto",
                          .rows = 4,
                          .points = 16384,
                          .trials = 10,
                          .rounds = 5};
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (which == '?')
            FAIL(ERR_ARGUMENT, "%s", USAGE);
        if (which == 10)
            o->recorded = true;
        else if (which == 11)
            o->each = true;
        else if (which == 12)
            o->wrong = true;
        else
            TRY(set_text(o, which, optarg));
    }
    return check_words(o);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct options *o);
    } parts[] = {{"about", about}, {"compare", compare}, {"trial", trial}, {"change", change}};
    struct options o;
    int rc = options_read(argc, argv, &o);
    if (rc != 0)
        return status_exit_code(rc);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(o.part, parts[i].name) == 0)
            return status_exit_code(parts[i].run(&o));
    fprintf(stderr, "%s\n", USAGE);
    return 2;
}
