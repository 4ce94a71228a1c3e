/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/snl1_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int snl1_run(struct snl1 *handle, const struct snl1_group *group, long chunk, int offset,
             struct snl1_results *out)
{
    const long nspec = group->nspec;
    const long nk = group->config.nk;
    const long count = group->npts * nspec;
    const size_t bytes = snl1_scratch_bytes(handle);
    float *const block = malloc(sizeof(float) * (size_t)(2 * count + 64));
    char *const scratch = malloc(bytes + 64);
    int rc = 0;
    *out = (struct snl1_results){.count = count,
                                 .s = block + offset,
                                 .d = block + count + 2 * offset,
                                 .flags = malloc((size_t)group->npts),
                                 .block = block};
    memset(block, 0xff, sizeof(float) * (size_t)(2 * count + 64));
    memset(scratch, 0xff, bytes + 64);
    for (long p = 0; p < group->npts && rc == 0; p += chunk) {
        const struct snl1_batch batch = {.npts =
                                             p + chunk < group->npts ? chunk : group->npts - p,
                                         .nspec = group->nspec,
                                         .nk = group->config.nk,
                                         .a = group->a + p * nspec,
                                         .cg = group->cg + p * nk,
                                         .kdmean = group->kdmean + p,
                                         .s = out->s + p * nspec,
                                         .d = out->d + p * nspec,
                                         .scratch = scratch + offset,
                                         .scratch_bytes = bytes,
                                         .flags = out->flags + p};
        rc = snl1_compute(handle, &batch);
    }
    free(scratch);
    return rc;
}

void snl1_results_clear(struct snl1_results *results)
{
    free(results->block);
    free(results->flags);
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
