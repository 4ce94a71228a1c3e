/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_TABLEAU_H
#define KERNELS_STEP_TABLEAU_H

/* The numbers of tableau.def. Slopes are counted from 0 here. */

#define TABLEAU_STAGES 5 /* between the first slope and the last */

/* Places of the stages, in steps. */
static const double tableau_c[TABLEAU_STAGES] = {
#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5) [(i)-1] = (c),
#define TABLEAU_LAST(j, b, e)
#include "kernels/step/tableau.def"
#undef TABLEAU_STAGE
};

/* Weights of the slopes in the argument of each stage. */
static const double tableau_a[TABLEAU_STAGES][TABLEAU_STAGES] = {
#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5) [(i)-1] = {a1, a2, a3, a4, a5},
#include "kernels/step/tableau.def"
#undef TABLEAU_STAGE
#undef TABLEAU_LAST
};

/* Weights in the solution, and in its difference from the embedded one. */
#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5)
static const double tableau_b[TABLEAU_STAGES + 2] = {
#define TABLEAU_LAST(j, b, e) [(j)-1] = (b),
#include "kernels/step/tableau.def"
#undef TABLEAU_LAST
};

static const double tableau_e[TABLEAU_STAGES + 2] = {
#define TABLEAU_LAST(j, b, e) [(j)-1] = (e),
#include "kernels/step/tableau.def"
#undef TABLEAU_LAST
};
#undef TABLEAU_STAGE

#endif
