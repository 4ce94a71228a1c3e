/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulated device's memory: one piece of address space without any rights, but while a
 * launch is under way. The machine's own copies go by a second address of the same memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/emu/machine.h"
#include "tests/emu/stop.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define GRAIN       ((size_t)256) /* alignment, and bytes behind each allocation that are watched */
#define PAGE        ((size_t)4096) /* rights change in pieces of this */
#define BLOCKS_MAX  4096
#define WATCHED     0xa5

struct block {
    size_t at, bytes, room; /* room: with what is watched */
};

static char *arena;                     /* as the device and its users know it */
static char *behind;                    /* the same memory, open to this file alone */
static struct block blocks[BLOCKS_MAX]; /* by place */
static int count;
static int opened;
static int pretended = -1; /* -1: as the environment says */
static size_t taken;       /* by allocations, what is watched too */

void emu_pretend(int devices)
{
    pretended = devices;
}

size_t emu_setting(const char *name, size_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? (size_t)strtoull(text, NULL, 10) : otherwise;
}

long emu_number(int which)
{
    const long devices = pretended >= 0 ? pretended : (long)emu_setting(EMU_DEVICES, 1);
    const char *list = pretended >= 0 ? NULL : getenv(EMU_VISIBLE);
    if (list == NULL)
        return which < devices ? which : -1;
    for (int i = 0; *list != '\0'; i++) {
        char *end = NULL;
        const long device = strtol(list, &end, 10);
        if (end == list || device < 0 || device >= devices)
            return -1; /* what follows is not shown either */
        if (i == which)
            return device;
        list = end + (*end == ',');
    }
    return -1;
}

int emu_devices(void)
{
    int devices = 0;
    while (emu_number(devices) >= 0)
        devices++;
    return devices;
}

void emu_bus(int device, char *text, size_t size)
{
    snprintf(text, size, "0000:%02lx:00.0", 0xe0 + (unsigned long)emu_number(device));
}

static size_t memory_limit(void)
{
    return emu_setting(EMU_MEMORY, ARENA_BYTES);
}

size_t emu_memory_all(void)
{
    return emu_setting(EMU_CLAIMS, memory_limit());
}

size_t emu_memory_left(void)
{
    const size_t all = emu_memory_all();
    return all > taken ? all - taken : 0;
}

/* Bytes up to the end of the last allocation. */
static size_t extent(void)
{
    const size_t end = count > 0 ? blocks[count - 1].at + blocks[count - 1].room : 0;
    return (end + PAGE - 1) / PAGE * PAGE;
}

/* Nothing is allocated or freed between the two. */
static void rights(int which)
{
    if (count > 0 && mprotect(arena, extent(), which) != 0)
        emu_stop("the rights of the device's memory cannot be changed");
}

void emu_open(void)
{
    if (opened++ == 0)
        rights(PROT_READ | PROT_WRITE);
}

void emu_close(void)
{
    if (--opened == 0)
        rights(PROT_NONE);
}

static char *arena_map(int file, int which)
{
    void *const got = mmap(NULL, ARENA_BYTES, which, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (got == MAP_FAILED)
        emu_stop("no address space for the device's memory");
    return got;
}

static void arena_make(void)
{
    if (arena != NULL)
        return;
    const int file = memfd_create("emulated device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)ARENA_BYTES) != 0)
        emu_stop("no memory for the device");
    arena = arena_map(file, PROT_NONE);
    behind = arena_map(file, PROT_READ | PROT_WRITE);
    close(file);
}

/* The first gap of this size: the number of the block behind it. */
static int gap_find(size_t room, size_t *at)
{
    *at = 0;
    for (int b = 0; b < count; b++) {
        if (blocks[b].at - *at >= room)
            return b;
        *at = blocks[b].at + blocks[b].room;
    }
    return count;
}

void *emu_memory_new(size_t bytes)
{
    arena_make();
    if (opened > 0)
        emu_stop("memory is allocated within a launch");
    if (bytes > ARENA_BYTES / 2 || count == BLOCKS_MAX)
        return NULL;
    const size_t room = (bytes + GRAIN - 1) / GRAIN * GRAIN + GRAIN;
    size_t at;
    const int place = gap_find(room, &at);
    if (at + room > ARENA_BYTES || taken + room > memory_limit())
        return NULL;
    taken += room;
    memmove(&blocks[place + 1], &blocks[place], (size_t)(count - place) * sizeof blocks[0]);
    blocks[place] = (struct block){.at = at, .bytes = bytes, .room = room};
    count++;
    memset(behind + at + bytes, WATCHED, room - bytes);
    return arena + at;
}

/* The live allocation that holds an address, -1: none. */
static int block_of(const void *memory)
{
    const char *const at = memory;
    for (int b = 0; b < count && arena != NULL; b++)
        if (at >= arena + blocks[b].at && at < arena + blocks[b].at + blocks[b].bytes)
            return b;
    return -1;
}

void emu_memory_free(void *memory)
{
    if (memory == NULL)
        return;
    const int b = block_of(memory);
    if (b < 0 || arena + blocks[b].at != memory) {
        emu_stop("memory is freed that the device did not give");
        return; /* cppcheck does not know that it never comes here */
    }
    for (size_t i = blocks[b].bytes; i < blocks[b].room; i++)
        if ((unsigned char)behind[blocks[b].at + i] != WATCHED)
            emu_stop("something was written behind the end of an allocation");
    taken -= blocks[b].room;
    count--;
    memmove(&blocks[b], &blocks[b + 1], (size_t)(count - b) * sizeof blocks[0]);
}

long emu_live(void)
{
    return count;
}

bool emu_holds(const void *memory, size_t bytes)
{
    const int b = block_of(memory);
    return b >= 0 && (const char *)memory + bytes <= arena + blocks[b].at + blocks[b].bytes;
}

static void must_hold(const void *memory, size_t bytes, const char *what)
{
    if (bytes > 0 && !emu_holds(memory, bytes))
        emu_stop(what);
}

static void must_not_hold(const void *memory, const char *what)
{
    if (arena != NULL && (const char *)memory >= arena
        && (const char *)memory < arena + ARENA_BYTES)
        emu_stop(what);
}

/* The machine's address of the device's memory. */
static char *own(const void *memory)
{
    return behind + ((const char *)memory - arena);
}

void emu_copy_up(void *to, const void *from, size_t bytes)
{
    must_hold(to, bytes, "an upload goes to memory that is not the device's");
    must_not_hold(from, "an upload comes from the device's memory");
    memcpy(own(to), from, bytes);
}

void emu_copy_down(void *to, const void *from, size_t bytes)
{
    must_hold(from, bytes, "a download comes from memory that is not the device's");
    must_not_hold(to, "a download goes to the device's memory");
    memcpy(to, own(from), bytes);
}

void emu_memory_zero(void *to, size_t bytes)
{
    must_hold(to, bytes, "memory is cleared that is not the device's");
    memset(own(to), 0, bytes);
}

void emu_copy_within(void *to, const void *from, size_t bytes)
{
    must_hold(from, bytes, "a copy comes from memory that is not the device's");
    must_hold(to, bytes, "a copy goes to memory that is not the device's");
    memmove(own(to), own(from), bytes);
    emu_worked();
}
