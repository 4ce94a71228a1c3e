/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/sections.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/text.h"

#define WHERE_SIZE 96

/* ensemble */

static const char *const noises[] = {"one_photon", "half_photon_gaussian", "direct", NULL};

static int read_realisations(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    r->scan->ensemble.counted = true;
    return value_int(r, where, node, 1, SCAN_MEMBERS_MAX, &r->scan->ensemble.realisations);
}

static int read_seed(struct reader *r, const char *where, const struct node *node)
{
    const char *text = NULL;
    r->scan->ensemble.present = true;
    TRY(value_text(r, where, node, "a whole number", &text));
    if (!number_unsigned(text, &r->scan->ensemble.seed))
        return value_fail(r, node, "%s: '%.60s' is not a whole number from 0 to 2^64 - 1",
                          where, text);
    return 0;
}

static int read_noise(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    if (!r->scan->info->takes_noise)
        return value_fail(r, node, "%s: model %s has no noise; leave the key out", where,
                          r->scan->info->name);
    int index = 0;
    TRY(value_word(r, where, node, noises, &index));
    r->scan->ensemble.noise = (enum noise_kind)((int)NOISE_ONE_PHOTON + index);
    return 0;
}

static int read_common(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    return value_bool(r, where, node, &r->scan->ensemble.common);
}

static int read_onto_noise(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    return value_bool(r, where, node, &r->scan->ensemble.onto_noise);
}

static void write_realisations(const struct scan *scan, struct text *out)
{
    if (scan->ensemble.present && scan->ensemble.until.kind == UNTIL_NONE)
        text_add(out, "%lld", (long long)scan->ensemble.realisations);
}

static void write_seed(const struct scan *scan, struct text *out)
{
    if (scan->ensemble.present)
        text_add(out, "%llu", (unsigned long long)scan->ensemble.seed);
}

static void write_noise(const struct scan *scan, struct text *out)
{
    if (scan->ensemble.present && scan->ensemble.noise != NOISE_NONE)
        text_add(out, "%s", noises[(int)scan->ensemble.noise - (int)NOISE_ONE_PHOTON]);
}

static void write_common(const struct scan *scan, struct text *out)
{
    if (scan->ensemble.present)
        text_add(out, "%s", scan->ensemble.common ? "true" : "false");
}

/* Only where it says something: without it a form stays what it was. */
static void write_onto_noise(const struct scan *scan, struct text *out)
{
    if (scan->ensemble.present && scan->ensemble.onto_noise)
        text_add(out, "true");
}

/* save */

static const char *const fields[] = {"false", "true", "float32", NULL};

static int read_positions(struct reader *r, const char *where, const struct node *list,
                          struct plane_request *out, double **positions)
{
    if (list->count == 0)
        return value_fail(r, list, "%s: the list is empty; at least one position is wanted",
                          where);
    mem_free(*positions);
    TRY(MEM_NEW(list->count, positions));
    const char *unit =
        r->scan->info->progress_unit != NULL ? r->scan->info->progress_unit : "1";
    long n = 0;
    for (const struct node *child = list->first; child != NULL; child = child->next, n++) {
        double *position = &(*positions)[n];
        TRY(value_real(r, where, child, unit, position));
        if (*position < 0.0)
            return value_fail(r, child, "%s: position %s is below 0", where, child->text);
        if (n > 0 && !(*position > position[-1]))
            return value_fail(r, child,
                              "%s: position %s does not lie above the one before; "
                              "positions must ascend",
                              where, child->text);
    }
    *out = (struct plane_request){.kind = PLANES_LIST, .count = n, .positions = *positions};
    return 0;
}

static int read_plane_request(struct reader *r, const char *where, const struct node *node,
                              struct plane_request *out, double **positions)
{
    if (node->kind == NODE_LIST)
        return read_positions(r, where, node, out, positions);
    if (value_is(node, "last")) {
        *out = (struct plane_request){.kind = PLANES_LAST, .count = 1};
        return 0;
    }
    const char *text = NULL;
    TRY(value_text(r, where, node, "a number of planes, a list of positions or last", &text));
    if (strcmp(text, "1") == 0)
        return value_fail(r, node,
                          "%s: 1 plane cannot include both ends; at least 2, or last "
                          "for the end alone",
                          where);
    if (number_length(text) == 0)
        return value_fail(r, node,
                          "%s: '%.60s' is not a number of planes, a list of positions "
                          "or last",
                          where, text);
    int64_t count = 0;
    TRY(value_int(r, where, node, 2, PLANES_MAX, &count));
    *out = (struct plane_request){.kind = PLANES_COUNT, .count = (long)count};
    return 0;
}

static int read_planes(struct reader *r, const char *where, const struct node *node)
{
    return read_plane_request(r, where, node, &r->scan->save.planes, &r->scan->positions);
}

static int read_field(struct reader *r, const char *where, const struct node *node)
{
    int index = 0;
    TRY(value_word(r, where, node, fields, &index));
    r->scan->save.field = (enum scan_field)index;
    return 0;
}

static int read_observables(struct reader *r, const char *where, const struct node *node)
{
    struct scan_save *save = &r->scan->save;
    const struct model_info *info = r->scan->info;
    save->all_observables = value_is(node, "all");
    memset(save->observable, save->all_observables, sizeof save->observable);
    if (save->all_observables)
        return 0;
    struct names names = {0};
    for (int i = 0; i < info->observable_count; i++)
        names_add(&names, info->observables[i].name);
    if (node->kind != NODE_LIST || node->count == 0) {
        char list[512];
        nearest_list(names.name, list, sizeof list);
        return value_fail(r, node, "%s: accepted: all, or a list of: %s", where, list);
    }
    for (const struct node *child = node->first; child != NULL; child = child->next) {
        int index = 0;
        TRY(value_word(r, where, child, names.name, &index));
        if (save->observable[index])
            return value_fail(r, child, "%s: '%s' is named twice", where, child->text);
        save->observable[index] = true;
    }
    return 0;
}

static void write_plane_request(const struct plane_request *planes, struct text *out)
{
    if (planes->kind == PLANES_LAST)
        text_add(out, "last");
    else if (planes->kind == PLANES_COUNT)
        text_add(out, "%ld", planes->count);
    for (long i = 0; planes->kind == PLANES_LIST && i < planes->count; i++) {
        char number[NUMBER_SIZE];
        number_write(planes->positions[i], number);
        text_add(out, "%s%s%s", i == 0 ? "[" : ", ", number, i == planes->count - 1 ? "]" : "");
    }
}

static void write_planes(const struct scan *scan, struct text *out)
{
    write_plane_request(&scan->save.planes, out);
}

static void write_field(const struct scan *scan, struct text *out)
{
    text_add(out, "%s", fields[scan->save.field]);
}

static void write_observables(const struct scan *scan, struct text *out)
{
    if (scan->save.all_observables) {
        text_add(out, "all");
        return;
    }
    bool first = true;
    for (int i = 0; i < scan->info->observable_count; i++) {
        if (!scan->save.observable[i])
            continue;
        text_add(out, "%s%s", first ? "[" : ", ", scan->info->observables[i].name);
        first = false;
    }
    text_add(out, "]");
}

/* resources */

static int read_worker(struct reader *r, const char *where, const struct node *node)
{
    static const char *const words[] = {"core", "socket", "gpu", NULL};
    struct scan_resources *resources = &r->scan->resources;
    resources->threads = 0;
    if (node->kind != NODE_MAP) {
        int index = 0;
        TRY(value_word(r, where, node, words, &index));
        resources->worker = (enum scan_worker)index;
        return 0;
    }
    const struct node *threads = node->first;
    if (node->count != 1 || strcmp(threads->key, "threads") != 0)
        return value_fail(r, node, "%s: accepted: core, socket, gpu, {threads: N}", where);
    int64_t count = 0;
    TRY(value_int(r, "resources.worker.threads", threads, 1, 65536, &count));
    resources->worker = WORKER_THREADS;
    resources->threads = (int)count;
    return 0;
}

static int read_memory(struct reader *r, const char *where, const struct node *node)
{
    r->scan->resources.memory = 0.0;
    if (value_is(node, "none"))
        return 0;
    const char *text = NULL;
    TRY(value_text(r, where, node, "none or a size such as 4 GB", &text));
    char why[UNITS_WHY_SIZE] = "";
    const int rc = units_bytes(text, &r->scan->resources.memory, why);
    if (rc == ERR_PARSE)
        return value_fail(r, node, "%s: %s; accepted: none, 4 GB, 500 MiB", where, why);
    TRY(rc);
    if (!(r->scan->resources.memory >= 1.0))
        return value_fail(r, node, "%s: %s is out of range; accepted: above 0, or none", where,
                          text);
    return 0;
}

static void write_worker(const struct scan *scan, struct text *out)
{
    static const char *const words[] = {"core", "socket", "gpu"};
    if (scan->resources.worker == WORKER_THREADS)
        text_add(out, "{threads: %d}", scan->resources.threads);
    else
        text_add(out, "%s", words[scan->resources.worker]);
}

static void write_number_or_none(double value, struct text *out)
{
    char number[NUMBER_SIZE] = "none";
    if (value != 0.0)
        number_write(value, number);
    text_add(out, "%s", number);
}

static void write_memory(const struct scan *scan, struct text *out)
{
    write_number_or_none(scan->resources.memory, out);
}

/* limits */

static int read_timeout(struct reader *r, const char *where, const struct node *node)
{
    struct scan_limits *limits = &r->scan->limits;
    limits->timeout = 0.0;
    limits->times_median = 0.0;
    if (value_is(node, "none"))
        return 0;
    if (node->kind != NODE_MAP) {
        TRY(value_real(r, where, node, "s", &limits->timeout));
        if (!(limits->timeout > 0.0))
            return value_fail(r, node, "%s: %s is out of range; accepted: above 0 s, or none",
                              where, node->text);
        return 0;
    }
    if (node->count != 1 || strcmp(node->first->key, "times_median") != 0)
        return value_fail(r, node, "%s: accepted: none, 10 min, {times_median: 5}", where);
    TRY(value_real(r, "limits.timeout.times_median", node->first, "1", &limits->times_median));
    if (!(limits->times_median > 1.0))
        return value_fail(r, node->first,
                          "limits.timeout.times_median: %s is out of range; "
                          "accepted: above 1",
                          node->first->text);
    return 0;
}

static int read_attempts(struct reader *r, const char *where, const struct node *node)
{
    int64_t attempts = 0;
    TRY(value_int(r, where, node, 1, 1000, &attempts));
    r->scan->limits.attempts = (int)attempts;
    return 0;
}

static void write_timeout(const struct scan *scan, struct text *out)
{
    char number[NUMBER_SIZE];
    number_write(scan->limits.times_median, number);
    if (scan->limits.times_median != 0.0)
        text_add(out, "{times_median: %s}", number);
    else
        write_number_or_none(scan->limits.timeout, out);
}

static void write_attempts(const struct scan *scan, struct text *out)
{
    text_add(out, "%d", scan->limits.attempts);
}

/* store */

static int read_sync(struct reader *r, const char *where, const struct node *node)
{
    static const char *const words[] = {"never", "member", NULL};
    int index = 0;
    TRY(value_word(r, where, node, words, &index));
    r->scan->store.sync = (enum scan_sync)index;
    return 0;
}

static int read_checkpoint(struct reader *r, const char *where, const struct node *node)
{
    TRY(value_real(r, where, node, "s", &r->scan->store.checkpoint));
    if (!(r->scan->store.checkpoint > 0.0))
        return value_fail(r, node, "%s: %s is out of range; accepted: above 0 s", where,
                          node->text);
    return 0;
}

static int read_history(struct reader *r, const char *where, const struct node *node)
{
    int64_t history = 0;
    TRY(value_int(r, where, node, 0, PLANES_MAX, &history));
    r->scan->store.history = (long)history;
    r->scan->history_given = true;
    return 0;
}

static void write_sync(const struct scan *scan, struct text *out)
{
    text_add(out, "%s", scan->store.sync == SYNC_MEMBER ? "member" : "never");
}

static void write_checkpoint(const struct scan *scan, struct text *out)
{
    write_number_or_none(scan->store.checkpoint, out);
}

static void write_history(const struct scan *scan, struct text *out)
{
    text_add(out, "%ld", scan->store.history);
}

/* envelope: planes (the other keys are in envelope.c) */

static int read_envelope_planes(struct reader *r, const char *where, const struct node *node)
{
    return read_plane_request(r, where, node, &r->scan->envelope.planes,
                              &r->scan->envelope_positions);
}

static void write_envelope_planes(const struct scan *scan, struct text *out)
{
    if (scan->envelope.planes.count > 0)
        write_plane_request(&scan->envelope.planes, out);
}

/* The table: every key of every section */

static const struct section_key keys[] = {
    {"ensemble", "realisations", read_realisations, write_realisations},
    {"ensemble", "seed", read_seed, write_seed},
    {"ensemble", "noise", read_noise, write_noise},
    {"ensemble", "common", read_common, write_common},
    {"ensemble", "onto_noise", read_onto_noise, write_onto_noise},
    {"ensemble", "until", until_read, until_write},
    {"ensemble", "min", until_read_min, until_write_min},
    {"ensemble", "max", until_read_max, until_write_max},
    {"save", "planes", read_planes, write_planes},
    {"save", "field", read_field, write_field},
    {"save", "observables", read_observables, write_observables},
    {"envelope", "reference", envelope_read_reference, envelope_write_reference},
    {"envelope", "factor", envelope_read_factor, envelope_write_factor},
    {"envelope", "safety", envelope_read_safety, envelope_write_safety},
    {"envelope", "norm", envelope_read_norm, envelope_write_norm},
    {"envelope", "planes", read_envelope_planes, write_envelope_planes},
    {"envelope", "tolerance", envelope_read_tolerance, envelope_write_tolerance},
    {"envelope", "sample", envelope_read_sample, envelope_write_sample},
    {"envelope", "gain", envelope_read_gain, envelope_write_gain},
    {"resources", "worker", read_worker, write_worker},
    {"resources", "memory", read_memory, write_memory},
    {"limits", "timeout", read_timeout, write_timeout},
    {"limits", "attempts", read_attempts, write_attempts},
    {"store", "sync", read_sync, write_sync},
    {"store", "checkpoint", read_checkpoint, write_checkpoint},
    {"store", "history", read_history, write_history},
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

void section_defaults(struct scan *scan)
{
    scan->ensemble = (struct scan_ensemble){.realisations = 1, .seed = 1};
    scan->ensemble.noise = scan->info->takes_noise ? NOISE_ONE_PHOTON : NOISE_NONE;
    const struct plane_request many = {.kind = PLANES_COUNT, .count = 51};
    const struct plane_request one = {.kind = PLANES_LAST, .count = 1};
    scan->save = (struct scan_save){.planes = scan->info->single_plane ? one : many,
                                    .field = SAVE_FIELD_YES,
                                    .all_observables = true};
    memset(scan->save.observable, true, sizeof scan->save.observable);
    scan->envelope = (struct scan_envelope){.factor = 10.0, .safety = 4.0, .gain = -1.0};
    snprintf(scan->envelope.norm, sizeof scan->envelope.norm, "field_l2");
    snprintf(scan->envelope.sample, sizeof scan->envelope.sample, "all");
    scan->limits.attempts = 2;
    scan->store = (struct scan_store){.sync = SYNC_MEMBER, .checkpoint = 60.0};
}

static int fail_key(struct reader *r, const char *section, const char *key,
                    const struct node *node)
{
    struct names names = {0};
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].section, section) == 0)
            names_add(&names, keys[i].key);
    char list[256];
    nearest_list(names.name, list, sizeof list);
    const char *near = nearest_name(key, names.name);
    return text_fail(r->name, node->key != NULL ? node->key_line : node->line,
                     node->key != NULL ? node->key_column : node->column,
                     "unknown key '%.60s' in %s; %s%s%saccepted: %s", key, section,
                     near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                     near != NULL ? "'? " : "", list);
}

int section_read(struct reader *r, const char *section, const struct node *map, bool *known)
{
    if (strcmp(section, "envelope") == 0 && value_is(map, "none")) {
        *known = true;
        r->scan->envelope.reference = ENVELOPE_NONE;
        return 0;
    }
    if (map->kind != NODE_MAP) {
        *known = true;
        return value_fail(r, map, "%s: %s stands here, a map `key: value` is wanted", section,
                          node_kind_name(map));
    }
    if (strcmp(section, "ensemble") == 0)
        r->scan->ensemble.present = true;
    if (strcmp(section, "envelope") == 0)
        r->scan->envelope.reference = ENVELOPE_TIGHTER;
    *known = true;
    for (const struct node *child = map->first; child != NULL; child = child->next)
        TRY(section_set(r, section, child->key, child, known));
    return 0;
}

int section_set(struct reader *r, const char *section, const char *key, const struct node *node,
                bool *known)
{
    *known = false;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].section, section) != 0)
            continue;
        *known = true;
        char where[WHERE_SIZE];
        snprintf(where, sizeof where, "%s.%s", section, keys[i].key);
        if (strcmp(keys[i].key, key) != 0)
            continue;
        TRY(places_note(r, where, node));
        return keys[i].read(r, where, node);
    }
    if (*known && key[0] == '\0')
        return section_read(r, section, node, known);
    return *known ? fail_key(r, section, key, node) : 0;
}

void section_write(const struct scan *scan, struct text *out)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const size_t before = out->used;
        text_add(out, "%s.%s: ", keys[i].section, keys[i].key);
        const size_t head = out->used;
        keys[i].write(scan, out);
        if (out->used == head)
            out->used = before; /* nothing to say: not given */
        else
            text_add(out, "\n");
    }
}
