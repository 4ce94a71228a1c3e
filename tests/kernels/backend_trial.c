/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/backend_trial.h"

#include <stdint.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

static const struct kernel_field *field_at(const struct trial *t, int f)
{
    return &t->kernel->fields[f];
}

bool field_is_split(const struct kernel_field *field)
{
    return field->role == FIELD_SPLIT || field->role == FIELD_SPLIT_OUT
           || field->role == FIELD_SPLIT_IN_OUT;
}

bool field_is_complex(const struct kernel_field *field)
{
    return field->role == FIELD_COMPLEX || field->role == FIELD_COMPLEX_OUT
           || field->role == FIELD_COMPLEX_IN_OUT || field_is_split(field);
}

static bool is_both(const struct kernel_field *field)
{
    return field->role == FIELD_COMPLEX_IN_OUT || field->role == FIELD_SPLIT_IN_OUT;
}

bool field_is_output(const struct kernel_field *field)
{
    return is_both(field) || field->role == FIELD_COMPLEX_OUT || field->role == FIELD_SPLIT_OUT
           || field->role == FIELD_REAL_OUT || field->role == FIELD_SUMS;
}

bool field_is_input(const struct kernel_field *field)
{
    return is_both(field) || field->role == FIELD_COMPLEX || field->role == FIELD_SPLIT
           || field->role == FIELD_REAL || field->role == FIELD_SCALARS;
}

/* Fields that are a number in the argument struct, no array. */
static bool is_number(const struct kernel_field *field)
{
    return field->role == FIELD_LD_REAL || field->role == FIELD_LD_SPEC
           || field->role == FIELD_GROUP;
}

static long number_of(const struct trial *t, const struct kernel_field *field)
{
    return field->role == FIELD_LD_REAL   ? t->ld_real
           : field->role == FIELD_LD_SPEC ? t->ld_spec
                                          : t->group;
}

bool trial_has_group(const struct trial *t)
{
    bool found = false;
    for (int f = 0; f < t->fields; f++)
        found = found || field_at(t, f)->role == FIELD_GROUP;
    return found;
}

bool trial_uses(const struct trial *t, int field)
{
    return t->s >= field_at(t, field)->from && !is_number(field_at(t, field));
}

long trial_stride(const struct trial *t, int field)
{
    const struct kernel_field *f = field_at(t, field);
    if (field_is_split(f))
        return 2 * t->ld;
    if (field_is_complex(f))
        return 2 * t->ld_spec;
    return f->role == FIELD_REAL || f->role == FIELD_REAL_OUT ? t->ld_real : f->width;
}

static void fill(struct trial *t, int f)
{
    const struct kernel_field *field = field_at(t, f);
    const bool given = !exactly(field->low, field->high);
    const double low = given ? field->low : -1.0;
    const double high = given ? field->high : 1.0;
    const struct rng_stream stream = {
        .seed = 7, .component = (uint32_t)f, .realisation = (uint64_t)t->n};
    for (size_t i = 0; i < t->count[f]; i++) {
        double u[2];
        rng_uniform2(&stream, i, u);
        t->initial[f][i] = low + (high - low) * u[0];
        if ((field->flags & FIELD_HOLES) != 0 && i % (size_t)trial_stride(t, f) % 3 == 1)
            t->initial[f][i] = 0.0;
        if (!field_is_input(field))
            t->initial[f][i] = (double)NAN;
    }
}

void trial_clear(struct trial *t)
{
    for (int f = 0; f < t->fields; f++) {
        mem_free(t->initial[f]);
        mem_free(t->after[f]);
    }
    mem_free(t->memory);
}

/* A pointer so many bytes before what there is. */
static void set_pointer(char *args, size_t offset, const void *pointer, long before)
{
    const uintptr_t at = (uintptr_t)pointer - (uintptr_t)before;
    memcpy(args + offset, &at, sizeof at);
}

static void set_long(char *args, size_t offset, long value)
{
    memcpy(args + offset, &value, sizeof value);
}

/* The kernel's argument struct with these arrays in it. */
static char *make_args(const struct trial *t, double *const arrays[], const void *active)
{
    char *args;
    ck_assert_int_eq(mem_alloc((long)t->kernel->size, 1, (void **)&args), 0);
    for (int f = 0; f < t->fields; f++) {
        if (is_number(field_at(t, f)))
            set_long(args, field_at(t, f)->offset, number_of(t, field_at(t, f)));
        else
            set_pointer(args, field_at(t, f)->offset, arrays[f],
                        arrays[f] != NULL ? t->far * trial_stride(t, f) * (long)sizeof(double)
                                          : 0);
    }
    set_long(args, t->kernel->ld, t->ld);
    set_pointer(args, t->kernel->active, active, active != NULL ? t->far : 0);
    return args;
}

static void launch(const struct trial *t, struct backend *be, const char *args, bool single)
{
    if (!single)
        ck_assert_int_eq(t->kernel->launch(be, args, t->s, t->far, TRIAL_ROWS, t->n), 0);
    for (long row = t->far; single && row < t->far + TRIAL_ROWS; row++)
        ck_assert_int_eq(t->kernel->launch(be, args, t->s, row, 1, t->n), 0);
}

void trial_run(struct trial *t, struct backend *be, int alias, int with, bool single)
{
    double *there[TRIAL_FIELDS_MAX] = {NULL};
    void *active;
    ck_assert_int_eq(be->ops->alloc(be, TRIAL_ROWS, 1, &active), 0);
    ck_assert_int_eq(be->ops->upload(be, active, t->active, TRIAL_ROWS), 0);
    for (int f = 0; f < t->fields; f++) {
        if (!trial_uses(t, f) || f == alias)
            continue;
        ck_assert_int_eq(
            be->ops->alloc(be, (long)t->count[f], sizeof(double), (void **)&there[f]), 0);
        ck_assert_int_eq(
            be->ops->upload(be, there[f], t->initial[f], t->count[f] * sizeof(double)), 0);
    }
    if (alias >= 0)
        there[alias] = there[with];
    char *args = make_args(t, there, active);
    launch(t, be, args, single);
    mem_free(args);
    for (int f = 0; f < t->fields; f++)
        if (trial_uses(t, f))
            ck_assert_int_eq(
                be->ops->download(be, t->after[f], there[f], t->count[f] * sizeof(double)), 0);
    for (int f = 0; f < t->fields; f++)
        if (f != alias)
            be->ops->release(be, there[f]);
    be->ops->release(be, active);
}

/* Elements that an output field has in one row. */
static long elements(const struct trial *t, int f)
{
    return field_at(t, f)->role == FIELD_SUMS ? field_at(t, f)->width : t->n;
}

/* Memory for the answers of all rows. */
static void answers_init(struct trial *t)
{
    const long size = t->n + 8; /* sums have a few elements more than a short row */
    ck_assert_int_eq(MEM_NEW(3 * size * TRIAL_ROWS * t->fields, &t->memory), 0);
    double *next = t->memory;
    for (long row = 0; row < TRIAL_ROWS; row++) {
        for (int f = 0; f < t->fields; f++, next += 3 * size) {
            t->answers[row][f].value = next;
            t->answers[row][f].bound = next + 2 * size;
        }
    }
}

/* Scalars as a reference takes them: to each row those of its member. */
static double *scalars_of_rows(const struct trial *t, int f)
{
    const size_t width = (size_t)field_at(t, f)->width;
    double *out;
    ck_assert_int_eq(MEM_NEW((long)t->count[f], &out), 0);
    for (size_t row = 0; row < TRIAL_ROWS; row++)
        memcpy(out + row * width, t->initial[f] + row / (size_t)t->group * width,
               width * sizeof *out);
    return out;
}

void trial_answer(struct trial *t)
{
    double *arrays[TRIAL_FIELDS_MAX] = {NULL};
    for (int f = 0; f < t->fields; f++)
        arrays[f] = trial_uses(t, f) && field_at(t, f)->role == FIELD_SCALARS
                        ? scalars_of_rows(t, f)
                        : t->initial[f];
    char *args = make_args(t, arrays, t->active);
    for (long row = 0; row < TRIAL_ROWS; row++)
        t->kernel->reference(args, t->s, row, t->n, t->answers[row]);
    mem_free(args);
    for (int f = 0; f < t->fields; f++)
        if (arrays[f] != t->initial[f])
            mem_free(arrays[f]);
}

void trial_init(struct trial *t, const struct kernel_case *kernel, int s, long n)
{
    *t = (struct trial){.kernel = kernel, .s = s, .n = n, .group = 1, .active = {1, 1, 0, 1}};
    t->ld = backend_stride(n, sizeof(double)) + 8;
    t->ld_real = t->ld;
    t->ld_spec = t->ld;
    while (field_at(t, t->fields)->role != FIELD_END) {
        if (field_at(t, t->fields)->role == FIELD_LD_REAL)
            t->ld_real = t->ld + 8;
        if (field_at(t, t->fields)->role == FIELD_LD_SPEC)
            t->ld_spec = t->ld + 16;
        t->fields++;
    }
    ck_assert_int_le(t->fields, TRIAL_FIELDS_MAX);
    for (int f = 0; f < t->fields; f++) {
        if (!trial_uses(t, f))
            continue;
        t->count[f] = (size_t)(TRIAL_ROWS * trial_stride(t, f));
        ck_assert_int_eq(MEM_NEW((long)t->count[f], &t->initial[f]), 0);
        ck_assert_int_eq(MEM_NEW((long)t->count[f], &t->after[f]), 0);
        fill(t, f);
    }
    answers_init(t);
    trial_answer(t);
}

/* A row of an output as plain numbers; split rows are joined into `joined`. */
static const double *output_row(const struct trial *t, int f, long row, double *joined)
{
    const double *at = t->after[f] + row * trial_stride(t, f);
    if (!field_is_split(field_at(t, f)))
        return at;
    for (long i = 0; i < t->n; i++) {
        joined[2 * i] = at[i];
        joined[2 * i + 1] = at[i + t->ld];
    }
    return joined;
}

static double output_margin(const struct trial *t, int f, long row, const struct answer *answer)
{
    double *joined;
    ck_assert_int_eq(MEM_NEW(2 * t->n, &joined), 0);
    const struct comparison_input in = {.value = output_row(t, f, row, joined),
                                        .reference = answer->value,
                                        .n = elements(t, f),
                                        .is_complex = field_is_complex(field_at(t, f)),
                                        .bounds = answer->bound};
    struct comparison result;
    char refusal[200];
    status_capture(refusal, sizeof refusal);
    const int rc = comparison_run(&in, &result);
    status_capture(NULL, 0);
    mem_free(joined);
    return rc == 0 ? result.margin : (double)INFINITY;
}

bool trial_within(const struct trial *t, double *margin)
{
    *margin = 0.0;
    for (long row = 0; row < TRIAL_ROWS; row++) {
        if (t->active[row] == 0)
            continue;
        int output = 0;
        for (int f = 0; f < t->fields; f++)
            if (trial_uses(t, f) && field_is_output(field_at(t, f)))
                *margin = fmax(*margin, output_margin(t, f, row, &t->answers[row][output++]));
    }
    return *margin <= 1.0;
}

/* Numbers at the start of a row, or of each part of a split row, that a launch may write. */
static long writable(const struct trial *t, int f, long row)
{
    const struct kernel_field *field = field_at(t, f);
    if (!field_is_output(field) || t->active[row] == 0)
        return 0;
    const bool pairs = field_is_complex(field) && !field_is_split(field);
    return elements(t, f) * (pairs ? 2 : 1);
}

/* First number that changed and had to stay, -1 when there is none. */
static long first_touched(const struct trial *t, int f)
{
    const int parts = field_is_split(field_at(t, f)) ? 2 : 1;
    const long stride = trial_stride(t, f) / parts;
    for (long part = 0; part < TRIAL_ROWS * parts; part++) {
        const long from = writable(t, f, part / parts);
        const long at = part * stride + from;
        const long changed = comparison_bits(t->initial[f] + at, t->after[f] + at,
                                             sizeof(double), stride - from);
        if (changed >= 0)
            return at + changed;
    }
    return -1;
}

void trial_check(const struct trial *t, const struct backend *be, const char *what)
{
    double margin;
    ck_assert_msg(trial_within(t, &margin),
                  "%s %d of %ld elements on %s, %d threads, %s: %.3g times its bound",
                  t->kernel->name, t->s, t->n, be->isa, be->threads, what, margin);
    for (int f = 0; f < t->fields; f++) {
        const long touched = trial_uses(t, f) ? first_touched(t, f) : -1;
        ck_assert_msg(
            touched < 0,
            "%s %d of %ld elements on %s, %d threads, %s: field %s was touched at number "
            "%ld",
            t->kernel->name, t->s, t->n, be->isa, be->threads, what, field_at(t, f)->name,
            touched);
    }
}
