/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ORDERS_MAX 8
#define WORD_SIZE  256

/* One order of FARM_FAULT as it stands there. */
struct order {
    char action[32];
    char point[32];
    double seconds; /* of slow */
    long long rank; /* -1 here and below: any */
    long long member;
    long long plane;
    long long hit;
    char once[WORD_SIZE];
};

/* What a process of a test build remembers of its faults. */
static atomic_int own_rank = -1;
static atomic_llong hits[ORDERS_MAX];
static atomic_bool broken;

void fault_set_rank(int rank)
{
    atomic_store(&own_rank, rank);
}

/* A test whose order says nothing would pass without its fault. */
_Noreturn static void refuse(const char *word)
{
    fprintf(stderr, "scanfarm: FARM_FAULT: '%s' is no order\n", word);
    _exit(2);
}

static void read_option(const char *word, struct order *order)
{
    char name[16] = "";
    char value[WORD_SIZE] = "";
    if (sscanf(word, "%15[^=]=%255s", name, value) != 2)
        refuse(word);
    if (strcmp(name, "once") == 0) {
        snprintf(order->once, sizeof order->once, "%s", value);
        return;
    }
    long long *const number = strcmp(name, "rank") == 0     ? &order->rank
                              : strcmp(name, "member") == 0 ? &order->member
                              : strcmp(name, "plane") == 0  ? &order->plane
                              : strcmp(name, "hit") == 0    ? &order->hit
                                                            : NULL;
    if (number != NULL)
        *number = strtoll(value, NULL, 10);
    else
        refuse(word);
}

static int error_of(const char *action)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {{"enospc", ENOSPC}, {"eio", EIO}, {"edquot", EDQUOT}, {"erofs", EROFS}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(action, errors[i].name) == 0)
            return errors[i].error;
    return 0;
}

static bool is_action(const char *word)
{
    static const char *const actions[] = {"kill",  "stop",  "segv", "mute",
                                          "wrong", "flush", "break"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(word, actions[i]) == 0)
            return true;
    return error_of(word) != 0;
}

/* "kill@plane.data,rank=1" */
static void read_order(char *text, struct order *order)
{
    char *rest = NULL;
    *order = (struct order){.rank = -1, .member = -1, .plane = -1, .hit = -1};
    const char *const head = strtok_r(text, ",", &rest);
    if (head == NULL || sscanf(head, "%31[^@]@%31s", order->action, order->point) != 2)
        refuse(text);
    if (strncmp(order->action, "slow=", 5) == 0)
        order->seconds = strtod(order->action + 5, NULL);
    else if (!is_action(order->action))
        refuse(order->action);
    for (const char *word = strtok_r(NULL, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest))
        read_option(word, order);
}

static bool matches(const struct order *order, const char *point, int64_t member, long plane)
{
    return strcmp(order->point, point) == 0
           && (order->rank < 0 || order->rank == atomic_load(&own_rank))
           && (order->member < 0 || order->member == member)
           && (order->plane < 0 || order->plane == plane);
}

/* Counts the hit; false when it is not its turn. */
static bool is_due(const struct order *order, int index)
{
    const long long hit = atomic_fetch_add(&hits[index], 1) + 1;
    if (order->hit > 0 && hit != order->hit)
        return false;
    if (order->once[0] == '\0')
        return true;
    const int fd = open(order->once, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The orders of one kind that are due here: kind 'p'oint, 'e'rror, 'm'ute, 'w'rong. */
static char kind_of(const struct order *order)
{
    return error_of(order->action) != 0          ? 'e'
           : strcmp(order->action, "mute") == 0  ? 'm'
           : strcmp(order->action, "wrong") == 0 ? 'w'
                                                 : 'p';
}

static bool find_due(char kind, const char *point, int64_t member, long plane,
                     struct order *found)
{
    char text[1024];
    char *rest = NULL;
    const char *const orders = getenv("FARM_FAULT");
    if (orders == NULL)
        return false;
    snprintf(text, sizeof text, "%s", orders);
    int index = 0;
    for (char *word = strtok_r(text, ";", &rest); word != NULL && index < ORDERS_MAX;
         word = strtok_r(NULL, ";", &rest), index++) {
        read_order(word, found);
        if (kind_of(found) == kind && matches(found, point, member, plane)
            && is_due(found, index))
            return true;
    }
    return false;
}

/* As a library built with -ffast-math does when it is loaded: bits 15 and 6 of MXCSR. */
static void flush_subnormals(void)
{
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1U << 15 | 1U << 6);
#endif
}

void fault_point(const char *point, int64_t member, long plane)
{
    struct order order;
    if (!find_due('p', point, member, plane, &order))
        return;
    if (strcmp(order.action, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(order.action, "stop") == 0)
        kill(getpid(), SIGSTOP); /* all threads */
    if (strcmp(order.action, "segv") == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strcmp(order.action, "flush") == 0)
        flush_subnormals();
    if (strcmp(order.action, "break") == 0)
        atomic_store(&broken, true);
    const double whole = floor(order.seconds);
    const struct timespec pause = {.tv_sec = (time_t)whole,
                                   .tv_nsec = (long)(1e9 * (order.seconds - whole))};
    if (order.seconds > 0)
        nanosleep(&pause, NULL);
}

int fault_error(const char *point, int64_t member, long plane)
{
    struct order order;
    return find_due('e', point, member, plane, &order) ? error_of(order.action) : 0;
}

bool fault_mute(const char *point)
{
    struct order order;
    return find_due('m', point, -1, -1, &order);
}

bool fault_wrong(const char *point, int64_t member, long plane)
{
    struct order order;
    return find_due('w', point, member, plane, &order);
}

bool fault_broken(void)
{
    return atomic_load(&broken);
}
