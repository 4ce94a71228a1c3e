/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"

enum { WRITTEN_SIZE = 4096, WORD_LETTERS = 26 };

/* End of an item of a flow list: the comma or bracket that follows it, or the end of the text.
 */
static const char *item_end(const char *at)
{
    int depth = 0;
    for (; *at != '\0' && (depth > 0 || (*at != ',' && *at != ']')); at++)
        depth += (*at == '[') - (*at == ']');
    return at;
}

static bool is_number(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    return end != text;
}

/* A list with an item that is no number: names of a choice, true and false, or lists. */
static bool holds_words(const char *written)
{
    if (*written != '[')
        return false;
    for (const char *at = written + 1; *at != '\0' && *at != ']';) {
        at += strspn(at, " ");
        const char *end = item_end(at);
        if (*end != '\0' && end > at && !is_number(at)) /* a cut item says nothing */
            return true;
        at = *end == ',' ? end + 1 : end;
    }
    return false;
}

/* An item as a tick label; a long one is cut and told from its like by its index. */
static void copy_word(const char *at, const char *end, long index, char word[PLOT_WORD_SIZE])
{
    const int length = (int)(end - at);
    if (length == 0)
        snprintf(word, PLOT_WORD_SIZE, "#%ld", index);
    else if (length <= WORD_LETTERS)
        snprintf(word, PLOT_WORD_SIZE, "%.*s", length, at);
    else
        snprintf(word, PLOT_WORD_SIZE, "%ld: %.*s…", index, WORD_LETTERS - 4, at);
}

static int split_words(const char *written, long length, char (**out)[PLOT_WORD_SIZE])
{
    TRY(MEM_NEW(length, out));
    const char *at = written + 1;
    for (long i = 0; i < length; i++) {
        at += strspn(at, " ");
        const char *end = item_end(at);
        copy_word(at, *end != '\0' ? end : at, i, (*out)[i]);
        at = *end == ',' ? end + 1 : end;
    }
    return 0;
}

static int read_parameter(struct plot_source *source, const struct read_dataset *scale,
                          struct plot_parameter *out)
{
    char number[12];
    char written[WRITTEN_SIZE];
    *out = (struct plot_parameter){.length = (long)scale->length[0]};
    TRY(read_attribute(source->store, scale->name, "parameter", out->name, sizeof out->name));
    if (out->name[0] == '\0')
        return 0;
    TRY(read_attribute(source->store, scale->name, "axis", number, sizeof number));
    TRY(read_attribute(source->store, scale->name, "as_written", written, sizeof written));
    snprintf(out->scale, sizeof out->scale, "%s", scale->name);
    snprintf(out->unit, sizeof out->unit, "%s", scale->unit);
    out->axis = (int)strtol(number, NULL, 10);
    return holds_words(written) ? split_words(written, out->length, &out->word) : 0;
}

int plot_parameters_read(struct plot_source *source)
{
    struct read_dataset *list = NULL;
    int count = 0;
    int rc = 0;
    TRY(read_list(source->store, "/", &list, &count));
    TRY_OR(rc, done, MEM_NEW(count > 0 ? count : 1, &source->parameter));
    for (int i = 0; i < count; i++) {
        struct plot_parameter *next = &source->parameter[source->parameters];
        TRY_OR(rc, done, read_parameter(source, &list[i], next));
        source->parameters += next->name[0] != '\0';
    }
done:
    mem_free(list);
    return rc;
}

void plot_parameters_clear(struct plot_source *source)
{
    for (int i = 0; i < source->parameters; i++)
        mem_free(source->parameter[i].word);
    mem_free(source->parameter);
    source->parameter = NULL;
    source->parameters = 0;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (*a != *b && !(strchr("._", *a) != NULL && strchr("._", *b) != NULL))
            return false;
    return *a == *b;
}

/* "a, b and z": what --axis takes. */
static void list_axes(const struct plot_source *source, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < source->parameters; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                 source->parameter[i].name);
    }
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? " and " : "", source->progress);
}

int plot_parameter_find(const struct plot_source *source, const char *wanted,
                        const struct plot_parameter **out)
{
    char axes[PLOT_TEXT_SIZE];
    for (int i = 0; i < source->parameters; i++) {
        const struct plot_parameter *p = &source->parameter[i];
        *out = p;
        if (wanted != NULL ? same_name(wanted, p->name) : p->axis == 0)
            return 0;
    }
    list_axes(source, axes, sizeof axes);
    FAIL(ERR_ARGUMENT, "%s: has no axis '%s'; a picture is drawn against %s", source->path,
         wanted != NULL ? wanted : "", axes);
}

/* Append ", name = value" of one parameter at a member. */
static int append_value(struct plot_source *source, const struct plot_parameter *p,
                        int64_t member, char *text, size_t size)
{
    char path[READ_NAME_SIZE + 16];
    char shown[TEXT_SIZE];
    int64_t index[PLOT_AXES_MAX] = {0};
    double value = 0;
    const size_t used = strlen(text);
    const int column = (int)(strlen(p->scale) - strlen("_values"));
    plot_source_indices(source, member / source->realisations, index);
    if (p->word != NULL) {
        snprintf(shown, sizeof shown, "%s", p->word[index[p->axis]]);
    } else {
        snprintf(path, sizeof path, "member/param/%.*s", column, p->scale);
        TRY(read_rows(source->store, path, member, 1, 1, &value));
        text_value(value, p->unit, shown);
    }
    snprintf(text + used, size - used, "%s%s = %s", used > 0 ? ", " : "", p->name, shown);
    return 0;
}

int plot_source_axis_text(struct plot_source *source, int axis, int64_t member, char *text,
                          size_t size)
{
    text[0] = '\0';
    for (int a = 0; a < source->axes; a++) {
        if (axis >= 0 && a != axis)
            continue;
        for (int i = 0; i < source->parameters; i++)
            if (source->parameter[i].axis == a)
                TRY(append_value(source, &source->parameter[i], member, text, size));
    }
    return 0;
}
