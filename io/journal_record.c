/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making records. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/journal_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/status.h"

void record_add(struct record *record, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(record->text + record->used, sizeof record->text - record->used,
                            format, arguments);
    va_end(arguments);
    if (n > 0)
        record->used += (size_t)n;
    if (record->used > sizeof record->text - 1)
        record->used = sizeof record->text - 1;
}

void record_add_text(struct record *record, const char *name, const char *text)
{
    record_add(record, ",\"%s\":\"", name);
    size_t length = strlen(text);
    if (length >= JOURNAL_TEXT_SIZE) {
        length = JOURNAL_TEXT_SIZE - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == '{' || c == '}' || c == 0x7f)
            record_add(record, "\\u%04x", c);
        else
            record_add(record, "%c", c);
    }
    record_add(record, "\"");
}

void record_add_number(struct record *record, const char *name, double value)
{
    if (isfinite(value))
        record_add(record, ",\"%s\":%.6g", name, value);
    else
        record_add(record, ",\"%s\":null", name);
}

void record_begin(struct journal *journal, struct record *record, const char *kind)
{
    char now[CLOCK_ISO_SIZE];
    clock_iso(now);
    record->used = 0;
    record_add(record,
               "\n{\"record\":\"%s\",\"attempt\":%lld,\"sequence\":%lld,\"time\":\"%s\"", kind,
               (long long)journal->attempt, (long long)journal->sequence++, now);
    record_add_text(record, "run", journal->run);
}

int record_write(struct journal *journal, struct record *record)
{
    record_add(record, "}");
    /* One write in all but a full disk, which tells its errno at the second. */
    for (size_t done = 0; done < record->used;) {
        const ssize_t written = write(journal->fd, record->text + done, record->used - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            FAIL(ERR_IO, "cannot write %s: %s", journal->path,
                 strerror(written < 0 ? errno : ENOSPC));
        done += (size_t)written;
    }
    return 0;
}
