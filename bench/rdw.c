/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fused stage of a real field against its FFT floor: CPU time of a right-hand side of a
 * resonant dispersive wave in helium over that of its two transforms alone, with the parts.
 * Floor and run take turns within one process, timers stand in every second slice only, as in
 * bench/stage.c.
 */
#include <getopt.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/floor.h"
#include "bench/processes.h"
#include "bench/rdw_case.h"
#include "bench/timed.h"
#include "kernels/base/clock.h"
#include "kernels/base/status.h"

#define SLICE 0.01 /* s of the run between two looks at the floor */

#define USAGE                                                                                  \
    "options: --rtol X --points N --rule none|trapezoid|band --table --no-skip --isa NAME "    \
    "--rigour estimate|measure|patient --processes N --json"

struct options {
    struct rdw_case c;
    const char *isa;
    enum fft_rigour rigour;
    int processes;
    bool json;
};

/* Slices of one kind: with timers or without. */
struct slices {
    double cpu, wall; /* s */
    long long rhs;
};

struct bench {
    struct timed timed;
    struct floor floor;
    struct slices slices[2]; /* without timers, with */
    struct run_control control;
    struct row_status st;
    struct rdw rdw;
    struct rdw_end end;
};

/* What is printed; microseconds are CPU time of a right-hand side. */
struct figures {
    double total, timed_total, floor, part[TIMED_PARTS];
    double passes, transforms;
};

static int run_slice(struct bench *b, bool timers)
{
    struct slices *s = &b->slices[timers];
    TRY(floor_measure(&b->floor));
    b->timed.on = timers;
    atomic_store(&b->control.stop_at, clock_wall() + SLICE);
    const long long rhs = b->st.rhs_calls;
    const double wall = clock_wall();
    const double cpu = clock_cpu_thread();
    const int rc = stepper_advance(b->rdw.stepper, &b->control, &b->st);
    s->cpu += clock_cpu_thread() - cpu;
    s->wall += clock_wall() - wall;
    s->rhs += b->st.rhs_calls - rhs;
    b->timed.on = false;
    return rc;
}

static int run_member(struct bench *b)
{
    for (bool timers = false; b->st.outcome == ROW_RUNNING; timers = !timers) {
        TRY(run_slice(b, timers));
        if (b->st.plane_ready)
            TRY(rdw_look(&b->rdw, &b->end));
        b->st.plane_ready = false;
    }
    if (b->st.outcome != ROW_DONE)
        FAIL(ERR_BUG, "the run did not end well: %s", b->st.reason);
    return 0;
}

static struct figures evaluate(const struct bench *b)
{
    const struct slices *plain = &b->slices[0];
    const struct slices *timed = &b->slices[1];
    const struct row_status *st = &b->st;
    struct figures f = {.total = 1e6 * plain->cpu / (double)plain->rhs,
                        .timed_total = 1e6 * timed->cpu / (double)timed->rhs,
                        .floor = 1e6 * floor_seconds(&b->floor),
                        .passes = (double)st->passes / (double)(st->steps + st->rejected),
                        .transforms = (double)st->transforms / (double)st->rhs_calls};
    for (int p = 0; p < TIMED_PARTS; p++)
        f.part[p] = b->timed.wall[p] / timed->wall * f.timed_total;
    return f;
}

static const char *rule_name(enum plasma_rule rule)
{
    static const char *const names[] = {"none", "trapezoid", "band"};
    return names[rule];
}

static void print_text(const struct options *o, const struct bench *b)
{
    const struct figures f = evaluate(b);
    const struct backend *be = b->rdw.be;
    printf("case               He RDW, n = %ld, plasma %s, rate by %s, rtol %g\n", o->c.points,
           rule_name(o->c.rule), o->c.table ? "table" : "formula", o->c.rtol);
    printf("device             %s, %s\n", be->device, be->isa);
    printf("FFT library        %s\n", backend_fft_library());
    printf("right-hand sides   %lld (%lld steps, %lld rejected)\n", b->st.rhs_calls,
           b->st.steps, b->st.rejected);
    printf("transforms         %.3f a right-hand side\n", f.transforms);
    printf("passes             %.3f a trial step\n", f.passes);
    printf("at the end         %.2f uJ, %.3f %% below 200 nm, peak %.2f nm, ionised %.4e\n",
           1e6 * b->end.energy, 100.0 * b->end.dispersive, 1e9 * b->end.peak, b->end.ionised);
    printf("us a right-hand side\n");
    double rest = f.timed_total;
    for (int p = 0; p < TIMED_PARTS; p++) {
        printf("  %-16s %8.2f\n", timed_names[p], f.part[p]);
        rest -= f.part[p];
    }
    printf("  %-16s %8.2f\n", "rest", rest);
    printf("  %-16s %8.2f (%.2f with timers)\n", "total", f.total, f.timed_total);
    printf("  %-16s %8.2f\n", "FFT floor", f.floor);
    printf("ratio              %.3f\n", f.total / f.floor);
}

static void print_json(const struct options *o, const struct bench *b)
{
    const struct figures f = evaluate(b);
    const struct backend *be = b->rdw.be;
    printf("{\"case\": \"rdw\", \"n\": %ld, \"rule\": \"%s\", \"table\": %s, \"no_skip\": %s, "
           "\"rtol\": %.17g, ",
           o->c.points, rule_name(o->c.rule), o->c.table ? "true" : "false",
           o->c.no_skip ? "true" : "false", o->c.rtol);
    printf("\"device\": \"%s\", \"isa\": \"%s\", \"fft\": \"%s\", ", be->device, be->isa,
           backend_fft_library());
    printf("\"rhs_calls\": %lld, \"steps\": %lld, \"rejected\": %lld, ", b->st.rhs_calls,
           b->st.steps, b->st.rejected);
    printf("\"transforms_per_rhs\": %.6f, \"passes_per_trial\": %.6f, ", f.transforms,
           f.passes);
    printf("\"energy\": %.9e, \"dispersive\": %.6e, \"ionised\": %.6e, ", b->end.energy,
           b->end.dispersive, b->end.ionised);
    for (int p = 0; p < TIMED_PARTS; p++)
        printf("\"%s_us\": %.4f, ", timed_names[p], f.part[p]);
    printf("\"total_us\": %.4f, \"floor_us\": %.4f, \"timed_total_us\": %.4f, "
           "\"ratio\": %.4f}\n",
           f.total, f.floor, f.timed_total, f.total / f.floor);
}

/* The number of a name in a list that ends with NULL. */
static int choose(const char *option, const char *text, const char *const *names, int *out)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return 0;
        }
    FAIL(ERR_ARGUMENT, "--%s %s is not known; " USAGE, option, text);
}

/* An option without a list of words. */
static int set_option(int c, struct options *out)
{
    switch (c) {
    case 't':
        out->c.rtol = strtod(optarg, NULL);
        return 0;
    case 'n':
        out->c.points = strtol(optarg, NULL, 10);
        return 0;
    case 'b':
        out->c.table = true;
        return 0;
    case 's':
        out->c.no_skip = true;
        return 0;
    case 'i':
        out->isa = optarg;
        return 0;
    case 'j':
        out->json = true;
        return 0;
    case 'p':
        out->processes = (int)strtol(optarg, NULL, 10);
        return 0;
    default:
        FAIL(ERR_ARGUMENT, USAGE);
    }
}

static int parse_options(int argc, char **argv, struct options *out)
{
    static const struct option names[] = {
        {"rtol", required_argument, NULL, 't'},      {"points", required_argument, NULL, 'n'},
        {"rule", required_argument, NULL, 'u'},      {"table", no_argument, NULL, 'b'},
        {"no-skip", no_argument, NULL, 's'},         {"isa", required_argument, NULL, 'i'},
        {"rigour", required_argument, NULL, 'r'},    {"json", no_argument, NULL, 'j'},
        {"processes", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    static const char *const rigours[] = {"estimate", "measure", "patient", NULL};
    static const char *const rules[] = {"none", "trapezoid", "band", NULL};
    int rigour = FFT_PATIENT;
    int rule = PLASMA_BAND;
    *out =
        (struct options){.c = {.rtol = 1e-5, .points = 16384}, .isa = "auto", .processes = 1};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (c == 'u')
            TRY(choose("rule", optarg, rules, &rule));
        else if (c == 'r')
            TRY(choose("rigour", optarg, rigours, &rigour));
        else
            TRY(set_option(c, out));
    }
    out->rigour = (enum fft_rigour)rigour;
    out->c.rule = (enum plasma_rule)rule;
    if (optind < argc || !(out->c.rtol > 0.0) || out->c.points < 1024 || out->c.points % 2 != 0
        || out->processes < 1 || (out->c.no_skip && out->c.table))
        FAIL(ERR_ARGUMENT, USAGE);
    return 0;
}

/* The case in this process. */
static int run_here(const struct options *o)
{
    struct backend *be = NULL;
    static struct bench b;
    const struct backend_options want = {
        .name = "cpu", .isa = o->isa, .threads = 1, .rigour = o->rigour};
    TRY(backend_create(&want, &be));
    int rc;
    timed_init(&b.timed, be);
    b.st = (struct row_status){.deadline = (double)INFINITY};
    TRY_OR(rc, done, floor_create_real(be, o->c.points, &b.floor));
    TRY_OR(rc, done, rdw_create(&o->c, &b.timed.base, &b.rdw, &b.st));
    TRY_OR(rc, done, run_member(&b));
    (o->json ? print_json : print_text)(o, &b);
done:
    rdw_clear(&b.rdw);
    floor_clear(&b.floor);
    backend_destroy(be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options options;
    int rc = parse_options(argc, argv, &options);
    if (rc == 0)
        rc = options.processes > 1 ? processes_report(argv, options.processes, true)
                                   : run_here(&options);
    return rc == 0 ? EXIT_SUCCESS : status_exit_code(rc);
}
