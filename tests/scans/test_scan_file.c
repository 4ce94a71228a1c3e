/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

START_TEST(defaults_are_those_of_the_documentation)
{
    struct scan *scan = toy_scan(TOY);
    ck_assert_str_eq(scan_name(scan), "test");
    ck_assert_int_eq(scan_members(scan), 1);
    ck_assert(!scan_get_ensemble(scan)->present);
    ck_assert_int_eq(scan_get_save(scan)->planes.kind, PLANES_COUNT);
    ck_assert_int_eq(scan_get_save(scan)->planes.count, 51);
    ck_assert_int_eq(scan_get_save(scan)->field, SAVE_FIELD_YES);
    ck_assert(scan_get_save(scan)->all_observables);
    ck_assert(scan_get_save(scan)->observable[2]);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_NONE);
    ck_assert_int_eq(scan_get_resources(scan)->worker, WORKER_CORE);
    ck_assert(exactly(scan_get_resources(scan)->memory, 0.0));
    ck_assert(exactly(scan_get_limits(scan)->timeout, 0.0));
    ck_assert_int_eq(scan_get_limits(scan)->attempts, 2);
    ck_assert_int_eq(scan_get_store(scan)->sync, SYNC_MEMBER);
    ck_assert(exactly(scan_get_store(scan)->checkpoint, 60.0));
    ck_assert_int_eq(scan_get_store(scan)->history, 8192);
    ck_assert(exactly(toy_value(scan, 0, "pulse.duration"), 50e-15));
    ck_assert(exactly(toy_value(scan, 0, "temperature"), 293.15));
    ck_assert(exactly(toy_value(scan, 0, "stepper.rtol"), 1e-6));
    ck_assert(isnan(toy_value(scan, 0, "edge.share")));
    ck_assert(isnan(toy_value(scan, 0, "choice_of_two")));
    scan_destroy(scan);
}
END_TEST

START_TEST(every_section_is_read)
{
    struct scan *scan = toy_scan(
        TOY_HEAD
        "format: 1\n"
        "parameters: {length: 15 cm, pulse: {shape: gauss, phases.cep: 90 deg}, loss: 10 "
        "dB/m,\n"
        "  betas: [1 fs^2/m, 2, 3 ps^4/km], shock: false, guide: hollow, edge: {share: 5 %}}\n"
        "ensemble: {realisations: 20, seed: 18446744073709551615, noise: direct, common: "
        "true}\n"
        "stepper: {method: fixed, rtol: 1e-4, first_step: 1 mm, max_steps: 1e6}\n"
        "save: {planes: [0 m, 1 mm, 15 cm], field: float32, observables: [energy, fwhm_t]}\n"
        "envelope: {reference: stored old run.h5, factor: 20, safety: 2, tolerance: 1e-3,\n"
        "  norm: observable energy, planes: last, sample: 5 %}\n"
        "resources: {worker: {threads: 4}, memory: 500 MiB}\n"
        "limits: {timeout: 10 min, attempts: 3}\n"
        "store: {sync: never, checkpoint: 2 min, history: 100}\n");
    ck_assert(exactly(toy_value(scan, 0, "length"), 0.15));
    ck_assert(exactly(toy_value(scan, 0, "pulse.phases.cep"), M_PI_2));
    ck_assert(exactly(toy_value(scan, 0, "loss"), log(10.0)));
    ck_assert(exactly(toy_value(scan, 0, "pulse.shape"), 1.0));
    ck_assert(exactly(toy_value(scan, 0, "shock"), 0.0));
    ck_assert(exactly(toy_value(scan, 0, "guide.model"), 1.0));
    ck_assert(exactly(toy_value(scan, 0, "edge.share"), 0.05));
    ck_assert(exactly(toy_value(scan, 0, "stepper.method"), 1.0));
    ck_assert(exactly(toy_value(scan, 0, "stepper.first_step"), 1e-3));
    struct params params;
    int count = 0;
    ck_assert_int_eq(scan_params_init(scan, &params), 0);
    scan_point(scan, 0, &params);
    const double *betas = params_list(&params, "betas", &count);
    ck_assert_int_eq(count, 3);
    ck_assert(exactly(betas[0], 1e-30) && exactly(betas[1], 2.0) && exactly(betas[2], 3e-51));
    ck_assert(exactly(params_real(&params, "betas"), 1e-30));
    params_clear(&params);
    ck_assert_int_eq(scan_get_ensemble(scan)->realisations, 20);
    ck_assert(scan_get_ensemble(scan)->seed == UINT64_MAX);
    ck_assert_int_eq(scan_get_ensemble(scan)->noise, NOISE_DIRECT);
    ck_assert(scan_get_ensemble(scan)->common);
    const struct scan_save *save = scan_get_save(scan);
    ck_assert_int_eq(save->planes.kind, PLANES_LIST);
    ck_assert_int_eq(save->planes.count, 3);
    ck_assert(exactly(save->planes.positions[1], 1e-3)
              && exactly(save->planes.positions[2], 0.15));
    ck_assert_int_eq(save->field, SAVE_FIELD_FLOAT32);
    ck_assert(!save->all_observables && save->observable[0] && !save->observable[1]);
    const struct scan_envelope *envelope = scan_get_envelope(scan);
    ck_assert_int_eq(envelope->reference, ENVELOPE_STORED);
    ck_assert_str_eq(envelope->file, "old run.h5");
    ck_assert_str_eq(envelope->norm, "observable energy");
    ck_assert(exactly(envelope->factor, 20.0) && exactly(envelope->safety, 2.0));
    ck_assert(exactly(envelope->tolerance, 1e-3));
    ck_assert_int_eq(envelope->planes.kind, PLANES_LAST);
    ck_assert_str_eq(envelope->sample, "5 %");
    ck_assert_int_eq(scan_get_resources(scan)->worker, WORKER_THREADS);
    ck_assert_int_eq(scan_get_resources(scan)->threads, 4);
    ck_assert(exactly(scan_get_resources(scan)->memory, 524288000.0));
    ck_assert(exactly(scan_get_limits(scan)->timeout, 600.0));
    ck_assert_int_eq(scan_get_limits(scan)->attempts, 3);
    ck_assert_int_eq(scan_get_store(scan)->sync, SYNC_NEVER);
    ck_assert(exactly(scan_get_store(scan)->checkpoint, 120.0));
    ck_assert_int_eq(scan_get_store(scan)->history, 100);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

START_TEST(other_forms_of_section_values_are_read)
{
    struct scan *scan = toy_scan(TOY "save: {planes: last}\nlimits: {timeout: {times_median: "
                                     "5}}\nresources: {worker: socket}\nenvelope: {norm: "
                                     "observable energy, tolerance: 1e-3, sample: "
                                     "{points: [0]}}\nensemble: {realisations: 3}\n");
    ck_assert_int_eq(scan_get_save(scan)->planes.kind, PLANES_LAST);
    ck_assert_int_eq(scan_get_save(scan)->planes.count, 1);
    ck_assert(exactly(scan_get_limits(scan)->times_median, 5.0));
    ck_assert_int_eq(scan_get_resources(scan)->worker, WORKER_SOCKET);
    ck_assert_int_eq(scan_get_envelope(scan)->reference, ENVELOPE_TIGHTER);
    ck_assert_str_eq(scan_get_envelope(scan)->sample, "points [0]");
    ck_assert_int_eq(scan_get_ensemble(scan)->noise, NOISE_ONE_PHOTON);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    scan = toy_scan("scan: x\nmodel: bare\nensemble: {realisations: 3, seed: 0}\n");
    ck_assert_int_eq(scan_get_ensemble(scan)->noise, NOISE_NONE);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    scan = toy_scan(TOY "axes: [{gamma: [0, 1, 2]}]\nenvelope:\n  tolerance: 1e-3\n  sample: "
                        "points [0, 2]\n");
    ck_assert_str_eq(scan_get_envelope(scan)->sample, "points [0, 2]");
    int64_t point = -1;
    ck_assert(scan_envelope_point(scan, 0, &point) && point == 0);
    ck_assert(scan_envelope_point(scan, 1, &point) && point == 2);
    ck_assert(!scan_envelope_point(scan, 2, &point));
    scan_destroy(scan);
}
END_TEST

START_TEST(an_envelope_says_what_is_compared_of_whom)
{
    static const struct {
        const char *text;
        enum envelope_norm norm;
        int observable; /* of the toy model: energy is its first */
        enum envelope_sample sample;
        double amount;
    } cases[] = {
        {"", NORM_FIELD_L2, -1, SAMPLE_ALL, 1.0},
        {", norm: spectrum_l2, sample: 5 %", NORM_SPECTRUM_L2, -1, SAMPLE_SHARE, 0.05},
        {", norm: energy, sample: 12", NORM_OBSERVABLE, 0, SAMPLE_COUNT, 12.0},
        {", norm: observable energy, sample: 100 %", NORM_OBSERVABLE, 0, SAMPLE_SHARE, 1.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        int observable = -2;
        double amount = 0;
        snprintf(text, sizeof text, TOY "envelope: {tolerance: 1e-3%s}\n", cases[i].text);
        struct scan *scan = toy_scan(text);
        ck_assert_int_eq(scan_envelope_norm(scan, &observable), cases[i].norm);
        ck_assert_int_eq(observable, cases[i].observable);
        ck_assert_int_eq(scan_envelope_sample(scan, &amount), cases[i].sample);
        ck_assert_exactly(amount, cases[i].amount);
        toy_check_canonical(toy_models, scan);
        scan_destroy(scan);
    }
}
END_TEST

/* Without noise a limit of the gain has no meaning; canonical forms of before know none. */
START_TEST(noise_seeded_members_have_a_limit_of_their_gain)
{
    static const struct {
        const char *text;
        double gain;
    } cases[] = {
        {"ensemble: {realisations: 2, seed: 1}\nenvelope: {tolerance: 1e-3}\n", 100.0},
        {"ensemble: {realisations: 2, seed: 1}\nenvelope: {tolerance: 1e-3, gain: 30}\n", 30.0},
        {"ensemble: {realisations: 2, seed: 1}\nenvelope: {tolerance: 1e-3, gain: none}\n",
         0.0},
        {"ensemble: {realisations: 2, seed: 1}\n", 0.0},
        {"envelope: {tolerance: 1e-3, gain: 30}\n", 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct scan *again = NULL;
        snprintf(text, sizeof text, TOY "%s", cases[i].text);
        struct scan *scan = toy_scan(text);
        ck_assert_exactly(scan_get_envelope(scan)->gain, cases[i].gain);
        toy_check_canonical(toy_models, scan);
        const char *const form = scan_canonical(scan);
        ck_assert_int_eq(strstr(form, "envelope.gain: ") != NULL, cases[i].gain > 0.0);
        ck_assert_int_eq(scan_parse_canonical_models(toy_models, form, strlen(form), &again),
                         0);
        ck_assert_exactly(scan_get_envelope(again)->gain, cases[i].gain);
        scan_destroy(again);
        scan_destroy(scan);
    }
    toy_refuses(TOY "envelope: {tolerance: 1e-3, gain: 1}\n", "file:", "above 1");
    toy_refuses(TOY "envelope: {tolerance: 1e-3, gain: any}\n", "file:", "gain");
}
END_TEST

START_TEST(what_an_envelope_cannot_judge_is_refused)
{
    toy_refuses(TOY "envelope: {sample: all}\n", "file:4:12: ", "tolerance is missing");
    toy_refuses(TOY "envelope: {tolerance: 1e-3, safety: 0.9}\n", "at least 1");
    toy_refuses(TOY "save: {field: false}\nenvelope: {tolerance: 1e-3, norm: spectrum_l2}\n",
                "file:5:29: ", "spectrum_l2 compares fields");
    toy_refuses(TOY
                "save: {observables: [fwhm_t]}\nenvelope: {tolerance: 1e-3, norm: energy}\n",
                "file:4:8: ", "envelope.norm: ", "keeps it not");
    toy_refuses(TOY "envelope: {tolerance: 1e-3, sample: {points: [1]}}\n",
                "file:4:29: ", "the points are 0 to 0");
    toy_refuses("scan: x\nmodel: bare\nenvelope: {tolerance: 1e-3}\n", "no stepper.rtol");
    /* `none` needs nothing. */
    scan_destroy(toy_scan(TOY "envelope: {reference: none, norm: energy}\n"));
}
END_TEST

START_TEST(an_ensemble_may_stop_itself)
{
    static const struct {
        const char *text;
        const char *line; /* of the canonical form */
        enum until_kind kind;
        int64_t min;
    } cases[] = {
        {"until: {quantity: mean_spectrum, error: 2 %}, max: 2000",
         "ensemble.until: {quantity: mean_spectrum, error: 0.02}", UNTIL_MEAN_SPECTRUM, 20},
        {"until: {error: 0.5, quantity: g12, band: [0.5 m, 250 mm]}, min: 16, max: 2000",
         "ensemble.until: {quantity: g12, error: 0.5, band: [0.25, 0.5]}", UNTIL_G12, 16},
        {"until: {quantity: fwhm_t, error: 100 %}, min: 8, max: 2000",
         "ensemble.until: {quantity: fwhm_t, error: 1}", UNTIL_OBSERVABLE, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, TOY "ensemble: {%s, seed: 4}\n", cases[i].text);
        struct scan *scan = toy_scan(text);
        const struct scan_until *const until = &scan_get_ensemble(scan)->until;
        ck_assert_int_eq(until->kind, cases[i].kind);
        ck_assert_int_eq(until->min, cases[i].min);
        ck_assert_int_eq(until->max, 2000);
        ck_assert_int_eq(scan_realisations(scan), 2000);
        toy_has_line(scan, cases[i].line);
        ck_assert_ptr_null(strstr(scan_canonical(scan), "ensemble.realisations"));
        toy_check_canonical(toy_models, scan);
        scan_destroy(scan);
    }
    /* A small max is its own first look; what decides the number enters no identity. */
    struct scan *small =
        toy_scan(TOY "ensemble: {until: {quantity: g12, error: 1 %}, max: 9}\n");
    struct scan *given = toy_scan(TOY "ensemble: {realisations: 9}\n");
    char identity[2][4096];
    ck_assert_int_eq(scan_get_ensemble(small)->until.min, 9);
    scan_identity_text(small, 0, identity[0], sizeof identity[0]);
    scan_identity_text(given, 0, identity[1], sizeof identity[1]);
    ck_assert_str_eq(identity[0], identity[1]);
    scan_destroy(small);
    scan_destroy(given);
}
END_TEST

#define UNTIL "until: {quantity: g12, error: 2 %}"

START_TEST(what_no_ensemble_can_decide_is_refused)
{
    toy_refuses(TOY "ensemble: {" UNTIL "}\n", "file:4:12: ", "max is missing");
    toy_refuses(TOY "ensemble: {max: 100}\n", "file:4:12: ", "until, which is missing");
    toy_refuses(TOY "ensemble: {min: 10}\n", "ensemble.min", "until, which is missing");
    toy_refuses(TOY "ensemble: {realisations: 10, max: 100, " UNTIL "}\n",
                "file:4:12: ", "between min and max");
    toy_refuses(TOY "ensemble: {min: 30, max: 20, " UNTIL "}\n", "file:4:12: ", "above max");
    toy_refuses(TOY "ensemble: {min: 7, max: 20, " UNTIL "}\n",
                "ensemble.min: 7 is out of range");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g12}}\n", "error is missing");
    toy_refuses(TOY "ensemble: {max: 100, until: {error: 1 %}}\n", "quantity is missing");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g12, error: 0}}\n",
                "ensemble.until.error: 0 is out of range");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g12, error: 101 %}}\n",
                "out of range");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g21, error: 1 %}}\n",
                "did you mean 'g12'?");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g12, eror: 1 %}}\n",
                "unknown key 'eror'", "did you mean 'error'?");
    toy_refuses(TOY "ensemble: {max: 100, until: g12}\n",
                "{quantity: mean_spectrum, error: 2 %}");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: g12, error: 1 %, band: [1 m]}}\n",
                "two wavelengths");
    toy_refuses(TOY
                "ensemble: {max: 100, until: {quantity: g12, error: 1 %, band: [1 m, 1 m]}}\n",
                "are the same");
    toy_refuses(TOY
                "ensemble: {max: 100, until: {quantity: g12, error: 1 %, band: [1 fs, 1 m]}}\n",
                "ensemble.until.band");
    toy_refuses(TOY "ensemble: {max: 100, until: {quantity: energy, error: 1 %, band: [1 m, 2 "
                    "m]}}\n",
                "energy is one number");
    /* `save` must keep what decides. */
    toy_refuses(TOY "save: {field: false}\nensemble: {max: 100, " UNTIL "}\n",
                "g12 needs fields, and save.field keeps none");
    toy_refuses(TOY "save: {observables: [fwhm_t]}\nensemble: {max: 100, until: {quantity: "
                    "energy, error: 1 %}}\n",
                "energy is decided by, and save.observables keeps it not");
    toy_refuses("scan: x\nmodel: bare\nensemble: {max: 100, until: {quantity: g12, error: 1 "
                "%}}\n",
                "has no noise");
}
END_TEST

START_TEST(nested_and_dotted_keys_are_one)
{
    struct scan *a =
        toy_scan(TOY_HEAD "parameters: {length: 1, pulse: {duration: 9 fs, phases: "
                          "{cep: 1}}}\n");
    struct scan *b = toy_scan(TOY_HEAD "parameters: {length: 1, pulse.phases.cep: 1, "
                                       "pulse.duration: 9e-15}\n");
    ck_assert_str_eq(scan_canonical(a), scan_canonical(b));
    scan_destroy(a);
    scan_destroy(b);
    toy_refuses(TOY_HEAD "parameters:\n  length: 1\n  pulse: {duration: 9 fs}\n"
                         "  pulse.duration: 8 fs\n",
                "file:6:3: ", "pulse.duration is given twice", "line 5");
    toy_refuses(TOY_HEAD "parameters: {length: 1, guide: none, guide.model: none}\n",
                "guide.model is given twice");
}
END_TEST

START_TEST(the_head_is_checked)
{
    toy_refuses("model: toy\n", "file:1:1: ", "'scan' is missing");
    toy_refuses("scan: x\n", "file:1:1: ", "'model' is missing");
    toy_refuses("scan: a/b\nmodel: toy\n", "file:1:7: ", "'a/b'", "A-Z");
    toy_refuses("scan: ''\nmodel: toy\n", "file:1:7: ", "a name is wanted");
    toy_refuses("scan: [a]\nmodel: toy\n", "file:1:7: ", "a list stands here");
    toy_refuses(
        "scan: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaa\nmodel: toy\n",
        "file:1:7: ", "1 to 80");
    toy_refuses("scan: x\nformat: 2\nmodel: toy\n", "file:2:9: ", "version 2", "newer",
                "version 1");
    toy_refuses("scan: x\nformat: 1.5\nmodel: toy\n", "file:2:9: ", "whole number");
    toy_refuses("scan: x\nmodel: tox\n", "file:2:8: ", "unknown model 'tox'",
                "did you mean 'toy'?", "accepted: toy, bare");
    toy_refuses("scan: x\nmodel: graph\n", "file:2:8: ", "not in this version");
    toy_refuses("scan: x\nmodel: lowprec\n", "not in this version");
    toy_refuses("scan: x\nmodel: plugin:./mine.so\n", "file:2:8: ", "plugin", "not supported");
    toy_refuses(TOY "parametres: {}\n", "file:4:1: ", "did you mean 'parameters'?", "axes");
    toy_refuses(TOY "stepper.rtol: 1\n", "file:4:1: ", "unknown key");
}
END_TEST

START_TEST(a_list_in_place_of_a_choice_is_refused)
{
    toy_refuses(TOY_HEAD "parameters: {length: 1, pulse: {shape: [sech, gauss]}}\n",
                "file:3:40: ", "pulse.shape: a list stands here", "(Shape)",
                "axes: - pulse.shape", "accepted: sech, gauss, square");
    toy_refuses(TOY_HEAD "parameters: {length: 1, guide: [hollow]}\n",
                "file:3:32: ", "guide.model: a list stands here", "accepted: none, hollow");
    toy_refuses(TOY_HEAD "parameters: {length: 1}\naxes: [{guide: [hollow, [solid]]}]\n",
                "guide.model: a list stands here");
}
END_TEST

START_TEST(parameters_are_checked)
{
    toy_refuses(TOY_HEAD, "file:1:1: ", "'parameters.length' is missing", "(m)");
    toy_refuses(TOY_HEAD "parameters: {share: 0.1}\n", "file:3:13: ", "parameters.length");
    toy_refuses(TOY_HEAD "parameters: {lenght: 1}\n", "file:3:14: ", "'lenght'",
                "did you mean 'length'?", "accepted: length, pulse, betas");
    toy_refuses(TOY_HEAD "parameters:\n  pulse:\n    duratoin: 1\n",
                "file:5:5: ", "'duratoin' in pulse", "did you mean 'duration'?",
                "accepted: duration, power, phases, shape");
    toy_refuses(TOY_HEAD "parameters: {pulse.phases.cap: 1}\n",
                "file:3:14: ", "'cap' in pulse.phases", "did you mean 'cep'?");
    toy_refuses(TOY_HEAD "parameters: {duration: 1}\n", "accepted: length");
    toy_refuses(TOY_HEAD "parameters: {length: 3 kg}\n", "file:3:22: ", "length", "'kg'",
                "'m'");
    toy_refuses(TOY_HEAD "parameters: {length: -3 cm}\n", "file:3:22: ", "-3 cm", "above 0");
    toy_refuses(TOY_HEAD "parameters: {length: 0}\n", "file:3:22: ", "above 0");
    toy_refuses(TOY_HEAD "parameters: {length: 2000 km}\n", "file:3:22: ", "at most 1000000");
    toy_refuses(TOY_HEAD "parameters: {length: }\n", "file:3:", "length: no value");
    toy_refuses(TOY_HEAD "parameters: {length: [1]}\n", "file:3:22: ", "a list stands here");
    toy_refuses(TOY_HEAD "parameters: {length: {x: 1}}\n", "file:3:22: ", "a map stands here");
    toy_refuses(TOY_HEAD "parameters: {length: nan}\n", "file:3:22: ", "finite");
    toy_refuses(TOY_HEAD "parameters: {length: none}\n", "file:3:22: ", "not a number",
                "(bare: m) is wanted");
    toy_refuses(TOY_HEAD "parameters: {length: 1, edge: nothing}\n", "file:3:", "edge.share",
                "a number, or none is wanted");
    toy_refuses(TOY_HEAD "parameters: {length: 1, share: 150 %}\n", "file:3:32: ", "0 to 1");
    toy_refuses(TOY_HEAD "parameters: {length: 1, omega: 3 THz}\n", "file:3:32: ", "2 pi");
    toy_refuses(TOY_HEAD "parameters: {length: 1, shock: yes}\n",
                "file:3:32: ", "'yes' is not true or false");
    toy_refuses(TOY_HEAD "parameters: {length: 1, shock: True}\n", "true or false");
    toy_refuses(TOY_HEAD "parameters: {length: 1, shock: 1}\n", "true or false");
    toy_refuses(TOY_HEAD "parameters: {length: 1, pulse: {shape: sach}}\n",
                "file:3:40: ", "'sach'", "did you mean 'sech'?", "sech, gauss, square");
    toy_refuses(TOY_HEAD "parameters: {length: 1, pulse: 3}\n", "file:3:32: ", "pulse",
                "keys of: duration");
    toy_refuses(TOY_HEAD "parameters: {length: 1, guide: hallow}\n",
                "file:3:32: ", "did you mean 'hollow'?");
    toy_refuses(TOY_HEAD "parameters: {length: 1, grid: {points: 0}}\n", "file:3:40: ", "1 to");
    toy_refuses(TOY_HEAD "parameters: {length: 1, grid: {points: 2.5}}\n", "whole number");
    toy_refuses(TOY_HEAD "parameters: {length: 1, grid: {points: 1e16}}\n", "whole number");
    toy_refuses(TOY_HEAD "parameters: {length: 1, betas: 3}\n", "file:3:32: ", "a list");
    toy_refuses(TOY_HEAD "parameters: {length: 1, betas: []}\n", "file:3:32: ", "1 to 32");
    toy_refuses(TOY_HEAD "parameters: {length: 1, betas: [1 ps^2/km, 1 ps^2/km]}\n",
                "file:3:44: ", "'ps^2/km'", "'s^3 m^-1'");
    toy_refuses(TOY_HEAD "parameters: {length: 1,5}\n", "file:3:24: ", "'5' is not a key");
    toy_refuses(TOY_HEAD "parameters: {length: 1, stepper: {rtol: 1}}\n",
                "file:3:25: ", "section of its own");
    toy_refuses(TOY_HEAD "parameters: 3\n", "file:3:13: ", "parameters: a value stands here");
}
END_TEST

START_TEST(a_key_without_effect_is_refused)
{
    toy_refuses(TOY_HEAD "parameters: {length: 1, edge: {width: 2 cm}}\n",
                "file:3:", "edge.width", "edge.share");
    toy_refuses(TOY_HEAD "parameters: {length: 1}\naxes: [{edge.width: [1 cm, 2 cm]}]\n",
                "edge.width", "edge.share");
    scan_destroy(toy_scan(TOY_HEAD "parameters: {length: 1, edge: none}\n"));
    scan_destroy(
        toy_scan(TOY_HEAD "parameters: {length: 1, edge: {share: 5 %, width: 2 cm}}\n"));
    scan_destroy(toy_scan(
        TOY_HEAD
        "parameters: {length: 1, edge.width: 2 cm}\naxes: [{edge.share: [5 %, 6 %]}]\n"));
    /* What may be none itself is switched on by itself. */
    struct scan *const scan = toy_scan(TOY_HEAD "parameters: {length: 1, edge.late: 3 cm}\n");
    ck_assert(isnan(toy_value(scan, 0, "edge.share")));
    ck_assert_exactly(toy_value(scan, 0, "edge.late"), 0.03);
    scan_destroy(scan);
    scan_destroy(
        toy_scan(TOY_HEAD "parameters: {length: 1}\naxes: [{edge.late: [1 cm, none]}]\n"));
}
END_TEST

START_TEST(sections_are_checked)
{
    toy_refuses(TOY "ensemble: {realisations: 0}\n", "file:4:26: ", "1 to");
    toy_refuses(TOY "ensemble: {realisation: 3}\n",
                "file:4:12: ", "did you mean 'realisations'?", "seed, noise, common");
    toy_refuses(TOY "ensemble: {seed: -1}\n", "file:4:18: ", "2^64");
    toy_refuses(TOY "ensemble: {noise: onephoton}\n", "did you mean 'one_photon'?");
    toy_refuses(TOY "ensemble: 3\n", "file:4:11: ", "a map");
    toy_refuses("scan: x\nmodel: bare\nensemble: {noise: direct}\n",
                "file:3:19: ", "model bare has no noise");
    toy_refuses("scan: x\nmodel: bare\nstepper: {rtol: 1e-3}\n", "file:3:1: ", "no stepper");
    toy_refuses(TOY "stepper: {method: adams-ip}\n", "file:4:19: ", "not in this version",
                "rk45");
    toy_refuses(TOY "stepper: {method: adams-exp}\n", "not in this version");
    toy_refuses(TOY "stepper: {method: rk4}\n", "did you mean 'rk45'?");
    toy_refuses(TOY "stepper: {rtol: 1}\n", "file:4:17: ", "1e-14 to 0.1");
    toy_refuses(TOY "stepper: {rtl: 1}\n", "file:4:11: ", "did you mean 'rtol'?");
    toy_refuses(TOY "save: {planes: 1}\n", "file:4:16: ", "last");
    toy_refuses(TOY "save: {planes: 0}\n", "file:4:16: ", "2 to");
    toy_refuses(TOY "save: {planes: lest}\n", "file:4:16: ", "last");
    toy_refuses(TOY "save: {planes: []}\n", "file:4:16: ", "empty");
    toy_refuses(TOY "save: {planes: [1 m, 0 m]}\n", "file:4:22: ", "ascend");
    toy_refuses(TOY "save: {planes: [1 s]}\n", "file:4:17: ", "'m'");
    toy_refuses(TOY "save: {planes: [-1 m]}\n", "file:4:17: ", "below 0");
    toy_refuses(TOY "save: {field: float64}\n", "did you mean 'float32'?");
    toy_refuses(TOY "save: {observables: [enrgy]}\n", "file:4:22: ", "did you mean 'energy'?");
    toy_refuses(TOY "save: {observables: [energy, energy]}\n", "file:4:30: ", "twice");
    toy_refuses(TOY "save: {observables: none}\n", "all, or a list of: energy, peak_power");
    toy_refuses(TOY "resources: {worker: cor}\n", "file:4:21: ", "did you mean 'core'?");
    toy_refuses(TOY "resources: {worker: {threads: 0}}\n", "file:4:31: ", "1 to");
    toy_refuses(TOY "resources: {memory: 4 GX}\n", "file:4:21: ", "GiB");
    toy_refuses(TOY "resources: {memory: -4 GB}\n", "above 0");
    toy_refuses(TOY "limits: {timeout: -1 s}\n", "file:4:19: ", "above 0");
    toy_refuses(TOY "limits: {timeout: {median: 5}}\n", "times_median");
    toy_refuses(TOY "limits: {attempts: 0}\n", "1 to");
    toy_refuses(TOY "store: {sync: always}\n", "never, member");
    toy_refuses(TOY "store: {checkpoint: 0 s}\n", "above 0");
    toy_refuses(TOY "store: {history: -1}\n", "0 to");
    toy_refuses(TOY "envelope: {reference: better}\n", "file:4:23: ", "tighter, stored FILE");
    toy_refuses(TOY "envelope: {factor: 1}\n", "above 1");
    toy_refuses(TOY "envelope: {norm: observable enrgy}\n", "did you mean 'energy'?");
    toy_refuses(TOY "envelope: {norm: l2}\n", "field_l2, spectrum_l2");
    toy_refuses(TOY "envelope: {sample: half}\n", "5 %");
    toy_refuses(TOY "envelope: {sample: 120 %}\n", "120 %");
}
END_TEST

START_TEST(a_refused_scan_leaves_nothing_allocated)
{
    static const char *const texts[] = {"",
                                        "a: [",
                                        TOY_HEAD,
                                        TOY "axes: [{length: [1, 2]}, {share: [2]}]\n",
                                        TOY "axes: [{zip: {share: [0.1, 0.2], gamma: [1]}}]\n",
                                        TOY "save: {planes: [1, 0]}\n"};
    const long before = mem_live();
    char why[256];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct scan *scan = NULL;
        status_capture(why, sizeof why);
        ck_assert_int_ne(
            scan_parse_models(toy_models, texts[i], strlen(texts[i]), "f", NULL, 0, &scan), 0);
        status_capture(NULL, 0);
        ck_assert_int_eq(mem_live(), before);
    }
    scan_destroy(NULL);
}
END_TEST

static Suite *scan_file_suite(void)
{
    Suite *suite = suite_create("scan_file");
    TCase *tcase = tcase_create("scan_file");
    tcase_add_test(tcase, defaults_are_those_of_the_documentation);
    tcase_add_test(tcase, every_section_is_read);
    tcase_add_test(tcase, other_forms_of_section_values_are_read);
    tcase_add_test(tcase, an_envelope_says_what_is_compared_of_whom);
    tcase_add_test(tcase, noise_seeded_members_have_a_limit_of_their_gain);
    tcase_add_test(tcase, what_an_envelope_cannot_judge_is_refused);
    tcase_add_test(tcase, an_ensemble_may_stop_itself);
    tcase_add_test(tcase, what_no_ensemble_can_decide_is_refused);
    tcase_add_test(tcase, nested_and_dotted_keys_are_one);
    tcase_add_test(tcase, the_head_is_checked);
    tcase_add_test(tcase, a_list_in_place_of_a_choice_is_refused);
    tcase_add_test(tcase, parameters_are_checked);
    tcase_add_test(tcase, sections_are_checked);
    tcase_add_test(tcase, a_refused_scan_leaves_nothing_allocated);
    tcase_add_test(tcase, a_key_without_effect_is_refused);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(scan_file_suite());
}
