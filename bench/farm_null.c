/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/farm_null.h"

#include <string.h>

#include "io/resume.h"
#include "io/store.h"

/* The calls carry no context. */
static bool discard;
static int64_t scan_size;

void null_store_use(void)
{
    discard = true;
}

void null_store_members(int64_t members)
{
    scan_size = members;
}

/* Part: the linker's names. __real_X is the product's function, __wrap_X is called instead. */

int __real_store_open(const char *path, struct store **out);
int __wrap_store_open(const char *path, struct store **out);
int __real_store_open_read(const char *path, struct store **out);
int __wrap_store_open_read(const char *path, struct store **out);
int __real_store_read_states(struct store *store, int64_t first, int64_t count, uint8_t *state,
                             int64_t *n_saved);
int __wrap_store_read_states(struct store *store, int64_t first, int64_t count, uint8_t *state,
                             int64_t *n_saved);
int __real_store_read_tries(struct store *store, int64_t first, int64_t count, int32_t *tries);
int __wrap_store_read_tries(struct store *store, int64_t first, int64_t count, int32_t *tries);
int __real_store_set_planes_span(struct store *store, double seconds);
int __wrap_store_set_planes_span(struct store *store, double seconds);
void __real_store_set_sync(struct store *store, bool member);
void __wrap_store_set_sync(struct store *store, bool member);
void __real_store_begin_chunk(struct store *store);
void __wrap_store_begin_chunk(struct store *store);
int __real_store_write_plane(struct store *store, int64_t member,
                             const struct plane_layout *layout, long plane, double progress,
                             const struct plane_buffers *buffers);
int __wrap_store_write_plane(struct store *store, int64_t member,
                             const struct plane_layout *layout, long plane, double progress,
                             const struct plane_buffers *buffers);
int __real_store_end_member(struct store *store, int64_t member,
                            const struct store_member_end *end);
int __wrap_store_end_member(struct store *store, int64_t member,
                            const struct store_member_end *end);
int __real_store_write_timing(struct store *store, int attempt, int rank,
                              const struct store_timing *timing);
int __wrap_store_write_timing(struct store *store, int attempt, int rank,
                              const struct store_timing *timing);

int64_t __real_resume_slots(const struct store *store);
int64_t __wrap_resume_slots(const struct store *store);
size_t __real_resume_room(const struct store *store);
size_t __wrap_resume_room(const struct store *store);

int64_t __wrap_resume_slots(const struct store *store)
{
    return discard ? 0 : __real_resume_slots(store);
}

size_t __wrap_resume_room(const struct store *store)
{
    return discard ? 0 : __real_resume_room(store);
}

struct store_window __real_store_window(const struct store *store);
struct store_window __wrap_store_window(const struct store *store);

struct store_window __wrap_store_window(const struct store *store)
{
    const struct store_window all = {0, scan_size, 1, 1};
    return discard ? all : __real_store_window(store);
}

int __wrap_store_open(const char *path, struct store **out)
{
    *out = NULL;
    return discard ? 0 : __real_store_open(path, out);
}

int __wrap_store_open_read(const char *path, struct store **out)
{
    *out = NULL;
    return discard ? 0 : __real_store_open_read(path, out);
}

int __wrap_store_read_states(struct store *store, int64_t first, int64_t count, uint8_t *state,
                             int64_t *n_saved)
{
    if (!discard)
        return __real_store_read_states(store, first, count, state, n_saved);
    if (state != NULL)
        memset(state, MEMBER_PENDING, (size_t)count * sizeof *state);
    if (n_saved != NULL)
        memset(n_saved, 0, (size_t)count * sizeof *n_saved);
    return 0;
}

int __wrap_store_read_tries(struct store *store, int64_t first, int64_t count, int32_t *tries)
{
    if (!discard)
        return __real_store_read_tries(store, first, count, tries);
    memset(tries, 0, (size_t)count * sizeof *tries);
    return 0;
}

int __wrap_store_set_planes_span(struct store *store, double seconds)
{
    return discard ? 0 : __real_store_set_planes_span(store, seconds);
}

void __wrap_store_set_sync(struct store *store, bool member)
{
    if (!discard)
        __real_store_set_sync(store, member);
}

void __wrap_store_begin_chunk(struct store *store)
{
    if (!discard)
        __real_store_begin_chunk(store);
}

int __wrap_store_write_plane(struct store *store, int64_t member,
                             const struct plane_layout *layout, long plane, double progress,
                             const struct plane_buffers *buffers)
{
    return discard ? 0
                   : __real_store_write_plane(store, member, layout, plane, progress, buffers);
}

int __wrap_store_end_member(struct store *store, int64_t member,
                            const struct store_member_end *end)
{
    return discard ? 0 : __real_store_end_member(store, member, end);
}

int __wrap_store_write_timing(struct store *store, int attempt, int rank,
                              const struct store_timing *timing)
{
    return discard ? 0 : __real_store_write_timing(store, attempt, rank, timing);
}
