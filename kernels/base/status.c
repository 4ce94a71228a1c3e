/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "kernels/base/log.h"

static _Thread_local char *capture_buffer;
static _Thread_local size_t capture_size;

static const struct {
    const char *name;
    int exit_code;
} status_table[] = {{"ok", 0},
#define STATUS_ROW(code, text, exit_code) {text, exit_code},
                    STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static int status_row(int code)
{
    const int rows = (int)(sizeof status_table / sizeof status_table[0]);
    return code >= 0 && code < rows ? code : ERR_BUG;
}

const char *status_name(int code)
{
    return status_table[status_row(code)].name;
}

int status_exit_code(int code)
{
    return status_table[status_row(code)].exit_code;
}

int status_fail(int code, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (capture_buffer == NULL)
        log_error("%s", text);
    else if (capture_buffer[0] == '\0')
        snprintf(capture_buffer, capture_size, "%s", text);
    return code;
}

void status_capture(char *buffer, size_t size)
{
    capture_buffer = size > 0 ? buffer : NULL;
    capture_size = size;
    if (capture_buffer != NULL)
        capture_buffer[0] = '\0';
}

struct status_saved status_capture_save(void)
{
    return (struct status_saved){capture_buffer, capture_size};
}

void status_capture_restore(struct status_saved saved)
{
    capture_buffer = saved.buffer;
    capture_size = saved.size;
}
