/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/protocol.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/status.h"

const char *message_name(uint32_t kind)
{
    static const char *const names[] = {"NONE",
#define PROTOCOL_NAME(kind, from, to, on, state, answer) #kind,
                                        PROTOCOL_LIST(PROTOCOL_NAME)
#undef PROTOCOL_NAME
    };
    return kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

struct message message_make(enum message_kind kind, uint64_t attempt)
{
    struct message m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.version = PROTOCOL_VERSION;
    m.attempt = attempt;
    return m;
}

int message_check(const struct message *message, uint64_t attempt)
{
    if (message->version != PROTOCOL_VERSION)
        FAIL(ERR_MPI,
             "a %s message has protocol version %" PRIu32
             ", this program speaks %d: all ranks must run the same scanfarm",
             message_name(message->kind), message->version, PROTOCOL_VERSION);
    if (message->attempt != attempt)
        FAIL(ERR_MPI, "a %s message belongs to attempt %" PRIx64 ", this is attempt %" PRIx64,
             message_name(message->kind), message->attempt, attempt);
    return 0;
}

int64_t give_count(const struct message_give *give)
{
    return give->count > 0 ? give->count : give->length;
}

int64_t give_id(const struct message_give *give, int64_t i)
{
    return give->count > 0 ? give->id[i] : give->first + i;
}

bool report_add(struct message_report *report, const struct report_run *one)
{
    if (report->runs > 0) {
        struct report_run *last = &report->run[report->runs - 1];
        if (last->pass == one->pass && last->state == one->state && one->pass == PASS_MEMBER
            && last->first + last->count == one->first) {
            last->count += one->count;
            last->seconds += one->seconds;
            return true;
        }
    }
    if (report->runs == PROTOCOL_RUNS_MAX)
        return false;
    report->run[report->runs++] = *one;
    return true;
}
