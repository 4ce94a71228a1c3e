/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/numbers.h"
#include "scans/text.h"

#define COLUMNS_MAX 64
#define TABLE_MAX   (4 * DATA_BYTES_MAX) /* of a file, and of its numbers */

/* The file */

static int check_kind(int descriptor, const char *path, long *size)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        FAIL(ERR_ARGUMENT, "%s: cannot be looked at: %s", path, strerrordesc_np(errno));
    if (!S_ISREG(status.st_mode))
        FAIL(ERR_ARGUMENT, "%s: is %s; a file with a table or an HDF5 file is wanted", path,
             S_ISDIR(status.st_mode) ? "a directory" : "no regular file");
    if (status.st_size > TABLE_MAX)
        FAIL(ERR_UNSUPPORTED, "%s: has %lld bytes; a table has at most %ld MB", path,
             (long long)status.st_size, TABLE_MAX >> 20);
    *size = (long)status.st_size;
    return 0;
}

static int read_bytes(int descriptor, const char *path, char *text, long size, long *used)
{
    for (*used = 0; *used < size;) {
        const ssize_t n = read(descriptor, text + *used, (size_t)(size - *used));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            FAIL(ERR_ARGUMENT, "%s: cannot be read: %s", path, strerrordesc_np(errno));
        if (n == 0)
            break;
        *used += n;
    }
    text[*used] = '\0';
    return 0;
}

static int read_file(const char *path, char **text, long *length)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        FAIL(ERR_ARGUMENT,
             "%s: cannot be opened: %s; the path of a table or of an HDF5 file is "
             "wanted, relative to the scan file",
             path, strerrordesc_np(errno));
    long size = 0;
    int rc = check_kind(descriptor, path, &size);
    if (rc == 0)
        rc = mem_alloc(size + 1, 1, (void **)text);
    if (rc == 0)
        rc = read_bytes(descriptor, path, *text, size, length);
    close(descriptor);
    if (rc == 0 && memchr(*text, '\0', (size_t)*length) != NULL)
        FAIL(ERR_PARSE,
             "%s: is neither text nor an HDF5 file; a table is a header line with "
             "names and units, then rows of numbers",
             path);
    return rc;
}

/* Lines */

/* A line of a table: [start, start + length) without comment and end. */
struct line {
    const char *start;
    size_t length;
    const char *comment; /* behind the `#`, NULL: none */
    size_t comment_length;
    int number;
};

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';';
}

static size_t skip_separators(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && is_separator(text[n]))
        n++;
    return n;
}

/* Behind the mark of UTF-8 that spreadsheets put at the start of a text. */
static const char *skip_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

/* Moves to the next line; false at the end. */
static bool next_line(const char **cursor, struct line *line)
{
    if (**cursor == '\0')
        return false;
    const char *text = *cursor;
    size_t length = strcspn(text, "\n");
    *cursor += length + (text[length] == '\n');
    if (length > 0 && text[length - 1] == '\r')
        length--;
    const char *hash = memchr(text, '#', length);
    line->comment = hash != NULL ? hash + 1 : NULL;
    line->comment_length = hash != NULL ? length - (size_t)(hash + 1 - text) : 0;
    if (hash != NULL)
        length = (size_t)(hash - text);
    const size_t skipped = skip_separators(text, length);
    while (length > skipped && is_separator(text[length - 1]))
        length--;
    line->start = text + skipped;
    line->length = length - skipped;
    line->number++;
    return true;
}

/* Length of the word at the start of a line's rest. */
static size_t word_length(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && !is_separator(text[n]))
        n++;
    return n;
}

static bool is_row(const struct line *line)
{
    const size_t n = word_length(line->start, line->length);
    return n > 0 && number_length(line->start) == n;
}

/* The header */

/* "[fs]" or "(fs)" at the start of a text: its length with brackets, 0 when there is none. */
static size_t bracket_length(const char *text, size_t length)
{
    if (length == 0 || (text[0] != '[' && text[0] != '('))
        return 0;
    const char *end = memchr(text, text[0] == '[' ? ']' : ')', length);
    return end != NULL ? (size_t)(end + 1 - text) : 0;
}

static int copy_part(const char *text, size_t length, char out[DATA_NAME_SIZE])
{
    if (length >= DATA_NAME_SIZE)
        return ERR_PARSE;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

/* One name with its unit; `used` receives its length. */
static int read_heading(const char *text, size_t length, char name[DATA_NAME_SIZE],
                        char unit[DATA_NAME_SIZE], size_t *used)
{
    size_t n = 0;
    while (n < length && !is_separator(text[n]) && text[n] != '[' && text[n] != '(')
        n++;
    if (n == 0 || copy_part(text, n, name) != 0)
        return ERR_PARSE;
    size_t blanks = 0;
    while (n + blanks < length && (text[n + blanks] == ' ' || text[n + blanks] == '\t'))
        blanks++;
    const size_t bracket = bracket_length(text + n + blanks, length - n - blanks);
    unit[0] = '\0';
    if (bracket >= 2 && copy_part(text + n + blanks + 1, bracket - 2, unit) != 0)
        return ERR_PARSE;
    *used = n + (bracket > 0 ? blanks + bracket : 0);
    return 0;
}

static int read_header(const struct line *line, const char *text, size_t length,
                       struct data_table *out)
{
    TRY(MEM_NEW(COLUMNS_MAX, &out->name));
    TRY(MEM_NEW(COLUMNS_MAX, &out->unit));
    size_t at = skip_separators(text, length);
    while (at < length) {
        size_t used = 0;
        if (out->columns == COLUMNS_MAX
            || read_heading(text + at, length - at, out->name[out->columns],
                            out->unit[out->columns], &used)
                   != 0)
            return text_fail(out->file, line->number, (int)at + 1,
                             "this header is not understood; accepted: at most %d names with "
                             "units, `time [fs] intensity phase [rad]`",
                             COLUMNS_MAX);
        out->columns++;
        at += used;
        at += skip_separators(text + at, length - at);
    }
    return 0;
}

/* The header: the only line of words before the numbers, else the last comment there. */
static int find_header(const char *text, struct data_table *out, const char **rows,
                       struct line *line)
{
    struct line head = {.number = 0};
    struct line comment = {.number = 0};
    const char *cursor = text;
    *line = (struct line){.number = 0};
    for (*rows = cursor; next_line(&cursor, line); *rows = cursor) {
        if (line->length == 0 && line->comment != NULL && line->comment_length > 0)
            comment = *line;
        if (line->length == 0)
            continue;
        if (is_row(line))
            break;
        if (head.number > 0)
            return text_fail(out->file, line->number, 1,
                             "a second line of words before the numbers; the header is one "
                             "line, `#` begins a comment");
        head = *line;
    }
    line->number--; /* the row is read again */
    if (head.number > 0)
        return read_header(&head, head.start, head.length, out);
    if (comment.number > 0)
        return read_header(&comment, comment.comment, comment.comment_length, out);
    return text_fail(out->file, 1, 1,
                     "no header; the first line names columns and units, `time [fs] intensity "
                     "phase [rad]`");
}

/* The numbers */

static int read_row(const struct line *line, struct data_table *out)
{
    int column = 0;
    for (size_t at = 0; at < line->length;) {
        const char *word = line->start + at;
        const size_t n = word_length(word, line->length - at);
        if (column < out->columns
            && (number_length(word) != n
                || !number_real(word, n, 0, &out->values[column * out->room + out->rows])))
            return text_fail(out->file, line->number, (int)at + 1,
                             "column %s: '%.*s' is not a finite number", out->name[column],
                             n > 40 ? 40 : (int)n, word);
        column++;
        at += n;
        at += skip_separators(line->start + at, line->length - at);
    }
    if (column != out->columns)
        return text_fail(out->file, line->number, 1, "%d numbers; the header names %d columns",
                         column, out->columns);
    out->line[out->rows++] = line->number;
    return 0;
}

static long count_lines(const char *text)
{
    struct line line = {.number = 0};
    long count = 0;
    while (next_line(&text, &line))
        count += line.length > 0;
    return count;
}

static int read_rows(const char *rows, struct line *line, struct data_table *out)
{
    out->room = count_lines(rows);
    if (out->room * out->columns > TABLE_MAX / (long)sizeof(double))
        FAIL(ERR_UNSUPPORTED, "%s: has %ld rows of %d numbers; a table has at most %ld MB",
             out->file, out->room, out->columns, TABLE_MAX >> 20);
    TRY(MEM_NEW(out->room * out->columns, &out->values));
    TRY(MEM_NEW(out->room, &out->line));
    while (next_line(&rows, line))
        if (line->length > 0)
            TRY(read_row(line, out));
    if (out->rows == 0)
        return text_fail(out->file, line->number, 1, "no numbers follow the header");
    return 0;
}

int table_read(const char *path, struct data_table *out)
{
    char *text = NULL;
    long length = 0;
    const char *rows = NULL;
    struct line line;
    *out = (struct data_table){.file = path};
    int rc = read_file(path, &text, &length);
    if (rc == 0)
        rc = find_header(skip_mark(text), out, &rows, &line);
    if (rc == 0)
        rc = read_rows(rows, &line, out);
    mem_free(text);
    return rc;
}
