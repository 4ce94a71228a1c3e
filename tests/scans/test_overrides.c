/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tests/exact.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

static const char file[] =
    TOY "axes:\n  - gamma: [1, 2, 3]\n  - zip: {loss: [1, 2], omega: [3, "
        "4]}\nensemble: {realisations: 9}\n";

static void refuses_set(const char *set, const char *const *parts)
{
    const struct scan_override override = {set};
    toy_refused(file, &override, 1, parts);
}

#define refuses(set, ...) refuses_set(set, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(fixed_values_of_every_section_can_be_set)
{
    const struct scan_override set[] = {{"length=3 cm"},
                                        {"pulse.duration=60 fs"},
                                        {"parameters.pulse.power=2 kW"},
                                        {"guide=hollow"},
                                        {"edge={share: 10 %, width: 2 cm}"},
                                        {"betas=[1, 2, 3]"},
                                        {"stepper.rtol=1e-3"},
                                        {"stepper={atol: 1}"},
                                        {"ensemble.realisations=2"},
                                        {"save={planes: last, field: false}"},
                                        {"save.observables=[energy]"},
                                        {"limits.timeout=1 min"},
                                        {"resources.worker={threads: 2}"},
                                        {"store.history=5"},
                                        {"envelope.factor=30"},
                                        {"envelope.norm=energy"},
                                        {"envelope.tolerance=1e-4"}};
    struct scan *scan = toy_scan_set(file, set, sizeof set / sizeof set[0]);
    ck_assert(exactly(toy_value(scan, 0, "length"), 0.03));
    ck_assert(exactly(toy_value(scan, 0, "pulse.duration"), 60e-15));
    ck_assert(exactly(toy_value(scan, 0, "pulse.power"), 2e3));
    ck_assert(exactly(toy_value(scan, 0, "guide.model"), 1.0));
    ck_assert(exactly(toy_value(scan, 0, "edge.share"), 0.1));
    ck_assert(exactly(toy_value(scan, 0, "edge.width"), 0.02));
    ck_assert(exactly(toy_value(scan, 0, "stepper.rtol"), 1e-3));
    ck_assert(exactly(toy_value(scan, 0, "stepper.atol"), 1.0));
    ck_assert_int_eq(scan_realisations(scan), 2);
    ck_assert_int_eq(scan_get_save(scan)->planes.kind, PLANES_LAST);
    ck_assert_int_eq(scan_get_save(scan)->field, SAVE_FIELD_NO);
    ck_assert(!scan_get_save(scan)->all_observables);
    ck_assert(exactly(scan_get_limits(scan)->timeout, 60.0));
    ck_assert_int_eq(scan_get_resources(scan)->threads, 2);
    ck_assert_int_eq(scan_get_store(scan)->history, 5);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_TIGHTER);
    ck_assert(exactly(scan_get_envelope(scan)->factor, 30.0));
    ck_assert(exactly(scan_get_envelope(scan)->tolerance, 1e-4));
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

START_TEST(an_envelope_is_made_and_taken_away)
{
    const struct scan_override none[] = {{"envelope.tolerance=1e-4"}, {"envelope=none"}};
    const struct scan_override off[] = {{"envelope.tolerance=1e-4"},
                                        {"envelope.reference=none"}};
    struct scan *scan = toy_scan_set(file, none, 1);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_TIGHTER);
    scan_destroy(scan);
    scan = toy_scan_set(file, none, 2);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_NONE);
    scan_destroy(scan);
    scan = toy_scan_set(file, off, 2);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_NONE);
    scan_destroy(scan);
}
END_TEST

START_TEST(a_set_value_is_as_if_it_stood_in_the_file)
{
    const struct scan_override set[] = {{"pulse.duration=10 fs"}, {"pulse.duration=60 fs"}};
    struct scan *a = toy_scan_set(TOY, set, 2); /* the last one holds */
    struct scan *b = toy_scan(TOY_HEAD "parameters: {length: 1 m, pulse: {duration: 60 fs}}\n");
    ck_assert_str_eq(scan_canonical(a), scan_canonical(b));
    size_t length = 0;
    ck_assert_str_eq(scan_text(a, &length), TOY); /* the text stays as read */
    scan_destroy(a);
    scan_destroy(b);
}
END_TEST

START_TEST(values_of_an_axis_can_be_replaced)
{
    const struct scan_override set[] = {
        {"axis.gamma={from: 5, to: 6, points: 2}"}, {"axis.loss=[7]"}, {"axis.omega=[8]"}};
    struct scan *scan = toy_scan_set(file, set, 3);
    ck_assert_int_eq(scan_points(scan), 2);
    ck_assert(exactly(toy_value(scan, 1, "gamma"), 6.0));
    ck_assert(exactly(toy_value(scan, 1, "loss"), 7.0));
    ck_assert(exactly(toy_value(scan, 1, "omega"), 8.0));
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

START_TEST(bad_settings_are_refused_with_their_text)
{
    refuses("gamma=3", "--set 'gamma=3'", "scanned by axis 0", "--set axis.gamma=");
    refuses("axis.loss=[1, 2, 3]", "equal lengths");
    refuses("axis.length=[1]", "no axis scans 'length'", "gamma, loss, omega");
    refuses("axis.gamma=3", "[value, …]");
    refuses("lenght=3", "--set 'lenght=3'", "did you mean 'length'?");
    refuses("length=3 kg", "'kg'");
    refuses("length=", "no value");
    refuses("length", "key=value is wanted");
    refuses("=3", "key=value is wanted");
    refuses("scan=other", "cannot be set");
    refuses("model=bare", "cannot be set");
    refuses("ensemble.sed=3", "did you mean 'seed'?");
    refuses("ensemble=3", "a map");
    refuses("length=[1", "not valid YAML");
    refuses("length=&x 3", "anchors");
    refuses("save.planes=1", "last");
}
END_TEST

static Suite *overrides_suite(void)
{
    Suite *suite = suite_create("overrides");
    TCase *tcase = tcase_create("overrides");
    tcase_add_test(tcase, fixed_values_of_every_section_can_be_set);
    tcase_add_test(tcase, an_envelope_is_made_and_taken_away);
    tcase_add_test(tcase, a_set_value_is_as_if_it_stood_in_the_file);
    tcase_add_test(tcase, values_of_an_axis_can_be_replaced);
    tcase_add_test(tcase, bad_settings_are_refused_with_their_text);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(overrides_suite());
}
