/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_IO_INJECT_H
#define TESTS_IO_INJECT_H

/*
 * Calls of the store that fail on purpose. The linker's --wrap puts these functions in the
 * place of the ones of libc and kernels/base/mem.h; tests/io/CMakeLists.txt names them.
 */

enum inject_call {
    INJECT_ALLOC,     /* mem_alloc: ERR_MEMORY */
    INJECT_OPEN,      /* open */
    INJECT_PWRITE,    /* pwrite; errno 0: nothing is written, without an error */
    INJECT_PREAD,     /* pread; errno 0: the end of the file */
    INJECT_FALLOCATE, /* fallocate */
    INJECT_FDATASYNC, /* fdatasync */
    INJECT_RENAMEAT2, /* renameat2 */
    INJECT_RENAME,    /* rename */
    INJECT_CALLS
};

/** From now on the nth call (1: the next one) fails with this errno; 0: none does. */
void inject_at(enum inject_call call, long nth, int error);

/** Calls since the last inject_at of it. */
long inject_seen(enum inject_call call);

#endif
