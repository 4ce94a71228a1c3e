/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_MACHINE_H
#define TESTS_EMU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend.h"

/*
 * The emulated device: memory that the host cannot touch, blocks of threads that run one after
 * the other on the CPU and meet at barriers, transforms by FFTW. It is a test tool and slow;
 * what is wrong in a way that a device need not notice ends the program with a line that says
 * what. One per process, for one host thread at a time.
 */

#define EMU_THREADS_MAX 1024        /* of a block */
#define EMU_SHARED_MAX  (48 * 1024) /* bytes of shared memory of a block */

struct emu_index {
    unsigned x, y, z;
};

/* Where the running thread stands. */
struct emu_place {
    struct emu_index thread, block, threads, blocks;
};

/** The running thread's place; written by the machine alone. */
extern struct emu_place emu_here;

/* The seed of emu_shuffle for programs that do not call it. */
#define EMU_SEED "EMU_SEED"

/** In which order blocks and threads run from now on; 0: by number. */
void emu_shuffle(unsigned long seed);

/*
 * The devices that the machine pretends to have, for programs that cannot ask for others: so
 * many (1), each with so much memory (1 GiB), which it tells to be so much (as it is); those of
 * them that a process is shown, by number, as other runtimes have it: "1,3".
 */
#define EMU_DEVICES "EMU_DEVICES"
#define EMU_MEMORY  "EMU_MEMORY"
#define EMU_CLAIMS  "EMU_CLAIMS"
#define EMU_VISIBLE "EMU_VISIBLE_DEVICES"

/** A whole number of the environment, `otherwise` where it is not there. */
size_t emu_setting(const char *name, size_t otherwise);

/** How many devices the machine pretends to show from now on, whatever the environment says. */
void emu_pretend(int devices);

/** How many it shows. */
int emu_devices(void);

/** The bus id of one of them: that of the machine's device, not of its number here. */
void emu_bus(int device, char *text, size_t size);

/** The machine's number of the device that is shown as `device`, -1: none is. */
long emu_number(int device);

/*
 * Failures, for programs that cannot ask for them: "1:300" has device 1 of the machine fail at
 * the 300th launch or transform of each process that uses it. Nothing is computed from then on,
 * no download arrives, and all calls fail, as after a launch failure of CUDA: but for the work
 * that failed, of which the host hears by the next call; with "1:300w" by the next wait.
 */
#define EMU_FAILS "EMU_FAILS"

/** The device that this process uses from now on, by the number it is shown as. */
void emu_use(int device);

/** Fail at the work-th launch or transform from now on, 1: the next; -1: now; 0: be in order
 *  again. `late`: the host hears of it by the next wait. */
void emu_fail_at(long work, bool late);

/* How a call asks whether the device has failed. */
enum emu_asks { EMU_LAUNCHED, EMU_CALLED, EMU_WAITED };

/** NULL, or what the call gets to hear. */
const char *emu_failure(enum emu_asks asks);

/** One launch or transform more. @return whether the device does it */
bool emu_begins(void);

/** Whether it has failed, heard of or not. */
bool emu_failed(void);

/** Bytes that a device claims to have, and of them those that are not taken. */
size_t emu_memory_all(void);

/** The other of the two. */
size_t emu_memory_left(void);

/** Memory of the device, NULL when there is none left. Not for the host to touch. */
void *emu_memory_new(size_t bytes);

/** Free it; NULL is legal. Ends the program when something wrote behind its end. */
void emu_memory_free(void *memory);

/** Allocations that are not freed yet. */
long emu_live(void);

/** Whether all of [memory, memory + bytes) lies in one live allocation. */
bool emu_holds(const void *memory, size_t bytes);

/** Copies between host and device: exactly one side must be the device's. */
void emu_copy_up(void *to, const void *from, size_t bytes);

/** The other way. */
void emu_copy_down(void *to, const void *from, size_t bytes);

/** Zeros. */
void emu_memory_zero(void *to, size_t bytes);

/** Within the device. */
void emu_copy_within(void *to, const void *from, size_t bytes);

/*
 * Streams. Work is done as it comes, but what a download brings is seen by the host when it
 * waits for an event behind it, and is NaN until then. What goes on aside reads its source as
 * late as it can, and ends the program where it was not told to wait for what was launched
 * before.
 */
struct emu_stream;
struct emu_event;

/** A stream; `aside`: one for downloads beside the launches. NULL when there is no memory. */
struct emu_stream *emu_stream_new(bool aside);

/** Free it; NULL is legal. Ends the program when a download was not waited for. */
void emu_stream_free(struct emu_stream *stream);

/** Have a stream wait for what an event stands behind. */
void emu_stream_wait(struct emu_stream *stream, const struct emu_event *event);

/** An event, recorded nowhere yet. NULL when there is no memory. */
struct emu_event *emu_event_new(void);

/** Free it; NULL is legal. */
void emu_event_free(struct emu_event *event);

/** Stand behind all work of a stream so far. */
void emu_event_record(struct emu_event *event, struct emu_stream *stream);

/** Wait: the downloads before the event arrive. */
void emu_event_wait(const struct emu_event *event);

/** Seconds from the recording of one event to that of another. */
double emu_event_between(const struct emu_event *first, const struct emu_event *last);

/** A download that arrives when it is waited for. */
void emu_copy_later(void *to, const void *from, size_t bytes, struct emu_stream *stream);

/** Work of the main stream that was done, for emu_stream_wait. */
void emu_worked(void);

/** Whether launches can be recorded, from now on: a device that cannot, for tests. */
void emu_refuse_records(bool refused);

/** The answer. */
bool emu_records(void);

/** Let the host at the device's memory, and take it away again; calls nest. */
void emu_open(void);

/** The other of the two. */
void emu_close(void);

/* A launch: body(call) for each thread. */
struct emu_launch {
    const char *kernel;
    struct emu_index blocks;
    unsigned threads;
    void (*body)(const void *call);
    const void *call;
    const void *arguments; /* the kernel's, somewhere in the call */
    size_t size;           /* of the arguments */
};

/** Run a launch to its end. No argument may be an address of the host's memory. */
void emu_run(const struct emu_launch *launch);

/** All threads of the block, at the same line. */
void emu_barrier(int line);

/** The block's memory of one declaration, known by its tag: NaN until it is written. */
void *emu_shared(const void *tag, size_t bytes);

struct emu_transform; /* a plan of FFTW */

/* How large the work area of a plan is pretended to be: so many times n complex numbers for
 * each of its rows (0). It lies in the device's memory, and execution spoils its beginning. */
#define EMU_WORK "EMU_WORK"

/** Bytes of that. */
size_t emu_transform_bytes(const struct fft_shape *shape);

/** Plan transforms of many rows. NULL where there is no memory for the work area, and *full, or
 * where FFTW makes none. */
struct emu_transform *emu_transform_new(const struct fft_shape *shape, bool *full);

/** Execute it on device memory. */
void emu_transform_run(struct emu_transform *t, void *in, void *out);

/** Free it; NULL is legal. */
void emu_transform_free(struct emu_transform *t);

#endif
