/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/snl1/snl1.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/backend/cpu_features.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/snl1/launch.h"

_Static_assert((int)SNL1_ARGUMENT == (int)ERR_ARGUMENT
                   && (int)SNL1_UNSUPPORTED == (int)ERR_UNSUPPORTED
                   && (int)SNL1_MEMORY == (int)ERR_MEMORY,
               "the codes of the installed header are those of the program");

typedef void block_kernel(const struct snl1_tables *, const struct snl1_block *, void *);

/* A kernel of an arithmetic and instruction set. */
struct kernel {
    enum snl1_arithmetic arithmetic;
    const char *isa;
    const char *id;
    int lanes;
    block_kernel *run;
    int (*supported)(void);
};

struct snl1 {
    struct snl1_tables tables;
    const struct kernel *kernel;
    float *sig;
    float *af11;
    int32_t (*column)[SNL1_COLUMNS];
    pthread_mutex_t lock; /* of the text */
    char text[SNL1_TEXT_SIZE];
};

/* Best first. */
static const struct kernel kernels[] = {
#ifdef CPU_HAS_V4
    {SNL1_PARITY, "x86-64-v4", "snl1-parity/x86-64-v4", 16, snl1_parity_v4, cpu_supports_v4},
    {SNL1_FAST, "x86-64-v4", "snl1-fast/x86-64-v4", 16, snl1_fast_v4, cpu_supports_v4},
#endif
#ifdef CPU_HAS_V3
    {SNL1_PARITY, "x86-64-v3", "snl1-parity/x86-64-v3", 8, snl1_parity_v3, cpu_supports_v3},
    {SNL1_FAST, "x86-64-v3", "snl1-fast/x86-64-v3", 8, snl1_fast_v3, cpu_supports_v3},
#endif
#ifdef __x86_64__
    {SNL1_PARITY, "x86-64", "snl1-parity/x86-64", 4, snl1_parity, NULL},
    {SNL1_FAST, "x86-64", "snl1-fast/x86-64", 4, snl1_fast, NULL},
#else
    {SNL1_PARITY, "baseline", "snl1-parity/baseline", 4, snl1_parity, NULL},
    {SNL1_FAST, "baseline", "snl1-fast/baseline", 4, snl1_fast, NULL},
#endif
};

static const struct kernel *const kernels_end = kernels + sizeof kernels / sizeof kernels[0];

static int find_kernel(int arithmetic, const char *isa, const struct kernel **out)
{
    const char *const wanted = isa == NULL ? "auto" : isa;
    const int any = strcmp(wanted, "auto") == 0;
    if (arithmetic != SNL1_PARITY && arithmetic != SNL1_FAST)
        FAIL(ERR_ARGUMENT, "arithmetic %d is neither parity (%d) nor fast (%d)", arithmetic,
             SNL1_PARITY, SNL1_FAST);
    for (const struct kernel *k = kernels; k != kernels_end; k++) {
        if ((int)k->arithmetic != arithmetic || (!any && strcmp(wanted, k->isa) != 0))
            continue;
        *out = k;
        if (k->supported == NULL || k->supported())
            return 0;
        if (!any)
            FAIL(ERR_DEVICE, "instruction set '%s' is not there on this processor", wanted);
    }
    FAIL(ERR_UNSUPPORTED, "instruction set '%s' is not in this library", wanted);
}

/* Configurations */

int snl1_defaults(int package, struct snl1_config *out)
{
    static const float nlprop[] = {
        [SNL1_ST2] = 1.00e7f, [SNL1_ST4] = 2.50e7f, [SNL1_ST6] = 3.00e7f, [SNL1_WAM] = 2.78e7f};
    if (out == NULL || package < SNL1_ST2 || package > SNL1_WAM)
        return SNL1_ARGUMENT;
    *out = (struct snl1_config){.nk = 32,
                                .nth = 36,
                                .xfr = 1.1f,
                                .fr1 = 0.0373f,
                                .lam = 0.25f,
                                .nlprop = nlprop[package],
                                .kdcon = 0.75f,
                                .kdmin = 0.5f,
                                .snls1 = 5.5f,
                                .snls2 = 0.833f,
                                .snls3 = -1.25f,
                                .fachf = 5.0f,
                                .iqtype = 1};
    return SNL1_OK;
}

/* A real number of the configuration and what it may be. */
struct range {
    const char *name;
    float value;
    float low, high;
    int open_low;  /* low itself is refused */
    int open_high; /* high itself is refused */
};

static int check_range(const struct range *r)
{
    const int above = r->open_low ? r->value > r->low : r->value >= r->low;
    const int below = r->open_high ? r->value < r->high : r->value <= r->high;
    if (!above || !below)
        FAIL(ERR_ARGUMENT, "%s %g; accepted: %s %g to %s %g", r->name, (double)r->value,
             r->open_low ? "above" : "from", (double)r->low, r->open_high ? "below" : "at most",
             (double)r->high);
    return 0;
}

static int check_config(const struct snl1_config *c)
{
    const float huge = 1.0e30f;
    const struct range ranges[] = {
        {"xfr", c->xfr, 1.00001f, 16.0f, 0, 0}, {"fr1", c->fr1, 0.0f, 1.0e3f, 1, 0},
        {"lam", c->lam, 0.0f, 0.5f, 1, 1},      {"nlprop", c->nlprop, 0.0f, huge, 0, 0},
        {"kdcon", c->kdcon, -huge, huge, 0, 0}, {"kdmin", c->kdmin, 0.0f, huge, 1, 0},
        {"snls1", c->snls1, -huge, huge, 0, 0}, {"snls2", c->snls2, -huge, huge, 0, 0},
        {"snls3", c->snls3, -huge, huge, 0, 0}, {"fachf", c->fachf, -100.0f, 100.0f, 0, 0}};
    if (c->iqtype < 0)
        FAIL(ERR_UNSUPPORTED,
             "IQTYPE %d asks for another method (Gaussian quadrature); only the DIA, IQTYPE >= "
             "0, is here",
             (int)c->iqtype);
    if (c->nk < 1 || c->nk > SNL1_ROWS_MAX)
        FAIL(ERR_ARGUMENT, "nk %d; accepted: 1 to %d", (int)c->nk, SNL1_ROWS_MAX);
    if (c->nth < 1 || c->nth > SNL1_NTH_MAX)
        FAIL(ERR_ARGUMENT, "nth %d; accepted: 1 to %d", (int)c->nth, SNL1_NTH_MAX);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        TRY(check_range(&ranges[i]));
    return 0;
}

/* Each row divides by its frequency. */
static int check_chain(const struct snl1_config *c, const float *sig)
{
    if (!(sig[0] > 0.0f) || !isfinite(sig[c->nk - 1]))
        FAIL(ERR_ARGUMENT,
             "fr1 %g, xfr %g, nk %d: the frequencies go from %g to %g rad/s, beyond binary32",
             (double)c->fr1, (double)c->xfr, (int)c->nk, (double)sig[0],
             (double)sig[c->nk - 1]);
    return 0;
}

/* The caller's frequencies must be those of the chain, row by row. */
static int check_frequencies(const struct snl1_config *config, const float *sig,
                             const float *own)
{
    for (int32_t i = 0; sig != NULL && i < config->nk; i++) {
        uint32_t given;
        uint32_t wanted;
        memcpy(&given, &sig[i], sizeof given);
        memcpy(&wanted, &own[i], sizeof wanted);
        if (given != wanted)
            FAIL(ERR_ARGUMENT,
                 "sig(%d) is %.9g; the chain from fr1 %.9g with xfr %.9g gives %.9g: the array "
                 "must begin at the first frequency",
                 (int)i + 1, (double)sig[i], (double)config->fr1, (double)config->xfr,
                 (double)own[i]);
    }
    return 0;
}

/* Handles */

static void fill_columns(const struct snl1_numbers *n, int32_t (*column)[SNL1_COLUMNS])
{
    const int32_t turn[SNL1_COLUMNS] = {[SNL1_UP_P1] = n->ithp + 1,    [SNL1_UP_P] = n->ithp,
                                        [SNL1_DN_P1] = -(n->ithp + 1), [SNL1_DN_P] = -n->ithp,
                                        [SNL1_UP_M1] = n->ithm + 1,    [SNL1_UP_M] = n->ithm,
                                        [SNL1_DN_M1] = -(n->ithm + 1), [SNL1_DN_M] = -n->ithm};
    for (int32_t t = 0; t < n->nth; t++)
        for (int c = 0; c < SNL1_COLUMNS; c++)
            column[t][c] = snl1_turned(t, turn[c], n->nth);
}

/* A whole number of ready ones and what it may be. */
struct whole {
    const char *name;
    int32_t value;
    int32_t low, high;
};

static int check_numbers(const struct snl1_numbers *n)
{
    const struct whole wholes[] = {
        {"nk", n->nk, 1, SNL1_ROWS_MAX},     {"nth", n->nth, 1, SNL1_NTH_MAX},
        {"ifrp", n->ifrp, 0, SNL1_ROWS_MAX}, {"ifrm", n->ifrm, -SNL1_ROWS_MAX, 0},
        {"ithp", n->ithp, 0, n->nth - 1},    {"ithm", n->ithm, 0, n->nth - 1}};
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++)
        if (wholes[i].value < wholes[i].low || wholes[i].value > wholes[i].high)
            FAIL(ERR_ARGUMENT, "%s %d; accepted: %d to %d", wholes[i].name,
                 (int)wholes[i].value, (int)wholes[i].low, (int)wholes[i].high);
    if (n->nfrchg != n->nk - n->ifrm + 1 || n->nfrhgh != n->nfrchg + n->ifrp + 1
        || n->nfrhgh > SNL1_ROWS_MAX)
        FAIL(ERR_ARGUMENT, "nfrchg %d, nfrhgh %d do not belong to nk %d, ifrp %d, ifrm %d",
             (int)n->nfrchg, (int)n->nfrhgh, (int)n->nk, (int)n->ifrp, (int)n->ifrm);
    return 0;
}

/* A handle with room for its arrays; the numbers but for them are there. */
static int make_handle(const struct snl1_numbers *numbers, struct snl1 **out)
{
    struct snl1 *h;
    int rc = 0;
    TRY(check_numbers(numbers));
    TRY(MEM_NEW(1, &h));
    *out = h;
    pthread_mutex_init(&h->lock, NULL);
    TRY_OR(rc, done, MEM_NEW(numbers->nk, &h->sig));
    TRY_OR(rc, done, MEM_NEW(numbers->nfrchg, &h->af11));
    TRY_OR(rc, done, MEM_NEW(numbers->nth, &h->column));
    h->tables = (struct snl1_tables){.n = *numbers,
                                     .column = (const int32_t(*)[SNL1_COLUMNS])h->column};
    h->tables.n.sig = h->sig;
    h->tables.n.af11 = h->af11;
    fill_columns(numbers, h->column);
    rc = find_kernel(SNL1_PARITY, NULL, &h->kernel);
done:
    return rc;
}

static int create_handle(const struct snl1_config *config, const float *sig, struct snl1 **out)
{
    struct snl1_numbers numbers;
    if (config == NULL)
        FAIL(ERR_ARGUMENT, "the configuration is missing");
    TRY(check_config(config));
    TRY(snl1_derive(config, &numbers));
    TRY(make_handle(&numbers, out));
    snl1_frequencies(config, config->nk, (*out)->sig);
    TRY(check_chain(config, (*out)->sig));
    snl1_derive_af11(&numbers, config->xfr, (*out)->sig, (*out)->af11);
    return check_frequencies(config, sig, (*out)->sig);
}

static int create_ready(const struct snl1_numbers *numbers, struct snl1 **out)
{
    if (numbers == NULL || numbers->sig == NULL || numbers->af11 == NULL)
        FAIL(ERR_ARGUMENT, "numbers, their sig or their af11 are missing");
    TRY(make_handle(numbers, out));
    memcpy((*out)->sig, numbers->sig, (size_t)numbers->nk * sizeof(float));
    memcpy((*out)->af11, numbers->af11, (size_t)numbers->nfrchg * sizeof(float));
    return 0;
}

static void give_text(const char *said, char *text)
{
    if (text != NULL)
        snprintf(text, SNL1_TEXT_SIZE, "%s", said);
}

/* A creation has somewhere to put its handle. */
static int begin_create(struct snl1 **out, char *text)
{
    if (out == NULL) {
        give_text("there is no place for the handle", text);
        return SNL1_ARGUMENT;
    }
    *out = NULL;
    return 0;
}

/* The end of a creation: on failure no handle, and the text for the caller. */
static int finish_create(int rc, const char *said, struct snl1 **out, char *text)
{
    give_text(rc == 0 ? "" : said, text);
    if (rc == 0)
        return 0;
    snl1_destroy(*out);
    *out = NULL;
    return rc;
}

int snl1_create(const struct snl1_config *config, const float *sig, struct snl1 **out,
                char *text)
{
    char said[SNL1_TEXT_SIZE] = "";
    TRY(begin_create(out, text));
    const struct status_saved saved = status_capture_save();
    status_capture(said, sizeof said);
    const int rc = create_handle(config, sig, out);
    status_capture_restore(saved);
    return finish_create(rc, said, out, text);
}

int snl1_create_ready(const struct snl1_numbers *numbers, struct snl1 **out, char *text)
{
    char said[SNL1_TEXT_SIZE] = "";
    TRY(begin_create(out, text));
    const struct status_saved saved = status_capture_save();
    status_capture(said, sizeof said);
    const int rc = create_ready(numbers, out);
    status_capture_restore(saved);
    return finish_create(rc, said, out, text);
}

void snl1_destroy(struct snl1 *handle)
{
    if (handle == NULL)
        return;
    mem_free(handle->sig);
    mem_free(handle->af11);
    mem_free(handle->column);
    pthread_mutex_destroy(&handle->lock);
    mem_free(handle);
}

static void keep_text(struct snl1 *handle, const char *said)
{
    pthread_mutex_lock(&handle->lock);
    snprintf(handle->text, sizeof handle->text, "%s", said);
    pthread_mutex_unlock(&handle->lock);
}

void snl1_message(struct snl1 *handle, char *text)
{
    if (handle == NULL || text == NULL) {
        give_text("there is no handle", text);
        return;
    }
    pthread_mutex_lock(&handle->lock);
    give_text(handle->text, text);
    pthread_mutex_unlock(&handle->lock);
}

void snl1_note_failure(struct snl1 *handle, const char *said)
{
    if (handle != NULL && said != NULL)
        keep_text(handle, said);
}

int snl1_choose(struct snl1 *handle, int arithmetic, const char *isa)
{
    char said[SNL1_TEXT_SIZE] = "";
    const struct kernel *found = NULL;
    if (handle == NULL)
        return SNL1_ARGUMENT;
    const struct status_saved saved = status_capture_save();
    status_capture(said, sizeof said);
    const int rc = find_kernel(arithmetic, isa, &found);
    status_capture_restore(saved);
    if (rc == 0)
        handle->kernel = found;
    else
        keep_text(handle, said);
    return rc;
}

const char *snl1_kernel(const struct snl1 *handle)
{
    return handle != NULL ? handle->kernel->id : "";
}

const struct snl1_numbers *snl1_numbers(const struct snl1 *handle)
{
    return handle != NULL ? &handle->tables.n : NULL;
}

/* Parts of parity.inc; fast.inc needs less. */
size_t snl1_scratch_bytes(const struct snl1 *handle)
{
    if (handle == NULL)
        return 0;
    const struct snl1_numbers *n = &handle->tables.n;
    const size_t slots = (size_t)n->ifrp + (size_t)(-n->ifrm) + 3;
    const size_t vectors = (size_t)n->nth * ((size_t)(1 + n->nfrhgh) + 8 * (1 + slots) + 2);
    return vectors * SNL1_LANES_MAX * sizeof(float) + MEM_ALIGNMENT;
}

/* Computing */

static int check_batch(const struct snl1 *h, const struct snl1_batch *b)
{
    const struct snl1_numbers *n = &h->tables.n;
    if (b->npts < 0)
        FAIL(ERR_ARGUMENT, "npts %lld is below 0", (long long)b->npts);
    if (b->nspec != n->nk * n->nth)
        FAIL(ERR_ARGUMENT, "spectra of %d bins; nk %d times nth %d is %d", (int)b->nspec,
             (int)n->nk, (int)n->nth, (int)(n->nk * n->nth));
    if (b->nk != n->nk)
        FAIL(ERR_ARGUMENT, "group velocities of %d frequencies; the configuration has %d",
             (int)b->nk, (int)n->nk);
    if (b->npts > 0
        && (b->a == NULL || b->cg == NULL || b->kdmean == NULL || b->s == NULL || b->d == NULL
            || b->scratch == NULL))
        FAIL(ERR_ARGUMENT, "an array is missing: a, cg, kdmean, s, d and scratch are needed");
    return 0;
}

/* Each group velocity is above 0, so that the division is one. */
static int check_velocities(const struct snl1_batch *b)
{
    for (int64_t p = 0; p < b->npts; p++)
        for (int32_t f = 0; f < b->nk; f++) {
            const float cg = b->cg[p * b->nk + f];
            if (!(cg > 0.0f) || isinf(cg))
                FAIL(ERR_ARGUMENT,
                     "cg %g of point %lld, frequency %d; accepted: finite and above 0",
                     (double)cg, (long long)p + 1, (int)f + 1);
        }
    return 0;
}

static unsigned char point_flags(const struct snl1_batch *b, int64_t p)
{
    const float *const a = b->a + p * b->nspec;
    const float *const s = b->s + p * b->nspec;
    const float *const d = b->d + p * b->nspec;
    int negative = 0;
    int strange = !isfinite(b->kdmean[p]);
    int nonfinite = 0;
    for (int32_t i = 0; i < b->nspec; i++) {
        negative |= a[i] < 0.0f;
        strange |= !isfinite(a[i]);
        nonfinite |= !isfinite(s[i]) | !isfinite(d[i]);
    }
    return (unsigned char)((negative ? SNL1_NEGATIVE : 0) | (nonfinite ? SNL1_NONFINITE : 0)
                           | (strange ? SNL1_INPUT_NONFINITE : 0));
}

static void compute_blocks(const struct snl1 *h, const struct snl1_batch *b)
{
    const int lanes = h->kernel->lanes;
    const size_t past = (uintptr_t)b->scratch % MEM_ALIGNMENT;
    char *const scratch = (char *)b->scratch + (past == 0 ? 0 : MEM_ALIGNMENT - past);
    for (int64_t p = 0; p < b->npts; p += lanes) {
        const int64_t left = b->npts - p;
        const struct snl1_block block = {.points = (int)(left < lanes ? left : lanes),
                                         .a = b->a + p * b->nspec,
                                         .cg = b->cg + p * b->nk,
                                         .kdmean = b->kdmean + p,
                                         .s = b->s + p * b->nspec,
                                         .d = b->d + p * b->nspec};
        h->kernel->run(&h->tables, &block, scratch);
    }
    for (int64_t p = 0; b->flags != NULL && p < b->npts; p++)
        b->flags[p] = point_flags(b, p);
}

static int compute(const struct snl1 *h, const struct snl1_batch *b)
{
    if (h == NULL || b == NULL)
        FAIL(ERR_ARGUMENT, "the %s is missing", h == NULL ? "handle" : "batch");
    TRY(check_batch(h, b));
    TRY(check_velocities(b));
    if (b->npts > 0 && b->scratch_bytes < snl1_scratch_bytes(h)) {
        (void)status_fail(ERR_ARGUMENT, "scratch of %zu bytes; %zu are needed",
                          b->scratch_bytes, snl1_scratch_bytes(h));
        return SNL1_SCRATCH;
    }
    compute_blocks(h, b);
    return 0;
}

/* An error must not pass for a result. */
static void spoil(const struct snl1_batch *b)
{
    if (b == NULL)
        return;
    const int64_t count = b->npts > 0 && b->nspec > 0 ? b->npts * b->nspec : 0;
    for (int64_t i = 0; b->s != NULL && i < count; i++)
        b->s[i] = NAN;
    for (int64_t i = 0; b->d != NULL && i < count; i++)
        b->d[i] = NAN;
    for (int64_t p = 0; b->flags != NULL && p < b->npts; p++)
        b->flags[p] = SNL1_NONFINITE;
}

int snl1_compute(struct snl1 *handle, const struct snl1_batch *batch)
{
    char said[SNL1_TEXT_SIZE] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(said, sizeof said);
    const int rc = compute(handle, batch);
    status_capture_restore(saved);
    if (rc != 0) {
        spoil(batch);
        snl1_note_failure(handle, said);
    }
    return rc;
}

/* Address tables */

static int32_t address(int32_t f, int32_t t, int32_t nth)
{
    return t + 1 + ((f > 0 ? f : 0) - 1) * nth;
}

/* One table entry: rows away, and the column. */
struct reach {
    int32_t rows;
    enum snl1_column column;
};

/* One of the tables that begin at `out`, after `before` entries; NULL: they are not wanted. */
static void fill_table(const struct snl1 *h, struct reach reach, int32_t count, long before,
                       int32_t *out)
{
    const int32_t nth = h->tables.n.nth;
    if (out == NULL)
        return;
    out += before;
    for (int32_t q = 0; q < count; q++)
        out[q] = address(1 + q / nth + reach.rows, h->column[q % nth][reach.column], nth);
}

void snl1_addresses(const struct snl1 *handle, int32_t *ip, int32_t *im, int32_t *ic)
{
    static const enum snl1_column up[] = {SNL1_UP_P1, SNL1_UP_P, SNL1_UP_M1, SNL1_UP_M};
    static const enum snl1_column dn[] = {SNL1_DN_P1, SNL1_DN_P, SNL1_DN_M1, SNL1_DN_M};
    if (handle == NULL)
        return;
    const struct snl1_numbers *const n = &handle->tables.n;
    const int32_t nspecx = n->nfrchg * n->nth;
    const int32_t nspec = n->nk * n->nth;
    for (int j = 0; j < 4; j++) {
        const int near = j / 2; /* 0: the far row */
        const int side = j % 2; /* 0: the far direction */
        const int32_t plus = n->ifrp + 1 - near;
        const int32_t minus = n->ifrm - 1 + near;
        for (int o = 0; o < 2; o++) {
            const enum snl1_column *const here = o == 0 ? up : dn;
            const enum snl1_column *const there = o == 0 ? dn : up;
            const long at = 4L * o + j;
            fill_table(handle, (struct reach){plus, here[side]}, nspecx, at * nspecx, ip);
            fill_table(handle, (struct reach){minus, there[2 + side]}, nspecx, at * nspecx, im);
            fill_table(handle, (struct reach){-plus, there[side]}, nspec, (2L * j + o) * nspec,
                       ic);
            fill_table(handle, (struct reach){-minus, here[2 + side]}, nspec,
                       (2L * (4 + j) + o) * nspec, ic);
        }
    }
}
