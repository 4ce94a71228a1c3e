/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/script.h"

#include <string.h>

#include "slurm/block.h"
#include "slurm/quote.h"
#include "slurm/script_text.h"
#include "slurm/walltime.h"

#define MAIL_EVENTS "END,FAIL"

/* "#SBATCH --name=value", nothing for NULL. */
static void write_setting(const char *name, const char *value, FILE *out)
{
    if (value == NULL)
        return;
    fprintf(out, "#SBATCH --%s=", name);
    quote_sbatch(value, out);
    fputc('\n', out);
}

static void write_number(const char *name, long value, FILE *out)
{
    fprintf(out, "#SBATCH --%s=%ld\n", name, value);
}

static void write_mail(const char *mail, FILE *out)
{
    if (mail == NULL)
        return;
    const int length = (int)strcspn(mail, ":");
    const char *const events = mail[length] == ':' ? mail + length + 1 : MAIL_EVENTS;
    fprintf(out, "#SBATCH --mail-user=\"%.*s\" --mail-type=%s\n", length, mail, events);
}

/* "--gres=a:b" as "--gres="a:b"": a value may hold blanks and quotes. */
static void write_option(const char *option, FILE *out)
{
    const size_t length = strcspn(option, "=");
    fprintf(out, "#SBATCH %.*s", (int)length, option);
    if (option[length] == '=') {
        fputc('=', out);
        quote_sbatch(option + length + 1, out);
    }
    fputc('\n', out);
}

/* Slurm fills in nothing in a name with a backslash: such a log is opened by the script. */
static bool opens_log(const struct batch *batch)
{
    return strchr(batch->stem, '\\') != NULL;
}

static void write_log(const struct batch *batch, enum submission_kind kind, FILE *out)
{
    char log[PLACE_SIZE];
    const char *const part = kind == SUBMISSION_COLLECT ? ".collect"
                             : kind == SUBMISSION_PLOT  ? ".plot"
                                                        : "";
    const bool array = kind == SUBMISSION_RUN && batch->choice->shards > 1;
    if (opens_log(batch)) {
        fprintf(out, "#SBATCH --output=/dev/null --open-mode=append\n");
        return;
    }
    snprintf(log, sizeof log, "%s%s.", batch->stem, part);
    fprintf(out, "#SBATCH --output=");
    quote_sbatch_path(log, array ? "%A_%a.out" : "%j.out", out);
    fprintf(out, " --open-mode=append\n");
}

/* What the jobs of the shards ask for. */
static void write_resources(const struct batch *batch, FILE *out)
{
    const struct choice *const c = batch->choice;
    char time[WALLTIME_SIZE];
    write_number("nodes", c->nodes, out);
    write_number("ntasks-per-node", c->workers, out);
    if (batch->plan.threads > 0)
        write_number("cpus-per-task", batch->plan.threads, out);
    else
        fprintf(out, "#SBATCH --exclusive\n"); /* a worker takes all cores of a socket */
    if (c->gpus > 0)
        write_number("gpus-per-node", c->gpus, out);
    write_setting("mem", c->mem, out);
    walltime_text(c->minutes, time);
    if (c->minutes != 0)
        fprintf(out, "#SBATCH --time=%s\n", time);
    fprintf(out, "#SBATCH --signal=B:USR1@%ld\n", batch->signal);
    if (c->shards > 1) {
        fprintf(out, "#SBATCH --array=1-%ld", batch_tasks(batch, 0));
        if (batch_throttle(batch) > 0)
            fprintf(out, "%%%ld", batch_throttle(batch));
        fputc('\n', out);
    }
}

static void write_small_resources(const struct batch *batch, FILE *out)
{
    char time[WALLTIME_SIZE];
    walltime_text(batch->choice->minutes, time);
    fprintf(out, "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n");
    if (batch->choice->minutes != 0)
        fprintf(out, "#SBATCH --time=%s\n", time);
    fprintf(out, "#SBATCH --signal=B:USR1@60\n");
}

static void write_settings(const struct batch *batch, enum submission_kind kind, FILE *out)
{
    const struct choice *const c = batch->choice;
    char name[PLAN_NAME_SIZE + 16];
    snprintf(name, sizeof name, "%s%s", batch->name,
             kind == SUBMISSION_COLLECT ? "-collect"
             : kind == SUBMISSION_PLOT  ? "-plot"
                                        : "");
    write_setting("job-name", name, out);
    write_log(batch, kind, out);
    fprintf(out, "#SBATCH --requeue\n");
    if (kind == SUBMISSION_RUN)
        write_resources(batch, out);
    else
        write_small_resources(batch, out);
    write_setting("partition", c->partition, out);
    write_setting("account", c->account, out);
    write_setting("qos", c->qos, out);
    write_setting("constraint", c->constraint, out);
    write_mail(c->mail, out);
    for (int i = 0; i < c->sbatch_options.count; i++)
        write_option(c->sbatch_options.word[i], out);
}

static void write_value(const char *name, const char *value, FILE *out)
{
    fprintf(out, "%s=", name);
    quote_shell(value, out);
    fputc('\n', out);
}

/* What differs between scans; the rest of a script is the same everywhere. */
static void write_run_values(const struct batch *batch, FILE *out)
{
    const struct choice *const c = batch->choice;
    write_value("scan", batch->scan, out);
    fprintf(out, "workers=%ld   # of all nodes\nshards=%ld\n", c->nodes * c->workers,
            c->shards);
    write_value("launcher", c->launcher != NULL ? c->launcher : "auto", out);
    write_value("image", batch->image, out);
    fprintf(out, "sets=(");
    for (int i = 0; i < c->sets.count; i++) {
        fprintf(out, "%s--set ", i > 0 ? " " : "");
        quote_shell(c->sets.word[i], out);
    }
    fprintf(out, ")\n");
}

static void write_values(const struct batch *batch, enum submission_kind kind, FILE *out)
{
    write_value("scanfarm", batch->scanfarm, out);
    if (kind != SUBMISSION_RUN || opens_log(batch))
        write_value("stem", batch->stem, out);
    if (kind != SUBMISSION_COLLECT)
        write_value("result", batch->result, out);
    fprintf(out, "most_restarts=%ld\n", batch->choice->max_restarts);
    if (kind == SUBMISSION_RUN)
        write_run_values(batch, out);
    if (kind == SUBMISSION_PLOT) {
        fprintf(out, "kinds=(");
        for (int i = 0; i < batch->choice->plots.count; i++) {
            fputs(i > 0 ? " " : "", out);
            quote_shell(batch->choice->plots.word[i], out);
        }
        fprintf(out, ")\n");
    }
    if (opens_log(batch))
        fprintf(out, "exec >>\"$stem.${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}"
                     "${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}.out\" 2>&1\n");
}

/* How the script is used by hand. */
static void write_usage(const struct batch *batch, enum submission_kind kind, FILE *out)
{
    static const char *const does[] = {[SUBMISSION_RUN] = "computes",
                                       [SUBMISSION_COLLECT] = "joins the shards of",
                                       [SUBMISSION_PLOT] = "draws pictures of"};
    char path[PLACE_SIZE];
    batch_script(batch, kind, path);
    fprintf(out, "# This job %s %s. Written by scanfarm submit.\n# By hand: sbatch ",
            does[kind], batch->name);
    quote_shell(path, out);
    fputc('\n', out);
    if (kind != SUBMISSION_RUN || batch->choice->shards == 1)
        return;
    fprintf(out, "# Its arguments: how many shards stand before those of the array (0), and "
                 "`retry`.\n");
    for (long offset = batch->piece; offset < batch->choice->shards; offset += batch->piece) {
        fprintf(out, "#          sbatch --array=1-%ld ", batch_tasks(batch, offset));
        quote_shell(path, out);
        fprintf(out, " %ld\n", offset);
    }
}

void script_write(const struct batch *batch, enum submission_kind kind, FILE *out)
{
    fprintf(out, "#!/bin/bash\n");
    write_usage(batch, kind, out);
    write_settings(batch, kind, out);
    fprintf(out,
            "# What stands in single quotes means itself; functions are called by traps.\n"
            "# shellcheck disable=SC2016,SC2317\n"
            "set -euo pipefail\n\n"
            "set +u\n"
            "%s: modules and environment. Yours to change: submit keeps what stands here.\n"
            "%s%s\n"
            "set -u\n\n",
            BLOCK_BEGIN, batch->block, BLOCK_END);
    write_values(batch, kind, out);
    fputs(script_text_common, out);
    fputs(kind == SUBMISSION_RUN       ? script_text_run
          : kind == SUBMISSION_COLLECT ? script_text_collect
                                       : script_text_plot,
          out);
}
