/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/base/status.h"
#include "runner/plot_curve.h"
#include "runner/plot_frame.h"

/* What several curves are told apart by. */
struct traits {
    char values[PLOT_TEXT_SIZE]; /* "a = 1, b = 2" of its point */
    char place[TEXT_SIZE + READ_NAME_SIZE];
};

static int read_traits(const struct plot_curve *curve, struct traits *out)
{
    TRY(plot_source_axis_text(curve->source, -1, curve->member, out->values,
                              sizeof out->values));
    return plot_source_plane_text(curve->source, curve->member, curve->plane, out->place,
                                  sizeof out->place);
}

static int read_all(const struct plot_curves *curves, struct traits traits[PLOT_CURVES_MAX],
                    bool *same_values, bool *same_place)
{
    *same_values = *same_place = true;
    for (int c = 0; c < curves->count; c++) {
        TRY(read_traits(&curves->curve[c], &traits[c]));
        *same_values = *same_values && strcmp(traits[c].values, traits[0].values) == 0;
        *same_place = *same_place && strcmp(traits[c].place, traits[0].place) == 0;
    }
    return 0;
}

/* Values of the axes on which the points of one file differ. */
static int differing_values(const struct plot_curve *curve, const struct plot_request *request,
                            char *text, size_t size)
{
    struct plot_source *s = curve->source;
    int64_t own[PLOT_AXES_MAX];
    int64_t other[PLOT_AXES_MAX];
    char values[PLOT_TEXT_SIZE];
    plot_source_indices(s, curve->member / s->realisations, own);
    for (int a = 0; a < s->axes; a++) {
        bool differs = false;
        for (int p = 0; p < request->points; p++) {
            plot_source_indices(s, request->point_list[p], other);
            differs = differs || other[a] != own[a];
        }
        if (!differs)
            continue;
        TRY(plot_source_axis_text(s, a, curve->member, values, sizeof values));
        plot_append(text, size, values);
    }
    return 0;
}

int plot_curves_label(struct plot_curves *curves, const struct plot_request *request)
{
    struct traits traits[PLOT_CURVES_MAX] = {{"", ""}};
    bool same_values = true;
    bool same_place = true;
    TRY(read_all(curves, traits, &same_values, &same_place));
    for (int c = 0; c < curves->count; c++) {
        struct plot_curve *curve = &curves->curve[c];
        char name[PLOT_TEXT_SIZE] = "";
        if (request->files > 1 || request->points < 2)
            plot_append(name, sizeof name, curve->source->label);
        if (request->points > 1)
            TRY(differing_values(curve, request, name, sizeof name));
        else if (!same_values)
            plot_append(name, sizeof name, traits[c].values);
        if (!same_place)
            plot_append(name, sizeof name, traits[c].place);
        const bool what = curve->mean || request->files > 1;
        const int room = plot_letters(&request->picture, 0.78 * request->picture.width)
                         - (what ? plot_letters_of(curve->what) + 2 : 0);
        plot_cut(name, room > 8 ? room : 8);
        snprintf(curve->label, sizeof curve->label, "%.150s%s%s", name, what ? ": " : "",
                 what ? curve->what : "");
    }
    return 0;
}

/* Values of the axes on which all curves of one file agree; of several files nothing. */
static int shared_values(const struct plot_curves *curves, char *text, size_t size)
{
    const struct plot_curve *first = &curves->curve[0];
    struct plot_source *s = first->source;
    int64_t own[PLOT_AXES_MAX];
    int64_t other[PLOT_AXES_MAX];
    char values[PLOT_TEXT_SIZE];
    plot_source_indices(s, first->member / s->realisations, own);
    for (int a = 0; a < s->axes; a++) {
        bool same = true;
        for (int c = 1; c < curves->count; c++) {
            if (curves->curve[c].source != s)
                return 0;
            plot_source_indices(s, curves->curve[c].member / s->realisations, other);
            same = same && other[a] == own[a];
        }
        if (!same)
            continue;
        TRY(plot_source_axis_text(s, a, first->member, values, sizeof values));
        plot_append(text, size, values);
    }
    return 0;
}

int plot_curves_title(const struct plot_curves *curves, const char *noun, const char *many,
                      char *text, size_t size)
{
    struct traits traits[PLOT_CURVES_MAX] = {{"", ""}};
    const struct plot_curve *first = &curves->curve[0];
    char subject[48] = "";
    bool same_values = true;
    bool same_place = true;
    TRY(read_all(curves, traits, &same_values, &same_place));
    const long long realisations = (long long)first->source->realisations;
    if (curves->count == 1)
        snprintf(subject, sizeof subject, " of %s %lld", first->mean ? "point" : "member",
                 (long long)first->member / (first->mean ? realisations : 1));
    if (!same_values) {
        traits[0].values[0] = '\0';
        TRY(shared_values(curves, traits[0].values, sizeof traits[0].values));
    }
    snprintf(text, size, "%s%s%s%s%s%s", curves->count == 1 ? noun : many, subject,
             same_place ? " at " : "", same_place ? traits[0].place : "",
             traits[0].values[0] != '\0' ? ", " : "", traits[0].values);
    return 0;
}
