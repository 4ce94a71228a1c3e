/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/arguments.h"
#include "runner/lease.h"
#include "runner/stop.h"

#define ASK_AGAIN      1.0 /* s until a stop is asked for again */
#define ASK_MOST       3
#define KILL_AFTER     5.0   /* s from SIGTERM to SIGKILL */
#define STRAGGLE_LIMIT 5.0   /* s that ranks may outlive mpirun */
#define BEGIN_LIMIT    180.0 /* s until the ranks have begun */
#define ASKED_LIMIT    5.0   /* … when a stop has been asked for: one may have died of that */
#define LEAVE_LIMIT    15.0  /* s that mpirun may outlive rank 0 */
#define STOP_LIMIT     120.0 /* s that an orderly stop may take */
#define SILENT_LIMIT   120.0 /* s without a record of rank 0 in the journal */
#define LOOK_PERIOD    0.1   /* s between two looks at the ranks */
#define MISSING_LIMIT  3.0   /* s that one is missing and mpirun does not end: it died */

/* What the launcher watches. */
struct watch {
    pid_t child; /* mpirun or srun, leader of its process group */
    int status;
    bool ended;
    int asked; /* times that a stop was asked for */
    double first_ask;
    double last_ask; /* time of the last one */
    double killed;   /* time when the ranks' end was ordered, 0: not */
    bool twice;      /* … by a second SIGINT */
    bool late;       /* … since they did not begin */
    bool lost;       /* … nor stop before that, or one of them died */
    int told;        /* ranks of this machine, as mpirun tells each of them; 0: not known */
    int most;        /* … or children of mpirun at most, before the ranks have begun */
    int here;        /* … at the last look */
    double missing;  /* since when one is missing and none has come or gone, 0: none is */
    const char *file;
    double begin;
    double next_look;
    struct process_id controller; /* pid 0: not known yet */
    double alone;                 /* since when rank 0 has been gone, 0: it is there */
    struct timespec written;      /* when the journal grew last, by its file system */
    double heard;                 /* … and by our clock; 0: it is not there */
};

/* The child's side of the fork: its own process group, no terminal, stopped with its parent. */
static void become_starter(const struct starter *starter, const struct arguments *arguments,
                           pid_t parent)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR1); /* a killed launcher stops the ranks in order */
    if (getppid() != parent)
        _exit(EXIT_STOPPED);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    /* Until mpirun forwards it the signal must not be deadly. */
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    starter_clean(starter);
    execvp(arguments->word[0], arguments->word);
    _exit(127);
}

static void reap(struct watch *w)
{
    for (;;) {
        int status = 0;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0)
            return;
        if (pid == w->child) {
            w->ended = true;
            w->status = status;
        }
    }
}

static void ask_stop(struct watch *w)
{
    w->last_ask = clock_wall();
    if (w->asked++ == 0)
        w->first_ask = w->last_ask;
    kill(w->child, SIGUSR1);
}

static void end_ranks(struct watch *w)
{
    w->killed = clock_wall();
    kill(w->child, SIGTERM);
}

static void handle_signal(struct watch *w, int signal)
{
    if (signal == SIGINT && w->asked > 0 && w->killed <= 0) {
        log_info("interrupted twice: ending the ranks");
        w->twice = true;
        end_ranks(w);
    } else if (w->asked == 0) {
        log_info("%s: stopping in order; the same command continues%s",
                 stop_signal_name(signal),
                 signal == SIGINT ? " (Ctrl-C again: end at once)" : "");
        ask_stop(w);
    }
}

/* Ask again: a signal that comes while mpirun starts is lost. */
static void insist(struct watch *w)
{
    const double now = clock_wall();
    if (w->asked > 0 && w->asked < ASK_MOST && w->killed <= 0 && now - w->last_ask > ASK_AGAIN)
        ask_stop(w);
    if (w->killed > 0 && now - w->killed > KILL_AFTER)
        kill(-w->child, SIGKILL);
}

/* Rank 0's process, once the ranks have put themselves into the lease. */
static void find_controller(struct watch *w)
{
    struct lease_info info;
    if (lease_read(w->file, &info) == 0 && info.processes > 1)
        w->controller = info.process[1].id;
    lease_info_clear(&info);
}

/* How many ranks of this machine there are to be, by the environment of one; 0: it is none yet.
 */
static int local_size(long process)
{
    static const char name[] = "OMPI_COMM_WORLD_LOCAL_SIZE=";
    char path[64];
    char *entry = NULL;
    size_t size = 0;
    int ranks = 0;
    snprintf(path, sizeof path, "/proc/%ld/environ", process);
    FILE *const file = fopen(path, "r");
    while (file != NULL && ranks == 0 && getdelim(&entry, &size, '\0', file) > 0)
        if (strncmp(entry, name, sizeof name - 1) == 0)
            ranks = (int)strtol(entry + sizeof name - 1, NULL, 10);
    free(entry);
    if (file != NULL)
        fclose(file);
    return ranks;
}

/* Children that a thread of a process has started and that have not ended; *told: as in struct
 * watch, asked for until one of them knows. */
static int count_of_thread(pid_t process, const char *thread, int *told)
{
    char path[320];
    int count = 0;
    long pid = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)process, thread);
    FILE *const file = fopen(path, "r");
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
    while (file != NULL && fscanf(file, "%ld", &pid) == 1) {
        count++;
        *told = *told > 0 ? *told : local_size(pid);
    }
    if (file != NULL)
        fclose(file);
    return count;
}

/* Processes of this machine that mpirun has started and that have not ended. */
static int count_children(pid_t process, int *told)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *const threads = opendir(path);
    for (const struct dirent *t = threads != NULL ? readdir(threads) : NULL; t != NULL;
         t = readdir(threads))
        if (t->d_name[0] != '.')
            count += count_of_thread(process, t->d_name, told);
    if (threads != NULL)
        closedir(threads);
    return count;
}

/* A rank that dies while all of them start leaves the others in MPI_Init. It may have died
 * before anybody saw it, and others come after it. */
static bool is_one_missing(struct watch *w)
{
    const int children = count_children(w->child, &w->told);
    w->most = w->told > w->most ? w->told : w->most;
    w->most = children > w->most ? children : w->most;
    if (children == w->most)
        w->missing = 0;
    else if (w->missing <= 0 || children != w->here)
        w->missing = clock_wall();
    w->here = children;
    return w->missing > 0 && clock_wall() - w->missing > MISSING_LIMIT;
}

/* Before the ranks have put themselves into the lease. */
static void look_at_start(struct watch *w, double now)
{
    find_controller(w);
    if (w->controller.pid != 0) {
        if (w->asked > 0)
            ask_stop(w); /* nobody may have heard it before */
        return;
    }
    w->late = now - w->begin > BEGIN_LIMIT;
    w->lost = (w->asked > 0 && now - w->first_ask > ASKED_LIMIT) || is_one_missing(w);
    if (w->late)
        log_warn("the ranks have not begun for %.0f s: they are ended", BEGIN_LIMIT);
    else if (w->lost && w->asked == 0)
        log_warn("a rank died while the ranks began: the others are ended");
}

/* Rank 0 writes a record a second. One that is stopped, or waits for a disk for ever, holds the
 * others up. */
static bool is_silent(struct watch *w, double now)
{
    char path[RUN_PATH_SIZE + 16];
    struct stat info;
    snprintf(path, sizeof path, "%s.journal", w->file);
    if (stat(path, &info) != 0)
        w->heard = 0;
    else if (w->heard <= 0 || info.st_mtim.tv_sec != w->written.tv_sec
             || info.st_mtim.tv_nsec != w->written.tv_nsec)
        w->heard = now;
    if (w->heard == now)
        w->written = info.st_mtim;
    return w->heard > 0 && now - w->heard > SILENT_LIMIT;
}

/* After the ranks have begun: whether those that are left are to be ended. */
static bool is_stuck(struct watch *w, double now)
{
    if (w->alone <= 0 && process_is_here(&w->controller) && process_is_gone(&w->controller))
        w->alone = now;
    if (w->alone > 0)
        return now - w->alone > LEAVE_LIMIT;
    const bool silent = is_silent(w, now);
    if (silent)
        log_warn("the controller has written nothing for %.0f s: the ranks are ended",
                 SILENT_LIMIT);
    return silent || (w->asked > 0 && now - w->first_ask > STOP_LIMIT);
}

/* With --enable-recovery mpirun waits for every rank, whatever has become of the others: ranks
 * that never begin, or stay when the controller is gone, are ended here. */
static void look_at_ranks(struct watch *w)
{
    const double now = clock_wall();
    if (now < w->next_look || w->killed > 0)
        return;
    w->next_look = now + LOOK_PERIOD;
    bool end = false;
    if (w->controller.pid == 0)
        look_at_start(w, now);
    else
        end = is_stuck(w, now);
    if (w->late || w->lost || end)
        end_ranks(w);
}

static void watch_child(struct watch *w, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = (long)(LOOK_PERIOD * 1e9)};
    while (!w->ended) {
        const int signal = sigtimedwait(signals, NULL, &pause);
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGUSR1)
            handle_signal(w, signal);
        reap(w);
        if (!w->ended) {
            insist(w);
            look_at_ranks(w);
        }
    }
}

/* Ranks that mpirun left behind are our children now (subreaper). Read from /proc. */
static void kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "r");
    long pid = 0;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
    while (file != NULL && fscanf(file, "%ld", &pid) == 1)
        kill((pid_t)pid, SIGKILL);
    if (file != NULL)
        fclose(file);
}

/* No process of the farm may be left: it could still write into the file. */
static void wait_for_stragglers(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const double limit = clock_wall() + STRAGGLE_LIMIT;
    for (;;) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0)
            return;
        if (pid > 0)
            continue;
        if (clock_wall() > limit)
            kill_children();
        if (clock_wall() > limit + STRAGGLE_LIMIT)
            return;
        nanosleep(&pause, NULL);
    }
}

static int read_left(const char *file)
{
    struct lease_info info;
    const int left = lease_read(file, &info) == 0 ? info.end : -1;
    lease_info_clear(&info);
    return left;
}

static int start(const struct starter *starter, const struct arguments *arguments, pid_t *child)
{
    const pid_t parent = getpid();
    fflush(NULL);
    *child = fork();
    if (*child < 0)
        FAIL(ERR_MPI, "cannot start %s: %s", arguments->word[0], strerrordesc_np(errno));
    if (*child == 0)
        become_starter(starter, arguments, parent);
    setpgid(*child, *child); /* whoever of the two comes first */
    return 0;
}

int launch_ranks(const struct prepared *prepared, const struct starter *starter,
                 struct launch_end *end)
{
    struct watch w = {.file = prepared->options->file, .begin = clock_wall()};
    struct arguments arguments = {0};
    sigset_t signals;
    sigset_t before;
    *end = (struct launch_end){.left = -1};
    starter_add(starter, &arguments, prepared->options->workers + 1,
                prepared->options->verbose);
    int rc = arguments_add_run(&arguments, prepared->options, prepared->run);
    if (rc != 0)
        goto done;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (stop_hears_hangup())
        sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if (stop_signal() != 0) { /* it came before the ranks */
        end->stopped = true;
        goto unblock;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    TRY_OR(rc, unblock, start(starter, &arguments, &w.child));
    watch_child(&w, &signals);
    wait_for_stragglers();
    end->left = read_left(prepared->options->file);
    end->twice = w.twice;
    end->late = w.late;
    end->ended = w.killed > 0;
    end->stopped = w.asked > 0;
    end->signal = WIFSIGNALED(w.status) ? WTERMSIG(w.status) : 0;
    end->exit_code = WIFEXITED(w.status) ? WEXITSTATUS(w.status) : 0;
unblock:
    sigprocmask(SIG_SETMASK, &before, NULL);
done:
    arguments_clear(&arguments);
    return rc;
}
