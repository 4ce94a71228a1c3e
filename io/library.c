/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/library.h"

#include <stdio.h>

#include <hdf5.h>

void library_hdf5(char *text, size_t size)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    if (H5get_libversion(&major, &minor, &release) < 0)
        snprintf(text, size, "HDF5, version unknown");
    else
        snprintf(text, size, "HDF5 %u.%u.%u", major, minor, release);
}
