/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --list`: what the cache holds, and what of it counts on this machine. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"
#include "runner/tune.h"
#include "runner/wisdom_cache.h"

/* One backend for each rigour asked about, and the key of this machine. */
struct prober {
    struct backend *be[2]; /* patient, measure */
    struct wisdom_key here;
};

static void prober_clear(struct prober *p)
{
    backend_destroy(p->be[0]);
    backend_destroy(p->be[1]);
}

static int prober_init(struct prober *p)
{
    static const enum fft_rigour rigours[2] = {FFT_PATIENT, FFT_MEASURE};
    memset(p, 0, sizeof *p);
    for (int i = 0; i < 2; i++) {
        const struct backend_options options = {
            .name = "cpu", .threads = 1, .rigour = rigours[i]};
        TRY(backend_create(&options, &p->be[i]));
    }
    wisdom_cache_key(p->be[0], 0, &p->here);
    return 0;
}

/* Word for the rigour of each transform of a file; NULL: it holds no plan of it. */
static int probe(const struct prober *p, const struct wisdom_file *file,
                 const char *word[TUNE_KINDS])
{
    struct backend *be = NULL;
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE, .wisdom = file->text};
    backend_forget_wisdom();
    TRY(backend_create(&options, &be));
    backend_destroy(be);
    for (int k = 0; k < TUNE_KINDS; k++) {
        word[k] = NULL;
        for (int i = 0; i < 2 && word[k] == NULL; i++) {
            bool known = false;
            TRY(backend_has_wisdom(p->be[i], (enum fft_kind)k, file->key.n, &known));
            if (known)
                word[k] = tune_rigour_name(p->be[i]->rigour);
        }
    }
    return 0;
}

static void write_json(const struct wisdom_file *file, bool here, const char *const *word,
                       bool first)
{
    printf("%s{\"file\":", first ? "" : ",");
    json_text(stdout, file->name);
    printf(",\"damaged\":%s,\"this_machine\":%s", file->damaged ? "true" : "false",
           here ? "true" : "false");
    if (!file->damaged) {
        printf(",\"points\":%ld,\"library\":", file->key.n);
        json_text(stdout, file->key.library);
        printf(",\"cpu\":");
        json_text(stdout, file->key.cpu);
    }
    if (here) {
        printf(",\"transforms\":{");
        const char *separator = "";
        for (int k = 0; k < TUNE_KINDS; k++) {
            if (word[k] == NULL)
                continue;
            printf("%s\"%s\":\"%s\"", separator, tune_kind_name((enum fft_kind)k), word[k]);
            separator = ",";
        }
        printf("}");
    }
    printf("}");
}

static void write_text(const struct wisdom_file *file, bool here, const char *const *word)
{
    if (file->damaged) {
        printf("  %s: damaged, ignored\n", file->name);
        return;
    }
    printf("  %9ld points", file->key.n);
    if (!here)
        printf("  not for this machine: %s, %s", file->key.cpu, file->key.library);
    const char *separator = "  ";
    for (int k = 0; here && k < TUNE_KINDS; k++) {
        if (word[k] == NULL)
            continue;
        printf("%s%s: %s", separator, tune_kind_name((enum fft_kind)k), word[k]);
        separator = "; ";
    }
    printf("\n");
}

static int write_files(const struct prober *p, const struct wisdom_file *files, int count,
                       bool json)
{
    for (int i = 0; i < count; i++) {
        const char *word[TUNE_KINDS] = {NULL};
        const bool here = !files[i].damaged && wisdom_key_same_machine(&files[i].key, &p->here);
        if (here)
            TRY(probe(p, &files[i], word));
        if (json)
            write_json(&files[i], here, word, i == 0);
        else
            write_text(&files[i], here, word);
    }
    return 0;
}

int tune_list(const char *folder, bool json)
{
    struct prober prober = {0};
    struct wisdom_file *files = NULL;
    int count = 0;
    int rc = 0;
    TRY(wisdom_cache_list(folder, &files, &count));
    TRY_OR(rc, done, prober_init(&prober));
    if (json) {
        printf("{\"folder\":");
        json_text(stdout, folder);
        printf(",\"files\":[");
    } else if (count == 0) {
        printf("no wisdom in %s\n", folder);
    } else {
        printf("%s (%s, %s)\n", folder, prober.here.cpu, prober.here.library);
    }
    TRY_OR(rc, done, write_files(&prober, files, count, json));
    if (json)
        printf("]}\n");
done:
    prober_clear(&prober);
    wisdom_cache_list_free(files, count);
    return rc;
}
