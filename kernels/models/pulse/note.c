/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/note.h"

#include <stdarg.h>
#include <stdio.h>

struct layout_note *pulse_note(struct plane_layout *out, const char *name, const char *unit,
                               double value)
{
    if (out->notes >= LAYOUT_NOTES_MAX)
        return &out->note[LAYOUT_NOTES_MAX - 1];
    struct layout_note *note = &out->note[out->notes++];
    *note = (struct layout_note){.value = value};
    snprintf(note->name, sizeof note->name, "%s", name);
    snprintf(note->unit, sizeof note->unit, "%s", unit);
    return note;
}

void pulse_note_warn(struct layout_note *note, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(note->warning, sizeof note->warning, format, args);
    va_end(args);
}

void pulse_note_table(struct plane_layout *out, const struct data_set *measured,
                      const struct measured_grid *grid)
{
    struct measured_figures figures;
    if (measured == NULL || measured->arrays == 0
        || measured_look(measured, grid, &figures) != 0)
        return;
    pulse_note(out, "duration of the table", "s", figures.duration);
    struct layout_note *cut =
        pulse_note(out, "table outside of the grid", "1", figures.outside);
    if (figures.outside > 1e-3)
        pulse_note_warn(cut,
                        "a share of %.2g of the pulse's energy lies outside of the grid and is "
                        "cut off",
                        figures.outside);
    struct layout_note *edge =
        pulse_note(out, "intensity at the table's ends", "1", figures.edge);
    if (figures.edge > 1e-3)
        pulse_note_warn(edge,
                        "the table ends at %.2g of its peak; nothing is assumed beyond it",
                        figures.edge);
    struct layout_note *turn = pulse_note(out, "phase from row to row", "rad", figures.turn);
    if (figures.turn > 1.0)
        pulse_note_warn(turn,
                        "the phase turns by up to %.2g rad between rows: the table is coarse",
                        figures.turn);
}

void pulse_note_cut(struct plane_layout *out, double cut)
{
    struct layout_note *note = pulse_note(out, "input outside of the band", "1", cut);
    if (cut > 1e-9)
        pulse_note_warn(
            note, "the grid cuts off %.2g of the energy of the plane that is the input", cut);
}
