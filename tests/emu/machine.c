/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of threads on the CPU. A thread is a fibre, which gives way at barriers alone: when
 * all threads of the block have come to one, they go on from there, in another order. A fibre
 * whose thread has ended takes the next one, so that a kernel without barriers needs one fibre.
 */
#include "tests/emu/machine.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/emu/fibre_watch.h"
#include "tests/emu/stop.h"

#define STACK_BYTES ((size_t)256 * 1024)
#define TAGS_MAX    32
#define PAGE_BYTES  ((uintptr_t)4096)
#define LOWEST                                                                                 \
    ((uintptr_t)1 << 45) /* programs and heaps lie above; pairs of integers, and what          \
                            sanitizers keep, below */

/* What can be left and gone back to. */
struct side {
    jmp_buf jump;
    ucontext_t context;
    bool begun; /* the scheduler's is */
    struct fibre_watch watch;
};

/* One stack and what runs on it. */
struct fibre {
    struct side side;
    char *stack;
    unsigned thread;
    int line; /* of the barrier where it waits, 0: it waits for a thread */
};

struct emu_place emu_here;

/* The launch that runs. */
static struct {
    struct side scheduler;
    struct fibre *fibres[EMU_THREADS_MAX];
    struct fibre *running;
    const struct emu_launch *launch;
    unsigned order[EMU_THREADS_MAX];
    unsigned next;  /* of the order, to be started */
    unsigned ended; /* threads */
    uint64_t random;
    bool seeded; /* the order was asked for, or looked for */
} machine;

/* The shared memory of the block. */
static struct {
    _Alignas(64) char memory[EMU_SHARED_MAX];
    const void *tags[TAGS_MAX];
    size_t at[TAGS_MAX];
    int count;
    size_t used;
} shared;

void emu_stop(const char *what)
{
    fprintf(stderr, "emulated device: %s (kernel %s, block %u %u, thread %u)\n", what,
            machine.launch != NULL ? machine.launch->kernel : "none", emu_here.block.x,
            emu_here.block.y, emu_here.thread.x);
    abort();
}

void emu_shuffle(unsigned long seed)
{
    machine.random = seed;
    machine.seeded = true;
}

/* The order of a program that asks for none. */
static void seed_read(void)
{
    const char *const text = getenv(EMU_SEED);
    emu_shuffle(text != NULL ? strtoul(text, NULL, 10) : 0);
}

/* xorshift64* (Vigna, 2016), below `end`. */
static uint64_t draw(uint64_t end)
{
    machine.random ^= machine.random >> 12;
    machine.random ^= machine.random << 25;
    machine.random ^= machine.random >> 27;
    return (machine.random * 0x2545f4914f6cdd1dULL >> 16) % end;
}

/* Puts numbers in another order. */
static void mix(unsigned *numbers, unsigned count)
{
    for (unsigned i = count; machine.random != 0 && i > 1; i--) {
        const unsigned j = (unsigned)draw(i);
        const unsigned kept = numbers[i - 1];
        numbers[i - 1] = numbers[j];
        numbers[j] = kept;
    }
}

/* From one side to another. A context alone can be entered for the first time; later a jump
 * does, which does not ask the system for the signal mask. The sanitizer knows contexts only.
 */
static void cross(struct side *from, struct side *to)
{
    fibre_watch_leave(&from->watch, &to->watch);
#ifdef FIBRE_WATCHED
    swapcontext(&from->context, &to->context);
#else
    if (_setjmp(from->jump) == 0) {
        if (to->begun)
            _longjmp(to->jump, 1);
        to->begun = true;
        setcontext(&to->context);
    }
#endif
    fibre_watch_arrive(&from->watch, &to->watch);
}

/* Gives way to the scheduler; `line` as in struct fibre. */
static void give_way(struct fibre *self, int line)
{
    self->line = line;
    cross(&self->side, &machine.scheduler);
}

static void fibre_main(void)
{
    struct fibre *const self = machine.running;
    fibre_watch_arrive(&self->side.watch, &machine.scheduler.watch);
    for (;;) {
        while (machine.next < machine.launch->threads) {
            self->thread = machine.order[machine.next++];
            emu_here.thread.x = self->thread;
            machine.launch->body(machine.launch->call);
            machine.ended++;
            if (self->line != 0) /* it was at a barrier: others wait for their turn */
                break;
        }
        give_way(self, 0);
    }
}

static struct fibre *fibre_new(void)
{
    struct fibre *const f = calloc(1, sizeof *f);
    void *const stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f == NULL || stack == MAP_FAILED || getcontext(&f->side.context) != 0)
        emu_stop("no room for a fibre");
    f->stack = stack;
    f->side.context.uc_stack.ss_sp = stack;
    f->side.context.uc_stack.ss_size = STACK_BYTES;
    f->side.context.uc_link = NULL;
    makecontext(&f->side.context, fibre_main, 0);
    fibre_watch_stack(&f->side.watch, stack, STACK_BYTES);
    return f;
}

static void resume(struct fibre *f)
{
    machine.running = f;
    emu_here.thread.x = f->thread;
    machine.scheduler.begun = true;
    cross(&machine.scheduler, &f->side);
    machine.running = NULL;
}

void emu_barrier(int line)
{
    struct fibre *const self = machine.running;
    if (self == NULL)
        emu_stop("a barrier outside of a launch");
    give_way(self, line);
}

void *emu_shared(const void *tag, size_t bytes)
{
    int i = 0;
    while (i < shared.count && shared.tags[i] != tag)
        i++;
    if (i < shared.count)
        return shared.memory + shared.at[i];
    const size_t room = (bytes + 15) / 16 * 16;
    if (shared.count == TAGS_MAX || room > EMU_SHARED_MAX - shared.used)
        emu_stop("a block has more shared memory than a device gives");
    shared.tags[i] = tag;
    shared.at[i] = shared.used;
    shared.used += room;
    shared.count++;
    return shared.memory + shared.at[i];
}

static void shared_clear(void)
{
    memset(shared.memory, 0xff, shared.count > 0 ? shared.used : EMU_SHARED_MAX);
    shared.count = 0;
    shared.used = 0;
}

/* Fibres [0, waiting) stand at a barrier: all of the block, at one line. */
static void barrier_check(unsigned waiting)
{
    if (waiting + machine.ended != machine.launch->threads || machine.ended > 0)
        emu_stop("threads have ended that others wait for at a barrier");
    for (unsigned i = 1; i < waiting; i++)
        if (machine.fibres[i]->line != machine.fibres[0]->line)
            emu_stop("threads of a block wait at different barriers");
}

/* Starts all threads; how many stand at a barrier. */
static unsigned threads_start(void)
{
    unsigned waiting = 0;
    while (machine.next < machine.launch->threads) {
        if (machine.fibres[waiting] == NULL)
            machine.fibres[waiting] = fibre_new();
        machine.fibres[waiting]->line = 0;
        resume(machine.fibres[waiting]);
        waiting += machine.fibres[waiting]->line != 0;
    }
    return waiting;
}

static void block_run(void)
{
    const unsigned threads = machine.launch->threads;
    for (unsigned i = 0; i < threads; i++)
        machine.order[i] = i;
    mix(machine.order, threads);
    shared_clear();
    machine.next = 0;
    machine.ended = 0;
    unsigned waiting = threads_start();
    while (waiting > 0) {
        barrier_check(waiting);
        for (unsigned i = 0; i < threads; i++)
            machine.order[i] = i;
        mix(machine.order, threads);
        waiting = 0;
        for (unsigned i = 0; i < threads; i++) {
            resume(machine.fibres[machine.order[i]]);
            waiting += machine.fibres[machine.order[i]]->line != 0;
        }
        if (waiting > 0 && waiting < threads)
            emu_stop("threads have ended that others wait for at a barrier");
    }
    if (machine.ended != threads)
        emu_stop("threads were lost");
}

/* Whether the host has memory at this address; the launch's memory is the device's. */
static bool is_hosts(uintptr_t word)
{
    unsigned char there;
    if (word < LOWEST || word >> 47 != 0 || emu_holds((const void *)word, 1))
        return false;
    return mincore((void *)(word / PAGE_BYTES * PAGE_BYTES), 1, &there) == 0;
}

/* An address of the host's memory among the arguments would be followed on the device. */
static void arguments_check(const struct emu_launch *launch)
{
    for (size_t at = 0; at + sizeof(uintptr_t) <= launch->size; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (const char *)launch->arguments + at, sizeof word);
        if (is_hosts(word))
            emu_stop("an argument is an address of the host's memory");
    }
}

void emu_run(const struct emu_launch *launch)
{
    if (machine.launch != NULL)
        emu_stop("a launch within a launch");
    if (!emu_begins())
        return;
    emu_worked();
    machine.launch = launch;
    if (launch->threads < 1 || launch->threads > EMU_THREADS_MAX || launch->blocks.x < 1
        || launch->blocks.y < 1 || launch->blocks.y > 65535)
        emu_stop("a launch of a shape that devices refuse");
    arguments_check(launch);
    if (!machine.seeded)
        seed_read();
    const unsigned blocks = launch->blocks.x * launch->blocks.y;
    unsigned *const order = calloc(blocks, sizeof *order);
    if (order == NULL)
        emu_stop("no room for the order of the blocks");
    for (unsigned b = 0; b < blocks; b++)
        order[b] = b;
    mix(order, blocks);
    emu_here.blocks = launch->blocks;
    emu_here.threads.x = launch->threads;
    emu_open();
    for (unsigned b = 0; b < blocks; b++) {
        emu_here.block.x = order[b] % launch->blocks.x;
        emu_here.block.y = order[b] / launch->blocks.x;
        block_run();
    }
    emu_close();
    free(order);
    machine.launch = NULL;
}
