/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file's own configuration says of it. */
#include <stdlib.h>
#include <string.h>

#include "io/canonical.h"
#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/judging.h"
#include "runner/shard.h"
#include "runner/survey.h"
#include "runner/text.h"
#include "runner/verifying.h"

const struct scan *verifying_scan(const struct verifying *v)
{
    return v->given != NULL ? v->given : v->scan;
}

static int verify_shard(const struct verifying *v)
{
    struct verify_report *const report = v->report;
    const struct store_window there = store_window(v->store);
    struct store_window right;
    if (there.shards < 2) {
        verify_skip(report, VERIFY_SHARD, "the file holds the whole scan");
        return 0;
    }
    TRY(shard_window(v->scan, there.shard, there.shards, &right));
    report->kind[VERIFY_SHARD].checked++;
    char members[2][TEXT_SIZE];
    text_members(right.first, right.first + right.count - 1, members[0]);
    text_members(there.first, there.first + there.count - 1, members[1]);
    if (there.first != right.first || there.count != right.count)
        verify_break(report, VERIFY_SHARD, "shard %ld/%ld has %s, the file %s", there.shard,
                     there.shards, members[0], members[1]);
    return 0;
}

/* Planes of a member: where the configuration puts them, and which its envelope judges. */
static int fill_planes(void *context, int64_t member, struct verify_planes *out)
{
    struct verifying *const v = context;
    const struct scan *const scan = v->scan;
    const struct plane_request *const saved = &scan_get_save(scan)->planes;
    struct plane_layout layout;
    TRY(survey_layout(scan, &v->spec->params, member / scan_realisations(scan), &layout));
    out->planes = layout.planes;
    out->span = layout.span;
    for (long k = 0; k < layout.planes; k++)
        out->position[k] = layout_plane_position(&layout, saved, k);
    return judging_planes(verifying_scan(v), &layout, out->judged);
}

static int fill_zeros(void *context, int64_t member, int array, uint8_t *zero)
{
    struct verifying *const v = context;
    scan_point(v->scan, member / scan_realisations(v->scan), &v->spec->params);
    return scan_model(v->scan)->zeros(&v->spec->params, array, zero);
}

/* Right-hand sides of rk45: the first slope, then six a trial, first same as last
 * (kernels/step/rk45.c); a replay makes its steps by the same formulas. Other methods count in
 * another way. */
static struct verify_law find_law(const struct verifying *v)
{
    const struct verify_law none = {.known = false};
    const struct model_info *const info = scan_model(v->scan)->info;
    for (int i = 0; i < info->param_count; i++) {
        if (strcmp(info->params[i].name, "stepper.method") != 0)
            continue;
        scan_point(v->scan, 0, &v->spec->params);
        const int method = (int)v->spec->params.values[i].number;
        const char *const name = info->params[i].choices[method];
        const bool rk45 = strcmp(name, "rk45") == 0;
        if (!rk45 && strcmp(name, "fixed") != 0)
            return none;
        return (struct verify_law){.known = true, .controlled = rk45, .first = 1, .each = 6};
    }
    return none;
}

/* Whether the file was worked on more than once, or by others: each run may have had a sample
 * of its own, and the configuration keeps that of the first. */
static int sample_may_differ(const struct verifying *v, bool *may)
{
    char *text = NULL;
    int attempts = 0;
    *may = false;
    TRY(read_text(v->store, "provenance/layout", &text));
    *may = strncmp(text, "members collected", 17) == 0;
    mem_free(text);
    for (int64_t row = 0; row < STORE_ATTEMPT_ROWS; row++) {
        char software[120];
        TRY(read_text_row(v->store, "provenance/attempt/software", row, software,
                          sizeof software));
        attempts += software[0] != '\0';
    }
    *may = *may || attempts > 1;
    return 0;
}

/* @param chosen receives whom the sample chooses, to be freed; NULL: nobody is judged, or
 * identities that decide are not this program's */
static int find_chosen(const struct verifying *v, struct verify_envelope *out, uint8_t **chosen)
{
    struct scan *const scan = v->given != NULL ? v->given : v->scan;
    double amount = 0;
    const enum envelope_sample sample = scan_envelope_sample(scan, &amount);
    *chosen = NULL;
    if (!out->judged || (!v->identities && (sample == SAMPLE_SHARE || sample == SAMPLE_COUNT)))
        return 0;
    out->sample_given = v->given != NULL;
    if (!out->sample_given)
        TRY(sample_may_differ(v, &out->sample_may_differ));
    TRY(MEM_NEW((long)v->members.count, chosen));
    out->chosen = *chosen;
    return judging_find_chosen(scan, v->spec, v->members.first, v->members.count, *chosen);
}

static struct verify_envelope find_envelope(const struct verifying *v)
{
    const struct scan *const scan = verifying_scan(v);
    const struct scan_envelope *const asked = scan_get_envelope(scan);
    const bool stored = asked->reference == ENVELOPE_STORED;
    struct verify_envelope out = {.judged = judging_is_on(scan),
                                  .source = stored ? SOURCE_STORED : SOURCE_TIGHTER,
                                  .norm = asked->norm,
                                  .tolerance = asked->tolerance,
                                  .safety = asked->safety,
                                  .gain = asked->gain};
    if (out.judged && !stored)
        out.key = judging_key(scan, NULL);
    return out;
}

/* All that the configuration says, by the kinds. */
static int check_told(struct verifying *v, const struct verify_envelope *envelope)
{
    struct verify_report *const report = v->report;
    const struct verify_scan told = {.spec = &v->spec->store,
                                     .identities = v->identities,
                                     .law = find_law(v),
                                     .envelope = *envelope,
                                     .planes = fill_planes,
                                     .zeros =
                                         scan_model(v->scan)->zeros != NULL ? fill_zeros : NULL,
                                     .context = v};
    TRY(verify_spec(v->store, &told, report));
    TRY(verify_shard(v));
    return verify_store(v->store, &told, report);
}

static int check_scan(struct verifying *v)
{
    struct verify_report *const report = v->report;
    struct verify_envelope envelope = find_envelope(v);
    uint8_t *chosen = NULL;
    const int version = scan_model(v->scan)->info->numerics_version;
    char there[32];
    TRY(read_attribute(v->store, "/", "numerics_version", there, sizeof there));
    v->identities = strtol(there, NULL, 10) == version;
    if (!v->identities)
        verify_skip(report, VERIFY_IDENTITIES,
                    "numerics version %s of the model there, %d in this program", there,
                    version);
    int rc = find_chosen(v, &envelope, &chosen);
    if (rc == 0)
        rc = check_told(v, &envelope);
    mem_free(chosen);
    return rc;
}

static int make_spec(struct verifying *v)
{
    const struct store_window window = store_window(v->store);
    TRY(spec_create(v->scan, &v->spec));
    if (window.shards > 1)
        spec_set_window(v->spec, &window);
    return 0;
}

/* A configuration that this program does not understand leaves the rest to be looked at. */
static int skip_configuration(struct verifying *v, const char *reason)
{
    static const enum verify_kind kinds[] = {VERIFY_LAYOUT, VERIFY_IDENTITIES, VERIFY_POINTS,
                                             VERIFY_AXES,   VERIFY_SHARD,      VERIFY_VERDICTS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        verify_skip(v->report, kinds[i], "the configuration is not understood: %s", reason);
    return verify_store(v->store, NULL, v->report);
}

/* --scan says where data are and which envelope counts, of this very scan. */
static int check_own(struct verifying *v, const char *canonical)
{
    char text[500];
    int different = 0;
    if (v->given == NULL)
        return 0;
    TRY(canonical_compare(canonical, scan_canonical(v->given), text, sizeof text, &different));
    v->foreign = different > 0;
    if (v->foreign)
        FAIL(ERR_CONFLICT, "%s: --scan wants the file's own scan; %s", v->path, text);
    return 0;
}

int verify_told(struct verifying *v)
{
    char reason[300] = "";
    char *canonical = NULL;
    TRY(read_text(v->store, "config_canonical", &canonical));
    const int own = check_own(v, canonical);
    if (own != 0) {
        mem_free(canonical);
        return own;
    }
    const struct status_saved saved = status_capture_save();
    status_capture(reason, sizeof reason);
    const int rc = scan_parse_canonical(canonical, strlen(canonical), &v->scan);
    status_capture_restore(saved);
    mem_free(canonical);
    if (rc == ERR_MEMORY)
        FAIL(rc, "%s", reason);
    if (rc != 0)
        return skip_configuration(v, reason);
    TRY(make_spec(v));
    return check_scan(v);
}
