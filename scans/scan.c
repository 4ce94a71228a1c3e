/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/names.h"
#include "scans/sections.h"
#include "scans/text.h"

#define FORMAT_VERSION 1

static const char *const later_models[] = {"graph", "lowprec", NULL};

/* scan, format, model */

static int find_required(struct reader *r, const struct node *root, const char *key,
                         const char *what, const struct node **out)
{
    *out = node_child(root, key);
    if (*out == NULL)
        return value_fail(r, root, "required key '%s' is missing: %s", key, what);
    return 0;
}

static int read_name(struct reader *r, const struct node *node)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        "._ -";
    const char *text = NULL;
    TRY(value_text(r, "scan", node, "a name", &text));
    const size_t length = strlen(text);
    if (length >= SCAN_NAME_SIZE || strspn(text, letters) != length)
        return value_fail(r, node,
                          "scan: '%.100s' is not a name; accepted: 1 to 80 of the "
                          "characters A-Z a-z 0-9 . _ - and space",
                          text);
    snprintf(r->scan->name, sizeof r->scan->name, "%s", text);
    return 0;
}

static int read_format(struct reader *r, const struct node *node)
{
    int64_t version = 0;
    TRY(value_int(r, "format", node, 1, INT32_MAX, &version));
    if (version != FORMAT_VERSION)
        return value_fail(r, node,
                          "format: version %lld is newer than this program, which reads "
                          "version %d",
                          (long long)version, FORMAT_VERSION);
    return 0;
}

static int fail_model(struct reader *r, const struct node *node, const char *name)
{
    struct names names = {0};
    for (const struct model_ops *const *m = r->models; *m != NULL; m++)
        names_add(&names, (*m)->info->name);
    char list[512];
    nearest_list(names.name, list, sizeof list);
    if (strncmp(name, "plugin:", 7) == 0)
        return value_fail(r, node,
                          "model: plugins ('%.60s') are not supported in this version; "
                          "accepted: %s",
                          name, list);
    for (int i = 0; later_models[i] != NULL; i++)
        if (strcmp(name, later_models[i]) == 0)
            return value_fail(r, node, "model: '%s' is not in this version; accepted: %s", name,
                              list);
    const char *near = nearest_name(name, names.name);
    return value_fail(r, node, "model: unknown model '%.60s'; %s%s%saccepted: %s", name,
                      near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'? " : "", list);
}

static int read_model(struct reader *r, const struct node *node)
{
    const char *name = NULL;
    TRY(value_text(r, "model", node, "the name of a model", &name));
    for (const struct model_ops *const *m = r->models; *m != NULL; m++)
        if (strcmp((*m)->info->name, name) == 0) {
            r->scan->model = *m;
            r->scan->info = (*m)->info;
            return places_note(r, "model", node);
        }
    return fail_model(r, node, name);
}

static int read_head(struct reader *r, const struct node *root)
{
    if (root == NULL || value_is(root, ""))
        return text_fail(r->name, 1, 1,
                         "the file is empty; `scan: NAME`, `model: NAME` and "
                         "`parameters:` are wanted (`scanfarm init MODEL` writes "
                         "an example)");
    if (root->kind != NODE_MAP)
        return value_fail(r, root, "%s stands here, a scan file is a map `key: value`",
                          node_kind_name(root));
    const struct node *node = node_child(root, "format");
    if (node != NULL)
        TRY(read_format(r, node));
    TRY(find_required(r, root, "scan", "the scan's name, which names the output file", &node));
    TRY(read_name(r, node));
    TRY(find_required(r, root, "model", "what is computed, e.g. gnlse", &node));
    TRY(read_model(r, node));
    struct scan *scan = r->scan;
    section_defaults(scan);
    TRY(params_init(&scan->base, scan->info->params, scan->info->param_count));
    return MEM_NEW(scan->info->param_count, &r->given);
}

/* Sections */

static bool has_stepper(const struct model_info *info)
{
    for (int i = 0; i < info->param_count; i++)
        if (schema_is_stepper(info->params[i].name))
            return true;
    return false;
}

static int read_stepper(struct reader *r, const struct node *node)
{
    if (!has_stepper(r->scan->info))
        return text_fail(r->name, node->key_line, node->key_column,
                         "model %s has no stepper; leave this section out",
                         r->scan->info->name);
    if (node->kind != NODE_MAP)
        return value_fail(r, node, "stepper: %s stands here, a map `key: value` is wanted",
                          node_kind_name(node));
    return schema_map(r, node, "stepper.");
}

static int read_section(struct reader *r, const struct node *node)
{
    static const char *const names[] = {
        "scan", "format",   "model",     "parameters", "axes",  "stepper", "ensemble",
        "save", "envelope", "resources", "limits",     "store", NULL};
    int i = 0;
    while (names[i] != NULL && strcmp(names[i], node->key) != 0)
        i++;
    if (i < 3)
        return 0; /* read before */
    if (i == 3)
        return schema_map(r, node, "");
    if (i == 4)
        return axes_read(r, node);
    if (i == 5)
        return read_stepper(r, node);
    bool known = false;
    if (names[i] != NULL)
        return section_read(r, node->key, node, &known);
    char list[256];
    nearest_list(names, list, sizeof list);
    const char *near = nearest_name(node->key, names);
    return text_fail(r->name, node->key_line, node->key_column,
                     "unknown key '%.60s'; %s%s%saccepted: %s", node->key,
                     near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                     near != NULL ? "'? " : "", list);
}

static int read_tree(struct reader *r, const struct tree *tree,
                     const struct scan_override *overrides, int count)
{
    const struct node *root = tree->root;
    TRY(read_head(r, root));
    for (const struct node *node = root->first; node != NULL; node = node->next)
        TRY(read_section(r, node));
    for (int i = 0; i < count; i++)
        TRY(override_apply(r, overrides[i].text));
    TRY(until_check(r->scan));
    TRY(axes_finish(r));
    const struct node *parameters = node_child(root, "parameters");
    TRY(schema_finish(r, parameters != NULL ? parameters : root));
    envelope_finish(r->scan, true);
    TRY(envelope_check(r->scan));
    TRY(inputs_resolve(r));
    return r->scan->inputs > 0 ? 0 : canonical_make(r->scan);
}

/* Reading */

/* Paths in a scan file are relative to its folder. */
static int note_folder(struct scan *scan, const char *name)
{
    const char *slash = strrchr(name, '/');
    TRY(mem_copy_text(name, &scan->folder));
    scan->folder[slash != NULL ? slash + 1 - name : 0] = '\0';
    return 0;
}

int scan_parse_models(const struct model_ops *const *models, const char *text, size_t length,
                      const char *name, const struct scan_override *overrides, int count,
                      struct scan **out)
{
    *out = NULL;
    struct scan *scan = NULL;
    TRY(MEM_NEW(1, &scan));
    struct reader reader = {.scan = scan, .models = models, .name = name};
    struct tree tree = {0};
    int rc = 0;
    TRY_OR(rc, done, mem_alloc((long)length + 1, 1, (void **)&scan->text));
    memcpy(scan->text, text, length);
    scan->text_length = length;
    TRY_OR(rc, done, note_folder(scan, name));
    TRY_OR(rc, done, units_create(&reader.units));
    TRY_OR(rc, done, yaml_parse(text, length, name, true, &tree));
    TRY_OR(rc, done, read_tree(&reader, &tree, overrides, count));
    *out = scan;
    scan = NULL;
done:
    yaml_clear(&tree);
    units_destroy(reader.units);
    mem_free(reader.given);
    scan_destroy(scan);
    return rc;
}

int scan_parse(const char *text, size_t length, const char *name,
               const struct scan_override *overrides, int count, struct scan **out)
{
    return scan_parse_models(model_list(), text, length, name, overrides, count, out);
}

int scan_read(const char *path, const struct scan_override *overrides, int count,
              struct scan **out)
{
    *out = NULL;
    char *text = NULL;
    size_t length = 0;
    TRY(yaml_read_file(path, &text, &length));
    const int rc = scan_parse(text, length, path, overrides, count, out);
    mem_free(text);
    return rc;
}

/* One line of the canonical form: axis.N.NAME, scan, model, format, or as --set. */
static int read_canonical_line(struct reader *r, const struct node *node)
{
    if (strcmp(node->key, "scan") == 0 || strcmp(node->key, "model") == 0
        || strcmp(node->key, "format") == 0)
        return 0;
    if (strncmp(node->key, "inputs.", 7) == 0)
        return inputs_note_label(r, node->key + 7, node);
    if (strncmp(node->key, "axis.", 5) != 0)
        return override_set(r, node->key, node);
    char *end = NULL;
    const long axis = strtol(node->key + 5, &end, 10);
    if (*end != '.' || axis < 0 || axis >= SCAN_AXES_MAX)
        FAIL(ERR_BUG, "canonical form: no axis in '%s'", node->key);
    if (axis >= r->scan->axes)
        r->scan->axes = (int)axis + 1;
    return axes_read_param(r, (int)axis, end + 1, node);
}

static int read_canonical(struct reader *r, const struct tree *tree)
{
    TRY(read_head(r, tree->root));
    for (const struct node *node = tree->root->first; node != NULL; node = node->next)
        TRY(read_canonical_line(r, node));
    TRY(axes_finish(r));
    for (int i = 0; i < r->scan->info->param_count; i++)
        r->given[i] = 1; /* what the form does not mention has no value: no defaults */
    TRY(schema_finish(r, tree->root));
    envelope_finish(r->scan, false);
    return scan_bind(r->scan);
}

int scan_parse_canonical_models(const struct model_ops *const *models, const char *text,
                                size_t length, struct scan **out)
{
    *out = NULL;
    struct scan *scan = NULL;
    TRY(MEM_NEW(1, &scan));
    struct reader reader = {.scan = scan, .models = models, .name = "canonical form"};
    struct tree tree = {0};
    int rc = 0;
    TRY_OR(rc, done, mem_copy_text("", &scan->text));
    TRY_OR(rc, done, yaml_parse(text, length, reader.name, false, &tree));
    TRY_OR(rc, done, read_canonical(&reader, &tree));
    *out = scan;
    scan = NULL;
done:
    yaml_clear(&tree);
    mem_free(reader.given);
    scan_destroy(scan);
    return rc;
}

int scan_parse_canonical(const char *text, size_t length, struct scan **out)
{
    return scan_parse_canonical_models(model_list(), text, length, out);
}

void scan_destroy(struct scan *scan)
{
    if (scan == NULL)
        return;
    axes_clear(scan);
    places_clear(scan);
    inputs_clear(scan);
    params_clear(&scan->base);
    mem_free(scan->text);
    mem_free(scan->canonical);
    mem_free(scan->positions);
    mem_free(scan->envelope_positions);
    mem_free(scan->point_pieces.piece);
    mem_free(scan->point_pieces.bytes);
    mem_free(scan->identity_pieces.piece);
    mem_free(scan->identity_pieces.bytes);
    mem_free(scan);
}

/* Looking at a scan */

const char *scan_name(const struct scan *scan)
{
    return scan->name;
}

const struct model_ops *scan_model(const struct scan *scan)
{
    return scan->model;
}

const char *scan_text(const struct scan *scan, size_t *length)
{
    *length = scan->text_length;
    return scan->text;
}

const char *scan_canonical(const struct scan *scan)
{
    return scan->canonical;
}

const struct scan_ensemble *scan_get_ensemble(const struct scan *scan)
{
    return &scan->ensemble;
}

const struct scan_save *scan_get_save(const struct scan *scan)
{
    return &scan->save;
}

const struct scan_resources *scan_get_resources(const struct scan *scan)
{
    return &scan->resources;
}

const struct scan_limits *scan_get_limits(const struct scan *scan)
{
    return &scan->limits;
}

const struct scan_store *scan_get_store(const struct scan *scan)
{
    return &scan->store;
}

const struct scan_envelope *scan_get_envelope(const struct scan *scan)
{
    return &scan->envelope;
}
