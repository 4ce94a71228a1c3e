/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conformance: each kernel of the .def lists on each backend, instruction set and number of
 * threads against its formula in long double. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "tests/kernels/backend_trial.h"
#include "tests/kernels/machines.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

static void machines_clear(struct machines *all)
{
    for (int b = 0; b < all->count; b++)
        backend_destroy(all->backend[b]);
    ck_assert_int_eq(mem_live(), 0);
}

/* Calls a function for each kernel and instance on a row of n elements. */
static void each_kernel(long n, const struct machines *all,
                        void (*check)(struct trial *t, const struct machines *all))
{
    int count;
    const struct kernel_case *cases = kernel_cases(&count);
    for (int c = 0; c < count; c++) {
        for (int s = 0; s <= cases[c].last; s++) {
            struct trial t;
            trial_init(&t, &cases[c], s, n);
            check(&t, all);
            trial_clear(&t);
        }
    }
}

static void check_batch(struct trial *t, const struct machines *all)
{
    for (int b = 0; b < all->count; b++) {
        trial_run(t, all->backend[b], -1, -1, false);
        trial_check(t, all->backend[b], "batch");
    }
}

static void check_single(struct trial *t, const struct machines *all)
{
    for (int b = 0; b < all->count; b += all->step) {
        trial_run(t, all->backend[b], -1, -1, true);
        trial_check(t, all->backend[b], "batches of one");
    }
}

START_TEST(every_kernel_keeps_its_bound_at_even_and_odd_lengths)
{
    static const long lengths[] = {1, 2, 3, 5, 8, 17, 64, 131};
    struct machines all;
    machines_init(&all);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        each_kernel(lengths[l], &all, check_batch);
    machines_clear(&all);
}
END_TEST

/* Rows 0 and 1, 2 and 3 are members of two rows. */
static void check_group(struct trial *t, const struct machines *all)
{
    const char *const name = t->kernel->name;
    const bool steps = strncmp(name, "stage_", 6) == 0 || strncmp(name, "step_", 5) == 0;
    const bool scalars = strcmp(name, "step_open") != 0 && strcmp(name, "step_take") != 0;
    ck_assert_msg(trial_has_group(t) || !steps || !scalars,
                  "%s: rows of a member cannot share their scalars", name);
    if (!trial_has_group(t))
        return;
    double margin;
    t->group = 2;
    trial_answer(t);
    for (int b = 0; b < all->count; b += all->step) {
        trial_run(t, all->backend[b], -1, -1, true);
        trial_check(t, all->backend[b], "members of two rows, one by one");
        trial_run(t, all->backend[b], -1, -1, false);
        trial_check(t, all->backend[b], "members of two rows");
    }
    t->group = 1; /* what a kernel that leaves out the group would do */
    trial_answer(t);
    ck_assert_msg(!trial_within(t, &margin), "%s %d: the group makes no difference", name,
                  t->s);
}

START_TEST(rows_of_a_member_share_its_scalars)
{
    static const long lengths[] = {1, 8, 61};
    struct machines all;
    machines_init(&all);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        each_kernel(lengths[l], &all, check_group);
    machines_clear(&all);
}
END_TEST

/* Long rows: two of them are enough. */
static void check_threads(struct trial *t, const struct machines *all)
{
    t->active[1] = 0;
    check_batch(t, all);
}

START_TEST(every_kernel_keeps_its_bound_where_threads_share_a_row)
{
    struct machines all;
    machines_init(&all);
    each_kernel(16391, &all, check_threads); /* above threads_pointwise, odd */
    machines_clear(&all);
}
END_TEST

START_TEST(a_batch_equals_batches_of_one_row)
{
    struct machines all;
    machines_init(&all);
    each_kernel(61, &all, check_single);
    machines_clear(&all);
}
END_TEST

static void check_all_active(struct trial *t, const struct machines *all)
{
    memset(t->active, 1, sizeof t->active);
    trial_run(t, all->backend[0], -1, -1, false);
    trial_check(t, all->backend[0], "all rows");
}

START_TEST(all_rows_of_a_batch_run_when_all_are_active)
{
    struct machines all;
    machines_init(&all);
    each_kernel(33, &all, check_all_active);
    machines_clear(&all);
}
END_TEST

/* The first input with complex rows of the same layout. */
static int partner(const struct trial *t, enum field_role role)
{
    for (int f = 0; f < t->fields; f++)
        if (trial_uses(t, f) && t->kernel->fields[f].role == role)
            return f;
    return -1;
}

/* In place, an input's contents are the output's afterwards: that input is not compared. */
static void check_in_place(struct trial *t, const struct machines *all)
{
    for (int f = 0; f < t->fields; f++) {
        const bool split = t->kernel->fields[f].role == FIELD_SPLIT_OUT;
        const int with = partner(t, split ? FIELD_SPLIT : FIELD_COMPLEX);
        if (!trial_uses(t, f) || (!split && t->kernel->fields[f].role != FIELD_COMPLEX_OUT)
            || with < 0)
            continue;
        for (int b = 0; b < all->count; b += all->step) {
            double margin;
            trial_run(t, all->backend[b], f, with, false);
            ck_assert_msg(trial_within(t, &margin),
                          "%s %d on %s: %s in place: %g times its bound", t->kernel->name, t->s,
                          all->backend[b]->isa, t->kernel->fields[f].name, margin);
        }
    }
}

START_TEST(every_kernel_works_in_place)
{
    struct machines all;
    machines_init(&all);
    each_kernel(37, &all, check_in_place);
    machines_clear(&all);
}
END_TEST

enum perturbation { FLIPPED_SIGN, DROPPED, NUDGED, PERTURBATIONS };

static const char *const perturbation_names[] = {"flipped sign of", "dropped", "1e-9 more of"};

/* Changes an input of the reference only: numbers c, c + step, … of the array. */
static void perturb(double *array, size_t count, size_t c, size_t step, enum perturbation how)
{
    static const double factors[] = {-1.0, 0.0, 1.0 + 1e-9};
    for (size_t i = c; i < count; i += step)
        array[i] *= factors[how];
}

/* The smallest relative change of the input, a power of ten, that is still seen. */
static double smallest_seen(struct trial *t, int f, size_t c, const double *kept)
{
    const struct kernel_field *field = &t->kernel->fields[f];
    const size_t step = field->role == FIELD_SCALARS ? (size_t)field->width : 1;
    double seen = 1e-9;
    for (int decade = 10; decade <= 18; decade++) {
        double margin;
        memcpy(t->initial[f], kept, t->count[f] * sizeof *kept);
        for (size_t i = c; i < t->count[f]; i += step)
            t->initial[f][i] *= 1.0 + pow(10.0, -decade);
        trial_answer(t);
        if (trial_within(t, &margin))
            break;
        seen = pow(10.0, -decade);
    }
    return seen;
}

static void check_one_perturbation(struct trial *t, int f, size_t c, enum perturbation how)
{
    const struct kernel_field *field = &t->kernel->fields[f];
    const size_t step = field->role == FIELD_SCALARS ? (size_t)field->width : 1;
    double *kept;
    double margin;
    ck_assert_int_eq(MEM_NEW((long)t->count[f], &kept), 0);
    memcpy(kept, t->initial[f], t->count[f] * sizeof *kept);
    perturb(t->initial[f], t->count[f], c, step, how);
    trial_answer(t);
    ck_assert_msg(!trial_within(t, &margin), "%s %d: %s %s[%zu] stays within the bound (%g)",
                  t->kernel->name, t->s, perturbation_names[how], field->name, c, margin);
    if (how == NUDGED && perturb_wanted())
        perturb_record("kernels", smallest_seen(t, f, c, kept), 0.0);
    memcpy(t->initial[f], kept, t->count[f] * sizeof *kept);
    mem_free(kept);
}

static int components_read(const struct trial *t, const struct kernel_field *field)
{
    const int width = field->role == FIELD_SCALARS ? field->width : 1;
    if ((field->flags & FIELD_FRONT) != 0)
        return width / 2;
    return (field->flags & FIELD_STEPWISE) != 0 && t->s < width ? t->s : width;
}

static void check_perturbations(struct trial *t, const struct machines *all)
{
    trial_run(t, all->backend[0], -1, -1, false);
    for (int f = 0; f < t->fields; f++) {
        const struct kernel_field *field = &t->kernel->fields[f];
        if (!trial_uses(t, f) || !field_is_input(field))
            continue;
        for (int c = 0; c < components_read(t, field); c++)
            for (int how = 0; how < PERTURBATIONS; how++)
                if (how != FLIPPED_SIGN || (field->flags & FIELD_EVEN) == 0)
                    check_one_perturbation(t, f, (size_t)c, (enum perturbation)how);
    }
}

START_TEST(every_perturbed_input_is_seen)
{
    struct machines all;
    machines_init(&all);
    each_kernel(19, &all, check_perturbations);
    machines_clear(&all);
}
END_TEST

static bool any_nan_in_row_0(const struct trial *t)
{
    for (int f = 0; f < t->fields; f++) {
        const struct kernel_field *field = &t->kernel->fields[f];
        if (!trial_uses(t, f) || !field_is_output(field))
            continue;
        for (long i = 0; i < (field->role == FIELD_SUMS ? field->width : 2); i++)
            if (isnan(t->after[f][i]))
                return true;
    }
    return false;
}

/* Element 0 of row 0 becomes NaN; outputs must show it there, other rows must not. */
static void check_nan(struct trial *t, const struct machines *all)
{
    for (int f = 0; f < t->fields; f++) {
        const struct kernel_field *field = &t->kernel->fields[f];
        if (!trial_uses(t, f) || !field_is_complex(field) || !field_is_input(field))
            continue;
        const double kept = t->initial[f][0];
        t->initial[f][0] = (double)NAN;
        for (int b = 0; b < all->count; b += all->step) {
            double margin;
            trial_run(t, all->backend[b], -1, -1, false);
            ck_assert_msg(any_nan_in_row_0(t), "%s %d on %s: a NaN in %s vanishes",
                          t->kernel->name, t->s, all->backend[b]->isa,
                          t->kernel->fields[f].name);
            t->active[0] = 0; /* the other rows */
            ck_assert(trial_within(t, &margin));
            t->active[0] = 1;
        }
        t->initial[f][0] = kept;
    }
}

START_TEST(a_nan_reaches_the_output_of_its_row_only)
{
    struct machines all;
    machines_init(&all);
    each_kernel(21, &all, check_nan);
    machines_clear(&all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend conformance");
    TCase *tests = tcase_create("kernels");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_kernel_keeps_its_bound_at_even_and_odd_lengths);
    tcase_add_test(tests, every_kernel_keeps_its_bound_where_threads_share_a_row);
    tcase_add_test(tests, rows_of_a_member_share_its_scalars);
    tcase_add_test(tests, a_batch_equals_batches_of_one_row);
    tcase_add_test(tests, all_rows_of_a_batch_run_when_all_are_active);
    tcase_add_test(tests, every_kernel_works_in_place);
    tcase_add_test(tests, every_perturbed_input_is_seen);
    tcase_add_test(tests, a_nan_reaches_the_output_of_its_row_only);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
