/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define FILE_MAX ((long)256 << 20) /* bytes: more than the ids of 2 * 10^7 members */

static bool is_separator(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

/* Words are what a user wrote: they are shown cut. */
static int fail_word(const char *word, size_t length, int64_t members)
{
    FAIL(ERR_ARGUMENT,
         "'%.*s': ids from 0 to %lld and ranges as 10-19 are wanted, separated by "
         "commas",
         (int)(length < 40 ? length : 40), word, (long long)members - 1);
}

/* A number without sign that ends where a word or one side of a range may end. */
static bool read_id(const char **at, int64_t *id)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *id = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* "7" or "10-19", up to `end`. */
static bool read_range(const char *at, const char *end, int64_t members,
                       struct selection_range *range)
{
    if (!read_id(&at, &range->first))
        return false;
    range->last = range->first;
    if (at < end && *at == '-') {
        at++;
        if (!read_id(&at, &range->last))
            return false;
    }
    return at == end && range->first <= range->last && range->last < members;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct selection_range *const x = a;
    const struct selection_range *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Ranges that touch or overlap become one. */
static void merge_ranges(struct selection *s)
{
    long kept = 0;
    qsort(s->range, (size_t)s->ranges, sizeof s->range[0], compare_ranges);
    for (long i = 1; i < s->ranges; i++) {
        struct selection_range *const last = &s->range[kept];
        const struct selection_range next = s->range[i];
        if (next.first > last->last + 1)
            s->range[++kept] = next;
        else if (next.last > last->last)
            last->last = next.last;
    }
    s->ranges = kept + 1;
}

static long count_words(const char *text)
{
    long words = 0;
    for (const char *at = text; *at != '\0'; at++)
        words += !is_separator(*at) && (at == text || is_separator(at[-1]));
    return words;
}

static int read_words(const char *text, int64_t members, struct selection *out)
{
    const long words = count_words(text);
    if (words == 0)
        FAIL(ERR_ARGUMENT, "no member is named: ids from 0 to %lld are wanted",
             (long long)members - 1);
    TRY(MEM_NEW(words, &out->range));
    for (const char *at = text; *at != '\0';) {
        const char *end = at;
        while (*end != '\0' && !is_separator(*end))
            end++;
        if (end > at && !read_range(at, end, members, &out->range[out->ranges++]))
            return fail_word(at, (size_t)(end - at), members);
        at = *end == '\0' ? end : end + 1;
    }
    merge_ranges(out);
    return 0;
}

/* Comments become blanks; a byte 0 would end the text unseen. */
static void blank_comments(char *text, size_t length)
{
    bool comment = false;
    for (size_t i = 0; i < length; i++) {
        comment = text[i] != '\n' && (comment || text[i] == '#');
        if (comment)
            text[i] = ' ';
        else if (text[i] == '\0')
            text[i] = '?';
    }
}

static int read_whole(FILE *file, const char *path, char **text)
{
    if (fseek(file, 0, SEEK_END) != 0)
        FAIL(ERR_ARGUMENT, "@%s: %s", path, strerrordesc_np(errno));
    const long size = ftell(file);
    if (size < 0 || size > FILE_MAX)
        FAIL(ERR_ARGUMENT, "@%s: a regular file of at most %ld MB is wanted", path,
             FILE_MAX >> 20);
    rewind(file);
    TRY(MEM_NEW(size + 1, text));
    const size_t got = fread(*text, 1, (size_t)size, file);
    if (ferror(file))
        FAIL(ERR_ARGUMENT, "@%s: %s", path, strerrordesc_np(errno));
    blank_comments(*text, got);
    return 0;
}

static int read_file(const char *path, int64_t members, struct selection *out)
{
    char *text = NULL;
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        FAIL(ERR_ARGUMENT, "@%s: %s", path, strerrordesc_np(errno));
    int rc = read_whole(file, path, &text);
    fclose(file);
    if (rc == 0)
        rc = read_words(text, members, out);
    mem_free(text);
    return rc;
}

int selection_read(const char *option, const char *text, int64_t members, struct selection *out)
{
    char message[400];
    *out = (struct selection){0};
    const struct status_saved saved = status_capture_save();
    status_capture(message, sizeof message);
    const int rc =
        text[0] == '@' ? read_file(text + 1, members, out) : read_words(text, members, out);
    status_capture_restore(saved);
    if (rc == 0)
        return 0;
    selection_clear(out);
    FAIL(rc, "--%s: %s", option, message);
}

void selection_clear(struct selection *selection)
{
    mem_free(selection->range);
    *selection = (struct selection){0};
}

bool selection_has(const struct selection *selection, int64_t member)
{
    if (selection == NULL)
        return true;
    long low = 0; /* the range wanted is in [low, high) */
    long high = selection->ranges;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (member > selection->range[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < selection->ranges && member >= selection->range[low].first;
}

int64_t selection_count(const struct selection *selection, int64_t first, int64_t count)
{
    int64_t sum = 0;
    if (selection == NULL)
        return count;
    for (long i = 0; i < selection->ranges; i++) {
        const struct selection_range *const r = &selection->range[i];
        const int64_t from = r->first > first ? r->first : first;
        const int64_t end = r->last + 1 < first + count ? r->last + 1 : first + count;
        sum += end > from ? end - from : 0;
    }
    return sum;
}
