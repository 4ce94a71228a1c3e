/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device that fails for good at a piece of work that was chosen beforehand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/fault.h"
#include "tests/emu/machine.h"

static struct {
    long left; /* pieces of work up to the one that fails; 0: none does */
    bool late; /* waits alone tell of it */
    bool failed;
    bool heard; /* the host has been told */
} device;

void emu_fail_at(long work, bool late)
{
    device.left = work;
    device.late = late;
    device.failed = work < 0;
    device.heard = false;
}

void emu_use(int number)
{
    const char *list = getenv(EMU_FAILS);
    while (list != NULL && *list != '\0') {
        char *end = NULL;
        const long which = strtol(list, &end, 10);
        const long work = *end == ':' ? strtol(end + 1, &end, 10) : 0;
        if (which == emu_number(number) && work > 0)
            emu_fail_at(work, *end == 'w');
        list = strchr(end, ',');
        list = list != NULL ? list + 1 : NULL;
    }
}

bool emu_failed(void)
{
    return device.failed || fault_broken();
}

bool emu_begins(void)
{
    if (emu_failed()) {
        device.heard = device.heard || !device.late;
        return false;
    }
    if (device.left > 0 && --device.left == 0)
        device.failed = true;
    return !device.failed;
}

const char *emu_failure(enum emu_asks asks)
{
    if (emu_failed() && (asks == EMU_WAITED || (asks == EMU_CALLED && !device.late)))
        device.heard = true;
    return device.heard ? "unspecified launch failure" : NULL;
}
