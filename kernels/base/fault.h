/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_FAULT_H
#define KERNELS_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Faults on purpose, in test builds only (CMake option SCANFARM_FAULTS); elsewhere nothing is
 * left of them. The environment says which:
 *
 *   FARM_FAULT="ACTION@POINT[,rank=R][,member=M][,plane=P][,hit=N][,once=FILE][;…]"
 *
 * ACTION: kill (SIGKILL), stop (SIGSTOP), segv, mute, wrong, slow=SECONDS, flush (sub-normal
 * numbers become zero in this thread from now on; x86-64 only), break (the emulated device of
 * this process has failed from now on), or the name of an errno that a write fails with:
 * enospc, eio, edquot, erofs. It happens at the points that match, hit=N: at
 * the Nth of them only; once=FILE: only where FILE cannot be found, which is made first.
 * docs/developing.md lists the points. Words that are none of these end the program with exit
 * code 2, wherever a fault might happen first.
 */

#ifdef SCANFARM_FAULTS

/** Tell which rank this process is; -1 without ranks. */
void fault_set_rank(int rank);

/** kill, stop, segv, slow, flush or break, when one is asked for here. @param member -1: none
 */
void fault_point(const char *point, int64_t member, long plane);

/** The errno that a write here shall fail with, 0: none. */
int fault_error(const char *point, int64_t member, long plane);

/** Whether this process shall say nothing here. */
bool fault_mute(const char *point);

/** Whether what happens here shall come out wrong from now on. */
bool fault_wrong(const char *point, int64_t member, long plane);

/** Whether the device of this process shall have failed. */
bool fault_broken(void);

#else

static inline void fault_set_rank(int rank)
{
    (void)rank;
}

static inline void fault_point(const char *point, int64_t member, long plane)
{
    (void)point;
    (void)member;
    (void)plane;
}

static inline int fault_error(const char *point, int64_t member, long plane)
{
    (void)point;
    (void)member;
    (void)plane;
    return 0;
}

static inline bool fault_mute(const char *point)
{
    (void)point;
    return false;
}

static inline bool fault_wrong(const char *point, int64_t member, long plane)
{
    (void)point;
    (void)member;
    (void)plane;
    return false;
}

static inline bool fault_broken(void)
{
    return false;
}

#endif

#endif
