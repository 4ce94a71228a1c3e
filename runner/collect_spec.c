/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/collect_spec.h"

#include <string.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

static int make(const char *canonical, struct collect_spec *out)
{
    TRY(mem_copy_text(canonical, &out->canonical));
    TRY(scan_parse_canonical(canonical, strlen(canonical), &out->scan));
    return spec_create(out->scan, &out->spec);
}

/* A configuration that this program does not understand is not judged, as in verify. */
static int find(void *context, const char *canonical, const struct store_spec **out)
{
    struct collect_spec *const known = context;
    char text[400] = "";
    *out = NULL;
    if (known->canonical == NULL || strcmp(known->canonical, canonical) != 0) {
        collect_spec_clear(known);
        const struct status_saved saved = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = make(canonical, known);
        status_capture_restore(saved);
        if (rc == ERR_MEMORY || rc == ERR_BUG)
            FAIL(rc, "%s", text);
        if (rc != 0)
            log_warn("identities are not checked, the configuration is not understood: %s",
                     text);
    }
    if (known->spec != NULL)
        *out = &known->spec->store;
    return 0;
}

struct collect_judge collect_spec_judge(struct collect_spec *spec)
{
    return (struct collect_judge){find, spec};
}

void collect_spec_clear(struct collect_spec *spec)
{
    spec_destroy(spec->spec);
    scan_destroy(spec->scan);
    mem_free(spec->canonical);
    *spec = (struct collect_spec){0};
}
