/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result file of a collect: an ordinary one of the whole scan. */
#include <stdlib.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/collecting.h"
#include "runner/spec.h"
#include "runner/status.h"
#include "scans/scan.h"

static int check_numerics(struct store *from, const char *path, const struct scan *scan)
{
    char version[32];
    const struct model_info *const info = scan_model(scan)->info;
    TRY(read_attribute(from, "/", "numerics_version", version, sizeof version));
    if (strtol(version, NULL, 10) != info->numerics_version)
        FAIL(
            ERR_CONFLICT,
            "%s was computed with numerics version %s of model %s; this program has version %d "
            "and cannot tell its members",
            path, version, info->name, info->numerics_version);
    return 0;
}

static int define(struct collecting *c, const struct scan *scan, const char *config)
{
    struct spec *spec = NULL;
    TRY(spec_create(scan, &spec));
    spec->store.config = config;
    spec->store.config_length = strlen(config);
    spec->store.check_space = c->space_check;
    spec->store.resume_rows = 1;
    const int rc = store_define(c->result, &spec->store);
    spec_destroy(spec);
    return rc;
}

static int define_from(struct collecting *c, struct store *from, const char *path)
{
    struct scan *scan = NULL;
    char *canonical = NULL;
    char *config = NULL;
    int rc = 0;
    TRY_OR(rc, done, read_text(from, "config_canonical", &canonical));
    TRY_OR(rc, done, read_text(from, "config", &config));
    TRY_OR(rc, done, scan_parse_canonical(canonical, strlen(canonical), &scan));
    TRY_OR(rc, done, check_numerics(from, path, scan));
    if (read_exists(from, "provenance/wisdom"))
        TRY_OR(rc, done, read_text(from, "provenance/wisdom", &c->wisdom));
    rc = define(c, scan, config);
done:
    scan_destroy(scan);
    mem_free(config);
    mem_free(canonical);
    return rc;
}

/* What is wrong with files before the first good one is told by the report, unless there is
 * none. */
static int open_quietly(const char *path, struct store **out, char *text, size_t size)
{
    const struct status_saved saved = status_capture_save();
    status_capture(text, size);
    const int rc = store_open_read(path, out);
    status_capture_restore(saved);
    if (rc == ERR_MEMORY)
        FAIL(rc, "%s", text);
    return 0;
}

/* Whether a file is of the scan that was submitted. */
static int is_of_submission(const struct collecting *c, struct store *store, bool *right)
{
    char hash[CANONICAL_HASH_SIZE];
    *right = true;
    if (c->configuration[0] == '\0')
        return 0;
    TRY(status_read_configuration(store, hash));
    *right = strcmp(hash, c->configuration) == 0;
    return 0;
}

static int fail_foreign(const char *file)
{
    FAIL(ERR_CONFLICT,
         "%s holds another configuration than the scan that was submitted; collect -o OUT.h5 "
         "FILE… takes files by their names",
         file);
}

static int find_first(struct collecting *c, struct store **out, char *name, size_t size)
{
    char text[COLLECT_TEXT_SIZE];
    char foreign[COLLECT_PATH_SIZE] = "";
    bool more = true;
    bool right = true;
    *out = NULL;
    TRY(collect_names_rewind(c->names));
    while (atomic_load(&c->stop) == 0) {
        TRY(collect_names_next(c->names, name, size, &more));
        if (!more)
            return foreign[0] != '\0' ? fail_foreign(foreign) : 0;
        TRY(open_quietly(name, out, text, sizeof text));
        if (*out == NULL)
            continue;
        const int rc = is_of_submission(c, *out, &right);
        if (rc == 0 && right)
            return 0;
        store_close(*out);
        *out = NULL;
        TRY(rc);
        if (foreign[0] == '\0')
            snprintf(foreign, sizeof foreign, "%s", name);
    }
    return 0;
}

/* Nothing will come: each file says why. */
static int tell_all(struct collecting *c)
{
    char name[COLLECT_PATH_SIZE];
    char text[COLLECT_TEXT_SIZE];
    bool more = true;
    TRY(collect_names_rewind(c->names));
    for (c->files = 0; atomic_load(&c->stop) == 0; c->files++) {
        struct store *store = NULL;
        TRY(collect_names_next(c->names, name, sizeof name, &more));
        if (!more)
            return 0;
        TRY(open_quietly(name, &store, text, sizeof text));
        if (store == NULL)
            log_error("%s", text);
        store_close(store);
    }
    return 0;
}

/* What is there already is of the same scan, and its wisdom stays. */
static int look_at_result(struct collecting *c)
{
    struct store *store = NULL;
    bool right = true;
    TRY(store_open_read(c->result, &store));
    int rc = is_of_submission(c, store, &right);
    if (rc == 0 && right && read_exists(store, "provenance/wisdom"))
        rc = read_text(store, "provenance/wisdom", &c->wisdom);
    store_close(store);
    return rc == 0 && !right ? fail_foreign(c->result) : rc;
}

int collecting_make(struct collecting *c, bool *made)
{
    struct store *from = NULL;
    char name[COLLECT_PATH_SIZE];
    *made = true;
    c->existed = store_exists(c->result);
    if (c->existed)
        return look_at_result(c);
    TRY(find_first(c, &from, name, sizeof name));
    *made = from != NULL;
    if (from == NULL)
        return tell_all(c);
    const int rc = define_from(c, from, name);
    store_close(from);
    return rc;
}
