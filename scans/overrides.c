/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/text.h"

#define KEY_SIZE 160

static bool is_head(const char *key)
{
    return strcmp(key, "scan") == 0 || strcmp(key, "format") == 0 || strcmp(key, "model") == 0
           || strcmp(key, "axes") == 0;
}

int override_set(struct reader *r, const char *key, const struct node *node)
{
    if (is_head(key))
        return value_fail(r, node,
                          "'%s' cannot be set on the command line; accepted: a "
                          "parameter, axis.PARAMETER, stepper.*, ensemble.*, save.*, "
                          "envelope.*, resources.*, limits.*, store.*",
                          key);
    if (strncmp(key, "parameters.", 11) == 0)
        return schema_set(r, key + 11, node);
    if (strncmp(key, "axis.", 5) == 0)
        return axes_replace(r, key + 5, node);
    bool known = false;
    const char *dot = strchr(key, '.');
    char section[KEY_SIZE];
    snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - key) : KEY_SIZE - 1,
             key);
    TRY(section_set(r, section, dot != NULL ? dot + 1 : "", node, &known));
    return known ? 0 : schema_set(r, key, node);
}

static int apply_value(struct reader *r, const char *key, const char *value)
{
    struct tree tree = {0};
    int rc = yaml_parse(value, strlen(value), r->name, true, &tree);
    if (rc == 0 && tree.root == NULL)
        rc = text_fail(r->name, 1, 1, "no value is given; key=value is wanted");
    if (rc == 0)
        rc = override_set(r, key, tree.root);
    yaml_clear(&tree);
    return rc;
}

/* A key of an envelope that the file has not makes one, as a section with this key would. */
static void use_envelope(struct scan *scan, const char *key)
{
    if (strncmp(key, "envelope.", 9) == 0 && strcmp(key, "envelope.reference") != 0
        && scan->envelope.reference == ENVELOPE_NONE)
        scan->envelope.reference = ENVELOPE_TIGHTER;
}

int override_apply(struct reader *r, const char *text)
{
    char source[KEY_SIZE + 64];
    snprintf(source, sizeof source, "--set '%.200s'", text);
    struct reader own = *r;
    own.name = source;
    own.replace = true;
    const char *equals = strchr(text, '=');
    const size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= KEY_SIZE)
        return text_fail(source, 0, 0,
                         "key=value is wanted, e.g. --set pulse.duration='50 fs'");
    char key[KEY_SIZE];
    memcpy(key, text, length);
    key[length] = '\0';
    use_envelope(own.scan, key);
    return apply_value(&own, key, equals + 1);
}
