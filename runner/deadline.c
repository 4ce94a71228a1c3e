/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/deadline.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/base/clock.h"
#include "kernels/base/command.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "scans/units.h"

#define MARGIN       20.0 /* s before the end of the job */
#define MARGIN_SHARE 0.1  /* of the time that is left, when that is less */
#define MARGIN_MOST  0.5  /* … and at most of it */
#define SQUEUE_LIMIT 10.0 /* s that squeue may take */
#define WHY_SIZE     320

static double epoch_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Two or three numbers with colons between them; how many, 0 for anything else. */
static int read_parts(const char *text, long part[3])
{
    int parts = 0;
    char *end = NULL;
    for (; parts < 3 && isdigit((unsigned char)*text); text = end + (*end == ':')) {
        part[parts++] = strtol(text, &end, 10);
        if (*end != ':' && *end != '\0')
            return 0;
    }
    return *text == '\0' && parts >= 2 ? parts : 0;
}

/* "D-HH:MM:SS", "D-HH:MM", "HH:MM:SS", "MM:SS" as Slurm reads them: only the first number may
 * be any. */
static bool read_colons(const char *text, double *seconds)
{
    long part[3];
    const char *const dash = strchr(text, '-');
    const bool days = dash != NULL && isdigit((unsigned char)text[0])
                      && strspn(text, "0123456789") == (size_t)(dash - text);
    const int parts = read_parts(days ? dash + 1 : text, part);
    *seconds = 0;
    if (parts == 0 || (days && part[0] >= 24))
        return false;
    for (int i = 0; i < parts; i++) {
        if (i > 0 && part[i] >= 60)
            return false;
        *seconds = 60 * *seconds + (double)part[i];
    }
    if (days && parts == 2)
        *seconds *= 60;
    if (days)
        *seconds += 86400.0 * (double)strtol(text, NULL, 10);
    return true;
}

int deadline_read(const char *option, const char *text, double *seconds)
{
    char why[UNITS_WHY_SIZE] = "";
    struct units *units = NULL;
    *seconds = 0;
    if (!read_colons(text, seconds)) {
        TRY(units_create(&units));
        const int rc = units_value(units, text, "s", seconds, why);
        units_destroy(units);
        if (rc != 0)
            FAIL(ERR_ARGUMENT, "%s %s: %s; a time is wanted, as in 90 s, 2 h or 1:30:00",
                 option, text, why);
    }
    if (!(*seconds > 0 && *seconds < 1e9))
        FAIL(ERR_ARGUMENT, "%s %s: a time above 0 is wanted, as in 90 s, 2 h or 1:30:00",
             option, text);
    return 0;
}

static bool is_number(const char *text)
{
    return text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* squeue says when the job will end; a controller that does not answer is not waited for. */
static double ask_squeue(const char *job, char *why, size_t size)
{
    const char *const words[] = {"squeue", "--noheader", "--jobs", job, "--format", "%e", NULL};
    struct command_result result;
    struct tm local = {.tm_isdst = -1};
    double end = 0;
    if (command_run(words, SQUEUE_LIMIT, &result) != 0)
        snprintf(why, size, "squeue cannot be started");
    else if (!command_succeeded(&result))
        command_explain(&result, "squeue", SQUEUE_LIMIT, why, size);
    else if (strptime(result.output, "%Y-%m-%dT%H:%M:%S", &local) == NULL)
        snprintf(why, size, "squeue says '%.40s'", result.output);
    else
        end = (double)mktime(&local);
    command_clear(&result);
    return end;
}

double deadline_of_job(void)
{
    char why[WHY_SIZE] = "";
    const char *const end = getenv("SLURM_JOB_END_TIME");
    const char *const job = getenv("SLURM_JOB_ID");
    if (is_number(end))
        return strtod(end, NULL);
    const double asked = is_number(job) ? ask_squeue(job, why, sizeof why) : 0;
    if (is_number(job) && asked <= 0)
        log_warn(
            "the end of job %s is not known (no SLURM_JOB_END_TIME; %s): give --time-limit",
            job, why);
    return asked;
}

double deadline_stop(double deadline, double closing)
{
    if (deadline <= 0)
        return 0;
    const double left = deadline - epoch_now();
    double margin = MARGIN_SHARE * left < MARGIN ? MARGIN_SHARE * left : MARGIN;
    margin = margin + closing < MARGIN_MOST * left ? margin + closing : MARGIN_MOST * left;
    const double stop = clock_wall() + left - (margin > 0 ? margin : 0);
    return stop > 0 ? stop : 1e-9;
}
