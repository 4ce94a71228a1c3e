/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/process.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/hash.h"
#include "kernels/base/clock.h"

#define START_FIELD 19 /* of /proc/PID/stat, counted from the state */

/* State letter and start of a process; false when there is none of that number. */
static bool read_stat(int64_t pid, char *state, int64_t *start)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    const size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    /* "PID (name) S …": the name may have anything in it */
    const char *word = strrchr(text, ')');
    if (word == NULL || word[1] != ' ')
        return false;
    word += 2;
    *state = *word;
    for (int i = 0; i < START_FIELD && word != NULL; i++)
        word = strchr(word + 1, ' ');
    *start = word != NULL ? strtoll(word, NULL, 10) : 0;
    return true;
}

static uint64_t this_machine(void)
{
    struct {
        char boot[64];
        char host[64];
        uint64_t space;
    } key;
    struct stat info;
    memset(&key, 0, sizeof key);
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(key.boot, sizeof key.boot, file) == NULL)
            key.boot[0] = '\0';
        fclose(file);
    }
    gethostname(key.host, sizeof key.host - 1);
    if (stat("/proc/self/ns/pid", &info) == 0)
        key.space = (uint64_t)info.st_ino;
    return hash_64(&key, sizeof key);
}

struct process_id process_self(void)
{
    struct process_id self = {.pid = getpid(), .machine = this_machine()};
    char state = '?';
    read_stat(self.pid, &state, &self.start);
    return self;
}

bool process_is_here(const struct process_id *process)
{
    return process->machine == this_machine();
}

bool process_is_gone(const struct process_id *process)
{
    char state = '?';
    int64_t start = 0;
    if (process->pid <= 0)
        return true;
    if (!read_stat(process->pid, &state, &start))
        return kill((pid_t)process->pid, 0) != 0; /* /proc may be missing */
    return state == 'Z' || state == 'X' || (process->start > 0 && start != process->start);
}

void process_kill(const struct process_id *process)
{
    if (!process_is_gone(process))
        kill((pid_t)process->pid, SIGKILL);
}

bool process_end(const struct process_id *process, double limit)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const double end = clock_wall() + limit;
    process_kill(process);
    while (!process_is_gone(process)) {
        if (clock_wall() > end)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}
