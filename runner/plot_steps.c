/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"

/* The step history of one member. */
struct history {
    int64_t member;
    long count;
    double *z, *h, *accepted; /* [count] SI; accepted: 0 or 1 */
};

static void history_clear(struct history *history)
{
    mem_free(history->z);
    mem_free(history->h);
    mem_free(history->accepted);
}

static int read_column(struct plot_source *s, int64_t member, const char *name, long count,
                       double **out)
{
    char path[READ_NAME_SIZE + 8];
    const int64_t start[2] = {member, 0};
    const int64_t counts[2] = {1, count};
    snprintf(path, sizeof path, "step/%s", name);
    TRY(MEM_NEW(count, out));
    return read_block(s->store, path, start, counts, *out);
}

static int history_read(struct plot_source *s, int64_t member, struct history *out)
{
    double count = 0;
    if (!read_exists(s->store, "step/n_steps"))
        FAIL(ERR_ARGUMENT,
             "%s: keeps no step history; a scan keeps it with 'store: {history: 8192}'",
             s->path);
    TRY(read_rows(s->store, "step/n_steps", member, 1, 1, &count));
    if (count < 1)
        FAIL(ERR_ARGUMENT, "%s: member %lld has no recorded steps", s->path, (long long)member);
    out->count = (long)count;
    TRY(read_column(s, member, s->progress, out->count, &out->z));
    TRY(read_column(s, member, "h", out->count, &out->h));
    return read_column(s, member, "accepted", out->count, &out->accepted);
}

static double largest(long n, const double *values)
{
    double top = 0;
    for (long i = 0; i < n; i++)
        top = fmax(top, values[i]);
    return top;
}

static int write_history(struct gnuplot *g, const struct history *h, int number, double z_unit,
                         double h_unit)
{
    FILE *out = NULL;
    char name[24];
    for (int accepted = 1; accepted >= 0; accepted--) {
        snprintf(name, sizeof name, "%s%d.dat", accepted ? "accepted" : "rejected", number);
        TRY(gnuplot_data(g, name, &out));
        for (long i = 0; i < h->count; i++)
            if ((h->accepted[i] > 0.5) == (accepted == 1))
                fprintf(out, "%.10g %.6g\n", h->z[i] / z_unit, h->h[i] / h_unit);
        TRY(gnuplot_data_close(out, name));
    }
    return 0;
}

static long count_rejected(const struct history *h)
{
    long rejected = 0;
    for (long i = 0; i < h->count; i++)
        rejected += h->accepted[i] < 0.5;
    return rejected;
}

/* The title names what all files share; the legend has the rest. */
static void write_labels(struct gnuplot *g, const struct plot_request *request,
                         const struct history *h, const char *z_unit, const char *h_unit)
{
    FILE *out = gnuplot_script(g);
    const struct plot_source *s = &request->source[0];
    char text[PLOT_TEXT_SIZE];
    if (request->files == 1)
        snprintf(text, sizeof text, "%s, steps of member %lld", s->scan, (long long)h->member);
    else
        snprintf(text, sizeof text, "Steps of one member of each file");
    plot_title(g, text);
    text_label(s->progress, z_unit, text, sizeof text);
    fprintf(out, "set xlabel ");
    gnuplot_text(g, text);
    text_label("step length", h_unit, text, sizeof text);
    fprintf(out, "\nset ylabel ");
    gnuplot_text(g, text);
    fprintf(out, "\nset logscale y\n");
}

/* All step lengths of all files, with some air; the legend has the top of it. */
static void write_range(struct gnuplot *g, const struct plot_request *request,
                        const struct history *h, double unit)
{
    double low = (double)INFINITY;
    double high = 0;
    for (int c = 0; c < request->files; c++) {
        high = fmax(high, largest(h[c].count, h[c].h));
        for (long i = 0; i < h[c].count; i++)
            low = h[c].h[i] > 0 ? fmin(low, h[c].h[i]) : low;
    }
    fprintf(gnuplot_script(g),
            "set yrange [%.6g:%.6g]\nset xrange [0:*]\nset offsets 0, graph 0.02, 0, 0\n",
            low / unit / 1.5, high / unit * 3);
}

static void write_plot(struct gnuplot *g, const struct plot_request *request,
                       const struct history *h)
{
    FILE *out = gnuplot_script(g);
    fprintf(out, "plot ");
    for (int c = 0; c < request->files; c++) {
        char label[200];
        char member[40] = "";
        const long rejected = count_rejected(&h[c]);
        if (request->files > 1)
            snprintf(member, sizeof member, "member %lld, ", (long long)h[c].member);
        snprintf(label, sizeof label, "%s: %s%ld accepted", request->source[c].label, member,
                 h[c].count - rejected);
        fprintf(out, "%s'accepted%d.dat' with points lt %d pt 7 ps 0.35 title ",
                c > 0 ? ", " : "", c, c + 1);
        gnuplot_text(g, label);
        if (rejected == 0)
            continue;
        snprintf(label, sizeof label, "%ld rejected", rejected);
        fprintf(out, ", 'rejected%d.dat' with points lt %d pt 2 ps 1 title ", c, c + 1);
        gnuplot_text(g, label);
    }
    fprintf(out, "\n");
}

static int draw(const struct plot_request *request, const struct history *h)
{
    struct gnuplot *g = NULL;
    struct text_unit z;
    struct text_unit step;
    const struct plot_source *s = &request->source[0];
    double far = 0;
    double longest = 0;
    for (int c = 0; c < request->files; c++) {
        far = fmax(far, largest(h[c].count, h[c].z));
        longest = fmax(longest, largest(h[c].count, h[c].h));
    }
    text_choose_unit(s->progress_unit, far, &z);
    text_choose_unit(s->progress_unit, longest, &step);
    TRY(gnuplot_open(&request->picture, &g));
    int rc = 0;
    for (int c = 0; c < request->files; c++)
        TRY_OR(rc, failed, write_history(g, &h[c], c, z.scale, step.scale));
    write_labels(g, request, h, z.unit, step.unit);
    write_range(g, request, h, step.scale);
    write_plot(g, request, h);
    return gnuplot_close(g);
failed:
    gnuplot_abandon(g);
    return rc;
}

int plot_steps(struct plot_request *request)
{
    struct history h[PLOT_FILES_MAX] = {{0}};
    int rc = 0;
    for (int c = 0; c < request->files; c++) {
        struct plot_source *s = &request->source[c];
        h[c].member = request->member;
        if (request->member < 0)
            TRY_OR(rc, done,
                   plot_source_first_done(s, request->point < 0 ? 0 : request->point,
                                          &h[c].member));
        TRY_OR(rc, done, history_read(s, h[c].member, &h[c]));
    }
    rc = draw(request, h);
done:
    for (int c = 0; c < request->files; c++)
        history_clear(&h[c]);
    return rc;
}
