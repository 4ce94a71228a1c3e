/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_FIBRE_WATCH_H
#define TESTS_EMU_FIBRE_WATCH_H

#include <stddef.h>

/*
 * The address sanitizer must be told of each change of stacks. Both functions take the side
 * that is left and the side that is gone to; without the sanitizer they do nothing.
 */
#if defined(__SANITIZE_ADDRESS__)
#    define FIBRE_WATCHED
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define FIBRE_WATCHED
#    endif
#endif

#ifdef FIBRE_WATCHED
#    include <sanitizer/common_interface_defs.h>
#endif

/* A stack: the scheduler's own is found out when it is first left. */
struct fibre_watch {
    void *fake;
    const void *stack;
    size_t size;
};

/** A stack that was made for a fibre. */
static inline void fibre_watch_stack(struct fibre_watch *w, const void *stack, size_t size)
{
    w->stack = stack;
    w->size = size;
}

/** Before the change from one to the other. */
static inline void fibre_watch_leave(struct fibre_watch *from, const struct fibre_watch *to)
{
#ifdef FIBRE_WATCHED
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->size);
#else
    (void)from;
    (void)to;
#endif
}

/** The first thing after it, on the side that was gone to. */
static inline void fibre_watch_arrive(struct fibre_watch *here, struct fibre_watch *from)
{
#ifdef FIBRE_WATCHED
    __sanitizer_finish_switch_fiber(here->fake, &from->stack, &from->size);
#else
    (void)here;
    (void)from;
#endif
}

#endif
