/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration says of its file. */
#include <stdio.h>
#include <string.h>

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

static void compare_label(struct verify_report *report, const char *object, const char *label,
                          const char *there, const char *right)
{
    report->kind[VERIFY_LAYOUT].checked++;
    if (strcmp(there, right) != 0)
        verify_break(report, VERIFY_LAYOUT, "%s of %s is '%.80s', '%.80s' is right", label,
                     object, there, right);
}

static int check_entry(const struct schema_entry *entry, const struct h5_dataset *dataset,
                       struct verify_report *report)
{
    char text[sizeof entry->unit + 1];
    char right[24];
    TRY(h5_get_text(dataset->id, dataset->path, "units", text, sizeof text));
    compare_label(report, entry->path, "units", text, entry->unit);
    if (entry->part != PART_NONE) {
        TRY(h5_get_text(dataset->id, dataset->path, "kind", text, sizeof text));
        compare_label(report, entry->path, "kind", text, schema_part_name(entry->part));
        TRY(h5_get_text(dataset->id, dataset->path, "index", text, sizeof text));
        snprintf(right, sizeof right, "%d", entry->index);
        compare_label(report, entry->path, "index", text, right);
    }
    for (int d = 0; !entry->scale && d < entry->dims; d++) {
        char label[SCHEMA_NAME_MAX] = "";
        if (h5_get_label(dataset->id, d, label, sizeof label) < 0)
            return h5_fail(dataset->path, entry->path);
        compare_label(report, entry->path, "a dimension", label, entry->dim[d]);
    }
    return 0;
}

static int check_root(const struct store *store, const struct store_spec *spec,
                      struct verify_report *report)
{
    char text[200];
    TRY(h5_get_text(store->file, store->path, "model", text, sizeof text));
    compare_label(report, "the file", "model", text, spec->model_name);
    TRY(h5_get_text(store->file, store->path, "scan", text, sizeof text));
    compare_label(report, "the file", "scan", text, spec->scan_name);
    return 0;
}

int verify_labels(const struct store *store, const struct store_spec *spec,
                  struct verify_report *report)
{
    struct schema schema;
    int rc = 0;
    TRY(schema_init(spec, &schema));
    for (int i = 0; rc == 0 && i < schema.count; i++) {
        struct h5_dataset dataset;
        if (store_skips_entry(store, &schema.entry[i]))
            continue;
        TRY_OR(rc, done,
               h5_dataset_open(store->file, store->path, schema.entry[i].path, &dataset));
        rc = check_entry(&schema.entry[i], &dataset, report);
        h5_dataset_close(&dataset);
    }
    if (rc == 0)
        rc = check_root(store, spec, report);
done:
    schema_clear(&schema);
    return rc;
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
    TRY(verify_labels(store, scan->spec, report));
    TRY_OR(rc, done, verify_facts_open(store, scan->spec, &facts));
    TRY_OR(rc, done, verify_rows_create(scan->spec->axes, &rows));
    TRY_OR(rc, done, verify_rows_check(rows, &subject, report));
    rc = verify_scales(store, scan->spec, report);
done:
    verify_rows_destroy(rows);
    verify_facts_close(&facts);
    return rc;
}
