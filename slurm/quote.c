/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/quote.h"

#include <ctype.h>
#include <string.h>

bool quote_can(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool is_plain(const char *text)
{
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr("_./:,=+@%-", *text) == NULL)
            return false;
    return true;
}

void quote_shell(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    }
    fputc('\'', out);
}

static void write_inside(const char *text, bool path, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if (*text == '%' && path)
            fputc('%', out);
        fputc(*text, out);
    }
}

void quote_sbatch(const char *text, FILE *out)
{
    fputc('"', out);
    write_inside(text, false, out);
    fputc('"', out);
}

void quote_sbatch_path(const char *text, const char *pattern, FILE *out)
{
    fputc('"', out);
    write_inside(text, true, out);
    fprintf(out, "%s\"", pattern);
}
