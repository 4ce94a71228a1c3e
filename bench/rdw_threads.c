/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From how many samples on the threads of a worker should share a plasma column
 * (kernels/numeric/thresholds.def, column_shares): the response of bench/rdw to its input, by
 * all threads and by one, in turns in one process; the least wall time of each over all rounds.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rdw_case.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define SIZES 6
#define USAGE "options: --threads N --rounds N --rule trapezoid|band --no-skip --isa NAME"

static const long sizes[SIZES] = {16384, 32768, 65536, 131072, 262144, 524288};

struct options {
    int threads, rounds;
    bool trapezoid, no_skip;
    const char *isa;
};

/* One row by one thread, or shared. */
struct side {
    struct backend *be;
    struct rdw rdw;
    struct row_status st;
    double best; /* s */
};

static int side_create(const struct options *o, long points, bool shared, struct side *out)
{
    struct backend_options want = {
        .name = "cpu", .isa = o->isa, .threads = o->threads, .rigour = FFT_ESTIMATE};
    const struct rdw_case c = {.rtol = 1e-5,
                               .points = points,
                               .rule = o->trapezoid ? PLASMA_TRAPEZOID : PLASMA_BAND,
                               .no_skip = o->no_skip};
    *out = (struct side){.st = {.deadline = (double)INFINITY}, .best = (double)INFINITY};
    want.threshold[THRESHOLD_column_shares] = shared ? 1 : 2 * sizes[SIZES - 1];
    want.threshold[THRESHOLD_column_splits] = 1;
    TRY(backend_create(&want, &out->be));
    return rdw_create(&c, out->be, &out->rdw, &out->st);
}

static void side_clear(struct side *s)
{
    rdw_clear(&s->rdw);
    backend_destroy(s->be);
}

/* Samples of the input, V/m. */
static int input(struct side *s, double *samples)
{
    cplx *field;
    TRY(stepper_field(s->rdw.stepper, 0, &field));
    const long n = s->rdw.c.points;
    const long ld = backend_stride(n / 2 + 1, sizeof(cplx));
    cplx *spectrum;
    TRY(s->be->ops->alloc(s->be, ld, sizeof(cplx), (void **)&spectrum));
    memcpy(spectrum, field, (size_t)s->rdw.bins * sizeof *field);
    const struct fft_rows rows = {spectrum, ld, s->rdw.samples, s->rdw.ld_real, 0, 1, NULL};
    const int rc = s->be->ops->fft_execute(s->be, s->rdw.backward, &rows);
    memcpy(samples, s->rdw.samples, (size_t)n * sizeof *samples);
    s->be->ops->release(s->be, spectrum);
    return rc;
}

static int turn(struct side *s, const double *samples)
{
    const double rho = 2e25; /* 0.8 bar */
    const struct response_factors factors = {1.0, 0.0, rho};
    const struct response_rows rows = {.samples = s->rdw.samples, .ld = s->rdw.ld_real};
    memcpy(s->rdw.samples, samples, (size_t)s->rdw.c.points * sizeof *samples);
    const double begin = clock_wall();
    TRY(response_apply(s->rdw.response, 0, &factors, &rows, &s->st));
    s->best = fmin(s->best, clock_wall() - begin);
    return 0;
}

static int measure(const struct options *o, long points)
{
    struct side side[2] = {{0}};
    double *samples;
    int rc = 0;
    TRY(MEM_NEW(points, &samples));
    for (int shared = 0; shared < 2 && rc == 0; shared++)
        rc = side_create(o, points, shared == 1, &side[shared]);
    if (rc == 0)
        rc = input(&side[0], samples);
    for (int round = 0; round < o->rounds && rc == 0; round++)
        for (int k = 0; k < 2 && rc == 0; k++)
            rc = turn(&side[(round + k) % 2], samples);
    if (rc == 0)
        printf("%s{\"n\": %ld, \"whole_us\": %.2f, \"shared_us\": %.2f, \"gain\": %.3f}",
               points == sizes[0] ? "" : ", ", points, 1e6 * side[0].best, 1e6 * side[1].best,
               side[0].best / side[1].best);
    for (int k = 0; k < 2; k++)
        side_clear(&side[k]);
    mem_free(samples);
    return rc;
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option names[] = {
        {"threads", required_argument, NULL, 't'}, {"rounds", required_argument, NULL, 'n'},
        {"rule", required_argument, NULL, 'u'},    {"no-skip", no_argument, NULL, 's'},
        {"isa", required_argument, NULL, 'i'},     {NULL, 0, NULL, 0}};
    *out = (struct options){.threads = 2, .rounds = 1000, .isa = "auto"};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 't':
            out->threads = (int)strtol(optarg, NULL, 10);
            break;
        case 'n':
            out->rounds = (int)strtol(optarg, NULL, 10);
            break;
        case 'u':
            out->trapezoid = strcmp(optarg, "trapezoid") == 0;
            break;
        case 's':
            out->no_skip = true;
            break;
        case 'i':
            out->isa = optarg;
            break;
        default:
            FAIL(ERR_ARGUMENT, USAGE);
        }
    if (optind < argc || out->threads < 2 || out->rounds < 1)
        FAIL(ERR_ARGUMENT, USAGE);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o;
    int rc = parse(argc, argv, &o);
    if (rc == 0)
        printf(
            "{\"threads\": %d, \"rule\": \"%s\", \"no_skip\": %s, \"rounds\": %d, \"sizes\": [",
            o.threads, o.trapezoid ? "trapezoid" : "band", o.no_skip ? "true" : "false",
            o.rounds);
    for (int i = 0; i < SIZES && rc == 0; i++)
        rc = measure(&o, sizes[i]);
    if (rc == 0)
        printf("]}\n");
    return rc == 0 ? EXIT_SUCCESS : status_exit_code(rc);
}
