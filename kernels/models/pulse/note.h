/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_NOTE_H
#define KERNELS_MODELS_PULSE_NOTE_H

#include "kernels/model.h"
#include "kernels/models/pulse/measured.h"

/* Lines of the sanity report of the pulse models. */

/** Add a line; past LAYOUT_NOTES_MAX the last one is given again. */
struct layout_note *pulse_note(struct plane_layout *out, const char *name, const char *unit,
                               double value);

/** Give a line a warning. */
void pulse_note_warn(struct layout_note *note, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** What the table of a pulse says of it and loses on a grid; nothing of a set that is NULL or
 * known by its hash alone. */
void pulse_note_table(struct plane_layout *out, const struct data_set *measured,
                      const struct measured_grid *grid);

/** What a grid cuts off an earlier plane. */
void pulse_note_cut(struct plane_layout *out, double cut);

#endif
