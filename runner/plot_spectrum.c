/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"
#include "runner/plot_curve.h"
#include "runner/plot_frame.h"

enum { SHOTS_MAX = 60 }; /* single shots drawn behind a mean */

/* A spectrum picture: members, or means of points. */
struct spectra {
    struct plot_request *request;
    struct plot_curves curves;
    struct plot_choice choice[PLOT_CURVES_MAX];
    struct plot_window window;
    double top;
    int64_t shots; /* drawn behind the mean */
};

static bool wants_ensemble(const struct plot_request *request, const struct plot_source *source)
{
    return request->member < 0 && source->realisations > 1 && plot_curve_has_ensemble(source);
}

static int load_curves(struct spectra *s)
{
    struct plot_request *request = s->request;
    int count = 0;
    TRY(plot_curves_choose(request, s->choice, &count));
    for (int c = 0; c < count; c++) {
        struct plot_source *source = s->choice[c].source;
        struct plot_curve *curve = &s->curves.curve[c];
        int64_t member = 0;
        if (wants_ensemble(request, source)) {
            TRY(plot_curve_ensemble(source, request, s->choice[c].point, false, curve));
        } else {
            TRY(plot_source_require_field(source, "spectrum"));
            TRY(plot_source_member(source, request, s->choice[c].point, &member));
            TRY(plot_curve_member(source, request, member, curve));
        }
        s->curves.count = c + 1;
    }
    return plot_curves_label(&s->curves, request);
}

static int write_title(const struct spectra *s, struct gnuplot *g)
{
    char text[3 * PLOT_TEXT_SIZE];
    bool mean = true;
    for (int c = 0; c < s->curves.count; c++)
        mean = mean && s->curves.curve[c].mean;
    TRY(plot_curves_title(&s->curves, mean ? "Mean spectrum" : "Spectrum",
                          mean ? "Mean spectra" : "Spectra", text, sizeof text));
    plot_title(g, text);
    return 0;
}

static int write_shot(struct spectra *s, int64_t member, FILE *out)
{
    struct plot_curve shot;
    TRY(plot_curve_member(s->choice[0].source, s->request, member, &shot));
    for (long i = 0; i < shot.axis.n; i++)
        if (shot.axis.x[i] >= s->window.low && shot.axis.x[i] <= s->window.high
            && shot.density[i] > 0)
            fprintf(out, "%.8g %.6g\n", shot.axis.x[i], 10 * log10(shot.density[i] / s->top));
    fprintf(out, "\n");
    plot_curve_clear(&shot);
    s->shots++;
    return 0;
}

/* The single shots behind one mean, in grey; a blank line between shots in one data file, so
 * that they share an entry of the legend. */
static int write_shots(struct spectra *s, struct gnuplot *g)
{
    struct plot_source *source = s->choice[0].source;
    const int64_t first = s->choice[0].point * source->realisations;
    FILE *out = NULL;
    int rc = 0;
    if (s->curves.count > 1 || !wants_ensemble(s->request, source) || source->field[0] == '\0')
        return 0;
    TRY(gnuplot_data(g, "shots.dat", &out));
    for (int64_t r = 0; r < source->realisations && s->shots < SHOTS_MAX && rc == 0; r++) {
        uint8_t state = 0;
        rc = store_read_states(source->store, first + r, 1, &state, NULL);
        if (rc == 0 && state == MEMBER_DONE)
            rc = write_shot(s, first + r, out);
    }
    const int closed = gnuplot_data_close(out, "shots.dat");
    return rc != 0 ? rc : closed;
}

static int write_data(struct spectra *s, struct gnuplot *g)
{
    TRY(write_shots(s, g));
    for (int c = 0; c < s->curves.count; c++) {
        const struct plot_curve *curve = &s->curves.curve[c];
        char name[24];
        snprintf(name, sizeof name, "curve%d.dat", c);
        TRY(plot_curve_write(curve, g, name, curve->density, s->window, s->top));
    }
    return 0;
}

static void write_plot(const struct spectra *s, struct gnuplot *g)
{
    FILE *out = gnuplot_script(g);
    /* room above 0 dB: single shots go beyond their mean, and the legend hides nothing */
    const double range = s->request->range;
    const double room = s->shots > 0 ? 12 : 3 + 0.06 * range * s->curves.count;
    fprintf(out, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.4g]\n", s->window.low,
            s->window.high, -range, room);
    const double step = plot_ticks(g, "y", (struct plot_window){-range, room},
                                   0.8 * s->request->picture.height);
    if (s->shots == 0) /* nothing is above 0 dB */
        fprintf(out, "set ytics %.10g,%.10g,0\n", -step * floor(range / step), step);
    fprintf(out, "plot ");
    if (s->shots > 0)
        fprintf(out,
                "'shots.dat' with lines lc rgb '#b8b8b8' lw 0.5 title '%lld single shots', ",
                (long long)s->shots);
    for (int c = 0; c < s->curves.count; c++) {
        fprintf(out, "%s'curve%d.dat' with lines lt %d title ", c > 0 ? ", " : "", c, c + 1);
        gnuplot_text(g, s->curves.curve[c].label);
    }
    fprintf(out, "\n");
}

static int draw(struct spectra *s)
{
    struct gnuplot *g = NULL;
    char label[PLOT_TEXT_SIZE];
    s->window = plot_curves_window(&s->curves, s->request);
    s->top = plot_curves_top(&s->curves, s->window);
    TRY(plot_curves_check(&s->curves, s->window, s->top));
    plot_density_label(s->choice[0].source, &s->curves.curve[0].axis, s->top, label,
                       sizeof label);
    TRY(gnuplot_open(&s->request->picture, &g));
    FILE *out = gnuplot_script(g);
    int rc = 0;
    TRY_OR(rc, failed, write_title(s, g));
    fprintf(out, "set xlabel ");
    gnuplot_text(g, s->curves.curve[0].axis.name);
    fprintf(out, "\nset ylabel ");
    gnuplot_text(g, label);
    fprintf(out, "\n");
    TRY_OR(rc, failed, write_data(s, g));
    plot_ticks(g, "x", s->window, 0.85 * s->request->picture.width);
    write_plot(s, g);
    return gnuplot_close(g);
failed:
    gnuplot_abandon(g);
    return rc;
}

int plot_spectrum(struct plot_request *request)
{
    struct spectra s = {.request = request};
    int rc = load_curves(&s);
    rc = rc == 0 ? draw(&s) : rc;
    plot_curves_clear(&s.curves);
    return rc;
}
