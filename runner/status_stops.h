/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_STOPS_H
#define RUNNER_STATUS_STOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/store.h"

/* How the points of a file stand whose ensembles stop themselves. */
struct status_stops {
    bool any; /* the file is such a one */
    struct store_until rule;
    int64_t points;
    int64_t reached; /* stopped with a small enough error */
    int64_t all;     /* stopped with all realisations, and a larger one */
    int64_t open;
    int64_t used;             /* realisations that count at the stopped ones */
    double smallest, largest; /* errors of the stopped ones; NaN: none has stopped */
    double worst;             /* largest error of the last looks of the open ones; NaN: none */
};

/** Read them. */
int status_stops_read(struct store *store, struct status_stops *out);

/** Lines for people; nothing for another file. */
void status_stops_text(const struct status_stops *stops, FILE *out);

/** As a part of a JSON object: ,"until":{…}; nothing for another file. */
void status_stops_json(const struct status_stops *stops, FILE *out);

#endif
