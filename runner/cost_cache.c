/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/cost_cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hash.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/run.h"
#include "runner/wisdom_cache.h"
#include "runner/wisdom_text.h"

enum {
    KIND_SIZE = COST_FEATURES_MAX * (COST_NAME_SIZE + 2) + 64,
    NUMBER_SIZE = 32,
    NUMBERS_MAX = COST_FEATURES_MAX * (COST_FEATURES_MAX + 2) + 2,
    TEXT_SIZE_MAX = KIND_SIZE + NUMBERS_MAX * NUMBER_SIZE + 128,
    SEEN_LEAST = 8 /* members of a run that are worth keeping */
};

static const char head_format[] = "scanfarm cost 1\nkind %s\ncheck %016" PRIx64 "\n";

void cost_cache_path(const char *folder, const struct cost *cost, char *path, size_t size)
{
    char kind[KIND_SIZE];
    cost_kind(cost, kind, sizeof kind);
    snprintf(path, size, "%s/%s-%016" PRIx64 ".cost", folder,
             scan_model(cost->scan)->info->name, hash_64(kind, strlen(kind)));
}

/* References, then the sums, in one order for reading and writing. */
static int list_numbers(const struct cost *cost, struct cost_sums *sums, double *reference,
                        double **number)
{
    const int n = cost->features;
    int count = 0;
    number[count++] = &sums->weight;
    number[count++] = &sums->square;
    for (int i = 0; i < n; i++) {
        number[count++] = &reference[i];
        number[count++] = &sums->moment[i];
        for (int j = 0; j < n; j++)
            number[count++] = &sums->normal[i][j];
    }
    return count;
}

static bool parse(const char *text, const struct cost *cost, struct cost_sums *sums,
                  double *reference)
{
    char kind[KIND_SIZE];
    char head[KIND_SIZE + 128];
    double *number[NUMBERS_MAX];
    const int count = list_numbers(cost, sums, reference, number);
    cost_kind(cost, kind, sizeof kind);
    const char *body = strstr(text, "\ncheck ");
    body = body == NULL ? NULL : strchr(body + 1, '\n');
    if (body == NULL)
        return false;
    body++;
    snprintf(head, sizeof head, head_format, kind, hash_64(body, strlen(body)));
    if (strncmp(text, head, strlen(head)) != 0)
        return false;
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        *number[i] = strtod(body, &end);
        if (end == body || !isfinite(*number[i]))
            return false;
        body = end;
    }
    return true;
}

bool cost_cache_read(const char *folder, struct cost *cost)
{
    char path[RUN_PATH_SIZE + 256];
    char *text = NULL;
    struct cost_sums sums = {0};
    double reference[COST_FEATURES_MAX] = {0};
    cost_cache_path(folder, cost, path, sizeof path);
    if (wisdom_text_read(path, &text) != 0 || text == NULL)
        return false;
    const bool usable = parse(text, cost, &sums, reference);
    mem_free(text);
    if (usable)
        cost_resume(cost, &sums, reference);
    else
        log_debug("%s is damaged or of another version: not used", path);
    return usable;
}

/* The folder is made without a word when it cannot be made. */
static bool make_folder(const char *folder)
{
    char text[WISDOM_WHY_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = wisdom_cache_try(folder);
    status_capture_restore(saved);
    return rc == 0;
}

bool cost_cache_write(const char *folder, const struct cost *cost)
{
    char path[RUN_PATH_SIZE + 256];
    char kind[KIND_SIZE];
    char body[NUMBERS_MAX * NUMBER_SIZE];
    char text[TEXT_SIZE_MAX];
    double *number[NUMBERS_MAX];
    double reference[COST_FEATURES_MAX];
    struct cost_sums sums = cost->sums;
    size_t used = 0;
    if (cost->seen < SEEN_LEAST || !make_folder(folder))
        return false;
    for (int i = 0; i < cost->features; i++)
        reference[i] = cost->feature[i].reference;
    const int count = list_numbers(cost, &sums, reference, number);
    for (int i = 0; i < count && used < sizeof body; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "%.17g\n", *number[i]);
    cost_kind(cost, kind, sizeof kind);
    const int length =
        snprintf(text, sizeof text, head_format, kind, hash_64(body, strlen(body)));
    snprintf(text + length, sizeof text - (size_t)length, "%s", body);
    cost_cache_path(folder, cost, path, sizeof path);
    return wisdom_text_write(path, text, true);
}
