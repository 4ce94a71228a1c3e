/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/h5.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>
#include <mpi.h>

#include "kernels/base/status.h"

#define ALIGNMENT     65536
#define READ_ATTEMPTS 100 /* of metadata with a wrong checksum, as a live file may have */

_Static_assert(sizeof(hid_t) == sizeof(int64_t), "HDF5 1.10 or newer");

struct reason_text {
    char *text;
    size_t size;
};

static herr_t reason_take(unsigned n, const H5E_error2_t *error, void *context)
{
    const struct reason_text *const reason = context;
    if (n == 0)
        snprintf(reason->text, reason->size, "%s", error->desc);
    return 0;
}

/* The serial driver's "file write failed: time = …, filename = …, errno = 28, error message =
 * 'No space left on device', buf = …": what failed and why is enough. */
static void reason_shorten(char *text, size_t size)
{
    static const char key[] = "error message = '";
    char *const time = strstr(text, ": time = ");
    const char *const cause = strstr(text, key);
    if (time == NULL || cause == NULL)
        return;
    char shorter[200];
    const char *const from = cause + sizeof key - 1;
    snprintf(shorter, sizeof shorter, "%.*s", (int)strcspn(from, "'"), from);
    snprintf(time, size - (size_t)(time - text), ": %s", shorter);
}

void h5_reason(char *text, size_t size)
{
    snprintf(text, size, "no reason given by HDF5");
    struct reason_text reason = {text, size};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, reason_take, &reason);
    reason_shorten(text, size);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
}

int h5_fail(const char *path, const char *object)
{
    char text[400];
    h5_reason(text, sizeof text);
    FAIL(ERR_IO, "%s%s%s: HDF5: %s", path, object[0] != '\0' ? ": " : "", object, text);
}

/* Access properties common to all openings. */
static int access_create(enum h5_access access, hid_t *out)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0)
        return -1;
    /* The sieve buffer would keep small writes back: a commit must reach the file at once. */
    herr_t rc = H5Pset_sieve_buf_size(list, 0);
    /* Older headers keep times; newer superblocks carry a mark that refuses the readers of a
     * file left by a dead writer. */
    rc |= H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V18);
    rc |= H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    rc |= H5Pset_file_locking(list, false, true);
    if (access == H5_READ)
        rc |= H5Pset_metadata_read_attempts(list, READ_ATTEMPTS);
    int initialised = 0;
    int finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (access == H5_WORKER && initialised && !finalised)
        rc |= H5Pset_fapl_mpio(list, MPI_COMM_SELF, MPI_INFO_NULL);
    *out = list;
    return rc;
}

int h5_file_create(const char *path, int64_t *file)
{
    hid_t access = H5I_INVALID_HID;
    TRY_H5(access_create(H5_WRITE, &access), path, "");
    int rc = 0;
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    TRY_H5_OR(rc, done, H5Pset_obj_track_times(creation, false), path, "");
    TRY_H5_OR(rc, done, H5Pset_alignment(access, ALIGNMENT, ALIGNMENT), path, "");
    *file = H5Fcreate(path, H5F_ACC_EXCL, creation, access);
    TRY_H5_OR(rc, done, *file, path, "");
done:
    H5Pclose(creation);
    H5Pclose(access);
    return rc;
}

int64_t h5_file_try(const char *path, enum h5_access access, char *reason, size_t size)
{
    hid_t list = H5I_INVALID_HID;
    hid_t file = H5I_INVALID_HID;
    if (access_create(access, &list) >= 0)
        file = H5Fopen(path, access == H5_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR, list);
    if (file < 0)
        h5_reason(reason, size);
    H5Pclose(list);
    return file;
}

int h5_file_open(const char *path, enum h5_access access, int64_t *file)
{
    char reason[400];
    *file = h5_file_try(path, access, reason, sizeof reason);
    if (*file < 0)
        FAIL(ERR_IO, "cannot open %s: HDF5: %s", path, reason);
    return 0;
}

int h5_file_close(int64_t file, const char *path)
{
    TRY_H5(H5Fclose(file), path, "");
    return 0;
}

void h5_file_abandon(int64_t file)
{
    /* Closing flushes; when that fails (disk full), HDF5 1.10 keeps a dead handle, which
     * crashes the process at exit or in MPI_Finalize. So let it flush into memory. */
    void *handle = NULL;
    const int memory = memfd_create("abandoned", MFD_CLOEXEC);
    if (memory >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0)
        dup2(memory, *(const int *)handle);
    /* After a flush that failed half-way the next one fails too, but sets things right. */
    H5Fflush(file, H5F_SCOPE_LOCAL);
    H5Fclose(file);
    if (memory >= 0)
        close(memory);
}

static hid_t text_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

int h5_put_text(int64_t object, const char *path, const char *name, const char *text)
{
    int rc = 0;
    const hid_t type = text_type();
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    TRY_H5_OR(rc, done, attribute, path, name);
    TRY_H5_OR(rc, done, H5Awrite(attribute, type, &text), path, name);
done:
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return rc;
}

int h5_put_integer(int64_t object, const char *path, const char *name, int64_t value)
{
    int rc = 0;
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    TRY_H5_OR(rc, done, attribute, path, name);
    TRY_H5_OR(rc, done, H5Awrite(attribute, H5T_NATIVE_INT64, &value), path, name);
done:
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    return rc;
}

static herr_t attribute_text(hid_t attribute, hid_t stored, char *text, size_t size)
{
    if (H5Tget_class(stored) != H5T_STRING) {
        double number = 0;
        const herr_t rc = H5Aread(attribute, H5T_NATIVE_DOUBLE, &number);
        snprintf(text, size, "%.17g", number);
        return rc;
    }
    if (H5Tis_variable_str(stored) > 0) {
        char *read = NULL;
        const hid_t type = text_type();
        H5Tset_cset(type, H5Tget_cset(stored));
        const herr_t rc = H5Aread(attribute, type, &read);
        H5Tclose(type);
        if (rc < 0 || read == NULL)
            return rc;
        snprintf(text, size, "%s", read);
        H5free_memory(read);
        return 0;
    }
    char fixed[512] = "";
    if (H5Tget_size(stored) >= sizeof fixed)
        return 0;
    const herr_t rc = H5Aread(attribute, stored, fixed);
    snprintf(text, size, "%s", fixed);
    return rc;
}

/* Only scalars (or one element) are ours: a foreign array attribute is treated as absent. */
static hid_t attribute_open(hid_t object, const char *name)
{
    if (H5Aexists(object, name) <= 0)
        return H5I_INVALID_HID;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return attribute;
    const hid_t space = H5Aget_space(attribute);
    const hssize_t elements = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    if (elements == 1)
        return attribute;
    H5Aclose(attribute);
    return H5I_INVALID_HID;
}

int h5_get_text(int64_t object, const char *path, const char *name, char *text, size_t size)
{
    text[0] = '\0';
    const hid_t attribute = attribute_open(object, name);
    if (attribute < 0)
        return 0;
    const hid_t stored = H5Aget_type(attribute);
    const herr_t rc = attribute_text(attribute, stored, text, size);
    H5Tclose(stored);
    H5Aclose(attribute);
    TRY_H5(rc, path, name);
    return 0;
}

int h5_get_real(int64_t object, const char *path, const char *name, double *value, bool *found,
                bool *there)
{
    *found = *there = false;
    *value = 0.0;
    const hid_t attribute = attribute_open(object, name);
    if (attribute < 0)
        return 0;
    *there = true;
    const hid_t stored = H5Aget_type(attribute);
    const H5T_class_t class = H5Tget_class(stored);
    herr_t rc = 0;
    if (class == H5T_FLOAT || class == H5T_INTEGER) {
        rc = H5Aread(attribute, H5T_NATIVE_DOUBLE, value);
        *found = rc >= 0;
    }
    H5Tclose(stored);
    H5Aclose(attribute);
    TRY_H5(rc, path, name);
    return 0;
}

int h5_get_integer(int64_t object, const char *path, const char *name, int64_t *value,
                   bool *found)
{
    *found = false;
    *value = 0;
    const hid_t attribute = attribute_open(object, name);
    if (attribute < 0)
        return 0;
    const hid_t stored = H5Aget_type(attribute);
    herr_t rc = 0;
    if (H5Tget_class(stored) == H5T_INTEGER) {
        rc = H5Aread(attribute, H5T_NATIVE_INT64, value);
        *found = rc >= 0;
    }
    H5Tclose(stored);
    H5Aclose(attribute);
    TRY_H5(rc, path, name);
    return 0;
}

int h5_get_label(int64_t dataset, int dim, char *text, size_t size)
{
    text[0] = '\0';
    return H5DSget_label(dataset, (unsigned)dim, text, size) < 0 ? -1 : 0;
}
