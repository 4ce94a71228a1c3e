/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command, counting what it does for contracts: each entry into a function of the files
 * that judge (they are compiled once more with -finstrument-functions, so that functions of
 * their own are seen too), each allocation they make, the messages of the farm and the
 * judgments in them. A process writes its counts to the file SCANFARM_COUNTS.PID when it ends.
 */
#include "tests/runner/counted.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/outbox.h"

#undef mem_alloc

#define UNSEEN __attribute__((no_instrument_function))

enum { FUNCTIONS = 512 };

struct entry {
    _Atomic(void *) function;
    atomic_long calls;
};

/* The compiler's calls carry no context. */
static struct entry entries[FUNCTIONS];
static atomic_long lost;
static atomic_long allocations;
static atomic_long messages;
static atomic_long judgments;

void __cyg_profile_func_enter(void *function, void *site) UNSEEN;
void __cyg_profile_func_exit(void *function, void *site) UNSEEN;
bool __real_report_add(struct message_report *report, const struct report_run *one);
bool __wrap_report_add(struct message_report *report, const struct report_run *one);
int __real_comm_send(MPI_Comm on, int to, const struct message *message, const atomic_int *end);
int __wrap_comm_send(MPI_Comm on, int to, const struct message *message, const atomic_int *end);
int __real_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message);
int __wrap_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    size_t i = ((size_t)function >> 4) % FUNCTIONS;
    for (int tries = 0; tries < FUNCTIONS; tries++, i = (i + 1) % FUNCTIONS) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&entries[i].function, &none, function)
            || none == function) {
            atomic_fetch_add(&entries[i].calls, 1);
            return;
        }
    }
    atomic_fetch_add(&lost, 1);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}

int counted_alloc(long count, size_t size, void **out)
{
    atomic_fetch_add(&allocations, 1);
    return mem_alloc(count, size, out);
}

bool __wrap_report_add(struct message_report *report, const struct report_run *one)
{
    if (one->pass == PASS_JUDGE)
        atomic_fetch_add(&judgments, 1);
    return __real_report_add(report, one);
}

int __wrap_comm_send(MPI_Comm on, int to, const struct message *message, const atomic_int *end)
{
    atomic_fetch_add(&messages, 1);
    return __real_comm_send(on, to, message, end);
}

int __wrap_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message)
{
    atomic_fetch_add(&messages, 1);
    return __real_outbox_send(outbox, on, to, message);
}

/* Functions that no other file calls have no name here. */
static void tell(FILE *out, void *function, long calls)
{
    Dl_info info = {.dli_sname = NULL};
    const bool known =
        dladdr(function, &info) != 0 && info.dli_sname != NULL && info.dli_saddr == function;
    fprintf(out, "call %s %ld\n", known ? info.dli_sname : "static", calls);
}

static void __attribute__((destructor)) tell_all(void)
{
    const char *const folder = getenv("SCANFARM_COUNTS");
    char path[4096];
    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s.%ld", folder, (long)getpid());
    FILE *const out = fopen(path, "w");
    if (out == NULL)
        return; /* the test misses it */
    for (int i = 0; i < FUNCTIONS; i++)
        if (entries[i].function != NULL)
            tell(out, entries[i].function, entries[i].calls);
    fprintf(out, "lost - %ld\nallocations - %ld\nmessages - %ld\njudgments - %ld\n", lost,
            allocations, messages, judgments);
    fclose(out);
}
