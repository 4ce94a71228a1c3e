/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_YAML_H
#define SCANS_YAML_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A scan file as a tree in which every node knows its line and column. Only what a scan file
 * needs: no anchors, aliases, tags, merge keys, duplicate keys or second document; at most
 * YAML_DEPTH_MAX levels and YAML_NODES_MAX nodes. The first offence ends the reading.
 */

#define YAML_BYTES_MAX 8000000
#define YAML_DEPTH_MAX 64
#define YAML_NODES_MAX 1000000

/* Kinds of nodes. */
enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* A scalar, list or map, with its place in the text. */
struct node {
    enum node_kind kind;
    int line;          /* from 1 */
    int column;        /* from 1, in characters */
    int key_line;      /* of key */
    int key_column;    /* of key */
    int count;         /* children */
    const char *key;   /* name in the map above; NULL elsewhere */
    const char *text;  /* NODE_SCALAR */
    struct node *next; /* in the list or map above */
    struct node *first;
};

struct yaml_block;

/* A parsed document. */
struct tree {
    const struct node *root;   /* NULL: an empty document */
    struct yaml_block *blocks; /* where nodes and texts live */
};

/**
 * Parse text.
 *
 * @param name     stands in messages: `name:line:col: …`
 * @param limited  false: no limit on the number of nodes (the canonical form)
 * @param out      free with yaml_clear, also after an error
 * @return 0, ERR_PARSE with file:line:col, or ERR_MEMORY
 */
int yaml_parse(const char *text, size_t length, const char *name, bool limited,
               struct tree *out);

/** Free a tree; legal on a zeroed one. */
void yaml_clear(struct tree *tree);

/**
 * Read a file of at most YAML_BYTES_MAX bytes; size and kind are judged before reading.
 *
 * @param text   receives the bytes and a NUL; free with mem_free
 * @return 0, ERR_ARGUMENT (no such file, a directory, no permission, too large), ERR_MEMORY
 */
int yaml_read_file(const char *path, char **text, size_t *length);

/** Child of a map by key, NULL when there is none. */
const struct node *node_child(const struct node *map, const char *key);

/** Write a node in flow style, "[50 fs, 100 fs]", cut with "…" at size. */
void node_write(const struct node *node, char *text, size_t size);

/** "a value", "a list", "a map": for messages. */
const char *node_kind_name(const struct node *node);

#endif
