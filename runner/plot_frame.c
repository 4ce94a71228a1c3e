/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plot_frame.h"

#include <math.h>
#include <string.h>

#include "kernels/base/status.h"

enum {
    LINE_SIZE = 400,
    LETTERS_MOST = 100, /* of a line, however wide the picture */
    TICKS_MOST = 9,
    DIGITS_MOST = 7 /* of a tick label; beyond that a value is shown as a difference */
};

static const double letter_width =
    0.56; /* of the font's size: a little above the mean of texts */

static bool is_start(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80; /* not inside a UTF-8 sequence */
}

void plot_append(char *text, size_t size, const char *part)
{
    const size_t used = strlen(text);
    if (part[0] == '\0')
        return;
    const int length = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", part);
    size_t end = strlen(text);
    if (length < (int)(size - used))
        return;
    while (end > used && !is_start(text[end - 1]))
        end--; /* what remains of a letter that was cut */
    text[end > used ? end - 1 : used] = '\0';
}

int plot_letters_of(const char *text)
{
    int letters = 0;
    for (; *text != '\0'; text++)
        letters += is_start(*text);
    return letters;
}

/* Bytes of the first so many letters. */
static size_t bytes_of(const char *text, int letters)
{
    size_t at = 0;
    while (text[at] != '\0' && (letters > 0 || !is_start(text[at]))) {
        letters -= is_start(text[at]);
        at++;
    }
    while (text[at] != '\0' && !is_start(text[at]))
        at++;
    return at;
}

double plot_text_width(const struct picture *picture, const char *text)
{
    return letter_width * picture_font(picture) * plot_letters_of(text);
}

/* Where a text that is too long is broken: before a parenthesis that then fits, else after the
 * last comma that leaves a good line, else at the last space; 0: nowhere. */
static size_t find_break(const char *text, int letters)
{
    const size_t limit = bytes_of(text, letters);
    const char *parenthesis = strstr(text, " (");
    size_t space = 0;
    if (parenthesis != NULL && (size_t)(parenthesis - text) <= limit
        && plot_letters_of(parenthesis + 1) <= letters)
        return (size_t)(parenthesis - text);
    for (size_t i = limit; i > limit / 3; i--) {
        if (text[i] != ' ')
            continue;
        if (text[i - 1] == ',')
            return i;
        space = space == 0 ? i : space;
    }
    return space;
}

void plot_cut(char *text, int letters)
{
    if (plot_letters_of(text) <= letters)
        return;
    size_t at = bytes_of(text, letters - 1);
    const size_t length = strlen(text);
    while (at + sizeof "…" > length + 1) /* no more bytes than before */
        at = bytes_of(text, --letters - 1);
    memcpy(text + at, "…", sizeof "…");
}

static void write_line(struct gnuplot *g, const char *text, size_t length, int letters)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    plot_cut(line, letters);
    gnuplot_text(g, line);
}

void plot_write_lines(struct gnuplot *g, const char *text, int letters)
{
    const char *mark = strchr(text, '\n');
    size_t length = mark != NULL ? (size_t)(mark - text) : strlen(text);
    if (mark == NULL && plot_letters_of(text) > letters) {
        const size_t at = find_break(text, letters);
        length = at > 0 ? at : length;
    }
    write_line(g, text, length, letters);
    if (text[length] == '\0')
        return;
    fprintf(gnuplot_script(g), ".\"\\n\".");
    write_line(g, text + length + 1, strlen(text + length + 1), letters);
}

int plot_count_lines(const char *text, int letters)
{
    return strchr(text, '\n') != NULL || plot_letters_of(text) > letters ? 2 : 1;
}

int plot_letters(const struct picture *picture, double width)
{
    const double letters = width / (letter_width * picture_font(picture));
    return letters < 12 ? 12 : letters > LETTERS_MOST ? LETTERS_MOST : (int)letters;
}

void plot_title(struct gnuplot *gnuplot, const char *title)
{
    const struct picture *picture = gnuplot_picture(gnuplot);
    fprintf(gnuplot_script(gnuplot), "set title ");
    plot_write_lines(gnuplot, title, plot_letters(picture, 0.86 * picture->width));
    fprintf(gnuplot_script(gnuplot), "\n");
}

/* The smallest of 1, 2, 5 times a power of ten that is not below a step. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    const double ratio = least / power;
    return power * (ratio <= 1.0000001 ? 1 : ratio <= 2.0000001 ? 2 : ratio <= 5 ? 5 : 10);
}

static int decimals_of(double step)
{
    const double decimals = -floor(log10(step) + 1e-9);
    return decimals > 0 ? (int)decimals : 0;
}

/* How the numbers at ticks are printed: %.3f or %.5g. */
struct tick_format {
    int digits;
    char kind;
};

/* The format in which ticks a step apart differ. */
static struct tick_format choose_format(double largest, double step)
{
    const int digits = 1 + (int)floor(log10(largest / step) + 1e-9);
    if (largest < 1e6 && step >= 1e-6)
        return (struct tick_format){decimals_of(step), 'f'};
    return (struct tick_format){digits > 3 ? digits + 1 : 4, 'g'};
}

static double tick_width(const struct picture *picture, struct tick_format format, double value)
{
    char text[400];
    if (format.kind == 'f')
        snprintf(text, sizeof text, "%.*f", format.digits, value);
    else
        snprintf(text, sizeof text, "%.*g", format.digits, value);
    return plot_text_width(picture, text);
}

double plot_ticks(struct gnuplot *g, const char *axis, struct plot_window range, double pixels)
{
    const struct picture *picture = gnuplot_picture(g);
    const double font = picture_font(picture);
    const double span = fabs(range.high - range.low);
    const double largest = fmax(fabs(range.low), fabs(range.high));
    if (!(span > 0) || !isfinite(span))
        return 0;
    double step = round_step(span / TICKS_MOST);
    struct tick_format format = choose_format(largest, step);
    for (int pass = 0; pass < 2; pass++) { /* fewer ticks may need fewer digits */
        const double wide = fmax(tick_width(picture, format, range.low),
                                 tick_width(picture, format, range.high));
        const double each = axis[0] == 'x' ? wide + 1.2 * font : 2.2 * font;
        step = round_step(span / fmin(TICKS_MOST, fmax(2, floor(pixels / each))));
        format = choose_format(largest, step);
    }
    fprintf(gnuplot_script(g), "set %stics %.10g\nset format %s '%%.%d%c'\n", axis, step, axis,
            format.digits, format.kind);
    return step;
}

void plot_scale_choose(const char *unit, double low, double high, struct plot_scale *out)
{
    const double span = high - low;
    const double largest = fmax(fabs(low), fabs(high));
    *out = (struct plot_scale){0};
    text_choose_unit(unit, largest, &out->unit);
    const double shown = largest / out->unit.scale; /* with an exponent labels are longer */
    const int digits = shown < 1e6 && shown > 1e-3 ? DIGITS_MOST : DIGITS_MOST - 2;
    if (span > 0 && largest / span > pow(10, digits - 2)) {
        const double quantum = pow(10, ceil(log10(span)));
        const double offset = round((low + 0.5 * span) / quantum) * quantum;
        out->offset = offset;
        out->digits = 1 + (int)ceil(log10(largest / quantum));
        text_choose_unit(unit, fmax(fabs(low - offset), fabs(high - offset)), &out->unit);
    }
}

double plot_scale_show(const struct plot_scale *scale, double value)
{
    return (value - scale->offset) / scale->unit.scale;
}

void plot_axis_label(struct gnuplot *g, const char *axis, const char *name, const char *unit,
                     const struct plot_scale *scale)
{
    char label[LINE_SIZE];
    char spaced[LINE_SIZE / 2];
    char offset[TEXT_SIZE];
    size_t used = (size_t)snprintf(spaced, sizeof spaced, "%.110s", name);
    for (char *c = spaced; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    if (scale->offset != 0) {
        text_rounded(fabs(scale->offset), unit, scale->digits < 17 ? scale->digits : 17,
                     offset);
        snprintf(spaced + used, sizeof spaced - used, " %s %s", scale->offset < 0 ? "+" : "−",
                 offset);
    }
    text_label(spaced, scale->unit.unit, label, sizeof label);
    fprintf(gnuplot_script(g), "set %slabel ", axis);
    gnuplot_text(g, label);
    fprintf(gnuplot_script(g), "\n");
}

struct plot_window plot_widen(double low, double high, double below, double above)
{
    double span = high - low;
    if (!(span > 0)) { /* one value: it stands in the middle */
        span = low != 0 ? 0.2 * fabs(low) : 1;
        low -= 0.5 * span;
        high += 0.5 * span;
    }
    return (struct plot_window){low - below * span, high + above * span};
}

int plot_check_window(const struct plot_source *source, const struct plot_axis *axis,
                      const struct plot_request *request)
{
    if (!request->window_set
        || (request->window[1] > axis->x[0] && request->window[0] < axis->x[axis->n - 1]))
        return 0;
    FAIL(ERR_ARGUMENT,
         "%s: nothing to draw for --x-range %.6g:%.6g; its spectrum reaches from %.6g to %.6g "
         "%s",
         source->path, request->window[0], request->window[1], axis->x[0], axis->x[axis->n - 1],
         axis->unit);
}
