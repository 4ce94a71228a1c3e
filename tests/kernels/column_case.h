/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/models/pulse/rate_table.h"
#include "kernels/numeric/taps.h"

/* Plasma columns under test: fields, rates, and the formula in long double. */

#define CASE_DT 5e-17 /* s */

/* How the rate is evaluated. */
enum case_rate { CASE_BY_FIELD, CASE_BY_CHANNEL, CASE_ADK, CASE_RATES };

/* A column: a Gaussian pulse, E = peak exp(-((i - centre n)/(width n))^2) cos(theta (i - centre
 * n) + phase) in V/m; width 0: no envelope; peak < 0: in units of minus the cut-off. */
struct column_case {
    const char *name;
    long n;
    double peak, centre, width, theta, phase;
    double preionised;
    int components; /* the second is 0.6 times the first, a quarter of a cycle later */
    bool quadrature, extra;
    double twin; /* centre of a second pulse; 0: none */
};

/* Rates of argon: PPT by field and by channel, ADK. Made once. */
struct column_rates_known {
    struct ionisation ppt, adk;
    struct rate_table *table[2]; /* by field, by channel */
};

/** Make the rates; free with rates_clear. */
void rates_init(struct column_rates_known *rates);

/** Free them. */
void rates_clear(struct column_rates_known *rates);

/** What a kernel is given. */
struct column_rate rates_view(const struct column_rates_known *rates, enum case_rate kind);

/* Arrays of a column and what the kernels are given; one row. */
struct column_run {
    const struct column_case *c;
    enum case_rate kind;
    struct column_rate rate;
    long segments; /* of the rate's table */
    struct taps taps;
    double scalars[COLUMN_SCALARS];
    double sums[COLUMN_SUMS];
    long ld, ld_pad;
    bool apart; /* three passes whatever the rule, as threads that share a row make them */
    bool once;  /* all passes by one call, which a device has */
    double *field, *quadrature, *extra, *window, *scratch, *out;
    struct column_args args;
};

/** Fill a column; side 0: the trapezoid rule, else a band up to 0.35 pi. */
void column_run_init(struct column_run *run, const struct column_case *c,
                     const struct column_rates_known *rates, enum case_rate kind, int side);

/** Free its arrays. */
void column_run_clear(struct column_run *run);

/** Run the passes on a backend; NULL: the plain bodies. @return passes made */
int column_run_passes(struct column_run *run, struct backend *be);

/** The same on a backend whose memory the host cannot touch: everything is sent there and back.
 */
void column_run_there(struct column_run *run, struct backend *be);

/* What the formula gives, and the derived budget of each sample. */
struct column_truth {
    double *out;    /* [components][n] */
    double *budget; /* [components][n] */
    double electrons, electrons_budget;
    double work;
    long saturated;
};

/* What is wrong with a formula on purpose. */
enum column_fault { FAULT_NONE, FAULT_DENSITY, FAULT_WINDOW_SHIFTED, FAULT_WINDOW_SQUARED };

/* Whose budget. */
enum column_arithmetic {
    ARITHMETIC_LANES,  /* the backend's, one thread a row */
    ARITHMETIC_SHARED, /* threads share a row */
    ARITHMETIC_PLAIN   /* the plain bodies */
};

/** The formula in long double, from the inputs of a run. */
void column_truth_init(struct column_truth *truth, const struct column_run *run,
                       enum column_fault fault, enum column_arithmetic how);

/** Free its arrays. */
void column_truth_clear(struct column_truth *truth);
