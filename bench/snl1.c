/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_snl1 [ROUNDS [POINTS]]: the kernels of SNL1 against a plain translation, interleaved,
 * on one core. Transposition in and out is in all times. CPU time; the ratio is the median over
 * the rounds of ratios of neighbours. S and D of the parity kernels must have the plain ones'
 * bits. Two threads: wall time of a call each, the shortest of the rounds, since it holds
 * whatever else runs on the machine.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/snl1_plain.h"
#include "kernels/models/snl1/sea.h"

#define ROUNDS_MAX 1000
#define THREADS    2

/* Input and output of all kernels. */
struct set {
    long npts;
    long nspec;
    float *a, *cg, *kdmean;
    float *s, *d; /* of the kernel */
    float *s_plain, *d_plain;
    void *scratch[THREADS];
};

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *floats(long count)
{
    float *const x = malloc(sizeof(float) * (size_t)count);
    if (x == NULL)
        exit(3);
    memset(x, 0, sizeof(float) * (size_t)count);
    return x;
}

/* Wind seas and swells of many kinds. Without tails: nothing below 1e-12 of 1. */
static struct set make_set(const struct snl1 *handle, long npts, int tails)
{
    const struct snl1_numbers *const n = snl1_numbers(handle);
    const long nspec = (long)n->nk * n->nth;
    const struct snl1_grid grid = {n->nk, n->nth, 1.1, n->sig};
    struct set set = {.npts = npts,
                      .nspec = nspec,
                      .a = floats(npts * nspec),
                      .cg = floats(npts * n->nk),
                      .kdmean = floats(npts),
                      .s = floats(npts * nspec),
                      .d = floats(npts * nspec),
                      .s_plain = floats(npts * nspec),
                      .d_plain = floats(npts * nspec)};
    for (int t = 0; t < THREADS; t++)
        set.scratch[t] = floats((long)(snl1_scratch_bytes(handle) / sizeof(float)) + 1);
    for (long p = 0; p < npts; p++) {
        const struct snl1_sea sea = {
            .depth = 5.0 * pow(1000.0, (double)(p % 11) / 10.0),
            .sea = {1.0 + (double)(p % 7), 0.06 + 0.02 * (double)(p % 9), 3.3,
                    2.0 + (double)(p % 13), 0.1 * (double)p},
            .swell = {p % 3 == 0 ? 1.5 : 0.0, 0.055, 5.0, 15.0, 0.37 * (double)p}};
        snl1_sea_fill(&grid, &sea, set.a + p * nspec, set.cg + p * n->nk, set.kdmean + p);
    }
    for (long i = 0; !tails && i < npts * nspec; i++)
        set.a[i] += 1e-6f;
    return set;
}

static void clear_set(struct set *set)
{
    free(set->a);
    free(set->cg);
    free(set->kdmean);
    free(set->s);
    free(set->d);
    free(set->s_plain);
    free(set->d_plain);
    for (int t = 0; t < THREADS; t++)
        free(set->scratch[t]);
}

static double time_plain(struct plain *plain, struct set *set, int32_t nk)
{
    const double begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (long p = 0; p < set->npts; p++)
        plain_point(plain, set->a + p * set->nspec, set->cg + p * nk, set->kdmean[p],
                    set->s_plain + p * set->nspec, set->d_plain + p * set->nspec);
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* One thread's share of the points. */
struct share {
    struct snl1 *handle;
    struct snl1_batch batch;
};

static struct share share_of(struct snl1 *handle, const struct set *set, int part, int parts)
{
    const int32_t nk = snl1_numbers(handle)->nk;
    const long first = set->npts * part / parts;
    const long past = set->npts * (part + 1) / parts;
    return (struct share){handle,
                          {.npts = past - first,
                           .nspec = (int32_t)set->nspec,
                           .nk = nk,
                           .a = set->a + first * set->nspec,
                           .cg = set->cg + first * nk,
                           .kdmean = set->kdmean + first,
                           .s = set->s + first * set->nspec,
                           .d = set->d + first * set->nspec,
                           .scratch = set->scratch[part],
                           .scratch_bytes = snl1_scratch_bytes(handle)}};
}

static void *compute(void *argument)
{
    struct share *const share = argument;
    if (snl1_compute(share->handle, &share->batch) != 0)
        exit(1);
    return NULL;
}

static double time_kernel(struct snl1 *handle, const struct set *set)
{
    struct share all = share_of(handle, set, 0, 1);
    const double begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    compute(&all);
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* Wall time of all points by threads, their start and end included. */
static double time_threads(struct snl1 *handle, const struct set *set)
{
    pthread_t thread[THREADS];
    struct share share[THREADS];
    const double begin = seconds_of(CLOCK_MONOTONIC);
    for (int t = 0; t < THREADS; t++) {
        share[t] = share_of(handle, set, t, THREADS);
        if (pthread_create(&thread[t], NULL, compute, &share[t]) != 0)
            exit(3);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return seconds_of(CLOCK_MONOTONIC) - begin;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, ascending);
    return x[count / 2];
}

static int same_bits(const struct set *set)
{
    const size_t bytes = sizeof(float) * (size_t)(set->npts * set->nspec);
    return memcmp(set->s, set->s_plain, bytes) == 0 && memcmp(set->d, set->d_plain, bytes) == 0;
}

/* One kernel against the plain code; 1 when its bits are wrong. */
static int measure(struct snl1 *handle, struct plain *plain, struct set *set, int rounds,
                   int parity)
{
    static double ours[ROUNDS_MAX];
    static double theirs[ROUNDS_MAX];
    static double ratio[ROUNDS_MAX];
    const int32_t nk = snl1_numbers(handle)->nk;
    double shortest = (double)INFINITY;
    for (int r = -3; r < rounds; r++) {
        const double plain_time = time_plain(plain, set, nk);
        const double kernel_time = time_kernel(handle, set);
        const double threads_time = time_threads(handle, set);
        if (r < 0)
            continue;
        ours[r] = kernel_time;
        theirs[r] = plain_time;
        ratio[r] = plain_time / kernel_time;
        shortest = fmin(shortest, threads_time);
    }
    const double scale = 1e6 / (double)set->npts;
    const int wrong = parity && !same_bits(set);
    printf("  %-24s %8.2f us a point, plain %8.2f, ratio %5.2f; %d threads %8.2f%s\n",
           snl1_kernel(handle), scale * median(ours, rounds), scale * median(theirs, rounds),
           median(ratio, rounds), THREADS, scale * shortest,
           wrong    ? "  WRONG BITS"
           : parity ? ", bits equal"
                    : "");
    return wrong;
}

int main(int argc, char **argv)
{
    static const char *const isas[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20;
    const long npts = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    struct snl1_config config;
    struct snl1 *handle;
    int wrong = 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || npts < 1)
        return 2;
    if (snl1_defaults(SNL1_ST4, &config) != 0 || snl1_create(&config, NULL, &handle, NULL) != 0)
        return 1;
    struct plain *const plain = plain_create(handle);
    printf("SNL1, nk %d, nth %d, %ld points, %d rounds\n", config.nk, config.nth, npts, rounds);
    for (int tails = 0; tails < 2; tails++) {
        struct set set = make_set(handle, npts, tails);
        printf("%s\n", tails ? "spectra with sub-normal tails" : "spectra without sub-normals");
        for (int arithmetic = SNL1_PARITY; arithmetic <= SNL1_FAST; arithmetic++)
            for (int i = 0; i < 3; i++)
                if (snl1_choose(handle, arithmetic, isas[i]) == 0)
                    wrong |= measure(handle, plain, &set, rounds, arithmetic == SNL1_PARITY);
        clear_set(&set);
    }
    plain_destroy(plain);
    snl1_destroy(handle);
    return wrong;
}
