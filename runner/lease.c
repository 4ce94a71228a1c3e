/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/lease_private.h"
#include "runner/stop.h"

#define MOVE_PERIOD  1.0  /* s between two moves of the counter */
#define WATCH_PERIOD 0.1  /* s between two looks at another's counter */
#define WATCH_QUIET  3.0  /* s of a counter that stands still until the wait is announced */
#define END_LIMIT    20.0 /* s that killed processes may take */
#define TAKE_LIMIT   10.0 /* s that others may be busy taking it */
#define RENEW_WAIT   5.0  /* s that a writer waits for its lease to be renewed */

/* A lease that is ours. */
struct lease {
    char path[LEASE_PATH_SIZE];
    int fd;
    bool owner; /* it is ours to remove */
    atomic_bool lost;
    _Atomic double seen; /* clock_wall when it was ours */
    pthread_t keeper;
    bool kept;
    pthread_mutex_t mutex; /* of `leave` */
    pthread_cond_t wake;
    bool leave;
};

static bool is_ours(const struct lease *lease)
{
    struct stat mine;
    struct stat there;
    return fstat(lease->fd, &mine) == 0 && stat(lease->path, &there) == 0
           && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

/* Move the counter: any other value will do, the time is one. */
static void move(struct lease *lease)
{
    char digits[LEASE_DIGITS + 1];
    struct timespec now;
    if (!is_ours(lease)) {
        atomic_store(&lease->lost, true);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(digits, sizeof digits, "%0*lld", LEASE_DIGITS,
             1000LL * now.tv_sec + now.tv_nsec / 1000000);
    if (pwrite(lease->fd, digits, LEASE_DIGITS, sizeof LEASE_HEAD - 1) == LEASE_DIGITS)
        atomic_store(&lease->seen, clock_wall());
}

static void *keep(void *argument)
{
    struct lease *const lease = argument;
    pthread_mutex_lock(&lease->mutex);
    while (!lease->leave) {
        struct timespec until;
        move(lease);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)MOVE_PERIOD;
        pthread_cond_timedwait(&lease->wake, &lease->mutex, &until);
    }
    pthread_mutex_unlock(&lease->mutex);
    return NULL;
}

/* A thread of its own: a member may compute for hours between two looks of the main thread. */
static int start_keeper(struct lease *lease)
{
    pthread_condattr_t clock;
    sigset_t all;
    sigset_t old;
    pthread_mutex_init(&lease->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&lease->wake, &clock);
    pthread_condattr_destroy(&clock);
    atomic_store(&lease->seen, clock_wall());
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const int rc = pthread_create(&lease->keeper, NULL, keep, lease);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        FAIL(ERR_IO, "cannot start the thread that keeps %s: %s", lease->path,
             strerrordesc_np(rc));
    lease->kept = true;
    return 0;
}

static int lease_make(const char *file, struct lease **out)
{
    TRY(MEM_NEW(1, out));
    (*out)->fd = -1;
    snprintf((*out)->path, sizeof(*out)->path, "%s.lease", file);
    return 0;
}

/* Make the file with our name in it. *made = false: there is one already. */
static int create(struct lease *lease, const char *run, bool *made)
{
    char text[1024];
    struct lease_process self = {.id = process_self()};
    gethostname(self.host, sizeof self.host - 1);
    lease->fd = open(lease->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    *made = lease->fd >= 0;
    if (!*made && errno == EEXIST)
        return 0;
    if (!*made)
        FAIL(ERR_IO, "cannot make %s: %s", lease->path, strerrordesc_np(errno));
    lease->owner = true;
    const int length = lease_text_make(&self, run, text, sizeof text);
    if (pwrite(lease->fd, text, (size_t)length, 0) != length)
        FAIL(ERR_IO, "cannot write %s: %s", lease->path, strerrordesc_np(errno));
    return 0;
}

/* What can be known of a holder from here. */
struct holder {
    int alive;   /* its processes of this machine that live */
    int foreign; /* of other machines */
    bool headed; /* launcher or controller is among the living */
};

static struct holder judge(const struct lease_info *info)
{
    struct holder holder = {0};
    for (int i = 0; i < info->processes; i++) {
        if (!process_is_here(&info->process[i].id)) {
            holder.foreign++;
        } else if (!process_is_gone(&info->process[i].id)) {
            holder.alive++;
            holder.headed = holder.headed || i < 2;
        }
    }
    return holder;
}

static bool is_same_job(const struct lease_info *info)
{
    const char *job = getenv("SLURM_JOB_ID");
    const char *restart = getenv("SLURM_RESTART_COUNT");
    return job != NULL && restart != NULL && strcmp(info->job, job) == 0
           && strtol(restart, NULL, 10) > info->restart;
}

static int fail_held(const char *file, const struct lease_info *info)
{
    if (info->processes == 0)
        FAIL(ERR_CONFLICT, "%s is in use by another run", file);
    FAIL(ERR_CONFLICT, "%s is in use by another run: process %" PRId64 " on %s%s%s", file,
         info->process[0].id.pid, info->process[0].host, info->job[0] != '\0' ? ", job " : "",
         info->job);
}

/* Wait for the counter to move, which is a refusal, or for the lease to run out. */
static int watch(const char *file, const struct lease_info *info, double expiry)
{
    const struct timespec pause = {.tv_nsec = (long)(WATCH_PERIOD * 1e9)};
    const double begin = clock_wall();
    bool said = false;
    while (clock_wall() - begin < expiry) {
        struct lease_info now;
        TRY(lease_read(file, &now));
        const bool same = now.found && strcmp(now.run, info->run) == 0;
        const bool moved = same && now.counter != info->counter;
        const struct holder holder = judge(&now);
        const bool ended =
            !same || (now.processes > 0 && holder.foreign == 0 && holder.alive == 0);
        lease_info_clear(&now);
        if (moved)
            return fail_held(file, info);
        if (ended)
            return 0;
        if (stop_signal() != 0)
            FAIL(ERR_CONFLICT, "%s: stopped while waiting for the lease of another run", file);
        if (!said && clock_wall() - begin > WATCH_QUIET) {
            said = true;
            log_warn("%s.lease belongs to another run that gives no sign of life: waiting "
                     "%.0f s until it has run out",
                     file, expiry);
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int end_processes(const char *file, const struct lease_info *info)
{
    for (int i = 0; i < info->processes; i++) {
        const struct lease_process *p = &info->process[i];
        if (!process_is_here(&p->id) || process_is_gone(&p->id))
            continue;
        log_warn("process %" PRId64 " of an earlier run of %s is ended", p->id.pid, file);
        if (!process_end(&p->id, END_LIMIT))
            FAIL(ERR_CONFLICT, "%s: process %" PRId64 " of an earlier run does not end", file,
                 p->id.pid);
    }
    return 0;
}

/* The process that has left its mark is of this machine and gone: the mark stands for nobody.
 */
static bool is_left_behind(const char *mark)
{
    char text[256] = "";
    struct lease_process by;
    const int fd = open(mark, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool whole = read(fd, text, sizeof text - 1) > 0 && lease_text_process(text, &by);
    close(fd);
    return whole && process_is_here(&by.id) && process_is_gone(&by.id);
}

/* Leases are removed by one process at a time: *marked says whether it is this one. */
static int mark(const char *path, bool *marked)
{
    char text[256];
    struct lease_process self = {.id = process_self()};
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    *marked = fd >= 0;
    if (!*marked && errno != EEXIST)
        FAIL(ERR_IO, "cannot make %s: %s", path, strerrordesc_np(errno));
    if (!*marked) {
        if (is_left_behind(path))
            unlink(path);
        return 0;
    }
    gethostname(self.host, sizeof self.host - 1);
    const int length = lease_text_add(&self, text, sizeof text);
    if (write(fd, text, (size_t)length) != length) /* then only a person can tell whose it is */
        log_debug("cannot write %s: %s", path, strerrordesc_np(errno));
    close(fd);
    return 0;
}

/* Whether two readings are of one lease. The inode says nothing: it is soon used again. */
static bool is_same(const struct lease_info *a, const struct lease_info *b)
{
    return a->found && b->found && strcmp(a->run, b->run) == 0 && a->counter == b->counter
           && (a->processes > 0) == (b->processes > 0)
           && (a->processes == 0
               || memcmp(&a->process[0].id, &b->process[0].id, sizeof a->process[0].id) == 0);
}

/* Remove the lease that was judged, no newer one. Nothing is done while somebody else is at it.
 */
static int remove_judged(const struct lease *lease, const char *file,
                         const struct lease_info *judged, bool *done)
{
    char path[LEASE_PATH_SIZE + 16];
    struct lease_info now;
    snprintf(path, sizeof path, "%s.taking", lease->path);
    TRY(mark(path, done));
    if (!*done)
        return 0;
    const int rc = lease_read(file, &now);
    if (rc == 0 && is_same(judged, &now))
        unlink(lease->path);
    lease_info_clear(&now);
    unlink(path);
    return rc;
}

/* Links and folders of that name are nobody's lease, and nobody's to remove. */
static int check_kind(const struct lease *lease)
{
    struct stat info;
    if (lstat(lease->path, &info) == 0 && !S_ISREG(info.st_mode))
        FAIL(ERR_CONFLICT, "%s is no regular file, and a lease must be one: remove it",
             lease->path);
    return 0;
}

/* There is a lease: refuse, or make room. */
static int clear_way(const struct lease *lease, const char *file, double expiry)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    bool done = false;
    struct lease_info info;
    int rc = 0;
    TRY(check_kind(lease));
    TRY(lease_read(file, &info));
    const struct holder holder = judge(&info);
    const bool headless = info.processes > 0 && holder.foreign == 0 && !holder.headed;
    if (!info.found)
        goto done;
    if (!headless && !is_same_job(&info))
        TRY_OR(rc, done, watch(file, &info, expiry));
    TRY_OR(rc, done, end_processes(file, &info));
    rc = remove_judged(lease, file, &info, &done);
    if (rc == 0 && !done) /* somebody else is at it: look again */
        nanosleep(&pause, NULL);
done:
    lease_info_clear(&info);
    return rc;
}

int lease_take(const char *file, const char *run, double expiry, struct lease **out)
{
    bool made = false;
    int rc = 0;
    TRY(lease_make(file, out));
    const double limit = clock_wall() + 2 * expiry + TAKE_LIMIT;
    while (rc == 0 && !made) {
        rc = create(*out, run, &made);
        if (rc == 0 && !made)
            rc = clear_way(*out, file, expiry);
        if (rc == 0 && !made && clock_wall() > limit)
            rc =
                status_fail(ERR_CONFLICT,
                            "%s cannot be taken: %s.taking says that another run is taking it; "
                            "remove that file when none is",
                            (*out)->path, (*out)->path);
    }
    if (rc == 0)
        rc = start_keeper(*out);
    if (rc != 0) {
        lease_drop(*out);
        *out = NULL;
    }
    return rc;
}

static int join(struct lease *lease, const char *file, const char *run)
{
    struct lease_info info;
    lease->fd = open(lease->path, O_RDWR | O_CLOEXEC);
    if (lease->fd < 0)
        FAIL(ERR_CONFLICT, "cannot open %s, the lease of this run: %s", lease->path,
             strerrordesc_np(errno));
    TRY(lease_read(file, &info));
    const bool ours = strcmp(info.run, run) == 0;
    const int rc = ours ? 0 : fail_held(file, &info);
    lease_info_clear(&info);
    return rc;
}

int lease_join(const char *file, const char *run, struct lease **out)
{
    TRY(lease_make(file, out));
    int rc = join(*out, file, run);
    if (rc == 0)
        rc = start_keeper(*out);
    if (rc != 0) {
        lease_drop(*out);
        *out = NULL;
    }
    return rc;
}

int lease_add(struct lease *lease, const struct lease_process *process, int count)
{
    for (int i = 0; i < count && i < LEASE_PROCESSES_MAX; i++) {
        char line[256];
        const int length = lease_text_add(&process[i], line, sizeof line);
        const off_t end = lseek(lease->fd, 0, SEEK_END);
        if (end < 0 || pwrite(lease->fd, line, (size_t)length, end) != length)
            FAIL(ERR_IO, "cannot write %s: %s", lease->path, strerrordesc_np(errno));
    }
    return 0;
}

int lease_write_end(struct lease *lease, int code)
{
    char text[LEASE_END_SIZE + 1];
    const off_t place = sizeof LEASE_HEAD - 1 + LEASE_DIGITS + sizeof LEASE_END - 1;
    snprintf(text, sizeof text, "%03d", code < 0 || code > 255 ? 255 : code);
    if (pwrite(lease->fd, text, LEASE_END_SIZE, place) != LEASE_END_SIZE)
        FAIL(ERR_IO, "cannot write %s: %s", lease->path, strerrordesc_np(errno));
    return 0;
}

double lease_age(const struct lease *lease)
{
    return clock_wall() - atomic_load(&lease->seen);
}

bool lease_is_lost(const struct lease *lease)
{
    return atomic_load(&lease->lost);
}

int lease_check(const struct lease *lease)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const double limit = clock_wall() + RENEW_WAIT;
    while (!lease_is_lost(lease) && lease_age(lease) > LEASE_COMMIT_LIMIT
           && clock_wall() < limit)
        nanosleep(&pause, NULL);
    if (lease_is_lost(lease))
        FAIL(ERR_CONFLICT, "%s has been taken by another run: nothing is written any more",
             lease->path);
    if (lease_age(lease) > LEASE_COMMIT_LIMIT)
        FAIL(ERR_CONFLICT, "%s could not be renewed for %.0f s: nothing is written any more",
             lease->path, lease_age(lease));
    return 0;
}

/* Ours, and nobody is taking it over: else the taker removes it. What cannot be done here, on a
 * full disk, is not worth a word: the next run finds a lease of nobody. */
static void drop_own(const struct lease *lease)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const double limit = clock_wall() + 1;
    char path[LEASE_PATH_SIZE + 16];
    char text[LEASE_PATH_SIZE + 160];
    bool marked = false;
    const struct status_saved saved = status_capture_save();
    snprintf(path, sizeof path, "%s.taking", lease->path);
    status_capture(text, sizeof text);
    while (mark(path, &marked) == 0 && !marked && clock_wall() < limit)
        nanosleep(&pause, NULL);
    status_capture_restore(saved);
    if (marked && is_ours(lease))
        unlink(lease->path);
    if (marked)
        unlink(path);
}

void lease_drop(struct lease *lease)
{
    if (lease == NULL)
        return;
    if (lease->kept) {
        pthread_mutex_lock(&lease->mutex);
        lease->leave = true;
        pthread_cond_signal(&lease->wake);
        pthread_mutex_unlock(&lease->mutex);
        pthread_join(lease->keeper, NULL);
        pthread_cond_destroy(&lease->wake);
        pthread_mutex_destroy(&lease->mutex);
    }
    if (lease->owner && lease->fd >= 0)
        drop_own(lease);
    if (lease->fd >= 0)
        close(lease->fd);
    mem_free(lease);
}
