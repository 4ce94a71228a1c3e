/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fused stage against its FFT floor: CPU time of a right-hand side of the textbook
 * supercontinuum over that of its transforms alone, with the parts (numerics.md §7). Floor and
 * run take turns within one process; run after run a machine's speed changes by more than what
 * is measured. Timers stand in every second slice only: the ratio comes from the others.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/processes.h"
#include "bench/stage_run.h"
#include "kernels/base/status.h"

#define USAGE                                                                                  \
    "options: --rtol X --points N --no-raman --isa NAME --rigour estimate|measure|patient "    \
    "--reference FILE --processes N --json"

struct options {
    struct stage_case c;
    const char *isa;
    const char *reference; /* spectrum that the result is compared with */
    enum fft_rigour rigour;
    int processes;
    bool json;
};

static void print_text(const struct options *o, const struct backend *be,
                       const struct stage_result *r)
{
    printf("case               dudley, n = %ld, %s, self-steepening, rtol %g\n", o->c.points,
           o->c.raman ? "Raman" : "no Raman", o->c.rtol);
    printf("device             %s, %s\n", be->device, be->isa);
    printf("FFT library        %s\n", backend_fft_library());
    printf("right-hand sides   %lld (%lld steps, %lld rejected)\n", r->row.rhs_calls,
           r->row.steps, r->row.rejected);
    printf("transforms         %.3f a right-hand side\n", r->transforms);
    printf("passes             %.3f a trial step\n", r->passes);
    printf("photon number      drift %.2e\n", r->photon_drift);
    if (!isnan(r->error))
        printf("spectral error     %.2e\n", r->error);
    printf("us a right-hand side\n");
    double rest = r->timed_total;
    for (int p = 0; p < TIMED_PARTS; p++) {
        printf("  %-16s %8.2f\n", timed_names[p], r->part[p]);
        rest -= r->part[p];
    }
    printf("  %-16s %8.2f\n", "rest", rest);
    printf("  %-16s %8.2f (%.2f with timers)\n", "total", r->total, r->timed_total);
    printf("  %-16s %8.2f\n", "FFT floor", r->floor);
    printf("ratio              %.3f\n", r->ratio);
}

static void print_json(const struct options *o, const struct backend *be,
                       const struct stage_result *r)
{
    printf("{\"case\": \"dudley\", \"n\": %ld, \"raman\": %s, \"rtol\": %.17g, ", o->c.points,
           o->c.raman ? "true" : "false", o->c.rtol);
    printf("\"device\": \"%s\", \"isa\": \"%s\", \"fft\": \"%s\", ", be->device, be->isa,
           backend_fft_library());
    printf("\"rhs_calls\": %lld, \"steps\": %lld, \"rejected\": %lld, ", r->row.rhs_calls,
           r->row.steps, r->row.rejected);
    printf("\"transforms_per_rhs\": %.6f, \"passes_per_trial\": %.6f, ", r->transforms,
           r->passes);
    printf("\"photon_drift\": %.3e, \"total_us\": %.4f, \"floor_us\": %.4f, ", r->photon_drift,
           r->total, r->floor);
    if (!isnan(r->error))
        printf("\"error\": %.6e, ", r->error);
    for (int p = 0; p < TIMED_PARTS; p++)
        printf("\"%s_us\": %.4f, ", timed_names[p], r->part[p]);
    printf("\"timed_total_us\": %.4f, \"ratio\": %.4f}\n", r->timed_total, r->ratio);
}

static int parse_rigour(const char *text, enum fft_rigour *out)
{
    static const char *const names[] = {"estimate", "measure", "patient"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum fft_rigour)i;
            return 0;
        }
    FAIL(ERR_ARGUMENT, "--rigour %s: estimate, measure or patient is accepted", text);
}

static int check_options(const struct options *o)
{
    if (!(o->c.rtol > 0.0))
        FAIL(ERR_ARGUMENT, "--rtol: a positive number is accepted");
    if (o->c.points < 16 || o->c.points % 2 != 0)
        FAIL(ERR_ARGUMENT, "--points %ld: an even number from 16 on is accepted", o->c.points);
    if (o->processes < 1)
        FAIL(ERR_ARGUMENT, "--processes: a number from 1 on is accepted");
    return 0;
}

static int parse_options(int argc, char **argv, struct options *out)
{
    static const struct option names[] = {{"rtol", required_argument, NULL, 't'},
                                          {"points", required_argument, NULL, 'n'},
                                          {"no-raman", no_argument, NULL, 'k'},
                                          {"isa", required_argument, NULL, 'i'},
                                          {"rigour", required_argument, NULL, 'r'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"processes", required_argument, NULL, 'p'},
                                          {"reference", required_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
    *out = (struct options){.c = {.rtol = 1e-6, .points = 8192, .raman = true},
                            .isa = "auto",
                            .reference = STAGE_REFERENCE,
                            .rigour = FFT_MEASURE,
                            .processes = 1};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (c == 't')
            out->c.rtol = strtod(optarg, NULL);
        else if (c == 'n')
            out->c.points = strtol(optarg, NULL, 10);
        else if (c == 'k')
            out->c.raman = false;
        else if (c == 'i')
            out->isa = optarg;
        else if (c == 'r')
            TRY(parse_rigour(optarg, &out->rigour));
        else if (c == 'f')
            out->reference = optarg;
        else if (c == 'j')
            out->json = true;
        else if (c == 'p')
            out->processes = (int)strtol(optarg, NULL, 10);
        else
            FAIL(ERR_ARGUMENT, USAGE);
    }
    return optind < argc ? status_fail(ERR_ARGUMENT, USAGE) : check_options(out);
}

/* The case in this process. */
static int run_here(const struct options *o)
{
    struct backend *be = NULL;
    struct stage_result result;
    const struct backend_options want = {
        .name = "cpu", .isa = o->isa, .threads = 1, .rigour = o->rigour};
    TRY(backend_create(&want, &be));
    const int rc = stage_run(&o->c, be, o->reference, &result);
    if (rc == 0)
        (o->json ? print_json : print_text)(o, be, &result);
    backend_destroy(be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options options;
    int rc = parse_options(argc, argv, &options);
    if (rc == 0)
        rc = options.processes > 1 ? processes_report(argv, options.processes, options.json)
                                   : run_here(&options);
    return rc == 0 ? EXIT_SUCCESS : status_exit_code(rc);
}
