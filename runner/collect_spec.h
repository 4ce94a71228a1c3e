/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COLLECT_SPEC_H
#define RUNNER_COLLECT_SPEC_H

#include "io/collect.h"
#include "runner/spec.h"
#include "scans/scan.h"

/* What the configuration of a collected file asks of it. That of the last file is kept: most
 * have the same. */
struct collect_spec {
    char *canonical; /* NULL: none yet */
    struct scan *scan;
    struct spec *spec; /* NULL: it is not understood */
};

/** The judge of io/collect.h. @param spec zeroed; collect_spec_clear when collect is closed */
struct collect_judge collect_spec_judge(struct collect_spec *spec);

/** Free; legal on a zeroed object. */
void collect_spec_clear(struct collect_spec *spec);

#endif
