/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"
#include "runner/plot_frame.h"
#include "runner/plot_map.h"
#include "runner/transform.h"

/* Everything of one evolution picture. */
struct evolution {
    struct plot_source *source;
    int64_t member;
    long planes;
    long bins; /* of the stored spectrum */
    long n;    /* samples in time: bins, or 2 (bins - 1) of a real field */
    struct plot_axis axis;
    double *t;            /* [n] in the unit shown */
    double *z;            /* [planes] in the unit shown */
    double *field;        /* [2 n] scratch */
    double *power;        /* [n] scratch */
    double *density;      /* [bins] scratch */
    double *spectral_top; /* [axis.n] largest over the planes */
    double *temporal_top; /* [n] */
    struct text_unit t_unit, z_unit;
    struct plot_map spectral, temporal;
};

static void evolution_clear(struct evolution *e)
{
    plot_map_clear(&e->spectral);
    plot_map_clear(&e->temporal);
    plot_axis_clear(&e->axis);
    mem_free(e->t);
    mem_free(e->z);
    mem_free(e->field);
    mem_free(e->power);
    mem_free(e->density);
    mem_free(e->spectral_top);
    mem_free(e->temporal_top);
}

static int read_positions(struct evolution *e)
{
    char path[READ_NAME_SIZE + 8];
    snprintf(path, sizeof path, "plane/%s", e->source->progress);
    const int64_t start[2] = {e->member, 0};
    const int64_t count[2] = {1, e->planes};
    TRY(MEM_NEW(e->planes, &e->z));
    TRY(read_block(e->source->store, path, start, count, e->z));
    text_choose_unit(e->source->progress_unit, e->z[e->planes - 1], &e->z_unit);
    for (long p = 0; p < e->planes; p++)
        e->z[p] /= e->z_unit.scale;
    return 0;
}

static int read_axes(struct evolution *e, enum plot_x x)
{
    TRY(plot_source_scale(e->source, "t", e->member, &e->t, &e->n));
    TRY(plot_axis_init(e->source, e->member, x, &e->axis));
    double *omega = NULL;
    TRY(plot_source_scale(e->source, "omega", e->member, &omega, &e->bins));
    mem_free(omega);
    if (e->bins != e->n && 2 * (e->bins - 1) != e->n)
        FAIL(ERR_UNSUPPORTED,
             "%s: t has %ld values and omega %ld; envelopes have as many, real fields twice as "
             "many but two",
             e->source->path, e->n, e->bins);
    TRY(MEM_NEW(2 * e->n, &e->field));
    TRY(MEM_NEW(e->n, &e->power));
    TRY(MEM_NEW(e->bins, &e->density));
    TRY(MEM_NEW(e->axis.n, &e->spectral_top));
    return MEM_NEW(e->n, &e->temporal_top);
}

/* The spectrum of a real field becomes that of its analytic signal, whose square is the power.
 */
static void make_analytic(struct evolution *e)
{
    e->field[0] = e->field[1] = 0;
    for (long i = 2; i < 2 * (e->bins - 1); i++)
        e->field[i] *= 2;
    for (long i = 2 * (e->bins - 1); i < 2 * e->n; i++)
        e->field[i] = 0;
}

/* Spectral density of a plane into e->density, its temporal power into e->power. */
static int load_plane(struct evolution *e, long plane)
{
    TRY(plot_source_field(e->source, e->member, plane, e->bins, e->field));
    for (long k = 0; k < e->bins; k++)
        e->power[k] =
            e->field[2 * k] * e->field[2 * k] + e->field[2 * k + 1] * e->field[2 * k + 1];
    plot_axis_density(&e->axis, e->power, e->density);
    if (e->bins != e->n)
        make_analytic(e);
    return transform_power(1, e->n, e->field, e->power);
}

static void raise(long n, const double *values, double *top)
{
    for (long i = 0; i < n; i++)
        top[i] = fmax(top[i], values[i]);
}

/* The largest value at an x within the window; of a window between two samples, of these. */
static double largest(long n, const double *x, const double *values, struct plot_window window)
{
    double top = 0;
    for (long i = 0; i < n; i++)
        if (x[i < n - 1 ? i + 1 : i] >= window.low && x[i > 0 ? i - 1 : i] <= window.high)
            top = fmax(top, values[i]);
    return top;
}

static int make_maps(struct evolution *e, const struct plot_request *request, double *top)
{
    for (long p = 0; p < e->planes; p++) {
        TRY(load_plane(e, p));
        raise(e->axis.n, e->density, e->spectral_top);
        raise(e->n, e->power, e->temporal_top);
    }
    struct plot_window x =
        plot_find_window(e->axis.n, e->axis.x, e->spectral_top, request->range);
    TRY(plot_check_window(e->source, &e->axis, request));
    if (request->window_set)
        x = (struct plot_window){request->window[0], request->window[1]};
    struct plot_window t = plot_find_window(e->n, e->t, e->temporal_top, request->range);
    text_choose_unit("s", fmax(fabs(t.low), fabs(t.high)), &e->t_unit);
    for (long j = 0; j < e->n; j++)
        e->t[j] /= e->t_unit.scale;
    t.low /= e->t_unit.scale;
    t.high /= e->t_unit.scale;
    TRY(plot_map_init(&e->spectral, x, e->planes, e->z));
    TRY(plot_map_init(&e->temporal, t, e->planes, e->z));
    top[0] = largest(e->axis.n, e->axis.x, e->spectral_top, x);
    top[1] = largest(e->n, e->t, e->temporal_top, t);
    for (int p = 0; p < 2; p++)
        if (!(top[p] > 0) || !isfinite(top[p]))
            FAIL(ERR_ARGUMENT, "%s: nothing to draw: member %lld has %s", e->source->path,
                 (long long)e->member,
                 top[p] > 0 ? "a power that is not finite" : "no power in this range");
    for (long p = 0; p < e->planes; p++) {
        TRY(load_plane(e, p));
        plot_map_row(&e->spectral, p, e->axis.n, e->axis.x, e->density, top[0]);
        plot_map_row(&e->temporal, p, e->n, e->t, e->power, top[1]);
    }
    return 0;
}

/* Places of the two panels, as fractions of the picture. */
struct layout {
    double x[2][2]; /* left and right end of each panel */
    double bottom, top, title;
    double bar, bar_width;
    int letters; /* of a panel's title */
};

static struct layout place(const struct picture *picture, int title_lines,
                           const char *const titles[2])
{
    const double font = picture_font(picture);
    const double letter = font / picture->width;
    const double line = 1.08 * picture_line(picture) / picture->height;
    struct layout l = {.bottom = 4.0 * line, .bar_width = 1.3 * letter};
    const double gap = 4.2 * letter; /* the last tick of a panel, the first of the next */
    l.x[0][0] = 6.0 * letter;
    l.x[1][1] = 1 - 6.2 * letter;
    l.x[0][1] = 0.5 * (l.x[0][0] + l.x[1][1] - gap);
    l.x[1][0] = l.x[0][1] + gap;
    l.bar = l.x[1][1] + 1.1 * letter;
    l.letters = plot_letters(picture, (l.x[0][1] - l.x[0][0]) * picture->width);
    int lines = 1;
    for (int p = 0; p < 2; p++)
        lines = plot_count_lines(titles[p], l.letters) > lines ? 2 : lines;
    l.title = 1 - (0.3 + 0.55 * title_lines) * 1.15 * line;
    l.top = 1 - (1.5 + 1.4 * title_lines + lines) * line;
    return l;
}

static void write_frame(const struct evolution *e, struct gnuplot *g, const struct layout *l,
                        double range)
{
    FILE *out = gnuplot_script(g);
    const double pixels = (l->top - l->bottom) * gnuplot_picture(g)->height;
    const struct plot_window z = {e->z[0], e->z[e->planes - 1]};
    char label[160];
    text_label(e->source->progress, e->z_unit.unit, label, sizeof label);
    fprintf(out,
            "set tmargin at screen %.4g\nset bmargin at screen %.4g\n"
            "unset grid\nset border front\nset tics front\n"
            "set yrange [%.10g:%.10g]\nset cbrange [%.10g:0]\nunset key\nset ylabel ",
            l->top, l->bottom, z.low, z.high, -range);
    gnuplot_text(g, label);
    fprintf(out, "\n");
    plot_ticks(g, "y", z, pixels);
    plot_ticks(g, "cb", (struct plot_window){-range, 0}, pixels);
}

static void write_panel(struct gnuplot *g, const struct plot_window *x, const char *label,
                        const char *title, const struct layout *l, int panel)
{
    FILE *out = gnuplot_script(g);
    const double *place = l->x[panel];
    fprintf(out, "set lmargin at screen %.4g\nset rmargin at screen %.4g\n", place[0],
            place[1]);
    fprintf(out, "set xrange [%.10g:%.10g]\nset xlabel ", x->low, x->high);
    gnuplot_text(g, label);
    fprintf(out, "\nset title ");
    plot_write_lines(g, title, l->letters);
    fprintf(out, "\n");
    plot_ticks(g, "x", *x, (place[1] - place[0]) * gnuplot_picture(g)->width);
}

static int write_maps(const struct evolution *e, struct gnuplot *g, const struct layout *l,
                      const char *const titles[2], double floor)
{
    FILE *out = gnuplot_script(g);
    char time_label[TEXT_SIZE];
    snprintf(time_label, sizeof time_label, "time (%s)", e->t_unit.unit);
    fprintf(out, "unset colorbox\n");
    write_panel(g, &e->spectral.x, e->axis.name, titles[0], l, 0);
    TRY(plot_map_write(&e->spectral, g, "spectral.bin", floor));
    fprintf(out,
            "unset label 1\nset ylabel ''\nset format y ''\n"
            "set colorbox user origin screen %.4g,%.4g size screen %.4g,%.4g\n"
            "set label 2 'dB' at screen %.4g,%.4g left\n",
            l->bar, l->bottom, l->bar_width, l->top - l->bottom, l->bar,
            l->top + picture_font(gnuplot_picture(g)) / gnuplot_picture(g)->height);
    write_panel(g, &e->temporal.x, time_label, titles[1], l, 1);
    return plot_map_write(&e->temporal, g, "temporal.bin", floor);
}

static int make_title(struct evolution *e, char *title, size_t size)
{
    char values[PLOT_TEXT_SIZE];
    TRY(plot_source_axis_text(e->source, -1, e->member, values, sizeof values));
    snprintf(title, size, "%s, member %lld%s%s%s", e->source->label, (long long)e->member,
             values[0] != '\0' ? " (" : "", values, values[0] != '\0' ? ")" : "");
    return 0;
}

static int draw(struct evolution *e, const struct plot_request *request, const double *top)
{
    struct gnuplot *g = NULL;
    char title[2 * PLOT_TEXT_SIZE];
    char spectral[PLOT_TEXT_SIZE];
    char power[TEXT_SIZE];
    char temporal[PLOT_TEXT_SIZE];
    const char *const titles[2] = {spectral, temporal};
    const struct picture *picture = &request->picture;
    TRY(make_title(e, title, sizeof title));
    plot_density_label(e->source, &e->axis, top[0], spectral, sizeof spectral);
    text_rounded(top[1], "W", 3, power);
    snprintf(temporal, sizeof temporal, "power (dB, 0 = %s)", power);
    const int letters = plot_letters(picture, 0.84 * picture->width); /* of larger type */
    const struct layout l = place(picture, plot_count_lines(title, letters), titles);
    TRY(gnuplot_open(picture, &g));
    FILE *out = gnuplot_script(g);
    fprintf(out, "set multiplot\nset label 1 ");
    plot_write_lines(g, title, letters);
    fprintf(out, " at screen 0.5,%.4g center font ',%.3g'\n", l.title, gnuplot_font(g, 1.15));
    write_frame(e, g, &l, request->range);
    const int rc = write_maps(e, g, &l, titles, -request->range);
    if (rc != 0) {
        gnuplot_abandon(g);
        return rc;
    }
    fprintf(out, "unset multiplot\n");
    return gnuplot_close(g);
}

static int fill(struct evolution *e, const struct plot_request *request)
{
    double top[2] = {0, 0};
    TRY(plot_source_saved(e->source, e->member, &e->planes));
    if (e->planes < 2)
        FAIL(ERR_ARGUMENT,
             "%s: member %lld has one saved plane; an evolution needs two, see 'save: {planes: "
             "N}'",
             e->source->path, (long long)e->member);
    TRY(read_positions(e));
    TRY(read_axes(e, request->x));
    TRY(make_maps(e, request, top));
    return draw(e, request, top);
}

int plot_evolution(struct plot_request *request)
{
    if (request->files > 1)
        FAIL(ERR_ARGUMENT, "an evolution is drawn from one file, %d were given",
             request->files);
    struct evolution e = {.source = &request->source[0], .member = request->member};
    TRY(plot_source_require_field(e.source, "evolution"));
    TRY(plot_source_member(e.source, request, request->point < 0 ? 0 : request->point,
                           &e.member));
    const int rc = fill(&e, request);
    evolution_clear(&e);
    return rc;
}
