/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams and events of the emulated device. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "tests/emu/machine.h"
#include "tests/emu/stop.h"

#define LATER_MAX 1024

struct emu_stream {
    bool aside;
    long copies; /* downloads that were asked for */
    long knows;  /* work of the main stream that it comes behind */
};

struct emu_event {
    const struct emu_stream *stream; /* NULL: recorded nowhere */
    long copies;
    long work;
    double time;
};

/* A download that the host does not see yet. */
struct later {
    const struct emu_stream *stream;
    long number;
    void *to;
    const void *from;
    char *kept; /* its bytes; NULL: they are read when they arrive */
    size_t bytes;
};

static struct later waiting[LATER_MAX]; /* in the order in which they were asked for */
static int count;
static long done; /* work of main streams */
static bool refused;

void emu_refuse_records(bool refuse)
{
    refused = refuse;
}

bool emu_records(void)
{
    return !refused;
}

void emu_worked(void)
{
    done++;
}

struct emu_stream *emu_stream_new(bool aside)
{
    struct emu_stream *const stream = calloc(1, sizeof *stream);
    if (stream != NULL)
        stream->aside = aside;
    return stream;
}

void emu_stream_free(struct emu_stream *stream)
{
    int left = 0;
    for (int i = 0; stream != NULL && i < count; i++) {
        if (waiting[i].stream != stream)
            waiting[left++] = waiting[i];
        else if (emu_failed())
            free(waiting[i].kept);
        else
            emu_stop("a download was not waited for");
    }
    count = stream != NULL ? left : count;
    free(stream);
}

void emu_stream_wait(struct emu_stream *stream, const struct emu_event *event)
{
    stream->knows = event->work > stream->knows ? event->work : stream->knows;
}

struct emu_event *emu_event_new(void)
{
    return calloc(1, sizeof(struct emu_event));
}

void emu_event_free(struct emu_event *event)
{
    free(event);
}

void emu_event_record(struct emu_event *event, struct emu_stream *stream)
{
    event->stream = stream;
    event->copies = stream->copies;
    event->work = stream->aside ? stream->knows : done;
    event->time = clock_wall();
}

static void arrive(const struct later *copy)
{
    const bool comes = !emu_failed();
    if (comes && copy->kept != NULL)
        memcpy(copy->to, copy->kept, copy->bytes);
    else if (comes)
        emu_copy_down(copy->to, copy->from, copy->bytes);
    free(copy->kept);
}

void emu_event_wait(const struct emu_event *event)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (event->stream != NULL && waiting[i].stream == event->stream
            && waiting[i].number <= event->copies)
            arrive(&waiting[i]);
        else
            waiting[left++] = waiting[i];
    }
    count = left;
}

double emu_event_between(const struct emu_event *first, const struct emu_event *last)
{
    emu_event_wait(last);
    return last->time - first->time;
}

void emu_copy_later(void *to, const void *from, size_t bytes, struct emu_stream *stream)
{
    struct later copy = {.stream = stream, .to = to, .from = from, .bytes = bytes};
    if (stream->aside && stream->knows < done)
        emu_stop("a download aside does not wait for what was launched before it");
    if (count == LATER_MAX)
        emu_stop("too many downloads are not waited for");
    copy.number = ++stream->copies;
    if (!stream->aside) {
        copy.kept = malloc(bytes + 1);
        if (copy.kept == NULL)
            emu_stop("no room for a download");
        emu_copy_down(copy.kept, from, bytes);
    }
    memset(to, 0xff, bytes);
    waiting[count++] = copy;
}
