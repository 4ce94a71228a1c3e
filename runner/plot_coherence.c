/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/status.h"
#include "runner/plot.h"
#include "runner/plot_curve.h"
#include "runner/plot_frame.h"

/* Mean |g12| of pure noise with M shots is 0.736/(M - 1): below it a value means nothing. */
static const double noise_level = 0.736;

static int write_data(const struct plot_curves *curves, struct gnuplot *g,
                      struct plot_window window, double top)
{
    for (int c = 0; c < curves->count; c++) {
        const struct plot_curve *curve = &curves->curve[c];
        char name[24];
        snprintf(name, sizeof name, "g12_%d.dat", c);
        TRY(plot_curve_write(curve, g, name, curve->g12, window, 0));
        snprintf(name, sizeof name, "mean_%d.dat", c);
        TRY(plot_curve_write(curve, g, name, curve->density, window, top));
    }
    return 0;
}

static int64_t fewest_shots(const struct plot_curves *curves)
{
    int64_t shots = curves->curve[0].shots;
    for (int c = 1; c < curves->count; c++)
        shots = curves->curve[c].shots < shots ? curves->curve[c].shots : shots;
    return shots;
}

/* Vertical places of the picture as fractions of its height, from the bottom. */
struct layout {
    double bottom, middle[2], top, key, title;
};

static struct layout place(const struct picture *picture, int title_lines, int key_lines)
{
    const double line = 1.08 * picture_line(picture) / picture->height;
    struct layout l = {.bottom = 4.0 * line};
    l.title = 1 - (0.4 + 0.5 * title_lines) * line * 1.1;
    l.key = 1 - (1 + 1.1 * title_lines + 0.5 * key_lines * 1.15) * line;
    l.top = 1 - (1.4 + 1.1 * title_lines + 1.15 * key_lines) * line;
    const double middle = l.bottom + 0.5 * (l.top - l.bottom);
    l.middle[0] = middle - 0.4 * line;
    l.middle[1] = middle + 0.4 * line;
    return l;
}

/* The long name of an axis where it has room. */
static const char *fitting(struct gnuplot *g, double pixels, const char *name,
                           const char *brief)
{
    return plot_text_width(gnuplot_picture(g), name) < pixels ? name : brief;
}

static void write_upper(const struct plot_curves *curves, struct gnuplot *g,
                        const struct layout *l)
{
    FILE *out = gnuplot_script(g);
    const int64_t shots = fewest_shots(curves);
    const double pixels = (l->top - l->middle[1]) * gnuplot_picture(g)->height;
    fprintf(out,
            "set tmargin at screen %.4g\nset bmargin at screen %.4g\nset yrange [0:1.02]\n"
            "set ylabel '%s'\n",
            l->top, l->middle[1], fitting(g, pixels, "coherence |g12|", "|g12|"));
    plot_ticks(g, "y", (struct plot_window){0, 1.02}, pixels);
    /* the legend stands between title and frame, where it never hides a curve */
    fprintf(out,
            "set format x ''\nset key at screen 0.53,%.4g center center vertical maxcols 1\n"
            "plot ",
            l->key);
    for (int c = 0; c < curves->count; c++) {
        fprintf(out, "'g12_%d.dat' with lines lt %d title ", c, c + 1);
        gnuplot_text(g, curves->curve[c].label);
        fprintf(out, ", ");
    }
    if (shots > 1)
        fprintf(out, "%.6g with lines lc rgb '#888888' dt 2 lw 1 title 'pure noise'\n",
                noise_level / (double)(shots - 1));
    else
        fprintf(out, "0 notitle\n");
}

static void write_lower(const struct plot_curves *curves, struct gnuplot *g,
                        const struct layout *l, struct plot_window window, double range)
{
    FILE *out = gnuplot_script(g);
    const struct picture *picture = gnuplot_picture(g);
    const double pixels = (l->middle[0] - l->bottom) * picture->height;
    fprintf(out,
            "unset label 1\nset tmargin at screen %.4g\nset bmargin at screen %.4g\n"
            "set yrange [%.10g:3]\nunset key\nset ylabel '%s'\nset xlabel ",
            l->middle[0], l->bottom, -range, fitting(g, pixels, "mean spectrum (dB)", "dB"));
    gnuplot_text(g, curves->curve[0].axis.name);
    fprintf(out, "\n");
    plot_ticks(g, "y", (struct plot_window){-range, 3}, pixels);
    plot_ticks(g, "x", window, 0.85 * picture->width);
    fprintf(out, "plot ");
    for (int c = 0; c < curves->count; c++)
        fprintf(out, "%s'mean_%d.dat' with lines lt %d", c > 0 ? ", " : "", c, c + 1);
    fprintf(out, "\n");
}

static void write_frame(struct gnuplot *g, const char *title, const struct layout *l,
                        struct plot_window window)
{
    FILE *out = gnuplot_script(g);
    const struct picture *picture = gnuplot_picture(g);
    fprintf(out,
            "set multiplot\nset lmargin at screen %.4g\nset rmargin at screen %.4g\n"
            "set xrange [%.10g:%.10g]\nset label 1 ",
            6.2 * picture_font(picture) / picture->width,
            1 - 2.5 * picture_font(picture) / picture->width, window.low, window.high);
    plot_write_lines(g, title, plot_letters(picture, 0.96 * picture->width));
    fprintf(out, " at screen 0.53,%.4g center\n", l->title);
    plot_ticks(g, "x", window, 0.85 * picture->width);
}

static int draw(const struct plot_request *request, const struct plot_curves *curves)
{
    struct gnuplot *g = NULL;
    char title[3 * PLOT_TEXT_SIZE];
    const struct picture *picture = &request->picture;
    const struct plot_window window = plot_curves_window(curves, request);
    const double top = plot_curves_top(curves, window);
    TRY(plot_curves_check(curves, window, top));
    TRY(plot_curves_title(curves, "Coherence", "Coherence", title, sizeof title));
    const int lines = plot_count_lines(title, plot_letters(picture, 0.96 * picture->width));
    const struct layout l = place(picture, lines, curves->count + 1);
    TRY(gnuplot_open(picture, &g));
    const int rc = write_data(curves, g, window, top);
    if (rc != 0) {
        gnuplot_abandon(g);
        return rc;
    }
    write_frame(g, title, &l, window);
    write_upper(curves, g, &l);
    write_lower(curves, g, &l, window, request->range);
    fprintf(gnuplot_script(g), "unset multiplot\n");
    return gnuplot_close(g);
}

int plot_coherence(struct plot_request *request)
{
    struct plot_curves curves = {0};
    struct plot_choice choice[PLOT_CURVES_MAX];
    int count = 0;
    int rc = 0;
    if (request->member >= 0)
        FAIL(ERR_ARGUMENT, "--what coherence is of a whole point: --point is wanted instead of "
                           "--member");
    TRY(plot_curves_choose(request, choice, &count));
    for (int c = 0; c < count; c++) {
        TRY_OR(rc, done,
               plot_curve_ensemble(choice[c].source, request, choice[c].point, true,
                                   &curves.curve[c]));
        curves.count = c + 1;
    }
    TRY_OR(rc, done, plot_curves_label(&curves, request));
    rc = draw(request, &curves);
done:
    plot_curves_clear(&curves);
    return rc;
}
