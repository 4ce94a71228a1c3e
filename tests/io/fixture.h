/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_IO_FIXTURE_H
#define TESTS_IO_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"

/*
 * A small made-up scan for the tests of io: axes a (2 values) and pulse.b (3), a model with a
 * complex field over omega (auxiliary scale t), a real 2-D array over (x, omega) that is no
 * field, and observables energy, peak_power, unused.
 */

#define FIXTURE_OMEGA  8
#define FIXTURE_X      3
#define FIXTURE_PLANES 4

enum { FIXTURE_FIELD, FIXTURE_MAP };
enum { FIXTURE_ENERGY, FIXTURE_PEAK, FIXTURE_UNUSED, FIXTURE_OBSERVABLES };

struct fixture {
    struct store_spec spec;
    struct plane_layout layout;
    struct plane_layout grid_layout[2];
    struct store_param param[2];
    bool observable[FIXTURE_OBSERVABLES];
    int64_t axis_length[2];
    uint64_t salt; /* enters every identity */
};

/** One grid, 5 realisations, field as complex128, history 16, ensemble, no sync. */
void fixture_init(struct fixture *fixture);

/** Two grids, one a value of axis a: the second has 5 omega and 2 x. */
void fixture_two_grids(struct fixture *fixture);

/** Layout of a member. */
const struct plane_layout *fixture_layout(const struct fixture *fixture, int64_t member);

/** Value of the field, part 0 real or 1 imaginary. */
double fixture_field(int64_t member, long plane, long k, int part);

/** Value of the 2-D array. */
double fixture_map(int64_t member, long plane, long x, long k);

/** Write one plane of a member with the values above; energy = 100 member + plane, peak_power =
 *  1 + member, progress = 0.5 plane. */
int fixture_write_plane(const struct fixture *fixture, struct store *store, int64_t member,
                        long plane);

/** All planes of a member and its end. */
int fixture_write_member(const struct fixture *fixture, struct store *store, int64_t member);

/** End a member in a state, with made-up counters (steps = 10 member). */
int fixture_end_member(struct store *store, int64_t member, enum member_state state,
                       const char *reason);

/** An empty folder of this process; removed with what is in it by fixture_folder_remove. */
void fixture_folder(char path[256]);

/** Remove the folder and the files in it. */
void fixture_folder_remove(const char *path);

/** folder/name. */
const char *fixture_path(const char *folder, const char *name, char path[512]);

#endif
