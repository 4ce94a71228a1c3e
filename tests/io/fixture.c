/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/io/fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hash.h"
#include "kernels/base/status.h"

#define REALISATIONS 5

static const struct observable_info observables[] = {
    {"energy", "J", "Pulse energy"},
    {"peak_power", "W", "Peak power"},
    {"unused", "1", "An observable that the scan does not store"},
};

static const struct bound_info bounds[] = {
    {"field", CONTRACT_T, "l2 of the spectrum", "2 eps", "a made-up rule"},
    {"seed", CONTRACT_P, "bits", "0", "a made-up rule"},
};

static const struct model_info model = {.name = "fixture",
                                        .doc = "A made-up model",
                                        .numerics_version = 3,
                                        .convention = "exp(+i omega t)",
                                        .observables = observables,
                                        .observable_count = FIXTURE_OBSERVABLES,
                                        .bounds = bounds,
                                        .bound_count = 2};

static const char config[] = "scan: made-up\nmodel: fixture # with a remark, \xc2\xb5m\n";
static const char canonical[] = "axes.0.a: [1, 2.5]\n"
                                "axes.1.pulse.b: [1e-14, 2e-14, 3e-14]\n"
                                "model: fixture\n"
                                "parameters.length: 0.15\n"
                                "resources.worker: core\n"
                                "save.planes: 4\n"
                                "scan: made-up\n";

static const double a_values[] = {1, 2.5};
static const double b_values[] = {1e-14, 2e-14, 3e-14};

static int axis_values(void *context, int64_t grid, int axis, double *values)
{
    const struct fixture *const fixture = context;
    const struct plane_layout *const layout = &fixture->grid_layout[grid];
    const long n = layout->axis[layout->axis[axis].dimension].length;
    for (long i = 0; i < n; i++)
        values[i] = (double)(1000 * (axis + 1) + 100 * grid + i);
    return 0;
}

static int member_rows(void *context, int64_t first, int64_t count,
                       struct store_member_row *rows)
{
    const struct fixture *const fixture = context;
    const int64_t points_of_a = fixture->axis_length[1] * fixture->spec.realisations;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t member = (uint64_t)(first + i);
        rows[i] = (struct store_member_row){
            .identity = {member + fixture->salt, ~member},
            .point_key = 7000 + member / (uint64_t)fixture->spec.realisations,
            .realisation = (first + i) % fixture->spec.realisations,
            .grid = fixture->spec.grids == 1 ? 0 : (first + i) / points_of_a};
    }
    return 0;
}

static const struct plane_layout fixture_shape = {
    .progress_name = "z",
    .progress_unit = "m",
    .progress_doc = "Position",
    .span = 1.5,
    .planes = FIXTURE_PLANES,
    .axes = 3,
    .axis = {{"omega", "rad s^-1", "Angular frequency", FIXTURE_OMEGA, 0},
             {"t", "s", "Time", FIXTURE_OMEGA, 0},
             {"x", "m", "Place", FIXTURE_X, 2}},
    .arrays = 2,
    .array = {{"field", "W^0.5", "Spectrum", ELEMENT_C128, true, 1, {0}},
              {"map", "K", "A map", ELEMENT_F64, false, 2, {2, 0}}},
    .observables = FIXTURE_OBSERVABLES};

void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.layout = fixture_shape,
                                .grid_layout = {fixture_shape, fixture_shape},
                                .observable = {true, true, false},
                                .axis_length = {2, 3}};
    fixture->param[0] = (struct store_param){"a", "1", "A number", "[1, 2.5]", 0, a_values};
    fixture->param[1] =
        (struct store_param){"pulse.b", "s", "A time", "[10 fs, 20 fs, 30 fs]", 1, b_values};
    fixture->spec = (struct store_spec){.scan_name = "made-up",
                                        .model_name = "fixture",
                                        .convention = model.convention,
                                        .config = config,
                                        .config_length = sizeof config - 1,
                                        .config_canonical = canonical,
                                        .axes = 2,
                                        .axis_length = fixture->axis_length,
                                        .params = 2,
                                        .param = fixture->param,
                                        .points = 6,
                                        .realisations = REALISATIONS,
                                        .grids = 1,
                                        .layout = &fixture->layout,
                                        .grid_layout = fixture->grid_layout,
                                        .axis_values = axis_values,
                                        .member_rows = member_rows,
                                        .context = fixture,
                                        .model = &model,
                                        .field = true,
                                        .observable = fixture->observable,
                                        .history = 16,
                                        .resume_state = 1000,
                                        .resume_rows = 3,
                                        .ensemble = true,
                                        .histogram_bins = 4,
                                        .check_space = true};
}

void fixture_two_grids(struct fixture *fixture)
{
    fixture_init(fixture);
    fixture->spec.grids = 2;
    fixture->grid_layout[1].axis[0].length = 5;
    fixture->grid_layout[1].axis[1].length = 5;
    fixture->grid_layout[1].axis[2].length = 2;
}

const struct plane_layout *fixture_layout(const struct fixture *fixture, int64_t member)
{
    struct store_member_row row;
    member_rows((void *)(uintptr_t)fixture, member, 1, &row);
    return &fixture->grid_layout[row.grid];
}

double fixture_field(int64_t member, long plane, long k, int part)
{
    const double value = 1.0 + (double)member + 0.25 * (double)plane + 1e-3 * (double)k;
    return part == 0 ? value : -0.5 * value + 1.0 / 3.0;
}

double fixture_map(int64_t member, long plane, long x, long k)
{
    return 1e6 * (double)member + 1e4 * (double)plane + 100.0 * (double)x + (double)k;
}

int fixture_write_plane(const struct fixture *fixture, struct store *store, int64_t member,
                        long plane)
{
    const struct plane_layout *const layout = fixture_layout(fixture, member);
    const long n = layout->axis[0].length;
    double field[2 * FIXTURE_OMEGA];
    double map[FIXTURE_X * FIXTURE_OMEGA];
    for (long k = 0; k < n; k++) {
        field[2 * k] = fixture_field(member, plane, k, 0);
        field[2 * k + 1] = fixture_field(member, plane, k, 1);
        for (long x = 0; x < layout->axis[2].length; x++)
            map[x * n + k] = fixture_map(member, plane, x, k);
    }
    const struct plane_buffers buffers = {.array = {field, map},
                                          .observable = {100.0 * (double)member + (double)plane,
                                                         1.0 + (double)member, (double)NAN}};
    return store_write_plane(store, member, layout, plane, 0.5 * (double)plane, &buffers);
}

int fixture_end_member(struct store *store, int64_t member, enum member_state state,
                       const char *reason)
{
    struct step_record steps[20];
    for (int i = 0; i < 20; i++)
        steps[i] = (struct step_record){0.1 * i, 0.1, 0.9 + 0.01 * i, 5, i != 3};
    const struct row_status row = {.steps = 10 * member,
                                   .rejected = 1,
                                   .rhs_calls = 60 * member,
                                   .transforms = 240 * member,
                                   .history = steps,
                                   .history_capacity = 20,
                                   .history_count = member % 2 == 0 ? 3 : 20,
                                   .history_truncated = member % 2 != 0};
    const struct store_member_end end = {.state = state,
                                         .reason = reason,
                                         .attempts = 1,
                                         .wall = 0.5,
                                         .cpu = 0.25,
                                         .rank = 2,
                                         .host = "node17",
                                         .device = "a core",
                                         .kernel_id = "x86-64-v3 fftw",
                                         .row = &row};
    return store_end_member(store, member, &end);
}

int fixture_write_member(const struct fixture *fixture, struct store *store, int64_t member)
{
    for (long plane = 0; plane < FIXTURE_PLANES; plane++)
        TRY(fixture_write_plane(fixture, store, member, plane));
    return fixture_end_member(store, member, MEMBER_DONE, "");
}

void fixture_folder(char path[256])
{
    const char *const base = getenv("TMPDIR");
    snprintf(path, 256, "%s/sf-io-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL)
        abort();
}

void fixture_folder_remove(const char *path)
{
    DIR *const folder = opendir(path);
    if (folder == NULL)
        return;
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            remove(name);
    }
    closedir(folder);
    rmdir(path);
}

const char *fixture_path(const char *folder, const char *name, char path[512])
{
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}
