/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result file that is compressed, or no longer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/pack.h"
#include "io/read.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/collecting.h"
#include "runner/spec.h"
#include "runner/text.h"
#include "scans/scan.h"

int collecting_is_packed(const struct collecting *c, bool *packed)
{
    char text[64];
    struct store *store = NULL;
    TRY(store_open_read(c->result, &store));
    const int rc = read_attribute(store, "/", "compression", text, sizeof text);
    *packed = text[0] != '\0';
    store_close(store);
    return rc;
}

/* The texts that a result file was made of. */
static int read_texts(const char *path, char **canonical, char **config)
{
    struct store *store = NULL;
    TRY(store_open_read(path, &store));
    int rc = read_text(store, "config_canonical", canonical);
    if (rc == 0)
        rc = read_text(store, "config", config);
    store_close(store);
    return rc;
}

static int pack(const struct collecting *c, const struct scan *scan, const char *config,
                const char *draft, int level)
{
    struct spec *spec = NULL;
    TRY(spec_create(scan, &spec));
    spec->store.config = config;
    spec->store.config_length = strlen(config);
    spec->store.compress = level;
    spec->store.check_space = c->space_check && level == 0;
    spec->store.resume_rows = 1;
    if (level > 0)
        spec->store.resume_state = 0;
    int rc = store_define(draft, &spec->store);
    if (rc == 0)
        rc = pack_store(c->result, draft, &spec->store);
    spec_destroy(spec);
    return rc;
}

static int replace(const struct collecting *c, const char *draft)
{
    char log[COLLECT_PATH_SIZE];
    TRY(collect_log_path(c->result, log, sizeof log));
    if (rename(draft, c->result) != 0)
        FAIL(ERR_IO, "cannot rename %s to %s: %s", draft, c->result, strerror(errno));
    unlink(log); /* it told of the file that was there */
    return 0;
}

int collecting_repack(struct collecting *c, int level)
{
    char draft[RUN_PATH_SIZE + 16];
    char *canonical = NULL;
    char *config = NULL;
    struct scan *scan = NULL;
    int rc = 0;
    snprintf(draft, sizeof draft, "%s.packing", c->result);
    unlink(draft); /* of a process that was killed; the lease says that it is nobody's */
    TRY_OR(rc, done, read_texts(c->result, &canonical, &config));
    TRY_OR(rc, done, scan_parse_canonical(canonical, strlen(canonical), &scan));
    TRY_OR(rc, done, pack(c, scan, config, draft, level));
    rc = replace(c, draft);
done:
    if (rc != 0)
        unlink(draft);
    scan_destroy(scan);
    mem_free(config);
    mem_free(canonical);
    return rc;
}
