/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/arguments.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

void arguments_add(struct arguments *arguments, const char *format, ...)
{
    char text[RUN_PATH_SIZE + 64];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (arguments->error != 0)
        return;
    if (arguments->count == ARGUMENTS_MAX)
        arguments->error =
            status_fail(ERR_UNSUPPORTED, "more than %d words for a rank", ARGUMENTS_MAX);
    else
        arguments->error = mem_copy_text(text, &arguments->word[arguments->count]);
    arguments->count += arguments->error == 0;
}

static void add_backend(struct arguments *arguments, const struct backend_options *backend)
{
    static const char *const rigours[] = {
        [FFT_ESTIMATE] = "estimate", [FFT_MEASURE] = "measure", [FFT_PATIENT] = "patient"};
    arguments_add(arguments, "--backend=%s", backend->name);
    arguments_add(arguments, "--isa=%s", backend->isa);
    arguments_add(arguments, "--fft-rigour=%s", rigours[backend->rigour]);
    if (backend->threads > 0)
        arguments_add(arguments, "--threads=%d", backend->threads);
    for (int i = 0; i < THRESHOLDS; i++)
        if (backend->threshold[i] > 0)
            arguments_add(arguments, "--threshold=%s=%ld", backend_thresholds()[i].name,
                          backend->threshold[i]);
}

static void add_flags(struct arguments *arguments, const struct run_options *options)
{
    if (options->quiet)
        arguments_add(arguments, "--quiet");
    if (options->verbose)
        arguments_add(arguments, "--verbose");
    if (!options->reduce)
        arguments_add(arguments, "--no-reduce");
    if (options->terminal)
        arguments_add(arguments, "--rank-terminal");
}

int arguments_add_run(struct arguments *arguments, const struct run_options *options,
                      const char *run)
{
    char self[RUN_PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        FAIL(ERR_IO, "cannot find this program itself: %s", strerrordesc_np(errno));
    self[length] = '\0';
    arguments_add(arguments, "%s", self);
    arguments_add(arguments, "run");
    arguments_add(arguments, "--rank-of=%s", run);
    arguments_add(arguments, "--output=%s", options->file);
    arguments_add(arguments, "--chunk-time=%.17g", options->chunk_time);
    if (options->rows > 0)
        arguments_add(arguments, "--rows=%ld", options->rows);
    if (options->deadline > 0)
        arguments_add(arguments, "--rank-deadline=%.17g", options->deadline);
    add_backend(arguments, &options->backend);
    add_flags(arguments, options);
    if (options->self_check > 0)
        arguments_add(arguments, "--self-check=%ld", options->self_check);
    if (options->only != NULL)
        arguments_add(arguments, "--only=%s", options->only);
    for (int i = 0; i < options->overrides; i++)
        arguments_add(arguments, "--set=%s", options->override[i].text);
    arguments_add(arguments, "--");
    arguments_add(arguments, "%s", options->scan_path);
    return arguments->error;
}

void arguments_clear(struct arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++)
        mem_free(arguments->word[i]);
    memset(arguments, 0, sizeof *arguments);
}
