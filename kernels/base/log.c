/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "kernels/base/clock.h"

static struct {
    enum log_level level;
    int rank;
    char host[64];
} settings = {.level = LOG_INFO, .rank = -1};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_set_level(enum log_level level)
{
    settings.level = level;
}

void log_set_writer(int rank, const char *host)
{
    settings.rank = rank;
    snprintf(settings.host, sizeof settings.host, "%s", host);
}

/* What a terminal would obey: C0 characters, DEL, and C1 characters in UTF-8. */
static bool is_control(const unsigned char *c)
{
    return *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

/* Copy as one line: newlines as spaces, other control characters as \xNN. Cut at size. */
static size_t write_plain(const char *text, char *line, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0' && used + 5 < size;
         c++) {
        if (*c == '\n') {
            line[used++] = ' ';
        } else if (!is_control(c)) {
            line[used++] = (char)*c;
        } else {
            const unsigned char code = *c == 0xc2 ? *++c : *c;
            line[used++] = '\\';
            line[used++] = 'x';
            line[used++] = digits[code >> 4];
            line[used++] = digits[code & 15];
        }
    }
    line[used++] = '\n';
    return used;
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > settings.level)
        return;
    char text[2400];
    char line[2800];
    int used;
    if (settings.rank >= 0) {
        char now[CLOCK_ISO_SIZE];
        clock_iso(now);
        used = snprintf(text, sizeof text, "%s %s %d@%s: ", now, level_names[level],
                        settings.rank, settings.host);
    } else {
        used =
            snprintf(text, sizeof text, "scanfarm: %s", level == LOG_WARN ? "warning: " : "");
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    const size_t length = write_plain(text, line, sizeof line);
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* there is nowhere left to say it */
}
