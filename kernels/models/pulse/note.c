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
