/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/text.h"

#define NAME_SIZE 160

/* Words of the scan file that a later version reads: refused by name. */
static const struct {
    const char *param;
    const char *word;
} later_words[] = {{"stepper.method", "adams-ip"}, {"stepper.method", "adams-exp"}};

static const struct {
    const char *model;
    const char *param;
} later_params[] = {{"capillary", "envelope"}};

bool schema_is_stepper(const char *name)
{
    return strncmp(name, "stepper.", 8) == 0;
}

void schema_range(const struct param_info *info, char *text, size_t size)
{
    const bool low = info->minimum > -1e300;
    const bool high = info->maximum < 1e300;
    const bool bare = strcmp(info->unit, "1") == 0;
    char unit[48];
    if (info->kind == PARAM_LIST && info->list_unit != NULL && strstr(info->list_unit, "%d"))
        unit[0] = '\0'; /* differs from element to element */
    else
        snprintf(unit, sizeof unit, "%s%s", bare ? "" : " ", bare ? "" : info->unit);
    const char *open = (info->flags & PARAM_OPEN) != 0 ? "above" : "at least";
    if (low && high && (info->flags & PARAM_OPEN) == 0)
        snprintf(text, size, "%.10g to %.10g%s", info->minimum, info->maximum, unit);
    else if (low && high)
        snprintf(text, size, "above %.10g, at most %.10g%s", info->minimum, info->maximum,
                 unit);
    else if (low)
        snprintf(text, size, "%s %.10g%s", open, info->minimum, unit);
    else if (high)
        snprintf(text, size, "at most %.10g%s", info->maximum, unit);
    else
        text[0] = '\0';
}

/* Values */

static bool in_range(const struct param_info *info, double value)
{
    const bool above =
        (info->flags & PARAM_OPEN) != 0 ? value > info->minimum : value >= info->minimum;
    return above && value <= info->maximum;
}

/* A list where a member has one number or file: several of them are an axis. */
static int fail_several(const struct reader *r, const struct param_info *info,
                        const struct node *node, const char *what)
{
    return value_fail(r, node,
                      "%s: a list stands here, one %s is wanted; members with one each are an "
                      "axis, `axes: - %s: […]`",
                      info->name, what, info->name);
}

/* The words that are read in place of a number. */
static const char *words_of(const struct param_info *info)
{
    const bool chosen = info->fallback != NULL && strcmp(info->fallback, "auto") == 0;
    if ((info->flags & PARAM_LAST) != 0)
        return ", or last";
    if ((info->flags & PARAM_NONE) != 0)
        return chosen ? ", or auto" : ", or none";
    return "";
}

static int read_number(struct reader *r, const struct param_info *info, const struct node *node,
                       int element, double *out)
{
    char unit[64];
    param_unit(info, element, unit, sizeof unit);
    if (node->kind == NODE_LIST && info->kind != PARAM_LIST)
        return fail_several(r, info, node, "number");
    TRY(value_real_or(r, info->name, node, unit, words_of(info), out));
    if (info->kind == PARAM_INT && (*out != floor(*out) || fabs(*out) > 9007199254740992.0))
        return value_fail(r, node, "%s: %.60s is not a whole number up to 2^53", info->name,
                          node->text);
    if (in_range(info, *out))
        return 0;
    char range[160];
    schema_range(info, range, sizeof range);
    return value_fail(r, node, "%s: %.60s is out of range; accepted: %s", info->name,
                      node->text, range);
}

static int read_list(struct reader *r, const struct param_info *info, const struct node *node,
                     struct param_value *out)
{
    if (node->kind != NODE_LIST)
        return value_fail(r, node, "%s: a list is wanted, [value, value, …]", info->name);
    if (node->count == 0 || node->count > PARAM_LIST_MAX)
        return value_fail(r, node, "%s: %d values; accepted: 1 to %d", info->name, node->count,
                          PARAM_LIST_MAX);
    out->count = 0;
    for (const struct node *child = node->first; child != NULL; child = child->next) {
        TRY(read_number(r, info, child, out->count, &out->list[out->count]));
        out->count++;
    }
    out->number = out->list[0];
    return 0;
}

static int check_later(struct reader *r, const struct param_info *info, const struct node *node)
{
    for (size_t i = 0; i < sizeof later_words / sizeof later_words[0]; i++)
        if (strcmp(info->name, later_words[i].param) == 0
            && value_is(node, later_words[i].word)) {
            char list[512];
            nearest_list(info->choices, list, sizeof list);
            return value_fail(r, node, "%s: '%s' is not in this version; accepted: %s%s",
                              info->name, node->text, list,
                              (info->flags & PARAM_NONE) != 0 ? ", none" : "");
        }
    return 0;
}

/* "time/intensity" out of [time, intensity]: choices that name several columns. */
static int join_words(struct reader *r, const struct param_info *info, const struct node *list,
                      struct text *out)
{
    for (const struct node *child = list->first; child != NULL; child = child->next) {
        const char *word = NULL;
        TRY(value_text(r, info->name, child, "a name", &word));
        text_add(out, "%s%s", child != list->first ? "/" : "", word);
    }
    return 0;
}

/* Whether choices name several columns: "time/intensity". */
static bool takes_words(const struct param_info *info)
{
    for (int i = 0; info->choices[i] != NULL; i++)
        if (strchr(info->choices[i], '/') != NULL)
            return true;
    return false;
}

/* A list where a member has one value: several of them are an axis. */
static int fail_list(const struct reader *r, const struct param_info *info,
                     const struct node *node, const struct names *accepted)
{
    char list[512];
    nearest_list(accepted->name, list, sizeof list);
    return value_fail(
        r, node,
        "%s: a list stands here, one choice is wanted (%s); members with one each "
        "are an axis, `axes: - %s: […]`; accepted: %s",
        info->name, info->doc, info->name, list);
}

static int read_choice(struct reader *r, const struct param_info *info, const struct node *node,
                       double *out)
{
    TRY(check_later(r, info, node));
    char joined[NAME_SIZE] = "";
    struct node word = *node;
    struct names names = {0};
    for (int i = 0; info->choices[i] != NULL; i++)
        names_add(&names, info->choices[i]);
    if ((info->flags & PARAM_NONE) != 0)
        names_add(&names, "none");
    if (node->kind == NODE_LIST && !takes_words(info))
        return fail_list(r, info, node, &names);
    if (node->kind == NODE_LIST && node->count > 1) {
        struct text words = {.bytes = joined, .size = sizeof joined};
        TRY(join_words(r, info, node, &words));
        word.kind = NODE_SCALAR;
        word.text = joined;
    }
    int index = 0;
    TRY(value_word(r, info->name, &word, names.name, &index));
    *out = index;
    return 0;
}

int schema_value(struct reader *r, const struct param_info *info, const struct node *node,
                 struct param_value *out)
{
    *out = (struct param_value){0};
    if ((info->flags & PARAM_NONE) != 0 && (value_is(node, "none") || value_is(node, "auto")))
        return 0;
    if ((info->flags & PARAM_LAST) != 0
        && (value_is(node, "last") || (r->units == NULL && value_is(node, "none"))))
        return 0;
    out->set = true;
    out->count = 1;
    bool truth = false;
    switch (info->kind) {
    case PARAM_LIST:
        return read_list(r, info, node, out);
    case PARAM_DATA:
        if (node->kind == NODE_LIST)
            return fail_several(r, info, node, "file");
        TRY(r->units != NULL ? inputs_note_file(r, info, node, &out->number)
                             : inputs_note_hash(r, info, node, &out->number));
        break;
    case PARAM_BOOL:
        if (node->kind == NODE_LIST)
            return fail_several(r, info, node, "value, true or false,");
        TRY(value_bool(r, info->name, node, &truth));
        out->number = truth ? 1.0 : 0.0;
        break;
    case PARAM_CHOICE:
        TRY(read_choice(r, info, node, &out->number));
        break;
    default:
        TRY(read_number(r, info, node, 0, &out->number));
    }
    out->list[0] = out->number;
    return 0;
}

/* Names */

static int find_exact(const struct model_info *info, const char *name)
{
    for (int i = 0; i < info->param_count; i++)
        if (strcmp(info->params[i].name, name) == 0)
            return i;
    return -1;
}

/* The parameter that a scalar in place of its group sets. */
static int find_group_scalar(const struct model_info *info, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < info->param_count; i++) {
        const char *full = info->params[i].name;
        if ((info->params[i].flags & PARAM_GROUP) != 0 && strncmp(full, name, length) == 0
            && full[length] == '.' && strchr(full + length + 1, '.') == NULL)
            return i;
    }
    return -1;
}

int schema_index(const struct model_info *info, const char *name)
{
    const int exact = find_exact(info, name);
    return exact >= 0 ? exact : find_group_scalar(info, name);
}

static bool is_group(const struct model_info *info, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < info->param_count; i++)
        if (strncmp(info->params[i].name, name, length) == 0
            && info->params[i].name[length] == '.')
            return true;
    return false;
}

/* Keys that may stand under a prefix: first components of what follows it. */
static void collect_keys(const struct model_info *info, const char *prefix, struct names *out)
{
    const size_t length = strlen(prefix);
    for (int i = 0; i < info->param_count; i++) {
        const char *full = info->params[i].name;
        if (strncmp(full, prefix, length) != 0 || (length == 0 && schema_is_stepper(full)))
            continue;
        names_add_part(out, full + length, strcspn(full + length, "."));
    }
}

/* The longest group above a name, with a dot at its end; "" at the top. */
static void find_prefix(const struct model_info *info, const char *name, char *prefix,
                        size_t size)
{
    snprintf(prefix, size, "%s", name);
    for (char *dot = strrchr(prefix, '.'); dot != NULL; dot = strrchr(prefix, '.')) {
        *dot = '\0';
        if (is_group(info, prefix)) {
            *dot = '.';
            dot[1] = '\0';
            return;
        }
    }
    prefix[0] = '\0';
}

/* Numbers after a comma. */
static int fail_special(const struct reader *r, const char *name, int line, int column)
{
    if (number_length(name) == strlen(name))
        return text_fail(
            r->name, line, column,
            "'%.40s' is not a key; a comma separates entries, numbers have a point", name);
    for (size_t i = 0; i < sizeof later_params / sizeof later_params[0]; i++)
        if (strcmp(later_params[i].param, name) == 0
            && strcmp(later_params[i].model, r->scan->info->name) == 0)
            return text_fail(r->name, line, column, "'%s' is not in this version", name);
    return 0;
}

int schema_fail_unknown(const struct reader *r, const char *name, int line, int column)
{
    TRY(fail_special(r, name, line, column));
    const struct model_info *info = r->scan->info;
    char prefix[NAME_SIZE];
    find_prefix(info, name, prefix, sizeof prefix);
    const int length = (int)strlen(prefix);
    const char *key = name + length;
    struct names keys = {0};
    collect_keys(info, prefix, &keys);
    struct names all = keys;
    for (int i = 0; i < info->param_count && length == 0; i++)
        names_add(&all, info->params[i].name);
    char list[700];
    nearest_list(keys.name, list, sizeof list);
    const char *near = nearest_name(key, all.name);
    char hint[NAME_SIZE] = "";
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean '%s'? ", near);
    return text_fail(
        r->name, line, column, "unknown key '%.80s'%s%.*s of model %s; %saccepted: %s", key,
        length > 0 ? " in " : "", length > 0 ? length - 1 : 0, prefix, info->name, hint, list);
}

/* Setting */

static int set_param(struct reader *r, int index, const struct node *node)
{
    const struct param_info *info = &r->scan->info->params[index];
    const int line = node->key != NULL ? node->key_line : node->line;
    const int column = node->key != NULL ? node->key_column : node->column;
    if (r->given[index] != 0 && !r->replace)
        return text_fail(r->name, line, column,
                         "%s is given twice; it stands at line %d already", info->name,
                         r->given[index]);
    int axis = 0;
    int place = 0;
    if (r->replace && axes_find(r->scan, index, &axis, &place))
        return text_fail(r->name, line, column,
                         "%s is scanned by axis %d; --set axis.%s=[…] replaces its values",
                         info->name, axis, info->name);
    TRY(schema_value(r, info, node, &r->scan->base.values[index]));
    r->given[index] = line;
    return places_note(r, info->name, node);
}

/* A list in place of a group is the group and those named with numbers: pulse, pulse2, … */
static int set_groups(struct reader *r, const char *name, const struct node *list)
{
    int number = 1;
    for (const struct node *child = list->first; child != NULL; child = child->next) {
        char suffix[16] = "";
        char group[NAME_SIZE];
        if (number > 1)
            snprintf(suffix, sizeof suffix, "%d", number);
        snprintf(group, sizeof group, "%.*s%s", NAME_SIZE - 20, name, suffix);
        if (!is_group(r->scan->info, group))
            return value_fail(r, child, "%s: %d entries; accepted: at most %d", name,
                              list->count, number - 1);
        snprintf(group, sizeof group, "%.*s%s.", NAME_SIZE - 20, name, suffix);
        TRY(schema_map(r, child, group));
        number++;
    }
    return 0;
}

static bool has_further(const struct model_info *info, const char *name)
{
    char second[NAME_SIZE];
    snprintf(second, sizeof second, "%.*s2", NAME_SIZE - 16, name);
    return is_group(info, second);
}

int schema_set(struct reader *r, const char *name, const struct node *node)
{
    const struct model_info *info = r->scan->info;
    const int exact = find_exact(info, name);
    if (exact >= 0)
        return set_param(r, exact, node);
    const int line = node->key != NULL ? node->key_line : node->line;
    const int column = node->key != NULL ? node->key_column : node->column;
    if (!is_group(info, name))
        return schema_fail_unknown(r, name, line, column);
    char prefix[NAME_SIZE];
    snprintf(prefix, sizeof prefix, "%s.", name);
    if (node->kind == NODE_MAP) {
        TRY(places_note(r, name, node));
        return schema_map(r, node, prefix);
    }
    if (node->kind == NODE_LIST && has_further(info, name)) {
        TRY(places_note(r, name, node));
        return set_groups(r, name, node);
    }
    const int scalar = find_group_scalar(info, name);
    if (scalar >= 0)
        return set_param(r, scalar, node);
    struct names keys = {0};
    collect_keys(info, prefix, &keys);
    char list[512];
    nearest_list(keys.name, list, sizeof list);
    return value_fail(r, node, "%s: %s stands here, a map is wanted with keys of: %s", name,
                      node_kind_name(node), list);
}

int schema_map(struct reader *r, const struct node *map, const char *prefix)
{
    if (map->kind != NODE_MAP)
        return value_fail(r, map, "%.*s: %s stands here, a map `key: value` is wanted",
                          prefix[0] != '\0' ? (int)strlen(prefix) - 1 : 10,
                          prefix[0] != '\0' ? prefix : "parameters", node_kind_name(map));
    for (const struct node *child = map->first; child != NULL; child = child->next) {
        char name[NAME_SIZE];
        if (snprintf(name, sizeof name, "%s%s", prefix, child->key) >= (int)sizeof name
            || (prefix[0] == '\0' && schema_is_stepper(child->key)))
            return text_fail(r->name, child->key_line, child->key_column,
                             "'%.60s' does not belong into parameters", child->key);
        if (prefix[0] == '\0' && strcmp(child->key, "stepper") == 0)
            return text_fail(r->name, child->key_line, child->key_column,
                             "'stepper' is a section of its own, beside parameters");
        TRY(schema_set(r, name, child));
    }
    return 0;
}

/* Defaults */

static int set_default(struct reader *r, int index)
{
    const struct param_info *info = &r->scan->info->params[index];
    struct tree tree = {0};
    int rc = yaml_parse(info->fallback, strlen(info->fallback), info->name, true, &tree);
    struct reader own = *r;
    own.name = "default of";
    if (rc == 0 && tree.root != NULL)
        rc = schema_value(&own, info, tree.root, &r->scan->base.values[index]);
    yaml_clear(&tree);
    return rc;
}

static bool is_stated(const struct reader *r, int index)
{
    int axis = 0;
    int at = 0;
    return r->given[index] != 0 || axes_find(r->scan, index, &axis, &at);
}

/* A key inside a group that is `none` unless it is switched on would be ignored without a word;
 * not one that may be `none` itself, which is a switch of its own. */
static int check_switch(const struct reader *r, int group)
{
    const struct model_info *info = r->scan->info;
    const struct param_info *p = &info->params[group];
    const unsigned wanted = PARAM_GROUP | PARAM_NONE;
    if ((p->flags & wanted) != wanted || is_stated(r, group))
        return 0;
    const size_t length = strcspn(p->name, ".") + 1;
    for (int i = 0; i < info->param_count; i++)
        if (i != group && (info->params[i].flags & PARAM_NONE) == 0
            && strncmp(info->params[i].name, p->name, length) == 0 && is_stated(r, i))
            return text_fail(r->name, r->given[i] != 0 ? r->given[i] : 1, 1,
                             "%s has no effect without %s, which is none; give %s too",
                             info->params[i].name, p->name, p->name);
    return 0;
}

/* A message about two parameters, with the place of one of them. */
static int fail_pair(const struct reader *r, const char *name, const char *format,
                     const char *other)
{
    char message[300];
    snprintf(message, sizeof message, format, name, other);
    return scan_fail(r->scan, ERR_PARSE, message);
}

/* The first of a NULL-terminated list of parameters that the file or an axis states, or NULL.
 */
static const char *first_stated(const struct reader *r, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++)
        if (is_stated(r, find_exact(r->scan->info, *names)))
            return *names;
    return NULL;
}

/* The first stated of those that mean nothing without the file, or NULL. */
static const char *stated_selector(const struct reader *r, const struct data_info *data)
{
    const char *const selectors[] = {data->columns_param, data->member_param,
                                     data->plane_param};
    for (size_t i = 0; i < sizeof selectors / sizeof selectors[0]; i++)
        if (selectors[i] != NULL && is_stated(r, find_exact(r->scan->info, selectors[i])))
            return selectors[i];
    return first_stated(r, data->serves);
}

/* A file and what it stands in place of, or what selects in a file that is not there: one of
 * the two would be ignored without a word. A stored form states every default. */
static int check_file(const struct reader *r, int index)
{
    const struct param_info *param = &r->scan->info->params[index];
    if (param->kind != PARAM_DATA || r->units == NULL)
        return 0;
    const bool scanned = is_stated(r, index) && r->given[index] == 0;
    const bool here = scanned || r->scan->base.values[index].set; /* not `none` */
    const char *const wrong =
        here ? first_stated(r, param->data->replaces) : stated_selector(r, param->data);
    if (wrong == NULL)
        return 0;
    return fail_pair(r, wrong,
                     here ? "%s and %s are both given; the file stands in place of it, leave "
                            "one of them out"
                          : "%s has no effect without %s; give both or none",
                     param->name);
}

int schema_finish(struct reader *r, const struct node *place)
{
    const struct model_info *info = r->scan->info;
    for (int i = 0; i < info->param_count; i++) {
        const struct param_info *p = &info->params[i];
        int axis = 0;
        int at = 0;
        TRY(check_switch(r, i));
        TRY(check_file(r, i));
        if (axes_find(r->scan, i, &axis, &at)) {
            r->scan->base.values[i] = (struct param_value){0};
            continue;
        }
        if (r->given[i] != 0)
            continue;
        if ((p->flags & PARAM_REQUIRED) != 0)
            return value_fail(r, place, "required key 'parameters.%s' is missing: %s (%s)",
                              p->name, p->doc, p->unit);
        if (p->fallback != NULL)
            TRY(set_default(r, i));
    }
    return 0;
}
