/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/version.h"

#include <string.h>

#include <mpi.h>

#include "io/library.h"
#include "io/store.h"
#include "kernels/backend.h"
#include "kernels/base/status.h"
#include "scanfarm_version.h"

static void mpi_library(char *text, size_t size)
{
    char long_text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    /* one of the few calls that are legal before MPI_Init */
    MPI_Get_library_version(long_text, &length);
    snprintf(text, size, "%.*s", (int)strcspn(long_text, ",\n"), long_text);
}

void version_libraries(char *text, size_t size)
{
    char mpi[120];
    char hdf5[40];
    mpi_library(mpi, sizeof mpi);
    library_hdf5(hdf5, sizeof hdf5);
    snprintf(text, size, "%s; %s; %s", mpi, hdf5, backend_fft_library());
}

void version_program(char *text, size_t size)
{
    snprintf(text, size, "%s (%.12s%s)", SCANFARM_VERSION, SCANFARM_GIT_REVISION,
             SCANFARM_GIT_DIRTY ? ", modified" : "");
}

static int print_backend(const char *name, FILE *out)
{
    const struct backend_options options = {
        .name = name, .isa = "auto", .threads = 1, .apart = true, .rigour = FFT_ESTIMATE};
    struct backend *be = NULL;
    char why[200] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(why, sizeof why);
    const int rc = backend_create(&options, &be);
    status_capture_restore(saved);
    if (rc != 0 && rc != ERR_DEVICE)
        FAIL(rc, "%s", why);
    if (rc == 0)
        fprintf(out, "  backend        %s: kernels for %s chosen on %s\n", name, be->isa,
                be->device);
    else
        fprintf(out, "  backend        %s: does not run here: %s\n", name, why);
    backend_destroy(be);
    return 0;
}

/* Libraries of transforms: the CPU's first. */
static void print_fft(FILE *out)
{
    for (const char *const *name = backend_names(); *name != NULL; name++) {
        const char *const library = backend_fft_of(*name);
        char label[15] = "FFT";
        if (name != backend_names())
            snprintf(label, sizeof label, "FFT of %.7s", *name);
        fprintf(out, "  %-14s %s\n", label, library != NULL ? library : "none in this build");
    }
}

/* Measured switching points. */
static void print_thresholds(FILE *out)
{
    const struct threshold_row *const row = backend_thresholds();
    for (int i = 0; i < THRESHOLDS; i++)
        fprintf(out, "  %-14s %s = %ld: %s (measured on %s, %s)\n", i == 0 ? "thresholds" : "",
                row[i].name, row[i].value, row[i].meaning, row[i].machine, row[i].date);
}

int version_print(FILE *out)
{
    char program[120];
    char mpi[120];
    char hdf5[40];
    version_program(program, sizeof program);
    mpi_library(mpi, sizeof mpi);
    library_hdf5(hdf5, sizeof hdf5);
    fprintf(out, "scanfarm %s\n", program);
    fprintf(out, "  git revision   %s%s\n", SCANFARM_GIT_REVISION,
            SCANFARM_GIT_DIRTY ? " with changes" : "");
    fprintf(out, "  file format    %d\n", STORE_FORMAT_VERSION);
    fprintf(out, "  compiler       %s\n", SCANFARM_COMPILER);
    fprintf(out, "  flags          %s\n", SCANFARM_BUILD_FLAGS);
#ifdef SCANFARM_FAULTS
    fprintf(out, "  test build     faults by FARM_FAULT (kernels/base/fault.h)\n");
#endif
    fprintf(out, "  MPI            %s\n", mpi);
    fprintf(out, "  HDF5           %s\n", hdf5);
    print_fft(out);
    for (const char *const *name = backend_names(); *name != NULL; name++)
        TRY(print_backend(*name, out));
    print_thresholds(out);
    fprintf(out, "Licence GPL-3.0-or-later; this is free software without any warranty.\n");
    return 0;
}
