/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/taylor.h"

cplx taylor_derivative(const struct taylor *a, int k)
{
    double factorial = 1.0;
    for (int i = 2; i <= k; i++)
        factorial *= (double)i;
    return cplx_scale(factorial, a->c[k]);
}
