/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/yaml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/text.h"

#define BLOCK_BYTES 65536

struct yaml_block {
    struct yaml_block *next;
    size_t used;
    size_t size;
    char bytes[];
};

/* An open list or map. */
struct level {
    struct node *node;
    struct node *last;
    const char *key; /* read, value still to come */
    int key_line;
    int key_column;
};

struct yaml_reader {
    yaml_parser_t parser;
    const char *name;
    bool limited;
    long nodes;
    int depth;
    struct level level[YAML_DEPTH_MAX + 1];
    struct tree *tree;
};

/* Memory of a tree */

static int block_take(struct tree *tree, size_t bytes, void **out)
{
    const size_t wanted = (bytes + 15) / 16 * 16;
    struct yaml_block *block = tree->blocks;
    if (block == NULL || block->size - block->used < wanted) {
        const size_t size = wanted > BLOCK_BYTES ? wanted : BLOCK_BYTES;
        TRY(mem_alloc((long)(sizeof *block + size), 1, (void **)&block));
        block->size = size;
        block->next = tree->blocks;
        tree->blocks = block;
    }
    *out = block->bytes + block->used;
    block->used += wanted;
    return 0;
}

void yaml_clear(struct tree *tree)
{
    while (tree->blocks != NULL) {
        struct yaml_block *next = tree->blocks->next;
        mem_free(tree->blocks);
        tree->blocks = next;
    }
    tree->root = NULL;
}

/* Building */

#define FAIL_MARK(reader, mark, ...)                                                           \
    return text_fail((reader)->name, (int)(mark).line + 1, (int)(mark).column + 1, __VA_ARGS__)

static int copy_text(struct yaml_reader *r, const yaml_event_t *event, const char **out)
{
    const char *value = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length) != NULL)
        FAIL_MARK(r, event->start_mark, "a NUL character stands in this text; remove it");
    char *copy = NULL;
    TRY(block_take(r->tree, length + 1, (void **)&copy));
    memcpy(copy, value, length);
    copy[length] = '\0';
    *out = copy;
    return 0;
}

static int count_node(struct yaml_reader *r, yaml_mark_t mark)
{
    r->nodes++;
    if (r->limited && r->nodes > YAML_NODES_MAX)
        FAIL_MARK(r, mark, "more than %d values and keys; use {from, to, points} for long axes",
                  YAML_NODES_MAX);
    return 0;
}

/* Hang a new node into the open list or map, or make it the root. */
static int add_node(struct yaml_reader *r, enum node_kind kind, yaml_mark_t mark,
                    struct node **out)
{
    TRY(count_node(r, mark));
    struct node *node = NULL;
    TRY(block_take(r->tree, sizeof *node, (void **)&node));
    *node =
        (struct node){.kind = kind, .line = (int)mark.line + 1, .column = (int)mark.column + 1};
    *out = node;
    if (r->depth == 0) {
        r->tree->root = node;
        return 0;
    }
    struct level *level = &r->level[r->depth];
    node->key = level->key;
    node->key_line = level->key_line;
    node->key_column = level->key_column;
    level->key = NULL;
    if (level->last == NULL)
        level->node->first = node;
    else
        level->last->next = node;
    level->last = node;
    level->node->count++;
    return 0;
}

static bool wants_key(const struct yaml_reader *r)
{
    const struct level *level = &r->level[r->depth];
    return r->depth > 0 && level->node->kind == NODE_MAP && level->key == NULL;
}

static int take_key(struct yaml_reader *r, const yaml_event_t *event)
{
    struct level *level = &r->level[r->depth];
    TRY(count_node(r, event->start_mark));
    TRY(copy_text(r, event, &level->key));
    level->key_line = (int)event->start_mark.line + 1;
    level->key_column = (int)event->start_mark.column + 1;
    if (level->key[0] == '\0')
        FAIL_MARK(r, event->start_mark, "a key is missing before ':'");
    if (strcmp(level->key, "<<") == 0)
        FAIL_MARK(r, event->start_mark,
                  "merge keys (<<) are not allowed; write the values out");
    return 0;
}

static int take_scalar(struct yaml_reader *r, const yaml_event_t *event)
{
    if (event->data.scalar.anchor != NULL)
        FAIL_MARK(r, event->start_mark, "anchors (&%s) are not allowed; write the value out",
                  (const char *)event->data.scalar.anchor);
    if (event->data.scalar.tag != NULL)
        FAIL_MARK(r, event->start_mark, "tags (%s) are not allowed; write the plain value",
                  (const char *)event->data.scalar.tag);
    if (wants_key(r))
        return take_key(r, event);
    struct node *node = NULL;
    TRY(add_node(r, NODE_SCALAR, event->start_mark, &node));
    return copy_text(r, event, &node->text);
}

static int open_level(struct yaml_reader *r, const yaml_event_t *event, enum node_kind kind)
{
    const bool map = kind == NODE_MAP;
    const yaml_char_t *anchor =
        map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *tag =
        map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (anchor != NULL)
        FAIL_MARK(r, event->start_mark, "anchors (&%s) are not allowed; write the value out",
                  (const char *)anchor);
    if (tag != NULL)
        FAIL_MARK(r, event->start_mark, "tags (%s) are not allowed; write the plain value",
                  (const char *)tag);
    if (wants_key(r))
        FAIL_MARK(r, event->start_mark, "a key must be a name, not %s",
                  map ? "a map" : "a list");
    if (r->depth == YAML_DEPTH_MAX)
        FAIL_MARK(r, event->start_mark, "more than %d levels of nesting", YAML_DEPTH_MAX);
    struct node *node = NULL;
    TRY(add_node(r, kind, event->start_mark, &node));
    r->depth++;
    r->level[r->depth] = (struct level){.node = node};
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct node *x = *(const struct node *const *)a;
    const struct node *y = *(const struct node *const *)b;
    const int order = strcmp(x->key, y->key);
    if (order != 0)
        return order;
    if (x->key_line != y->key_line)
        return x->key_line < y->key_line ? -1 : 1;
    return x->key_column < y->key_column ? -1 : 1;
}

/* The earliest key of a map that stood before. */
static int check_duplicates(const struct yaml_reader *r, const struct node *map)
{
    const struct node **sorted = NULL;
    TRY(MEM_NEW(map->count, &sorted));
    int n = 0;
    for (const struct node *child = map->first; child != NULL; child = child->next)
        sorted[n++] = child;
    qsort(sorted, (size_t)n, sizeof *sorted, compare_keys);
    const struct node *found = NULL;
    int first_line = 0;
    for (int i = 1; i < n; i++) {
        const struct node *node = sorted[i];
        if (strcmp(node->key, sorted[i - 1]->key) != 0)
            continue;
        if (found == NULL || node->key_line < found->key_line
            || (node->key_line == found->key_line && node->key_column < found->key_column)) {
            found = node;
            first_line = sorted[i - 1]->key_line;
        }
    }
    mem_free(sorted);
    if (found != NULL)
        return text_fail(r->name, found->key_line, found->key_column,
                         "duplicate key '%s'; it stands at line %d already", found->key,
                         first_line);
    return 0;
}

static int close_level(struct yaml_reader *r)
{
    const struct node *node = r->level[r->depth].node;
    r->depth--;
    return node->kind == NODE_MAP && node->count > 1 ? check_duplicates(r, node) : 0;
}

static int take_document(struct yaml_reader *r, const yaml_event_t *event)
{
    if (r->tree->root != NULL)
        FAIL_MARK(r, event->start_mark, "a second document starts here; a scan file has one");
    if (event->data.document_start.version_directive != NULL
        || event->data.document_start.tag_directives.start
               != event->data.document_start.tag_directives.end)
        FAIL_MARK(r, event->start_mark,
                  "YAML directives (%%…) are not allowed; remove the line");
    return 0;
}

static int take_event(struct yaml_reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return take_document(r, event);
    case YAML_SCALAR_EVENT:
        return take_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(r, event, NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return open_level(r, event, NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(r);
    case YAML_ALIAS_EVENT:
        FAIL_MARK(r, event->start_mark, "aliases (*%s) are not allowed; write the value out",
                  (const char *)event->data.alias.anchor);
    default:
        return 0;
    }
}

static int fail_syntax(const struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        FAIL(ERR_MEMORY, "%s: out of memory while reading YAML", r->name);
    const char *problem = p->problem != NULL ? p->problem : "unreadable";
    FAIL_MARK(r, p->problem_mark, "not valid YAML: %s%s%s", problem,
              p->context != NULL ? " " : "", p->context != NULL ? p->context : "");
}

static int read_events(struct yaml_reader *r)
{
    for (bool ended = false; !ended;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return fail_syntax(r);
        ended = event.type == YAML_STREAM_END_EVENT;
        const int rc = take_event(r, &event);
        yaml_event_delete(&event);
        TRY(rc);
    }
    return 0;
}

int yaml_parse(const char *text, size_t length, const char *name, bool limited,
               struct tree *out)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* byte order mark: some editors write one */
    *out = (struct tree){0};
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    TRY(text_check(text, length, name));
    struct yaml_reader reader = {.name = name, .limited = limited, .tree = out};
    if (!yaml_parser_initialize(&reader.parser))
        FAIL(ERR_MEMORY, "%s: out of memory while reading YAML", name);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    const int rc = read_events(&reader);
    yaml_parser_delete(&reader.parser);
    return rc;
}

/* Looking at nodes */

const struct node *node_child(const struct node *map, const char *key)
{
    for (const struct node *child = map->first; child != NULL; child = child->next)
        if (child->key != NULL && strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

const char *node_kind_name(const struct node *node)
{
    static const char *const names[] = {
        [NODE_SCALAR] = "a value", [NODE_LIST] = "a list", [NODE_MAP] = "a map"};
    return names[node->kind];
}

static void write_flow(const struct node *node, struct text *out)
{
    if (node->kind == NODE_SCALAR) {
        text_add(out, "%s", node->text);
        return;
    }
    text_add(out, "%s", node->kind == NODE_MAP ? "{" : "[");
    for (const struct node *child = node->first; child != NULL && !text_is_full(out);
         child = child->next) {
        if (child != node->first)
            text_add(out, ", ");
        if (child->key != NULL)
            text_add(out, "%s: ", child->key);
        write_flow(child, out);
    }
    text_add(out, "%s", node->kind == NODE_MAP ? "}" : "]");
}

void node_write(const struct node *node, char *text, size_t size)
{
    struct text out = {.bytes = text, .size = size};
    text[0] = '\0';
    write_flow(node, &out);
    text_end(&out);
}
