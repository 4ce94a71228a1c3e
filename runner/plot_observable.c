/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "runner/plot_frame.h"
#include "runner/plot_quantity.h"

enum { FAMILY_MAX = 7, WORDS_MAX = 200, WORDS_SHOWN = 40 };

/* One curve: a file, or a value of the other axis. */
struct curve {
    struct plot_sample *sample;
    long count;
    char held[PLOT_TEXT_SIZE]; /* "a = 0, c = 2 (point 2)": where the other axes stand */
    char place[3 * TEXT_SIZE + READ_NAME_SIZE];
    char label[2 * PLOT_TEXT_SIZE];
};

/* Everything of one picture. */
struct picture_data {
    const struct plot_request *request;
    struct plot_quantity quantity[PLOT_FILES_MAX];
    int curves;
    struct curve curve[FAMILY_MAX];
    bool errors;
    long words; /* names on the x axis; 0: numbers */
    char (*word)[PLOT_WORD_SIZE];
    struct plot_window x, y; /* of the values, SI */
    struct plot_scale x_scale, y_scale;
    bool logarithmic;
};

/* The one other axis that becomes a family of curves, -1: none. */
static int family_axis(const struct picture_data *d)
{
    const struct plot_request *request = d->request;
    const struct plot_quantity *q = &d->quantity[0];
    int other = -1;
    if (q->parameter == NULL || request->files > 1 || request->point >= 0)
        return -1;
    for (int a = 0; a < q->source->axes; a++) {
        if (a == q->parameter->axis || q->source->axis_length[a] == 1)
            continue;
        if (other >= 0)
            return -1;
        other = a;
    }
    return other >= 0 && q->source->axis_length[other] <= FAMILY_MAX ? other : -1;
}

/* Where the axes stand that a curve does not run over: nothing when there are none. */
static int describe_held(const struct plot_quantity *q, int64_t point, char *text, size_t size)
{
    struct plot_source *s = q->source;
    char values[PLOT_TEXT_SIZE];
    text[0] = '\0';
    for (int a = 0; a < s->axes; a++) {
        if ((q->parameter != NULL && a == q->parameter->axis) || s->axis_length[a] == 1)
            continue;
        TRY(plot_source_axis_text(s, a, point * s->realisations, values, sizeof values));
        plot_append(text, size, values);
    }
    return 0;
}

/* "z = 1 m", or, where the points end at different places, "the last plane, z = 1 mm to 5 mm".
 */
static void describe_place(const struct plot_source *s, const struct plot_request *request,
                           struct curve *curve)
{
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    char first[TEXT_SIZE];
    char last[TEXT_SIZE];
    for (long i = 0; i < curve->count; i++) {
        if (isfinite(curve->sample[i].place)) {
            low = fmin(low, curve->sample[i].place);
            high = fmax(high, curve->sample[i].place);
        }
    }
    text_value(low, s->progress_unit, first);
    text_value(high, s->progress_unit, last);
    if (strcmp(first, last) == 0)
        snprintf(curve->place, sizeof curve->place, "%s = %s", s->progress, first);
    else if (request->plane < 0 || request->plane == s->planes - 1)
        snprintf(curve->place, sizeof curve->place, "the last plane, %s = %s to %s",
                 s->progress, first, last);
    else
        snprintf(curve->place, sizeof curve->place, "plane %ld, %s = %s to %s", request->plane,
                 s->progress, first, last);
}

static int fill_over_axis(struct picture_data *d, const struct plot_quantity *q,
                          const int64_t *index, struct curve *curve)
{
    long plane = 0;
    TRY(plot_source_plane(q->source, d->request->plane, q->source->planes, &plane));
    TRY(plot_quantity_over_axis(q, index, plane, &curve->sample, &curve->count));
    describe_place(q->source, d->request, curve);
    return 0;
}

static int fill_family(struct picture_data *d, int other)
{
    const struct plot_quantity *q = &d->quantity[0];
    struct plot_source *s = q->source;
    d->curves = (int)s->axis_length[other];
    for (int c = 0; c < d->curves; c++) {
        int64_t index[PLOT_AXES_MAX] = {0};
        index[other] = c;
        TRY(fill_over_axis(d, q, index, &d->curve[c]));
        const int64_t member = plot_quantity_point(s, index, -1, 0) * s->realisations;
        TRY(plot_source_axis_text(s, other, member, d->curve[c].label,
                                  sizeof d->curve[c].label));
    }
    return 0;
}

/* The curve of one file, at the point asked for. */
static int fill_file(struct picture_data *d, int c)
{
    const struct plot_request *request = d->request;
    const struct plot_quantity *q = &d->quantity[c];
    struct curve *curve = &d->curve[c];
    int64_t index[PLOT_AXES_MAX] = {0};
    char held[PLOT_TEXT_SIZE];
    const int64_t point = request->member >= 0  ? request->member / q->source->realisations
                          : request->point >= 0 ? request->point
                                                : 0;
    if (q->parameter != NULL && request->member >= 0)
        FAIL(ERR_ARGUMENT,
             "--member is taken with --axis %s alone; against %s the members of each point are "
             "averaged, and --point says where the other axes are held",
             q->source->progress, q->parameter->name);
    TRY(describe_held(q, point, held, sizeof held));
    if (q->source->points > 1 && held[0] != '\0')
        snprintf(curve->held, sizeof curve->held, "%.200s (point %lld)", held,
                 (long long)point);
    snprintf(curve->label, sizeof curve->label, "%s", q->source->label);
    if (q->parameter == NULL)
        return plot_quantity_over_planes(q, point, request->member, &curve->sample,
                                         &curve->count);
    plot_source_indices(q->source, point, index);
    return fill_over_axis(d, q, index, curve);
}

static int fill_curves(struct picture_data *d)
{
    const int other = family_axis(d);
    if (other >= 0)
        return fill_family(d, other);
    for (int c = 0; c < d->request->files; c++) {
        d->curves = c + 1;
        TRY(fill_file(d, c));
    }
    return 0;
}

static long find_word(const struct picture_data *d, const char *word)
{
    long w = 0;
    while (w < d->words && strcmp(d->word[w], word) != 0)
        w++;
    return w;
}

/* Names on the x axis: those of all files, each once. Samples get their places among them. */
static int merge_words(struct picture_data *d)
{
    const struct plot_quantity *first = &d->quantity[0];
    const bool named = first->parameter != NULL && first->parameter->word != NULL;
    for (int c = 1; c < d->request->files; c++) {
        const struct plot_parameter *p = d->quantity[c].parameter;
        if ((p != NULL && p->word != NULL) != named)
            FAIL(ERR_ARGUMENT, "%s and %s: %s has names in one file and numbers in the other",
                 first->source->path, d->quantity[c].source->path, plot_quantity_x_name(first));
    }
    if (!named)
        return 0;
    TRY(MEM_NEW(WORDS_MAX, &d->word));
    for (int c = 0; c < d->curves; c++) {
        const struct plot_parameter *p = d->quantity[d->request->files > 1 ? c : 0].parameter;
        for (long i = 0; i < d->curve[c].count; i++) {
            const long w = find_word(d, p->word[i]);
            if (w == WORDS_MAX)
                FAIL(ERR_ARGUMENT, "%s: axis %s has more than %d names; plot draws these",
                     first->source->path, p->name, WORDS_MAX);
            if (w == d->words)
                snprintf(d->word[d->words++], PLOT_WORD_SIZE, "%s", p->word[i]);
            d->curve[c].sample[i].x = (double)w;
        }
    }
    return 0;
}

static int refuse_empty(const struct picture_data *d)
{
    const struct plot_quantity *q = &d->quantity[0];
    const struct plot_request *request = d->request;
    int64_t member = 0;
    if (q->parameter == NULL && request->member < 0) {
        TRY(plot_source_first_done(q->source, request->point < 0 ? 0 : request->point,
                                   &member));
    }
    FAIL(ERR_ARGUMENT, "%s: nothing to draw: %s has no value%s yet", request->source[0].path,
         request->observable, q->parameter != NULL ? " at that plane" : "");
}

static int measure(struct picture_data *d)
{
    long count = 0;
    d->x = d->y = (struct plot_window){(double)INFINITY, -(double)INFINITY};
    for (int c = 0; c < d->curves; c++) {
        for (long i = 0; i < d->curve[c].count; i++) {
            const struct plot_sample *s = &d->curve[c].sample[i];
            if (!isfinite(s->y) || !isfinite(s->x))
                continue;
            const double error = isfinite(s->error) ? s->error : 0;
            count++;
            d->x = (struct plot_window){fmin(d->x.low, s->x), fmax(d->x.high, s->x)};
            d->y = (struct plot_window){fmin(d->y.low, s->y - error),
                                        fmax(d->y.high, s->y + error)};
            d->errors = d->errors || isfinite(s->error);
        }
    }
    return count > 0 ? 0 : refuse_empty(d);
}

/* Values at a constant ratio over a decade or more read better on a logarithmic axis. */
static bool is_geometric(const struct curve *curve)
{
    const struct plot_sample *s = curve->sample;
    if (curve->count < 3 || !(s[0].x > 0) || !(s[1].x > 0))
        return false;
    const double ratio = s[1].x / s[0].x;
    for (long i = 1; i < curve->count; i++)
        if (!(s[i].x > 0) || fabs(s[i].x / s[i - 1].x / ratio - 1) > bound(BOUND_even_axis))
            return false;
    return fabs(log10(s[curve->count - 1].x / s[0].x)) >= 1;
}

static void choose_scales(struct picture_data *d)
{
    const struct plot_quantity *q = &d->quantity[0];
    plot_scale_choose(q->unit, d->y.low, d->y.high, &d->y_scale);
    d->logarithmic = d->words == 0 && is_geometric(&d->curve[0]);
    if (d->words > 0)
        d->x_scale = (struct plot_scale){.unit = {.scale = 1}};
    else
        plot_scale_choose(plot_quantity_x_unit(q), d->x.low, d->x.high, &d->x_scale);
}

static int write_curve(struct gnuplot *g, const struct picture_data *d, int number)
{
    const struct curve *curve = &d->curve[number];
    FILE *out = NULL;
    char name[24];
    /* curves over names stand side by side: equal values would hide each other */
    const double aside = d->words > 0 ? 0.06 * (number - 0.5 * (d->curves - 1)) : 0;
    snprintf(name, sizeof name, "curve%d.dat", number);
    TRY(gnuplot_data(g, name, &out));
    for (long i = 0; i < curve->count; i++) {
        const struct plot_sample *s = &curve->sample[i];
        if (isfinite(s->y) && isfinite(s->x))
            fprintf(out, "%.12g %.12g %.6g\n", plot_scale_show(&d->x_scale, s->x) + aside,
                    plot_scale_show(&d->y_scale, s->y),
                    isfinite(s->error) ? s->error / d->y_scale.unit.scale : 0);
    }
    return gnuplot_data_close(out, name);
}

/* Ticks at the names, turned where they have no room side by side. */
static void write_words(struct gnuplot *g, const struct picture_data *d, double pixels)
{
    FILE *out = gnuplot_script(g);
    const struct picture *picture = gnuplot_picture(g);
    const long every = (d->words + WORDS_SHOWN - 1) / WORDS_SHOWN;
    double widest = 0;
    for (long w = 0; w < d->words; w += every)
        widest = fmax(widest, plot_text_width(picture, d->word[w]));
    const long shown = d->words / every;
    const bool turned = (widest + picture_font(picture)) * (double)shown > pixels;
    fprintf(out, "set xtics %s(", turned ? "rotate by -35 " : "");
    for (long w = 0; w < d->words; w += every) {
        fprintf(out, "%s", w > 0 ? ", " : "");
        gnuplot_text(g, d->word[w]);
        fprintf(out, " %ld", w);
    }
    fprintf(out, ")\nset xrange [-0.5:%.10g]\n", (double)d->words - 0.5);
    /* a turned name goes down to the right: the last one beyond the frame */
    const double beyond = cos(0.61) * widest - 0.5 * pixels / (double)d->words;
    if (turned && beyond > 0)
        fprintf(out, "set rmargin at screen %.4g\n", 0.97 - beyond / picture->width);
}

static void write_axes(struct gnuplot *g, const struct picture_data *d)
{
    FILE *out = gnuplot_script(g);
    const struct plot_quantity *q = &d->quantity[0];
    const struct picture *picture = gnuplot_picture(g);
    const double wide = 0.85 * picture->width;
    /* room for the legend above, so that it hides nothing */
    const double key = picture_line(picture) * (d->curves + 1) / picture->height;
    const struct plot_window y =
        plot_widen(plot_scale_show(&d->y_scale, d->y.low),
                   plot_scale_show(&d->y_scale, d->y.high), 0.06, 0.06 + 1.4 * key);
    plot_axis_label(g, "x", plot_quantity_x_name(q), plot_quantity_x_unit(q), &d->x_scale);
    plot_axis_label(g, "y", d->request->observable, q->unit, &d->y_scale);
    fprintf(out, "set yrange [%.12g:%.12g]\n", y.low, y.high);
    plot_ticks(g, "y", y, 0.8 * picture->height);
    const struct plot_window x =
        plot_widen(plot_scale_show(&d->x_scale, d->x.low),
                   plot_scale_show(&d->x_scale, d->x.high), 0.04, 0.04);
    if (d->words > 0) {
        write_words(g, d, wide);
    } else if (d->logarithmic) {
        fprintf(out, "set logscale x\nset offsets graph 0.04, graph 0.04, 0, 0\n");
    } else {
        fprintf(out, "set xrange [%.12g:%.12g]\n", x.low, x.high);
        plot_ticks(g, "x", x, wide);
    }
}

static void write_plot(struct gnuplot *g, const struct picture_data *d)
{
    FILE *out = gnuplot_script(g);
    const char *style = d->words > 0 ? (d->errors ? "1:2:3 with yerrorbars" : "1:2 with points")
                        : d->errors  ? "1:2:3 with yerrorlines"
                                     : "1:2 with linespoints";
    fprintf(out, "plot ");
    for (int c = 0; c < d->curves; c++) {
        fprintf(out, "%s'curve%d.dat' using %s lt %d title ", c > 0 ? ", " : "", c, style,
                c + 1);
        gnuplot_text(g, d->curve[c].label);
    }
    fprintf(out, "\n");
}

/* What all curves share goes into the title; what tells them apart into the legend. */
static void share(struct picture_data *d, bool *place, bool *held, bool *scan)
{
    *place = *held = *scan = true;
    for (int c = 1; c < d->curves; c++) {
        *place = *place && strcmp(d->curve[c].place, d->curve[0].place) == 0;
        *held = *held && strcmp(d->curve[c].held, d->curve[0].held) == 0;
    }
    for (int f = 1; f < d->request->files; f++)
        *scan = *scan && strcmp(d->quantity[f].source->scan, d->quantity[0].source->scan) == 0;
    for (int c = 0; c < d->curves; c++) {
        struct curve *curve = &d->curve[c];
        plot_append(curve->label, sizeof curve->label, *place ? "" : curve->place);
        plot_append(curve->label, sizeof curve->label, *held ? "" : curve->held);
    }
}

/* "mean and standard deviation of 8 realisations": what the numbers of a point are. */
static void describe_mean(const struct picture_data *d, char *text, size_t size)
{
    const struct plot_quantity *q = &d->quantity[0];
    const int64_t realisations = q->source->realisations;
    text[0] = '\0';
    if (q->per_point || realisations == 1)
        return;
    if (d->request->member >= 0) {
        snprintf(text, size, "member %lld", (long long)d->request->member);
        return;
    }
    bool same = true;
    for (int f = 1; f < d->request->files; f++)
        same = same && d->quantity[f].source->realisations == realisations;
    if (same)
        snprintf(text, size, "mean and standard deviation of %lld realisations",
                 (long long)realisations);
    else
        snprintf(text, size, "mean and standard deviation of the realisations");
}

static void make_title(struct picture_data *d, char *text, size_t size)
{
    const struct plot_quantity *q = &d->quantity[0];
    const struct curve *first = &d->curve[0];
    bool place = true;
    bool held = true;
    bool scan = true;
    char mean[TEXT_SIZE];
    char name[READ_NAME_SIZE];
    share(d, &place, &held, &scan);
    describe_mean(d, mean, sizeof mean);
    snprintf(name, sizeof name, "%s", scan ? q->source->scan : d->request->observable);
    const bool at = place && first->place[0] != '\0';
    const bool other = held && first->held[0] != '\0';
    snprintf(text, size, "%s%s%s%s%s%s%s%s", name, at ? " at " : "", at ? first->place : "",
             mean[0] != '\0' ? ", " : "", mean, other ? "\n" : "",
             !other                 ? ""
             : q->parameter != NULL ? "other axes: "
                                    : "",
             other ? first->held : "");
}

static int draw(struct picture_data *d)
{
    struct gnuplot *g = NULL;
    char title[3 * PLOT_TEXT_SIZE];
    choose_scales(d);
    make_title(d, title, sizeof title);
    TRY(gnuplot_open(&d->request->picture, &g));
    for (int c = 0; c < d->curves; c++) {
        const int rc = write_curve(g, d, c);
        if (rc != 0) {
            gnuplot_abandon(g);
            return rc;
        }
    }
    plot_title(g, title);
    write_axes(g, d);
    write_plot(g, d);
    return gnuplot_close(g);
}

int plot_observable(struct plot_request *request)
{
    struct picture_data d = {.request = request};
    int rc = 0;
    if (request->observable == NULL)
        FAIL(ERR_ARGUMENT, "--what observable needs --observable NAME, such as energy");
    for (int c = 0; c < request->files; c++)
        TRY(plot_quantity_init(&request->source[c], request->observable, request->axis,
                               &d.quantity[c]));
    TRY_OR(rc, done, fill_curves(&d));
    TRY_OR(rc, done, merge_words(&d));
    TRY_OR(rc, done, measure(&d));
    rc = draw(&d);
done:
    for (int c = 0; c < d.curves; c++)
        mem_free(d.curve[c].sample);
    mem_free(d.word);
    return rc;
}
