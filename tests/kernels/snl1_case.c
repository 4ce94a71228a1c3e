/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/snl1_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD  0xff /* a float of such bytes is NaN */
#define GUARDS 64

/* Namelists of the reference groups. */
static const struct {
    const char *name;
    int npts;
    struct snl1_config config;
} groups[SNL1_GROUPS] = {
    {"A1",
     56,
     {25, 24, 1.1f, 0.04118f, 0.25f, 2.5e7f, 0.75f, 0.5f, 5.5f, 0.833f, -1.25f, 5.0f, 1}},
    {"B1",
     56,
     {32, 36, 1.1f, 0.0373f, 0.25f, 2.5e7f, 0.75f, 0.5f, 5.5f, 0.833f, -1.25f, 5.0f, 1}},
    {"C1", 55, {9, 8, 1.1f, 0.1f, 0.25f, 2.78e7f, 0.75f, 0.5f, 5.5f, 0.833f, -1.25f, 5.0f, 1}},
    {"D1",
     56,
     {50, 36, 1.07f, 0.035f, 0.25f, 3.0e7f, 0.75f, 0.5f, 5.5f, 0.833f, -1.25f, 5.0f, 1}},
    {"E1", 55, {3, 4, 1.1f, 0.1f, 0.25f, 2.5e7f, 0.75f, 0.5f, 5.5f, 0.833f, -1.25f, 5.0f, 1}},
    {"G1", 56, {24, 30, 1.12f, 0.045f, 0.19f, 2.0e7f, 0.8f, 0.4f, 4.0f, 0.7f, -1.1f, 4.5f, 1}},
};

void *snl1_file(const char *folder, const char *group, const char *file, long size)
{
    char path[512];
    char more;
    snprintf(path, sizeof path, "%s/%s/%s", folder, group, file);
    FILE *const in = fopen(path, "rb");
    void *data = malloc((size_t)size);
    if (in == NULL || data == NULL || fread(data, 1, (size_t)size, in) != (size_t)size
        || fread(&more, 1, 1, in) != 0) {
        fprintf(stderr, "%s: not there, or not of %ld bytes\n", path, size);
        free(data);
        data = NULL;
    }
    if (in != NULL)
        fclose(in);
    return data;
}

int snl1_group_load(const char *folder, int g, struct snl1_group *out)
{
    const struct snl1_config *const c = &groups[g].config;
    const long npts = groups[g].npts;
    const long nspec = (long)c->nk * c->nth;
    const char *const name = groups[g].name;
    *out = (struct snl1_group){
        .name = name,
        .config = *c,
        .npts = (int)npts,
        .nspec = (int)nspec,
        .a = snl1_file(folder, name, "a.f32", 4 * npts * nspec),
        .cg = snl1_file(folder, name, "cg.f32", 4 * npts * c->nk),
        .kdmean = snl1_file(folder, name, "kdmean.f32", 4 * npts),
        .weights = snl1_file(folder, name, "weights.f32", 4 * 21),
        .results = snl1_file(folder, name, "results.u64", 8 * 2 * npts),
        .tables = snl1_file(folder, name, "tables.u64", 8 * 5L),
    };
    return out->a == NULL || out->cg == NULL || out->kdmean == NULL || out->weights == NULL
           || out->results == NULL || out->tables == NULL;
}

void snl1_group_clear(struct snl1_group *group)
{
    free(group->a);
    free(group->cg);
    free(group->kdmean);
    free(group->weights);
    free(group->results);
    free(group->tables);
}

/* FNV-1a over words in place of bytes. */
uint64_t snl1_hash(const void *words, long count, int floats)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (long i = 0; i < count; i++) {
        uint32_t word;
        float value;
        memcpy(&word, (const char *)words + 4 * i, sizeof word);
        memcpy(&value, &word, sizeof value);
        if (floats && isnan(value))
            word = 0x7fc00000;
        hash = (hash ^ word) * 0x100000001b3ULL;
    }
    return hash;
}

/* A copy that begins `offset` floats off the alignment of malloc and ends with its memory, so
 * that a sanitizer sees what is read behind it. `block` is to be freed. */
static const float *copy_off(const float *from, long count, int offset, float **block)
{
    *block = malloc(sizeof(float) * (size_t)(count + offset));
    memcpy(*block + offset, from, sizeof(float) * (size_t)count);
    return *block + offset;
}

/* One call, with input off its alignment. */
static int run_chunk(struct snl1 *handle, const struct snl1_group *group, int offset,
                     struct snl1_batch *batch, long first)
{
    const long nspec = group->nspec;
    const long nk = group->config.nk;
    float *block[3];
    batch->a = copy_off(group->a + first * nspec, batch->npts * nspec, offset, &block[0]);
    batch->cg = copy_off(group->cg + first * nk, batch->npts * nk, offset, &block[1]);
    batch->kdmean = copy_off(group->kdmean + first, batch->npts, offset, &block[2]);
    const int rc = snl1_compute(handle, batch);
    for (int i = 0; i < 3; i++)
        free(block[i]);
    return rc;
}

/* Bytes outside of [begin, begin + size) of a block that are not as they were made. */
static long touched(const void *block, size_t whole, const void *begin, size_t size)
{
    const unsigned char *const all = block;
    const unsigned char *const from = begin;
    long n = 0;
    for (const unsigned char *at = all; at < all + whole; at++)
        n += (at < from || at >= from + size) && *at != GUARD;
    return n;
}

int snl1_run(struct snl1 *handle, const struct snl1_group *group, long chunk, int offset,
             struct snl1_results *out)
{
    const long nspec = group->nspec;
    const size_t count = (size_t)group->npts * (size_t)nspec;
    const size_t bytes = snl1_scratch_bytes(handle);
    const size_t room = sizeof(float) * (count + GUARDS);
    char *const scratch = malloc(bytes + GUARDS);
    int rc = 0;
    *out = (struct snl1_results){.count = (long)count,
                                 .flags = malloc((size_t)group->npts),
                                 .block = {malloc(room), malloc(room)}};
    out->s = out->block[0] + GUARDS / 2 + offset;
    out->d = out->block[1] + GUARDS / 2 + offset;
    memset(out->block[0], GUARD, room);
    memset(out->block[1], GUARD, room);
    memset(scratch, GUARD, bytes + GUARDS);
    for (long p = 0; p < group->npts && rc == 0; p += chunk) {
        struct snl1_batch batch = {.npts = p + chunk < group->npts ? chunk : group->npts - p,
                                   .nspec = group->nspec,
                                   .nk = group->config.nk,
                                   .s = out->s + p * nspec,
                                   .d = out->d + p * nspec,
                                   .scratch = scratch + offset,
                                   .scratch_bytes = bytes,
                                   .flags = out->flags + p};
        rc = run_chunk(handle, group, offset, &batch, p);
    }
    if (touched(out->block[0], room, out->s, sizeof(float) * count) != 0
        || touched(out->block[1], room, out->d, sizeof(float) * count) != 0
        || touched(scratch, bytes + GUARDS, scratch + offset, bytes) != 0) {
        fprintf(stderr, "%s: written beside S, D or the scratch\n", group->name);
        rc = -1;
    }
    free(scratch);
    return rc;
}

void snl1_results_clear(struct snl1_results *results)
{
    free(results->block[0]);
    free(results->block[1]);
    free(results->flags);
}

int snl1_wrong_tables(const struct snl1 *handle, const struct snl1_group *group)
{
    const struct snl1_numbers *const n = snl1_numbers(handle);
    const long nspecx = (long)n->nfrchg * n->nth;
    const long sizes[3] = {8 * nspecx, 8 * nspecx, 16L * group->nspec};
    int32_t *table[3];
    float *const af11 = malloc(sizeof(float) * (size_t)nspecx);
    int wrong = snl1_hash(n->sig, n->nk, 1) != group->tables[0];
    for (long q = 0; q < nspecx; q++)
        af11[q] = n->af11[q / n->nth];
    wrong += snl1_hash(af11, nspecx, 1) != group->tables[1];
    for (int i = 0; i < 3; i++)
        table[i] = malloc(sizeof(int32_t) * (size_t)sizes[i]);
    snl1_addresses(handle, table[0], table[1], table[2]);
    for (int i = 0; i < 3; i++)
        wrong += snl1_hash(table[i], sizes[i], 0) != group->tables[2 + i];
    wrong += snl1_hash(n->dal, 3, 1) != snl1_hash(group->weights, 3, 1);
    wrong += snl1_hash(n->awg, 8, 1) != snl1_hash(group->weights + 3, 8, 1);
    wrong += snl1_hash(n->swg, 8, 1) != snl1_hash(group->weights + 11, 8, 1);
    wrong += snl1_hash(&n->snlc1, 1, 1) != snl1_hash(group->weights + 19, 1, 1);
    wrong += snl1_hash(&n->fachfe, 1, 1) != snl1_hash(group->weights + 20, 1, 1);
    for (int i = 0; i < 3; i++)
        free(table[i]);
    free(af11);
    return wrong;
}

int snl1_wrong_points(const struct snl1_group *group, const struct snl1_results *results)
{
    int wrong = 0;
    for (int p = 0; p < group->npts; p++) {
        const long at = (long)p * group->nspec;
        wrong +=
            snl1_hash(results->s + at, group->nspec, 1) != group->results[p]
            || snl1_hash(results->d + at, group->nspec, 1) != group->results[group->npts + p];
    }
    return wrong;
}

int snl1_different(const struct snl1_group *group, const struct snl1_results *x,
                   const struct snl1_results *y)
{
    int different = 0;
    for (int p = 0; p < group->npts; p++) {
        const long at = (long)p * group->nspec;
        different +=
            snl1_hash(x->s + at, group->nspec, 1) != snl1_hash(y->s + at, group->nspec, 1)
            || snl1_hash(x->d + at, group->nspec, 1) != snl1_hash(y->d + at, group->nspec, 1);
    }
    return different;
}

const char *const snl1_isas[] = {"x86-64", "x86-64-v3", "x86-64-v4", "auto", NULL};

struct snl1 *snl1_handle(const struct snl1_group *group, int arithmetic, const char *isa)
{
    struct snl1 *handle = NULL;
    if (snl1_create(&group->config, NULL, &handle, NULL) != 0)
        return NULL;
    if (snl1_choose(handle, arithmetic, isa) == 0)
        return handle;
    snl1_destroy(handle);
    return NULL;
}

/* splitmix64 */
float snl1_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
}
