/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/early.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/base/status.h"

#define THREADS_MAX 4096

/* Hidden from libgomp and libomp. Order: the first that is set is the one named. */
static const char *const binding_names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                            "KMP_AFFINITY"};

static struct {
    cpu_set_t allowed;
    const char *binding;
    const char *binding_name;
    const char *bad_threads; /* value of OMP_NUM_THREADS when it is no number */
} early;

/* No library is initialised yet: nothing here may call into one. */
#define EARLY __attribute__((no_sanitize("address", "undefined"), noinline)) static

/* The value when `entry` is NAME=value, else NULL. */
EARLY char *value_of(char *entry, const char *name)
{
    while (*name != '\0' && *entry == *name) {
        entry++;
        name++;
    }
    return *name == '\0' && *entry == '=' ? entry + 1 : NULL;
}

/* One number >= 1, or a comma-separated list of them (nested levels). */
EARLY bool is_thread_list(const char *text)
{
    for (;;) {
        long number = 0;
        while (*text == ' ')
            text++;
        if (*text < '0' || *text > '9')
            return false;
        while (*text >= '0' && *text <= '9' && number <= THREADS_MAX)
            number = 10 * number + (*text++ - '0');
        while (*text == ' ')
            text++;
        if (number < 1 || number > THREADS_MAX)
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

/* OMP_X=... becomes -MP_X=..., which nobody reads. */
EARLY void hide(char *entry)
{
    *entry = '-';
}

EARLY void look_early(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    syscall(SYS_sched_getaffinity, 0, sizeof early.allowed, &early.allowed);
    const int names = (int)(sizeof binding_names / sizeof binding_names[0]);
    for (char **entry = environment; *entry != NULL; entry++) {
        char *threads = value_of(*entry, "OMP_NUM_THREADS");
        if (threads != NULL && !is_thread_list(threads)) {
            early.bad_threads = threads;
            hide(*entry);
        }
        for (int i = 0; i < names; i++) {
            char *value = value_of(*entry, binding_names[i]);
            if (value == NULL)
                continue;
            early.binding = value;
            early.binding_name = binding_names[i];
            hide(*entry);
        }
    }
}

/* Run by the dynamic linker before the constructors of any library. */
__attribute__((section(".preinit_array"),
               used)) static void (*const look)(int, char **, char **) = look_early;

const cpu_set_t *early_allowed(void)
{
    return &early.allowed;
}

const char *early_binding(const char **name)
{
    *name = early.binding_name;
    return early.binding;
}

int early_threads(int *threads)
{
    *threads = 0;
    if (early.bad_threads != NULL)
        FAIL(ERR_ARGUMENT,
             "OMP_NUM_THREADS=%s is no number of threads: give a whole number from 1 to %d, or "
             "unset it",
             early.bad_threads, THREADS_MAX);
    const char *text = getenv("OMP_NUM_THREADS");
    if (text != NULL)
        *threads = (int)strtol(text, NULL, 10);
    return 0;
}
