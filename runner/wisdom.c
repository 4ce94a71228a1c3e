/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/wisdom_cache.h"
#include "runner/wisdom_text.h"

#define WAIT_LIMIT 5.0

void wisdom_init(struct wisdom *wisdom, const char *file, const char *host, const char *stored)
{
    memset(wisdom, 0, sizeof *wisdom);
    wisdom->stored = stored;
    snprintf(wisdom->path, sizeof wisdom->path, "%s.wisdom.%.60s", file, host);
    snprintf(wisdom->claim, sizeof wisdom->claim, "%s.claim", wisdom->path);
}

void wisdom_clear(struct wisdom *wisdom)
{
    if (wisdom->claimed) /* a claim that led to no plan must not be waited for */
        wisdom_unclaim(wisdom);
    if (wisdom->complaint[0] != '\0') /* somebody else has said it aloud */
        log_debug("%s", wisdom->complaint);
    wisdom->complaint[0] = '\0';
    mem_free(wisdom->text);
    wisdom->text = NULL;
}

void wisdom_unclaim(struct wisdom *wisdom)
{
    unlink(wisdom->claim);
    wisdom->claimed = false;
}

int wisdom_read(const struct wisdom *wisdom, char **text)
{
    TRY(wisdom_text_read(wisdom->path, text));
    return *text != NULL ? 0 : mem_copy_text("", text);
}

/* All workers of a node meet the same text: one of them says so, and once. */
static void complain(struct wisdom *w, const char *why)
{
    if (w->complaint[0] == '\0')
        snprintf(w->complaint, sizeof w->complaint, "%s", why);
}

static void speak(struct wisdom *w)
{
    if (w->complaint[0] != '\0')
        log_warn("%s", w->complaint);
    w->complaint[0] = '\0';
}

static bool was_asked(struct wisdom *w, long n)
{
    for (int i = 0; i < w->lengths; i++)
        if (w->length[i] == n)
            return true;
    if (w->lengths < WISDOM_LENGTHS_MAX)
        w->length[w->lengths++] = n;
    return false;
}

static int give_cached(struct wisdom *w, const struct backend *be, long n)
{
    char why[WISDOM_WHY_SIZE];
    struct wisdom_key key;
    if (!w->cache_looked) {
        w->cache_looked = true;
        wisdom_cache_folder(w->cache, why);
        complain(w, why);
    }
    if (w->cache[0] == '\0' || was_asked(w, n))
        return mem_copy_text("", &w->text);
    wisdom_cache_key(be, n, &key);
    wisdom_cache_path(w->cache, &key, w->from);
    TRY(wisdom_cache_read(w->cache, &key, &w->text, why));
    complain(w, why);
    return 0;
}

/* Whether the node's file is another one than that given last. */
static bool is_new(struct wisdom *w)
{
    struct stat info;
    if (stat(w->path, &info) != 0
        || (info.st_ino == w->seen_inode && info.st_mtim.tv_sec == w->seen.tv_sec
            && info.st_mtim.tv_nsec == w->seen.tv_nsec))
        return false;
    w->seen_inode = info.st_ino;
    w->seen = info.st_mtim;
    return true;
}

/* True for a folder that takes no file, too: everybody plans. */
static bool try_claim(struct wisdom *w)
{
    const int fd = open(w->claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno != EEXIST;
    close(fd);
    w->claimed = true;
    return true;
}

/* The node's file when it is new; else a claim, or the wait for whoever has it. */
static int give_shared(struct wisdom *w)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    snprintf(w->from, sizeof w->from, "%s", w->path);
    for (;;) {
        if (is_new(w))
            return wisdom_read(w, &w->text);
        if (w->claimed)
            return 0;
        const bool mine = try_claim(w);
        if (is_new(w)) /* written between the two looks */
            return wisdom_read(w, &w->text);
        w->gave_up = !mine && (w->gave_up || clock_wall() > w->limit);
        if (mine || w->gave_up)
            return 0;
        nanosleep(&pause, NULL);
    }
}

static int next_text(void *context, const struct backend *be, enum fft_kind kind, long n,
                     int asked, const char **text)
{
    struct wisdom *w = context;
    char why[sizeof w->from + 80];
    (void)kind; /* a file holds all transforms of a length */
    w->asked = true;
    snprintf(why, sizeof why, "%s is not accepted by FFTW (of another version?): ignored",
             w->from);
    complain(w, be->refused ? why : "");
    mem_free(w->text);
    w->text = NULL;
    if (asked == 0) {
        snprintf(w->from, sizeof w->from, "the wisdom stored in the result file");
        w->limit = clock_wall() + WAIT_LIMIT;
        TRY(mem_copy_text(w->stored_given ? "" : w->stored, &w->text));
        w->stored_given = true;
    } else if (asked == 1) {
        TRY(give_cached(w, be, n));
    } else {
        TRY(give_shared(w));
    }
    *text = w->text;
    return 0;
}

struct wisdom_source wisdom_source(struct wisdom *wisdom)
{
    return (struct wisdom_source){.next = next_text, .context = wisdom};
}

/* Whether a text has a plan for each problem of another, of the same rigour. */
static bool covers(const char *text, const char *part)
{
    enum { SIGNATURE = 7 };
    while (*part != '\0') {
        char line[256];
        const size_t length = strcspn(part, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < 255 ? length : 255), part);
        part += length + (part[length] == '\n');
        /* "  (solver 0 #flags #flags #flags #w #w #w #w)": rigour and problem */
        const char *words = line + strlen(line);
        for (int w = 0; w < SIGNATURE && words != NULL && words > line;) {
            words--;
            w += *words == '#';
        }
        if (line[0] == ' ' && strstr(text, words) == NULL)
            return false;
    }
    return true;
}

/* What other workers have found joins ours, which counts where both have a plan. */
static int merge(const char *text)
{
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE, .wisdom = text};
    struct backend *be = NULL;
    TRY(backend_create(&options, &be));
    backend_destroy(be);
    return 0;
}

static int write_own(struct wisdom *w, struct backend *be, const char *there)
{
    char *text = NULL;
    TRY(merge(there));
    TRY(backend_wisdom(be, &text));
    if (wisdom_text_write(w->path, text, w->claimed)) {
        is_new(w); /* our own text need not come back */
        speak(w);
    } else {
        log_debug("cannot write %s: %s", w->path, strerrordesc_np(errno));
    }
    mem_free(text);
    return 0;
}

int wisdom_share(struct wisdom *wisdom, struct backend *be)
{
    char *own = NULL;
    char *there = NULL;
    int rc = 0;
    if (!wisdom->asked)
        return 0;
    TRY_OR(rc, done, backend_wisdom(be, &own));
    TRY_OR(rc, done, wisdom_read(wisdom, &there));
    wisdom->asked = false;
    if (covers(there, own))
        goto done;
    if (!wisdom->claimed && !try_claim(wisdom) && !wisdom->gave_up) {
        wisdom->asked = true; /* somebody is at it: next time */
        goto done;
    }
    mem_free(there); /* nobody changes it while the claim is ours */
    there = NULL;
    TRY_OR(rc, done, wisdom_read(wisdom, &there));
    rc = write_own(wisdom, be, there);
done:
    mem_free(there);
    mem_free(own);
    if (wisdom->claimed)
        wisdom_unclaim(wisdom);
    return rc;
}

int wisdom_share_last(struct wisdom *wisdom, struct backend *be)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const double limit = clock_wall() + WAIT_LIMIT;
    TRY(wisdom_share(wisdom, be));
    while (wisdom->asked) {
        wisdom->gave_up = wisdom->gave_up || clock_wall() > limit;
        nanosleep(&pause, NULL);
        TRY(wisdom_share(wisdom, be));
    }
    return 0;
}
