/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define LOOK_MS     20 /* between two looks whether the program has ended */
#define LOOK_END_MS 1  /* … when it has closed its streams already */
#define FIRST_SIZE  4096
#define PATH_MOST   4096
#define SHOWN_MOST  300 /* bytes of a program's words in an error */

/* One stream of the program, as it fills. */
struct stream {
    int fd; /* our end of the pipe; -1: closed */
    char *text;
    size_t used;
    size_t size;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int grow(struct stream *s)
{
    char *larger = NULL;
    const size_t size = s->size == 0 ? FIRST_SIZE : 2 * s->size;
    TRY(MEM_NEW((long)size, &larger));
    if (s->text != NULL)
        memcpy(larger, s->text, s->used);
    mem_free(s->text);
    s->text = larger;
    s->size = size;
    return 0;
}

/* All that can be had without waiting; closes the stream at its end. */
static int read_stream(struct stream *s)
{
    char surplus[FIRST_SIZE] = "";
    while (s->fd >= 0) {
        const bool full = s->used >= COMMAND_OUTPUT_MAX;
        if (!full && s->used + 1 >= s->size)
            TRY(grow(s));
        char *const place = full ? surplus : s->text + s->used;
        const ssize_t got = read(s->fd, place, full ? sizeof surplus : s->size - s->used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0)
            close_fd(&s->fd);
        else if (!full)
            s->used += (size_t)got;
    }
    return 0;
}

/* The program's side: what posix_spawn does before it starts. */
static int describe_child(const int out[2], const int err[2],
                          posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
{
    sigset_t set;
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(actions, out[1], STDOUT_FILENO);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(actions, err[1], STDERR_FILENO);
    rc = rc != 0 ? rc : posix_spawnattr_setpgroup(attributes, 0);
    sigemptyset(&set);
    rc = rc != 0 ? rc : posix_spawnattr_setsigmask(attributes, &set);
    sigfillset(&set);
    rc = rc != 0 ? rc : posix_spawnattr_setsigdefault(attributes, &set);
    return rc != 0 ? rc
                   : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP
                                                              | POSIX_SPAWN_SETSIGMASK
                                                              | POSIX_SPAWN_SETSIGDEF);
}

/* posix_spawnp's own list of what cannot be executed. */
static bool is_missing(int error)
{
    return error == ENOENT || error == EACCES || error == ENOTDIR || error == ENOEXEC
           || error == ELOOP;
}

static int spawn(const char *const *words, const int out[2], const int err[2], pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *argument[COMMAND_WORDS_MAX + 1] = {NULL};
    int count = 0;
    /* posix_spawn takes words that could be changed, and does not change them */
    for (; count < COMMAND_WORDS_MAX && words[count] != NULL; count++)
        memcpy(&argument[count], &words[count], sizeof argument[count]);
    if (count == 0)
        FAIL(ERR_BUG, "no program to start");
    if (words[count] != NULL)
        FAIL(ERR_UNSUPPORTED, "more than %d words for %s", COMMAND_WORDS_MAX, words[0]);
    if (posix_spawn_file_actions_init(&actions) != 0)
        FAIL(ERR_MEMORY, "cannot start %s: no memory", words[0]);
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        FAIL(ERR_MEMORY, "cannot start %s: no memory", words[0]);
    }
    int error = describe_child(out, err, &actions, &attributes);
    if (error == 0)
        error = posix_spawnp(child, words[0], &actions, &attributes, argument, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (is_missing(error))
        *child = 0;
    else if (error != 0)
        FAIL(ERR_IO, "cannot start %s: %s", words[0], strerrordesc_np(error));
    return 0;
}

static void note_end(int status, struct command_result *out)
{
    if (WIFSIGNALED(status)) {
        out->end = COMMAND_KILLED;
        out->signal = WTERMSIG(status);
    } else {
        out->end = COMMAND_EXITED;
        out->exit_code = WEXITSTATUS(status);
    }
}

/* Read both streams until the program has ended, or its time is over. */
static int follow(pid_t child, double deadline, struct stream stream[2], bool *ended,
                  struct command_result *out)
{
    for (;;) {
        struct pollfd wait[2] = {{.fd = stream[0].fd, .events = POLLIN},
                                 {.fd = stream[1].fd, .events = POLLIN}};
        const bool closed = stream[0].fd < 0 && stream[1].fd < 0;
        int status = 0;
        poll(wait, 2, closed ? LOOK_END_MS : LOOK_MS);
        const pid_t pid = waitpid(child, &status, WNOHANG);
        *ended = pid != 0;
        /* after the look: what it said before its end is there by now */
        TRY(read_stream(&stream[0]));
        TRY(read_stream(&stream[1]));
        if (pid == child)
            note_end(status, out);
        if (pid < 0)
            FAIL(ERR_IO, "cannot wait for a program: %s", strerrordesc_np(errno));
        if (pid == child)
            return 0;
        if (clock_wall() > deadline) {
            out->end = COMMAND_TIMED_OUT;
            return 0;
        }
    }
}

static int open_pipes(int out[2], int err[2])
{
    if (pipe2(out, O_CLOEXEC) != 0)
        FAIL(ERR_IO, "cannot make a pipe: %s", strerrordesc_np(errno));
    if (pipe2(err, O_CLOEXEC) != 0)
        FAIL(ERR_IO, "cannot make a pipe: %s", strerrordesc_np(errno));
    if (fcntl(out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(err[0], F_SETFL, O_NONBLOCK) != 0)
        FAIL(ERR_IO, "cannot set a pipe: %s", strerrordesc_np(errno));
    return 0;
}

/* A stream that never got a byte still has an empty text. */
static int keep_text(struct stream *s, char **text)
{
    if (s->text == NULL)
        TRY(grow(s));
    s->text[s->used] = '\0';
    *text = s->text;
    s->text = NULL;
    return 0;
}

int command_run(const char *const *words, double limit, struct command_result *out)
{
    const double deadline = clock_wall() + limit;
    int pipes[2][2] = {{-1, -1}, {-1, -1}};
    struct stream stream[2] = {{.fd = -1}, {.fd = -1}};
    pid_t child = 0;
    bool ended = false;
    int rc = 0;
    *out = (struct command_result){.end = COMMAND_MISSING, .exit_code = -1};
    TRY_OR(rc, done, open_pipes(pipes[0], pipes[1]));
    TRY_OR(rc, done, spawn(words, pipes[0], pipes[1], &child));
    for (int i = 0; i < 2; i++) {
        stream[i].fd = pipes[i][0];
        pipes[i][0] = -1;
        close_fd(&pipes[i][1]);
    }
    if (child > 0)
        rc = follow(child, deadline, stream, &ended, out);
    if (child > 0 && !ended) {
        kill(-child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = keep_text(&stream[i], i == 0 ? &out->output : &out->errors);
done:
    for (int i = 0; i < 2; i++) {
        close_fd(&pipes[i][0]);
        close_fd(&pipes[i][1]);
        close_fd(&stream[i].fd);
        mem_free(stream[i].text);
    }
    return rc;
}

bool command_succeeded(const struct command_result *result)
{
    return result->end == COMMAND_EXITED && result->exit_code == 0;
}

/* The last line of text[0 … end) that has something on it; its length, 0: none. */
static size_t line_before(const char *text, size_t end, const char **line)
{
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ' || text[end - 1] == '\r'))
        end--;
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    *line = text + begin;
    return end - begin;
}

/* 'Try "sbatch --help" for more information', getopt's last word: the one before says more. */
static bool is_hint(const char *line, size_t length)
{
    static const char word[] = "--help";
    const char *const end = line + length;
    if (length < 4 || strncmp(line, "Try ", 4) != 0)
        return false;
    for (const char *at = line; at + sizeof word - 1 <= end; at++)
        if (strncmp(at, word, sizeof word - 1) == 0)
            return true;
    return false;
}

/* The last line that says something; its length, 0: none. */
static size_t last_line(const char *text, const char **line)
{
    const char *before = NULL;
    text = text != NULL ? text : "";
    const size_t length = line_before(text, strlen(text), line);
    if (!is_hint(*line, length))
        return length;
    const size_t earlier = line_before(text, (size_t)(*line - text), &before);
    if (earlier == 0)
        return length;
    *line = before;
    return earlier;
}

void command_explain(const struct command_result *result, const char *program, double limit,
                     char *text, size_t size)
{
    const char *line = NULL;
    const size_t length = last_line(result->errors, &line);
    const size_t name = strlen(program);
    const bool named = length > name && strncmp(line, program, name) == 0 && line[name] == ':';
    if (result->end == COMMAND_MISSING)
        snprintf(text, size, "%s is not on the PATH", program);
    else if (result->end == COMMAND_TIMED_OUT)
        snprintf(text, size, "%s took longer than %g s", program, limit);
    else if (length > 0)
        snprintf(text, size, "%s%s%.*s", named ? "" : program, named ? "" : ": ",
                 (int)(length < SHOWN_MOST ? length : SHOWN_MOST), line);
    else if (result->end == COMMAND_KILLED)
        snprintf(text, size, "%s was killed by signal %d", program, result->signal);
    else
        snprintf(text, size, "%s ended with exit code %d", program, result->exit_code);
}

void command_clear(struct command_result *result)
{
    mem_free(result->output);
    mem_free(result->errors);
    *result = (struct command_result){.end = COMMAND_MISSING, .exit_code = -1};
}

bool command_exists(const char *program)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        char candidate[PATH_MOST];
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, program);
        if (length > 0 && access(candidate, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}
