/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "runner/text.h"

#define TERMINAL_PERIOD 0.2
#define PLAIN_PERIOD    10.0

double progress_rate(const struct progress_counts *counts)
{
    const int64_t ended = counts->done + counts->failed;
    return ended > 0 && counts->elapsed > 0 ? (double)ended / counts->elapsed : 0;
}

double progress_eta(const struct progress_counts *counts)
{
    const double rate = progress_rate(counts);
    const int64_t left = counts->total - counts->before - counts->done - counts->failed;
    if (left <= 0 && counts->judged >= counts->judges)
        return 0;
    if (counts->left > 0)
        return counts->left;
    return rate > 0 && left > 0 ? (double)left / rate : (double)NAN;
}

/* Append at the end of a text, cut at its size. */
static void append(char text[PROGRESS_LINE_SIZE], const char *piece)
{
    const size_t used = strlen(text);
    snprintf(text + used, PROGRESS_LINE_SIZE - used, "%s", piece);
}

#define BAND_FACTOR 10 /* bounds further than so many times from the value say nothing */

/* Nor do bounds that read like the value itself. */
static void append_band(const struct progress_counts *counts, const char *span,
                        char text[PROGRESS_LINE_SIZE])
{
    char piece[2 * TEXT_SIZE + 16];
    char low[TEXT_SIZE];
    char high[TEXT_SIZE];
    if (!(counts->left > 0 && counts->left_high > counts->left_low)
        || counts->left_high > BAND_FACTOR * counts->left
        || BAND_FACTOR * counts->left_low < counts->left)
        return;
    text_seconds(counts->left_low, low);
    text_seconds(counts->left_high, high);
    if (strcmp(low, span) == 0 && strcmp(high, span) == 0)
        return;
    snprintf(piece, sizeof piece, " (%s to %s)", low, high);
    append(text, piece);
}

static void append_rate(const struct progress_counts *counts, char text[PROGRESS_LINE_SIZE])
{
    char piece[TEXT_SIZE + 16];
    const double rate = progress_rate(counts);
    if (rate >= 1)
        snprintf(piece, sizeof piece, ", %.3g/s", rate);
    else if (rate > 0)
        snprintf(piece, sizeof piece, ", %.3g/min", 60 * rate);
    else
        piece[0] = '\0';
    append(text, piece);
    const double eta = progress_eta(counts);
    if (eta > 0) {
        char span[TEXT_SIZE];
        text_seconds(eta, span);
        snprintf(piece, sizeof piece, ", %s left", span);
        append(text, piece);
        append_band(counts, span, text);
    }
}

void progress_format(const struct progress_counts *counts, char text[PROGRESS_LINE_SIZE])
{
    const int64_t ended = counts->before + counts->done + counts->failed;
    const double share = counts->total > 0 ? 100 * (double)ended / (double)counts->total : 100;
    snprintf(text, PROGRESS_LINE_SIZE, "%" PRId64 "/%" PRId64 " members (%.1f %%)", ended,
             counts->total, share);
    char piece[96];
    if (counts->failed > counts->timed_out) {
        snprintf(piece, sizeof piece, ", %" PRId64 " failed",
                 counts->failed - counts->timed_out);
        append(text, piece);
    }
    if (counts->timed_out > 0) {
        snprintf(piece, sizeof piece, ", %" PRId64 " timed out", counts->timed_out);
        append(text, piece);
    }
    if (counts->running > 0) {
        snprintf(piece, sizeof piece, ", %" PRId64 " running", counts->running);
        append(text, piece);
    }
    if (counts->points > 0) {
        snprintf(piece, sizeof piece, ", %" PRId64 "/%" PRId64 " points reduced",
                 counts->reduced, counts->points);
        append(text, piece);
    }
    if (counts->judges > 0) {
        snprintf(piece, sizeof piece, ", %" PRId64 "/%" PRId64 " judged", counts->judged,
                 counts->judges);
        append(text, piece);
    }
    append_rate(counts, text);
}

/* What changes when something has ended. */
static int64_t ended_of(const struct progress_counts *counts)
{
    return counts->before + counts->done + counts->failed + counts->reduced + counts->judged;
}

void progress_begin(struct progress *progress, bool terminal, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->terminal = terminal;
    progress->quiet = quiet;
    progress->begin = clock_wall();
    progress->last = progress->begin;
    progress->shown = -1;
}

static void draw(struct progress *progress, const char *text, const char *end)
{
    char line[PROGRESS_LINE_SIZE + 16];
    const int length = snprintf(line, sizeof line, "\r%s\x1b[K%s", text, end);
    progress->drawn = *end == '\0';
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        progress->quiet = true; /* nobody reads it any more */
}

static void show(struct progress *progress, const struct progress_counts *counts, bool last)
{
    char text[PROGRESS_LINE_SIZE];
    progress_format(counts, text);
    if (progress->terminal)
        draw(progress, text, last ? "\n" : "");
    else
        log_info("%s", text);
    progress->last = clock_wall();
    progress->shown = ended_of(counts);
}

void progress_update(struct progress *progress, const struct progress_counts *counts)
{
    const double period = progress->terminal ? TERMINAL_PERIOD : PLAIN_PERIOD;
    if (!progress->quiet && clock_wall() - progress->last >= period)
        show(progress, counts, false);
}

void progress_end(struct progress *progress, const struct progress_counts *counts)
{
    if (!progress->quiet && (progress->drawn || ended_of(counts) != progress->shown))
        show(progress, counts, true);
    progress->drawn = false;
}

void progress_wipe(struct progress *progress)
{
    if (progress->drawn)
        draw(progress, "", "");
    progress->drawn = false;
}
