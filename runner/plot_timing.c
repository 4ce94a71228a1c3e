/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/status.h"
#include "runner/plot.h"
#include "runner/worker_times.h"

/* Where the time of each worker went: one bar a worker, one colour a part. */

/* The bars of all files, one group beside the other. */
struct groups {
    int count;
    struct worker_times times[PLOT_FILES_MAX];
    double longest; /* s */
};

static int read_groups(struct plot_request *request, struct groups *groups)
{
    for (int f = 0; f < request->files; f++) {
        struct plot_source *s = &request->source[f];
        struct worker_times *times = &groups->times[f];
        TRY(worker_times_read(s->store, times));
        groups->count = f + 1;
        if (times->workers == 0)
            FAIL(ERR_ARGUMENT, "%s: no run has recorded its timing yet; it does so at its end",
                 s->path);
        for (int i = 0; i < times->workers; i++)
            groups->longest = fmax(groups->longest, times->worker[i].total);
    }
    return 0;
}

static void clear_groups(struct groups *groups)
{
    for (int f = 0; f < groups->count; f++)
        worker_times_clear(&groups->times[f]);
}

/* Where a group's first bar stands: groups follow each other with a gap of one bar. */
static int group_begin(const struct groups *groups, int file)
{
    int begin = 0;
    for (int f = 0; f < file; f++)
        begin += groups->times[f].workers + 1;
    return begin;
}

/* x, then the sums of the parts from the lowest: a bar is drawn from its top down. */
static int write_bars(struct gnuplot *g, const struct groups *groups, double unit)
{
    FILE *out = NULL;
    TRY(gnuplot_data(g, "timing.dat", &out));
    for (int f = 0; f < groups->count; f++) {
        const int begin = group_begin(groups, f);
        for (int i = 0; i < groups->times[f].workers; i++) {
            double sum = 0;
            fprintf(out, "%d", begin + i);
            for (int p = 0; p < PARTS; p++) {
                sum += groups->times[f].worker[i].part[p];
                fprintf(out, " %.6g", sum / unit);
            }
            fprintf(out, "\n");
        }
    }
    return gnuplot_data_close(out, "timing.dat");
}

/* Ranks below the bars while there is room; with several files the files' names. */
static void write_ticks(struct gnuplot *g, const struct plot_request *request,
                        const struct groups *groups)
{
    enum { TICKS_MOST = 16 };
    FILE *out = gnuplot_script(g);
    const char *separator = "";
    fprintf(out, "set xtics nomirror scale 0 (");
    for (int f = 0; f < groups->count; f++) {
        const struct worker_times *times = &groups->times[f];
        const int begin = group_begin(groups, f);
        if (groups->count > 1) {
            fprintf(out, "%s", separator);
            gnuplot_text(g, request->source[f].label);
            fprintf(out, " %.6g", begin + 0.5 * (times->workers - 1));
            separator = ", ";
            continue;
        }
        const int step = (times->workers + TICKS_MOST - 1) / TICKS_MOST;
        for (int i = 0; i < times->workers; i += step) {
            fprintf(out, "%s'%d' %d", separator, times->worker[i].worker, begin + i);
            separator = ", ";
        }
    }
    fprintf(out, ")\n");
}

static void write_labels(struct gnuplot *g, const struct plot_request *request,
                         const struct groups *groups, const char *unit)
{
    FILE *out = gnuplot_script(g);
    char text[PLOT_TEXT_SIZE];
    if (groups->count == 1)
        snprintf(text, sizeof text, "%s, where the workers' time went (attempt %lld)",
                 request->source[0].scan, (long long)groups->times[0].attempt);
    else
        snprintf(text, sizeof text, "Where the workers' time went");
    plot_title(g, text);
    fprintf(out, "set xlabel ");
    gnuplot_text(g, groups->count > 1 ? "workers of each file" : "worker (MPI rank)");
    text_label("time", unit, text, sizeof text);
    fprintf(out, "\nset ylabel ");
    gnuplot_text(g, text);
    fprintf(out, "\n");
    write_ticks(g, request, groups);
}

static void write_plot(struct gnuplot *g, const struct groups *groups, double unit)
{
    FILE *out = gnuplot_script(g);
    const int last = group_begin(groups, groups->count) - 2;
    fprintf(out,
            "set style fill solid 1.0 noborder\nset boxwidth 0.8\nset xrange [-0.7:%d.7]\n"
            "set yrange [0:%.6g]\nset key outside right top\nplot ",
            last, groups->longest / unit * 1.05);
    for (int p = PARTS - 1; p >= 0; p--) {
        fprintf(out, "%s'timing.dat' using 1:%d with boxes lt %d title ",
                p < PARTS - 1 ? ", " : "", p + 2, p + 1);
        gnuplot_text(g, work_part_name((enum work_part)p));
    }
    fprintf(out, "\n");
}

static int draw(const struct plot_request *request, const struct groups *groups)
{
    struct gnuplot *g = NULL;
    struct text_unit unit;
    text_choose_unit("s", groups->longest, &unit);
    TRY(gnuplot_open(&request->picture, &g));
    const int rc = write_bars(g, groups, unit.scale);
    if (rc != 0) {
        gnuplot_abandon(g);
        return rc;
    }
    write_labels(g, request, groups, unit.unit);
    write_plot(g, groups, unit.scale);
    return gnuplot_close(g);
}

int plot_timing(struct plot_request *request)
{
    struct groups groups = {0};
    int rc = read_groups(request, &groups);
    if (rc == 0)
        rc = draw(request, &groups);
    clear_groups(&groups);
    return rc;
}
