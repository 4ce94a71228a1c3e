/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the keys of a scan stand, for what is found wrong after the reading. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/internal.h"

/* A key given on the command line has no line. */
static int place_text(const struct reader *r, int line, int column, char **out)
{
    char text[PLACE_SIZE];
    if (r->replace)
        snprintf(text, sizeof text, "%s", r->name);
    else
        snprintf(text, sizeof text, "%.*s:%d:%d", PLACE_SIZE - 32, r->name, line, column);
    return mem_copy_text(text, out);
}

static struct place *find(const struct scan *scan, const char *key, size_t length)
{
    for (int i = 0; i < scan->places; i++)
        if (strncmp(scan->place[i].key, key, length) == 0 && scan->place[i].key[length] == '\0')
            return &scan->place[i];
    return NULL;
}

static int add(struct scan *scan, const char *key, struct place **out)
{
    if (scan->places == scan->places_room) {
        const int room = scan->places_room > 0 ? 2 * scan->places_room : 32;
        struct place *more = NULL;
        TRY(MEM_NEW(room, &more));
        if (scan->places > 0)
            memcpy(more, scan->place, (size_t)scan->places * sizeof *more);
        mem_free(scan->place);
        scan->place = more;
        scan->places_room = room;
    }
    *out = &scan->place[scan->places];
    TRY(mem_copy_text(key, &(*out)->key));
    scan->places++;
    return 0;
}

int places_note(struct reader *r, const char *key, const struct node *node)
{
    if (r->units == NULL)
        return 0; /* the canonical form is nobody's file */
    struct place *place = find(r->scan, key, strlen(key));
    if (place == NULL)
        TRY(add(r->scan, key, &place));
    const bool named = node->key != NULL;
    mem_free(place->text);
    place->text = NULL;
    place->commanded = r->replace;
    return place_text(r, named ? node->key_line : node->line,
                      named ? node->key_column : node->column, &place->text);
}

void places_clear(struct scan *scan)
{
    for (int i = 0; i < scan->places; i++) {
        mem_free(scan->place[i].key);
        mem_free(scan->place[i].text);
    }
    mem_free(scan->place);
    scan->place = NULL;
    scan->places = 0;
}

const char *scan_place(const struct scan *scan, const char *key)
{
    const struct place *place = find(scan, key, strlen(key));
    return place != NULL ? place->text : NULL;
}

static bool is_key_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Length of the dotted name at the start of a text; its dots stand between letters. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    while (is_key_letter(text[length])
           || (length > 0 && text[length] == '.' && is_key_letter(text[length + 1])))
        length++;
    return length;
}

/* The group that a message begins with ("grid: neither …"): itself, or a key in it. */
static const struct place *find_head(const struct scan *scan, const char *message)
{
    const size_t length = name_length(message);
    if (length == 0 || message[length] != ':')
        return NULL;
    const struct place *place = find(scan, message, length);
    for (int i = 0; i < scan->places && place == NULL; i++)
        if (strncmp(scan->place[i].key, message, length) == 0
            && scan->place[i].key[length] == '.')
            place = &scan->place[i];
    return place;
}

/* What was given last, by --set, is more likely the mistake; else the longest name. */
static bool is_better(const struct place *place, const struct place *best)
{
    if (place == NULL || best == NULL)
        return place != NULL;
    if (place->commanded != best->commanded)
        return place->commanded;
    return strlen(place->key) > strlen(best->key);
}

const char *scan_blame(const struct scan *scan, const char *message)
{
    const struct place *best = NULL;
    for (const char *c = message; *c != '\0';) {
        const size_t length = name_length(c);
        const bool dotted = memchr(c, '.', length) != NULL;
        const struct place *place = dotted ? find(scan, c, length) : NULL;
        if (is_better(place, best))
            best = place;
        c += length > 0 ? length : 1;
    }
    if (best == NULL)
        best = find_head(scan, message);
    return best != NULL ? best->text : scan_place(scan, "model");
}

int scan_fail(const struct scan *scan, int code, const char *message)
{
    const char *place = scan_blame(scan, message);
    if (place == NULL)
        FAIL(code, "%s", message);
    FAIL(code, "%s: %s", place, message);
}
