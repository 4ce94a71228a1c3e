/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernel_args.h"

/*
 * Where kernels run. A backend is a table of functions: memory, transfers, transforms and one
 * launch for each kernel of fast.def, column.def and strict.def. Models call only this table.
 *
 * A batch is an array of rows with a stride `ld` in elements; ld * element size is a multiple
 * of 64 bytes. A launch covers rows [row, row + rows) and elements [0, n) of each. Rows whose
 * `active` byte is 0 are left untouched.
 *
 * Memory of a backend may be out of the host's reach: arrays in arguments, scalars of rows,
 * masks and tables among them, are of the backend's alloc, and the host gets at them by upload
 * and download alone.
 */

/* Transforms; the sign is the sign of the exponent, nothing is normalised. */
enum fft_kind {
    FFT_C2C_FORWARD,  /* X_k = sum_j x_j exp(-2 pi i j k / n) */
    FFT_C2C_BACKWARD, /* x_j = sum_k X_k exp(+2 pi i j k / n), not divided by n */
    FFT_R2C,          /* n reals to n/2 + 1 complex, forward */
    FFT_C2R /* n/2 + 1 complex to n reals, backward, not divided by n; destroys input */
};

/* How long a plan is searched for. */
enum fft_rigour { FFT_ESTIMATE, FFT_MEASURE, FFT_PATIENT };

struct fft; /* a plan; owned by the backend that made it */

/* A plan and the calls that it is for: rows at these strides, in elements of their type. */
struct fft_shape {
    enum fft_kind kind;
    long n;
    long rows;
    long ld_in, ld_out;
};

/* What a plan is executed on: rows [row, row + rows), each on a 64-byte boundary. */
struct fft_rows {
    void *in;    /* destroyed by FFT_C2R */
    long ld_in;  /* row stride in elements of the input's type */
    void *out;   /* not the same array as in */
    long ld_out; /* row stride in elements of the output's type */
    long row;
    long rows;
    const unsigned char *active; /* [row + rows] on the backend, NULL: all */
};

/* Measured switching points, numeric/thresholds.def. */
enum threshold {
#define THRESHOLD(name, value, machine, date, meaning) THRESHOLD_##name,
#include "kernels/numeric/thresholds.def"
#undef THRESHOLD
    THRESHOLDS
};

/* A row of thresholds.def. */
struct threshold_row {
    const char *name;
    long value; /* unless an option says otherwise */
    const char *machine, *date, *meaning;
};

struct backend;

/* One launch function per kernel, for rows [row, row + rows) and elements [0, n):
 * be->kernels->stage_entry(be, &args, row, rows, n), with struct stage_entry_args args; an
 * array of them for KERNEL_N: be->kernels->stage_turn[s](…). */
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of declarations */
struct kernel_table {
#define KERNEL(name, args)                                                                     \
    int (*name)(struct backend * be, const struct args##_args *a, long row, long rows, long n);
#define KERNEL_N(name, last, args)                                                             \
    int (*name[(last) + 1])(struct backend * be, const struct args##_args *a, long row,        \
                            long rows, long n);
#define KERNEL_SUM(name, outputs, args) KERNEL(name, args)
#define KERNEL_NORM(name, args)         KERNEL(name, args)
#define KERNEL_ROW(name, outputs, args) KERNEL(name, args)
#define KERNEL_LINE(name, args)         KERNEL(name, args)
#define KERNEL_COLUMN(name, args)       KERNEL(name, args)
#include "kernels/column.def"
#include "kernels/fast.def"
#include "kernels/strict.def"
#undef KERNEL
#undef KERNEL_N
#undef KERNEL_SUM
#undef KERNEL_NORM
#undef KERNEL_ROW
#undef KERNEL_LINE
#undef KERNEL_COLUMN
};
/* NOLINTEND(bugprone-macro-parentheses) */

/* How the rate of a plasma column is evaluated (bodies/rate.h). */
enum column_kind { COLUMN_BY_FIELD, COLUMN_BY_CHANNEL, COLUMN_BY_ADK, COLUMN_KINDS };

/* What a device has done since it was made. */
struct device_counts {
    long long launches;   /* of kernels, those of a replayed recording too */
    long long transforms; /* calls of the library, each of any number of rows */
    long long uploads, upload_bytes;
    long long downloads, download_bytes; /* those of a fetch too */
    long long waits;                     /* for the device by the host */
    double waited;                       /* s */
    long long allocated;                 /* bytes, all allocations together */
    long long plans;                     /* of transforms */
};

struct fetch;     /* a download that goes on beside other work */
struct recording; /* launches and transforms to be replayed */

#define DEVICE_MARKS 8

/* What a device alone can do. */
struct device_ops {
    /* What was done so far; the numbers move on with the next call. */
    const struct device_counts *(*counts)(struct backend *be);
    /* All passes of a plasma column with the filter of the arguments, side 0: the trapezoid
     * rule. One launch where the rows fill the device (threshold device_column_rows), else two
     * a pass; the bits are the same. */
    int (*column)(struct backend *be, enum column_kind kind, const struct column_args *a,
                  long row, long rows, long n);
    /* Within its memory. */
    int (*copy)(struct backend *be, void *to, const void *from, size_t bytes);
    /* A place `mark` in the order of the work, below DEVICE_MARKS. */
    int (*mark)(struct backend *be, int mark);
    /* Waits for `last`; receives what the device needed from one mark to the other. */
    int (*between)(struct backend *be, int first, int last, double *seconds);
    /* Keep what is launched from here on in place of running it. Arguments are kept by value,
     * so that what changes from one replay to the next lies in memory. Copies and memory are
     * refused meanwhile; a plan for another number of rows as long as there is a recording. */
    int (*record)(struct backend *be);
    /* The end of it. ERR_UNSUPPORTED: the device keeps no such work; nothing was run. */
    int (*recorded)(struct backend *be, struct recording **out);
    /* Run it, in order with all other work. */
    int (*replay)(struct backend *be, const struct recording *recording);
    void (*forget)(struct backend *be, struct recording *recording); /* NULL is legal */
    /* Plan for calls of this shape now, so that they need no more memory when they come, nor do
     * those of one row or under a mask. A call of another shape makes a plan in place of this
     * one, which may need more. ERR_MEMORY: the device has none for it. */
    int (*fft_reserve)(struct backend *be, struct fft *plan, const struct fft_shape *shape);
};

/* What a backend can do, besides its kernels. */
struct backend_ops {
    const char *name; /* "cpu" */
    /* Memory on the backend, zeroed, 64-byte aligned. */
    int (*alloc)(struct backend *be, long count, size_t size, void **out);
    void (*release)(struct backend *be, void *memory);
    int (*upload)(struct backend *be, void *to, const void *from, size_t bytes);
    int (*download)(struct backend *be, void *to, const void *from, size_t bytes);
    /* A plan for one row of length n, executed on any 64-byte aligned rows, out of place. */
    int (*fft_create)(struct backend *be, enum fft_kind kind, long n, struct fft **out);
    void (*fft_destroy)(struct backend *be, struct fft *plan);
    /* Transform the active rows. Thread-safe for different rows. */
    int (*fft_execute)(struct backend *be, const struct fft *plan, const struct fft_rows *rows);
    void (*destroy)(struct backend *be);
    /* A place on the host for downloads of up to `bytes`. */
    int (*fetch_create)(struct backend *be, size_t bytes, struct fetch **out);
    void (*fetch_destroy)(struct backend *be, struct fetch *fetch); /* NULL is legal */
    /* Take what `from` holds after all calls so far, and return: the memory may be written
     * again at once. Each begin has its end. */
    int (*fetch_begin)(struct backend *be, struct fetch *fetch, const void *from, size_t bytes);
    /* Wait until it is here. *data is valid until the next begin. */
    int (*fetch_end)(struct backend *be, struct fetch *fetch, const void **data);
    const struct device_ops *device; /* NULL: not a device */
};

/* Where wisdom is looked for when a plan is asked for that the wisdom so far does not hold. */
struct wisdom_source {
    /* The next text to import. *text: NULL when there is no more, so that the plan is searched
     * for; borrowed until the next call. `asked` counts the calls for this plan from 0;
     * be->refused says whether FFTW did not accept the text before. */
    int (*next)(void *context, const struct backend *be, enum fft_kind kind, long n, int asked,
                const char **text);
    void *context;
};

/* A device as its runtime shows it to this process. */
struct backend_device {
    char name[64]; /* "NVIDIA H200" */
    char bus[32];  /* PCI bus id, "0000:3b:00.0": the same for all processes of a machine */
    char uuid[40]; /* hexadecimal, "" where the runtime has none. Parts of one card that pose as
                      devices have its bus id and a uuid of their own */
    size_t memory; /* bytes in all; 0: not known */
};

/* A device with its operations; made by backend_create. */
struct backend {
    const struct backend_ops *ops;
    const struct kernel_table *kernels;
    const char *isa;          /* instruction set of the launch functions: "x86-64-v3" */
    char device[96];          /* what it runs on, for banner and file */
    int threads;              /* threads it may use, >= 1 */
    struct backend_device on; /* that device; empty for the CPU */
    bool apart; /* a device: its memory is out of the host's reach, and rows of a batch
                   advance together, so that a launch covers them all */
    enum fft_rigour rigour;
    long threshold[THRESHOLDS];
    struct wisdom_source source;
    long searched; /* plans that no wisdom was found for */
    bool refused;  /* the source's last text was not accepted by FFTW */
};

/* How a backend is made. */
struct backend_options {
    const char *name; /* auto | cpu | cuda | hip; NULL: auto */
    const char *isa;  /* auto | x86-64 | x86-64-v3 | x86-64-v4; NULL: auto */
    int threads;      /* >= 1 */
    int device;       /* which of backend_devices; the CPU is one for all */
    bool apart;       /* the caller reaches the backend's memory by upload and download alone.
                         Without it a device is refused with ERR_UNSUPPORTED, and passed over by
                         auto */
    enum fft_rigour rigour;
    const char *wisdom; /* FFTW wisdom text to import, NULL: none. Borrowed during the call.
                           Text that FFTW does not accept (another version's) is warned of and
                           left out: wisdom changes the speed only. */
    struct wisdom_source source; /* next NULL: none. Its context lives as long as the backend */
    long threshold[THRESHOLDS];  /* 0: that of thresholds.def */
};

/** The rows of thresholds.def, [THRESHOLDS]. */
const struct threshold_row *backend_thresholds(void);

/** The value of a threshold: that of the options, or else of thresholds.def. */
long backend_threshold(const struct backend_options *options, enum threshold which);

/** Whether the threads of a backend share the plasma column of one row of n samples, here and
 * now: not within a parallel region, where each thread has rows of its own. */
bool backend_shares_column(const struct backend *be, long n);

/**
 * Make a backend by name. A missing one is refused with ERR_DEVICE or ERR_UNSUPPORTED and the
 * list of those in this program; never replaced silently.
 */
int backend_create(const struct backend_options *options, struct backend **out);

/** Free a backend; NULL is legal. All its memory and plans must be gone. */
void backend_destroy(struct backend *be);

/** Names of the backends in this program, NULL-terminated. */
const char *const *backend_names(void);

/** Whether a fetch may begin: for backends. @return 0 or ERR_BUG */
int backend_fetch_check(bool begun, size_t room, size_t bytes);

/**
 * How many devices a backend may use here: what its runtime shows, which heeds
 * CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES. None for the CPU.
 *
 * @return 0, ERR_DEVICE with the reason when there is none, ERR_UNSUPPORTED for a name that is
 *         not in this program
 */
int backend_devices(const char *name, int *count);

/**
 * Describe a device without taking it: nothing is allocated there.
 *
 * @param device from 0 to below the count of backend_devices
 */
int backend_describe_device(const char *name, int device, struct backend_device *out);

/**
 * What `auto` takes here when rows may be apart: the last backend of this program that has a
 * device, or else the CPU.
 *
 * @param why [size] receives why those before it were passed over; "" when none was
 */
const char *backend_auto(char *why, size_t size);

/** Bytes of the device's memory that nobody has taken. ERR_DEVICE, ERR_UNSUPPORTED for the CPU.
 */
int backend_memory_left(struct backend *be, size_t *bytes);

/**
 * Make a plan with all that calls of its shape take: on a device its work area too, so that a
 * lack of memory shows here.
 *
 * @return 0, ERR_ARGUMENT, ERR_MEMORY, ERR_DEVICE
 */
int backend_fft_create(struct backend *be, const struct fft_shape *shape, struct fft **out);

/**
 * Bytes of a device's memory that a plan takes besides its rows, by its library, which is asked
 * for the plan but allocates nothing for it; 0 for the CPU.
 *
 * @param name  of backend_names; the device is that which the calling thread uses, or the first
 * @param rows  of one call, each on the next 64-byte boundary
 * @return 0, ERR_MEMORY, ERR_DEVICE, ERR_UNSUPPORTED for a name that is not in this program
 */
int backend_fft_bytes(const char *name, enum fft_kind kind, long n, long rows, size_t *bytes);

/**
 * FFTW wisdom gathered in this process, as text.
 *
 * @param text receives memory to mem_free
 * @return 0 or ERR_MEMORY
 */
int backend_wisdom(struct backend *be, char **text);

/** Forget all FFTW wisdom of this process. */
void backend_forget_wisdom(void);

/**
 * Whether the wisdom of this process holds a plan, of the backend's rigour or better.
 *
 * @return 0, ERR_ARGUMENT or ERR_MEMORY
 */
int backend_has_wisdom(struct backend *be, enum fft_kind kind, long n, bool *known);

/** Version text of the FFT library in use, e.g. "fftw-3.3.10-sse2-avx". */
const char *backend_fft_library(void);

/**
 * The library of a backend's transforms: that text for the CPU, "cuFFT", "hipFFT" or "VkFFT".
 *
 * @return NULL for a backend that was built without one, and for a name that is not in this
 *         program
 */
const char *backend_fft_of(const char *name);

/**
 * Row stride to use for rows of n elements: n rounded up to whole 64 bytes. Arrays of different
 * types that share one `ld` take the stride of the smaller type.
 *
 * @param size bytes of one element: 4, 8 or 16
 */
long backend_stride(long n, size_t size);

/**
 * Numbers of a backend for the host to read: in place where it reaches them, else a copy.
 *
 * @param room  [count] on the host, for the copy
 * @param out   receives where they are; valid until the backend writes them or room changes
 */
int backend_view(struct backend *be, const double *from, long count, double *room,
                 const double **out);

#endif
