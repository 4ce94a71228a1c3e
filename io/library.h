/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_LIBRARY_H
#define IO_LIBRARY_H

#include <stddef.h>

/** Name and version of the HDF5 library in use: "HDF5 1.10.8". @param text [size] */
void library_hdf5(char *text, size_t size);

#endif
