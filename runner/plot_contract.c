/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accuracy of a scan beside its result: an observable, and the margin of its verdicts,
 * which is observed error over bound. */
#include <math.h>
#include <string.h>

#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "runner/plot_frame.h"
#include "runner/plot_quantity.h"

#define MARGIN_LEAST 1e-9 /* smaller ones are drawn as this: a margin may be 0 */

enum { WORDS_MAX = 40, WORD_LETTERS = 16 };

/* One axis of the scan as it is drawn. */
struct scan_scale {
    const struct plot_parameter *parameter;
    long n;
    double *value; /* [n] shown; of names their index */
    double *edge;  /* [n][2] of the cell of a value */
    struct plot_scale scale;
    bool logarithmic;
};

/* What is drawn. */
struct contract_picture {
    const struct plot_request *request;
    const char *observable;
    struct plot_source *source;
    struct plot_quantity quantity;
    struct scan_scale x, y;              /* y: parameter NULL for a single axis */
    long rows;                           /* values along y, 1 for a single axis */
    double *result;                      /* [rows][x.n] NaN: none */
    double *margin;                      /* [rows][x.n] NaN: not judged */
    struct plot_window results, margins; /* limits; margins of log10 */
    struct plot_scale result_scale;
    char norm[96];
    char place[2 * TEXT_SIZE];
    char held[PLOT_TEXT_SIZE];
};

/* Part: what is read. */

/* The largest margin of the members of a point that have a verdict. */
static int read_margin(struct contract_picture *c, int64_t point, double *out)
{
    struct plot_source *const s = c->source;
    *out = (double)NAN;
    for (int64_t m = point * s->realisations; m < (point + 1) * s->realisations; m++) {
        struct verdict_state state;
        double margin = 0;
        TRY(verdict_read(s->store, m, 1, &state));
        if (state.outcome != MEMBER_DONE || state.verdict == VERDICT_UNJUDGED)
            continue;
        TRY(read_rows(s->store, "member/contract/margin", m, 1, 1, &margin));
        if (c->norm[0] == '\0')
            TRY(read_text_row(s->store, "member/contract/norm", m, c->norm, sizeof c->norm));
        *out = isnan(*out) || margin > *out ? margin : *out;
    }
    return 0;
}

/* The first number that the file keeps of a plane. */
static int first_observable(struct plot_source *s, char name[READ_NAME_SIZE])
{
    struct read_dataset *list = NULL;
    int count = 0;
    int best = -1;
    name[0] = '\0';
    TRY(read_list(s->store, "plane", &list, &count));
    int rc = 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        char path[READ_NAME_SIZE + 8];
        char kind[24];
        char number[12];
        snprintf(path, sizeof path, "plane/%s", list[i].name);
        rc = read_attribute(s->store, path, "kind", kind, sizeof kind);
        if (rc != 0 || strcmp(kind, "observable") != 0)
            continue;
        rc = read_attribute(s->store, path, "index", number, sizeof number);
        const int index = number[0] >= '0' ? number[0] - '0' + (number[1] != '\0' ? 10 : 0) : 0;
        if (rc == 0 && (best < 0 || index < best)) {
            best = index;
            snprintf(name, READ_NAME_SIZE, "%s", list[i].name);
        }
    }
    mem_free(list);
    if (rc == 0 && name[0] == '\0')
        FAIL(ERR_ARGUMENT, "%s: keeps no observable; a contract is drawn beside one", s->path);
    return rc;
}

/* The first axis with more than one value, but for one of them; NULL: there is none. */
static const struct plot_parameter *axis_beside(const struct plot_source *s, int other)
{
    const struct plot_parameter *best = NULL;
    for (int i = 0; i < s->parameters; i++) {
        const struct plot_parameter *const p = &s->parameter[i];
        if (p->axis != other && p->length > 1 && (best == NULL || p->axis < best->axis))
            best = p;
    }
    return best;
}

static int choose_first(struct contract_picture *c)
{
    c->x.parameter = c->request->axis == NULL ? axis_beside(c->source, -1) : NULL;
    return c->x.parameter != NULL
               ? 0
               : plot_parameter_find(c->source, c->request->axis, &c->x.parameter);
}

static bool is_geometric(const double *v, long n)
{
    if (n < 2 || !(v[0] > 0) || !(v[1] > 0))
        return false;
    for (long i = 1; i < n; i++)
        if (!(v[i] > 0) || fabs(v[i] / v[i - 1] / (v[1] / v[0]) - 1) > bound(BOUND_even_axis))
            return false;
    return fabs(log10(v[n - 1] / v[0])) >= 1;
}

/* Cells meet half way between neighbours: of logarithmic axes at the geometric mean. The outer
 * edges mirror the inner ones; a lone cell is 1 wide. */
static double edge_of(const struct scan_scale *a, long i, int side)
{
    const long other = side == 0 ? i - 1 : i + 1;
    const bool inside = other >= 0 && other < a->n;
    const double here = a->value[i];
    if (a->n == 1)
        return here + (side == 0 ? -0.5 : 0.5);
    const double there = a->value[inside ? other : 2 * i - other];
    if (a->logarithmic) {
        const double half = sqrt(there / here);
        return here * (inside ? half : 1 / half);
    }
    const double half = 0.5 * (there - here);
    return here + (inside ? half : -half);
}

static void set_edges(struct scan_scale *a)
{
    for (long i = 0; i < a->n; i++)
        for (int side = 0; side < 2; side++)
            a->edge[2 * i + side] = edge_of(a, i, side);
}

static int read_scale_of(struct plot_source *s, struct scan_scale *a)
{
    const struct plot_parameter *const p = a->parameter;
    double *v = NULL;
    int rc = 0;
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    TRY(read_scale(s->store, p->scale, 0, &v, &a->n));
    if (a->n > PLOT_POINTS_MAX)
        TRY_OR(rc, done,
               status_fail(ERR_ARGUMENT, "%s: axis %s has %ld values; plot draws %d", s->path,
                           p->name, a->n, PLOT_POINTS_MAX));
    TRY_OR(rc, done, MEM_NEW(a->n, &a->value));
    TRY_OR(rc, done, MEM_NEW(2 * a->n, &a->edge));
    for (long i = 0; i < a->n; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    a->scale = (struct plot_scale){.unit = {.scale = 1}};
    a->logarithmic = p->word == NULL && is_geometric(v, a->n);
    if (p->word == NULL && !a->logarithmic)
        plot_scale_choose(p->unit, low, high, &a->scale);
    else if (a->logarithmic)
        text_choose_unit(p->unit, high, &a->scale.unit);
    for (long i = 0; i < a->n; i++)
        a->value[i] = p->word != NULL ? (double)i : plot_scale_show(&a->scale, v[i]);
    set_edges(a);
done:
    mem_free(v);
    return rc;
}

static int read_rows_of(struct contract_picture *c, const int64_t *index, long plane)
{
    int64_t at[PLOT_AXES_MAX];
    memcpy(at, index, sizeof at);
    for (long row = 0; row < c->rows; row++) {
        struct plot_sample *sample = NULL;
        long count = 0;
        if (c->y.parameter != NULL)
            at[c->y.parameter->axis] = row;
        int rc = plot_quantity_over_axis(&c->quantity, at, plane, &sample, &count);
        for (long i = 0; rc == 0 && i < count && i < c->x.n; i++) {
            const int64_t point = plot_quantity_point(c->source, at, c->x.parameter->axis, i);
            c->result[row * c->x.n + i] = sample[i].y;
            if (c->place[0] == '\0' && isfinite(sample[i].place)) {
                char value[TEXT_SIZE];
                text_value(sample[i].place, c->source->progress_unit, value);
                snprintf(c->place, sizeof c->place, "%.40s = %s", c->source->progress, value);
            }
            rc = read_margin(c, point, &c->margin[row * c->x.n + i]);
        }
        mem_free(sample);
        TRY(rc);
    }
    return 0;
}

/* Where the axes stand that are not drawn. */
static int describe_held(struct contract_picture *c, int64_t point)
{
    struct plot_source *const s = c->source;
    char values[PLOT_TEXT_SIZE];
    for (int a = 0; a < s->axes; a++) {
        const bool drawn =
            a == c->x.parameter->axis || (c->y.parameter != NULL && a == c->y.parameter->axis);
        if (drawn || s->axis_length[a] == 1)
            continue;
        TRY(plot_source_axis_text(s, a, point * s->realisations, values, sizeof values));
        plot_append(c->held, sizeof c->held, values);
    }
    return 0;
}

static int measure(struct contract_picture *c)
{
    long judged = 0;
    long values = 0;
    c->results = (struct plot_window){(double)INFINITY, -(double)INFINITY};
    c->margins = (struct plot_window){0, 0};
    for (long i = 0; i < c->rows * c->x.n; i++) {
        if (isfinite(c->result[i])) {
            values++;
            c->results = (struct plot_window){fmin(c->results.low, c->result[i]),
                                              fmax(c->results.high, c->result[i])};
        }
        if (isnan(c->margin[i]))
            continue;
        judged++;
        const double m = log10(fmax(c->margin[i], MARGIN_LEAST));
        if (isfinite(m))
            c->margins =
                (struct plot_window){fmin(c->margins.low, m), fmax(c->margins.high, m)};
    }
    if (judged == 0)
        FAIL(ERR_ARGUMENT,
             "%s: no member drawn here has a verdict; 'envelope: {tolerance: …}' judges them",
             c->source->path);
    if (values == 0)
        FAIL(ERR_ARGUMENT, "%s: nothing to draw: no member drawn here has that plane",
             c->source->path);
    plot_scale_choose(c->quantity.unit, c->results.low, c->results.high, &c->result_scale);
    return 0;
}

static int fill(struct contract_picture *c)
{
    int64_t index[PLOT_AXES_MAX] = {0};
    const int64_t point = c->request->point >= 0 ? c->request->point : 0;
    long plane = 0;
    TRY(read_scale_of(c->source, &c->x));
    c->rows = 1;
    if (c->y.parameter != NULL) {
        TRY(read_scale_of(c->source, &c->y));
        c->rows = c->y.n;
    }
    TRY(MEM_NEW(c->rows * c->x.n, &c->result));
    TRY(MEM_NEW(c->rows * c->x.n, &c->margin));
    TRY(plot_source_plane(c->source, c->request->plane, c->source->planes, &plane));
    plot_source_indices(c->source, point, index);
    TRY(read_rows_of(c, index, plane));
    TRY(describe_held(c, point));
    return measure(c);
}

/* Part: what is drawn. */

/* A name as it stands at a tick. */
static void cut_word(const struct scan_scale *a, long i, char word[PLOT_WORD_SIZE])
{
    snprintf(word, PLOT_WORD_SIZE, "%s", a->parameter->word[i]);
    plot_cut(word, WORD_LETTERS);
}

/* Pixels that the names at the ticks take; 0 for numbers. */
static double widest_word(const struct picture *picture, const struct scan_scale *a)
{
    double most = 0;
    for (long i = 0; a->parameter->word != NULL && i < a->n; i++) {
        char word[PLOT_WORD_SIZE];
        cut_word(a, i, word);
        most = fmax(most, plot_text_width(picture, word));
    }
    return most;
}

/* Names at the ticks of an axis; those along x are turned by 35 degrees. */
static void write_words(struct gnuplot *g, const char *axis, const struct scan_scale *a)
{
    FILE *out = gnuplot_script(g);
    const long every = (a->n + WORDS_MAX - 1) / WORDS_MAX;
    fprintf(out, "set %stics %s(", axis, axis[0] == 'x' ? "rotate by 35 right " : "");
    for (long i = 0; i < a->n; i += every) {
        char word[PLOT_WORD_SIZE];
        cut_word(a, i, word);
        fprintf(out, "%s", i > 0 ? ", " : "");
        gnuplot_text(g, word);
        fprintf(out, " %ld", i);
    }
    fprintf(out, ")\n");
}

/* Room below the frame for ticks and label, as a part of the picture. */
static double below(const struct picture *picture, const struct scan_scale *x)
{
    const double line = 1.08 * picture_line(picture) / picture->height;
    const double turned = 0.6 * widest_word(picture, x) / picture->height;
    return 4.2 * line + (turned > line ? turned - line : 0);
}

static void write_axis(struct gnuplot *g, const char *axis, const struct scan_scale *a,
                       bool cells, double pixels)
{
    FILE *out = gnuplot_script(g);
    const double low = fmin(a->edge[0], a->edge[2 * a->n - 2]);
    const double high = fmax(a->edge[1], a->edge[2 * a->n - 1]);
    const double first = fmin(a->value[0], a->value[a->n - 1]);
    const double last = fmax(a->value[0], a->value[a->n - 1]);
    struct plot_window w = {fmin(low, fmin(a->edge[1], a->edge[2 * a->n - 1])),
                            fmax(high, fmax(a->edge[0], a->edge[2 * a->n - 2]))};
    if (!cells)
        w = a->logarithmic ? (struct plot_window){first / 1.1, last * 1.1}
                           : plot_widen(first, last, 0.04, 0.04);
    plot_axis_label(g, axis, a->parameter->name, a->parameter->unit, &a->scale);
    fprintf(out, "%sset logscale %s\nset %srange [%.10g:%.10g]\n", a->logarithmic ? "" : "un",
            axis, axis, w.low, w.high);
    if (a->parameter->word != NULL)
        write_words(g, axis, a);
    else if (a->logarithmic)
        fprintf(out, "set %stics autofreq\nset format %s '%%h'\n", axis, axis);
    else
        plot_ticks(g, axis, w, pixels);
}

/* A cell a line: centre, edges, value. @param which 0 results, 1 margins, 2 not judged */
static int write_cells(struct contract_picture *c, struct gnuplot *g, const char *name,
                       int which)
{
    FILE *out = NULL;
    TRY(gnuplot_data(g, name, &out));
    for (long r = 0; r < c->rows; r++)
        for (long i = 0; i < c->x.n; i++) {
            const double margin = c->margin[r * c->x.n + i];
            const double value =
                which == 0   ? plot_scale_show(&c->result_scale, c->result[r * c->x.n + i])
                : which == 1 ? log10(fmax(margin, MARGIN_LEAST))
                             : 0;
            if (isnan(value) || (which == 1 && isnan(margin)) || (which == 2 && !isnan(margin)))
                continue;
            fprintf(out, "%.10g %.10g %.10g %.10g %.10g %.10g %.10g %d\n", c->x.value[i],
                    c->y.value[r], c->x.edge[2 * i], c->x.edge[2 * i + 1], c->y.edge[2 * r],
                    c->y.edge[2 * r + 1], isfinite(value) ? value : c->margins.high,
                    margin > 1 || isinf(margin));
        }
    return gnuplot_data_close(out, name);
}

/* Places of the two maps, as fractions of the picture. */
struct places {
    double left[2], right[2];
    double bottom, top, title, bar;
};

static struct places place_maps(const struct contract_picture *c, int title_lines,
                                const char *const titles[2])
{
    const struct picture *const picture = &c->request->picture;
    const double letter = picture_font(picture) / picture->width;
    const double line = 1.08 * picture_line(picture) / picture->height;
    struct places p = {.bottom = below(picture, &c->x), .bar = 1.2 * letter};
    const double beside = 6.4 * letter; /* bar and its numbers */
    const double names = widest_word(picture, &c->y) / picture->width;
    p.left[0] = fmax((c->y.logarithmic ? 9.2 : 7.2) * letter, 5.0 * letter + names);
    p.right[1] = 1 - beside;
    const double width = 0.5 * (p.right[1] - p.left[0] - beside - 2.2 * letter);
    p.right[0] = p.left[0] + width;
    p.left[1] = p.right[1] - width;
    int lines = 1;
    for (int i = 0; i < 2; i++)
        lines =
            plot_count_lines(titles[i], plot_letters(picture, width * picture->width)) > lines
                ? 2
                : lines;
    p.title = 1 - (0.3 + 0.55 * title_lines) * 1.15 * line;
    p.top = 1 - (1.5 + 1.4 * title_lines + lines) * line;
    return p;
}

static void write_panel(struct gnuplot *g, const struct places *p, int panel, const char *title,
                        struct plot_window range)
{
    FILE *out = gnuplot_script(g);
    const struct picture *const picture = gnuplot_picture(g);
    const double letter = picture_font(picture) / picture->width;
    fprintf(out,
            "set lmargin at screen %.4g\nset rmargin at screen %.4g\n"
            "set colorbox user origin screen %.4g,%.4g size screen %.4g,%.4g\n"
            "set cbrange [%.10g:%.10g]\nset title ",
            p->left[panel], p->right[panel], p->right[panel] + letter, p->bottom, p->bar,
            p->top - p->bottom, range.low, range.high);
    plot_write_lines(
        g, title, plot_letters(picture, (p->right[panel] - p->left[panel]) * picture->width));
    fprintf(out, "\n");
    plot_ticks(g, "cb", range, (p->top - p->bottom) * picture->height);
}

/* Blue where the bound is far, white at it, red beyond. */
static void write_palette(FILE *out, struct plot_window range)
{
    const double low = range.low < 0 ? range.low : -1e-3;
    const double high = range.high > 0 ? range.high : 1e-3;
    fprintf(out,
            "set palette defined (%.6g '#2166ac', %.6g '#92c5de', 0 '#f7f7f7', %.6g '#f4a582', "
            "%.6g '#b2182b')\n",
            low, 0.5 * low, 0.5 * high, high);
}

static int write_maps(struct contract_picture *c, struct gnuplot *g, const struct places *p,
                      const char *const titles[2], bool open)
{
    FILE *out = gnuplot_script(g);
    const struct picture *const picture = gnuplot_picture(g);
    const double wide = (p->right[0] - p->left[0]) * picture->width;
    const double high = (p->top - p->bottom) * picture->height;
    const struct plot_window results =
        plot_widen(plot_scale_show(&c->result_scale, c->results.low),
                   plot_scale_show(&c->result_scale, c->results.high), 0, 0);
    const struct plot_window margins = {fmin(c->margins.low, -0.3), fmax(c->margins.high, 0.3)};
    TRY(write_cells(c, g, "result.dat", 0));
    TRY(write_cells(c, g, "margin.dat", 1));
    TRY(write_cells(c, g, "open.dat", 2));
    fprintf(out,
            "set tmargin at screen %.4g\nset bmargin at screen %.4g\nunset grid\nunset key\n"
            "set border front\nset tics front\n",
            p->top, p->bottom);
    write_axis(g, "x", &c->x, true, wide);
    write_axis(g, "y", &c->y, true, high);
    write_panel(g, p, 0, titles[0], results);
    fprintf(out, "plot 'result.dat' using 1:2:3:4:5:6:7 with boxxyerror fillcolor palette "
                 "fillstyle solid noborder\nunset label 1\nset ylabel ''\nset format y ''\n");
    if (c->y.parameter->word != NULL)
        fprintf(out, "unset ytics\n");
    write_palette(out, margins);
    write_panel(g, p, 1, titles[1], margins);
    fprintf(out, "plot ");
    if (open)
        fprintf(out, "'open.dat' using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '#b0b0b0' "
                     "fillstyle solid noborder, ");
    fprintf(out, "'margin.dat' using 1:2:3:4:5:6:7 with boxxyerror fillcolor palette "
                 "fillstyle solid noborder, 'margin.dat' using ($8 > 0 ? $1 : NaN):2 with "
                 "points pt 2 ps 1.2 lw 2 lc rgb '#000000'\n");
    return 0;
}

/* @return whether a point has no verdict */
static bool name_panels(const struct contract_picture *c, char result[PLOT_TEXT_SIZE],
                        char margin[PLOT_TEXT_SIZE])
{
    bool open = false;
    for (long i = 0; i < c->rows * c->x.n; i++)
        open = open || isnan(c->margin[i]);
    text_label(c->observable, c->result_scale.unit.unit, result, PLOT_TEXT_SIZE);
    for (char *at = result; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    if (c->result_scale.offset != 0)
        snprintf(result + strlen(result), PLOT_TEXT_SIZE - strlen(result), " − %.*g",
                 c->result_scale.digits, c->result_scale.offset);
    snprintf(margin, PLOT_TEXT_SIZE, "log10(margin)\n× out%s", open ? ", grey: none" : "");
    return open;
}

static void make_title(const struct contract_picture *c, char *title, size_t size)
{
    const bool mean = c->source->realisations > 1;
    snprintf(title, size, "%s at %s, margin in %.60s%s%s%s", c->source->label, c->place,
             c->norm, mean ? ", mean and worst of the realisations" : "",
             c->held[0] != '\0' ? "\nother axes: " : "", c->held);
}

static int draw_maps(struct contract_picture *c)
{
    struct gnuplot *g = NULL;
    char title[3 * PLOT_TEXT_SIZE];
    const struct picture *const picture = &c->request->picture;
    make_title(c, title, sizeof title);
    const int letters = plot_letters(picture, 0.84 * picture->width);
    char result[PLOT_TEXT_SIZE];
    char margin[PLOT_TEXT_SIZE];
    const char *const titles[2] = {result, margin};
    const bool open = name_panels(c, result, margin);
    const struct places p = place_maps(c, plot_count_lines(title, letters), titles);
    TRY(gnuplot_open(picture, &g));
    FILE *out = gnuplot_script(g);
    fprintf(out, "set multiplot\nset label 1 ");
    plot_write_lines(g, title, letters);
    fprintf(out, " at screen 0.5,%.4g center font ',%.3g'\n", p.title, gnuplot_font(g, 1.15));
    const int rc = write_maps(c, g, &p, titles, open);
    if (rc != 0) {
        gnuplot_abandon(g);
        return rc;
    }
    fprintf(out, "unset multiplot\n");
    return gnuplot_close(g);
}

static int write_curve(struct contract_picture *c, struct gnuplot *g)
{
    FILE *out = NULL;
    TRY(gnuplot_data(g, "curve.dat", &out));
    for (long i = 0; i < c->x.n; i++) {
        const double margin = c->margin[i];
        fprintf(out, "%.10g ", c->x.value[i]);
        if (isfinite(c->result[i]))
            fprintf(out, "%.10g ", plot_scale_show(&c->result_scale, c->result[i]));
        else
            fprintf(out, "NaN ");
        if (isnan(margin))
            fprintf(out, "NaN 0\n");
        else
            fprintf(out, "%.10g %d\n",
                    isfinite(margin) ? fmax(margin, MARGIN_LEAST) : pow(10, c->margins.high),
                    margin > 1);
    }
    return gnuplot_data_close(out, "curve.dat");
}

static void write_curves(struct contract_picture *c, struct gnuplot *g, double top)
{
    FILE *out = gnuplot_script(g);
    const struct picture *const picture = gnuplot_picture(g);
    const char *const style = c->x.parameter->word != NULL ? "points" : "linespoints";
    const double letter = picture_font(picture) / picture->width;
    const double line = 1.08 * picture_line(picture) / picture->height;
    const double bottom = below(picture, &c->x);
    const double middle = bottom + 0.48 * (top - bottom);
    const double high = (top - middle) * picture->height;
    const struct plot_window y =
        plot_widen(plot_scale_show(&c->result_scale, c->results.low),
                   plot_scale_show(&c->result_scale, c->results.high), 0.08, 0.08);
    fprintf(out, "set lmargin at screen %.4g\nset rmargin at screen %.4g\nunset key\n",
            9.5 * letter, 1 - 2.5 * letter);
    write_axis(g, "x", &c->x, false, 0.85 * picture->width);
    fprintf(out, "set tmargin at screen %.4g\nset bmargin at screen %.4g\n", top,
            middle + 0.6 * line);
    plot_axis_label(g, "y", c->observable, c->quantity.unit, &c->result_scale);
    fprintf(out, "set yrange [%.12g:%.12g]\nset xlabel ''\nset format x ''\n", y.low, y.high);
    if (c->x.parameter->word != NULL)
        fprintf(out, "set xtics ('' 0)\n");
    plot_ticks(g, "y", y, high);
    fprintf(out, "plot 'curve.dat' using 1:2 with %s lt 1\nunset label 1\n", style);
    fprintf(out, "set tmargin at screen %.4g\nset bmargin at screen %.4g\n",
            middle - 0.6 * line, bottom);
    write_axis(g, "x", &c->x, false, 0.85 * picture->width);
    fprintf(out,
            "set ylabel 'margin'\nset logscale y\nset format y '%%h'\n"
            "set yrange [%.6g:%.6g]\nset ytics autofreq\nset label 2 ",
            pow(10, floor(fmin(c->margins.low, -1))),
            pow(10, ceil(fmax(c->margins.high, 0.5))));
    gnuplot_text(g, c->norm);
    fprintf(out,
            " at graph 0.01,0.92 left front\n"
            "plot 1 with lines dt 2 lw 1.2 lc rgb '#000000', 'curve.dat' using 1:3 with "
            "%s lt 1, 'curve.dat' using ($4 > 0 ? $1 : NaN):3 with points lt 2 "
            "pt 2 ps 1.4 lw 2\n",
            style);
}

static int draw_curves(struct contract_picture *c)
{
    struct gnuplot *g = NULL;
    char title[3 * PLOT_TEXT_SIZE];
    const struct picture *const picture = &c->request->picture;
    make_title(c, title, sizeof title);
    const int letters = plot_letters(picture, 0.84 * picture->width);
    const int lines = plot_count_lines(title, letters);
    const double line = 1.08 * picture_line(picture) / picture->height;
    TRY(gnuplot_open(picture, &g));
    const int rc = write_curve(c, g);
    if (rc != 0) {
        gnuplot_abandon(g);
        return rc;
    }
    FILE *out = gnuplot_script(g);
    fprintf(out, "set multiplot\nset label 1 ");
    plot_write_lines(g, title, letters);
    fprintf(out, " at screen 0.5,%.4g center font ',%.3g'\n",
            1 - (0.3 + 0.55 * lines) * 1.15 * line, gnuplot_font(g, 1.15));
    write_curves(c, g, 1 - (0.8 + 1.4 * lines) * line);
    fprintf(out, "unset multiplot\n");
    return gnuplot_close(g);
}

static int choose(struct contract_picture *c, const struct plot_request *request, char *name)
{
    if (!verdict_has_room(c->source->store))
        FAIL(ERR_ARGUMENT,
             "%s: holds no verdicts; 'envelope: {tolerance: …}' in its scan file makes them",
             c->source->path);
    if (c->source->axes == 0)
        FAIL(ERR_ARGUMENT, "%s: its scan has no axis to draw verdicts over", c->source->path);
    if (request->observable == NULL)
        TRY(first_observable(c->source, name));
    TRY(choose_first(c));
    TRY(plot_quantity_init(c->source, request->observable != NULL ? request->observable : name,
                           c->x.parameter->name, &c->quantity));
    c->y.parameter = axis_beside(c->source, c->x.parameter->axis);
    return 0;
}

int plot_contract(struct plot_request *request)
{
    struct contract_picture c = {.request = request, .source = &request->source[0]};
    char name[READ_NAME_SIZE];
    if (request->files > 1)
        FAIL(ERR_ARGUMENT, "a contract is drawn from one file, %d were given", request->files);
    if (request->member >= 0)
        FAIL(ERR_ARGUMENT, "--member: a contract is drawn over the points of a scan");
    TRY(choose(&c, request, name));
    c.observable = request->observable != NULL ? request->observable : name;
    int rc = fill(&c);
    if (rc == 0)
        rc = c.y.parameter != NULL ? draw_maps(&c) : draw_curves(&c);
    mem_free(c.x.value);
    mem_free(c.x.edge);
    mem_free(c.y.value);
    mem_free(c.y.edge);
    mem_free(c.result);
    mem_free(c.margin);
    return rc;
}
