/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration says of its file. */
#include <stdio.h>

#include "io/verify_private.h"
#include "kernels/base/status.h"

int verify_layout(const struct store *store, const struct store_spec *spec,
                  struct verify_report *report)
{
    struct schema schema;
    TRY(schema_init(spec, &schema));
    for (int i = 0; i < schema.count; i++) {
        char text[VERIFY_TEXT_SIZE];
        if (store_skips_entry(store, &schema.entry[i]))
            continue;
        report->kind[VERIFY_LAYOUT].checked++;
        const struct status_saved saved = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = store_compare_entry(store->file, store->path, &schema.entry[i]);
        status_capture_restore(saved);
        if (rc != 0)
            verify_break(report, VERIFY_LAYOUT, "%s", text);
    }
    schema_clear(&schema);
    return 0;
}

int verify_spec(struct store *store, const struct verify_scan *scan,
                struct verify_report *report)
{
    struct verify_facts facts = {0};
    struct verify_rows *rows = NULL;
    const struct verify_subject subject = {.store = store,
                                           .facts = &facts,
                                           .spec = scan->spec,
                                           .order = VERIFY_BY_PLACE,
                                           .identities = scan->identities};
    int rc = 0;
    TRY(verify_layout(store, scan->spec, report));
    if (report->kind[VERIFY_LAYOUT].broken > 0) {
        verify_skip(report, VERIFY_IDENTITIES, "the layout is another");
        verify_skip(report, VERIFY_POINTS, "the layout is another");
        verify_skip(report, VERIFY_AXES, "the layout is another");
        return 0;
    }
    TRY_OR(rc, done, verify_facts_open(store, scan->spec, &facts));
    TRY_OR(rc, done, verify_rows_create(scan->spec->axes, &rows));
    TRY_OR(rc, done, verify_rows_check(rows, &subject, report));
    rc = verify_scales(store, scan->spec, report);
done:
    verify_rows_destroy(rows);
    verify_facts_close(&facts);
    return rc;
}
