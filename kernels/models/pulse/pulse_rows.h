/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_PULSE_ROWS_H
#define KERNELS_MODELS_PULSE_PULSE_ROWS_H

#include "kernels/base/params.h"
#include "kernels/models/pulse/measured.h"

/* Rows of parameter tables that the models of pulses share. */

/* What pulse.file, pulse2.file and pulse3.file accept. */
extern const struct data_info pulse_tables[];

/* What input.from accepts. */
extern const struct data_info earlier_planes;

#define PULSE_PHASE_ROW(id, in, most, text)                                                    \
    {                                                                                          \
        .name = (id), .kind = PARAM_REAL, .unit = (in), .minimum = -(most), .maximum = (most), \
        .doc = (text)                                                                          \
    }

/* Table of the first pulse. */
#define PULSE_TABLE_ROWS                                                                       \
    {.name = "pulse.file",                                                                     \
     .kind = PARAM_DATA,                                                                       \
     .unit = "1",                                                                              \
     .data = &pulse_tables[0],                                                                 \
     .doc = "Table of a measured or computed pulse, in place of shape and duration"},          \
    {                                                                                          \
        .name = "pulse.columns", .kind = PARAM_CHOICE, .unit = "1",                            \
        .choices = measured_tables,                                                            \
        .doc = "Columns of pulse.file that count; not needed when only one combination is "    \
               "there"                                                                         \
    }

/* Rows of a further pulse. Without defaults: what is not given stands in no identity. */
#define FURTHER_PULSE_ROWS(group, number, shapes, shape)                                       \
    {.name = group ".shape",                                                                   \
     .kind = PARAM_CHOICE,                                                                     \
     .unit = "1",                                                                              \
     .choices = (shapes),                                                                      \
     .doc = "Shape of a further pulse; " shape " when not given"},                             \
        {.name = group ".file",                                                                \
         .kind = PARAM_DATA,                                                                   \
         .unit = "1",                                                                          \
         .data = &pulse_tables[(number)-1],                                                    \
         .doc = "Table of a further pulse, in place of shape and duration"},                   \
        {.name = group ".columns",                                                             \
         .kind = PARAM_CHOICE,                                                                 \
         .unit = "1",                                                                          \
         .choices = measured_tables,                                                           \
         .doc = "Columns of the table that count"},                                            \
        {.name = group ".wavelength",                                                          \
         .kind = PARAM_REAL,                                                                   \
         .flags = PARAM_OPEN,                                                                  \
         .unit = "m",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1,                                                                         \
         .doc = "Centre of a further pulse; the reference when not given"},                    \
        {.name = group ".duration",                                                            \
         .kind = PARAM_REAL,                                                                   \
         .flags = PARAM_OPEN,                                                                  \
         .unit = "s",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1,                                                                         \
         .doc = "Full width at half maximum of the intensity, before the phases"},             \
        {.name = group ".peak_power",                                                          \
         .kind = PARAM_REAL,                                                                   \
         .unit = "W",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1e300,                                                                     \
         .doc = "Peak power of a further pulse alone; or give its energy"},                    \
        {.name = group ".energy",                                                              \
         .kind = PARAM_REAL,                                                                   \
         .unit = "J",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1e300,                                                                     \
         .doc = "Energy of a further pulse alone; or give its peak power"},                    \
        PULSE_PHASE_ROW(group ".phases.cep", "rad", 1e6, "Constant spectral phase"),           \
        PULSE_PHASE_ROW(group ".phases.delay", "s", 1, "Delay"),                               \
        PULSE_PHASE_ROW(group ".phases.gdd", "s^2", 1, "Group delay dispersion"),              \
        PULSE_PHASE_ROW(group ".phases.tod", "s^3", 1, "Third-order dispersion")

/* A plane of an earlier run. */
#define EARLIER_PLANE_ROWS                                                                     \
    {.name = "input.from",                                                                     \
     .kind = PARAM_DATA,                                                                       \
     .flags = PARAM_GROUP,                                                                     \
     .unit = "1",                                                                              \
     .data = &earlier_planes,                                                                  \
     .doc =                                                                                    \
         "Result file of an earlier run: a plane of it is the input, in place of a pulse; z "  \
         "and what adds up along it begin at 0"},                                              \
        {.name = "input.member",                                                               \
         .kind = PARAM_INT,                                                                    \
         .unit = "1",                                                                          \
         .minimum = 0,                                                                         \
         .maximum = 1e15,                                                                      \
         .doc = "Member of input.from; 0 when not given"},                                     \
    {                                                                                          \
        .name = "input.plane", .kind = PARAM_INT, .flags = PARAM_LAST, .unit = "1",            \
        .minimum = 0, .maximum = 1e15,                                                         \
        .doc = "Saved plane of input.from; the last when not given"                            \
    }

#endif
