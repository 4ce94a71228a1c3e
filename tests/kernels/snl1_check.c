/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * snl1_check FOLDER: points and tables of each reference group that are not reproduced, by the
 * baseline kernel: "A1 tables 0 points 0". Exit code 0 when all are. The mutants are linked
 * with it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/kernels/snl1_case.h"

static int wrong_tables(const struct snl1 *handle, const struct snl1_group *group)
{
    const struct snl1_numbers *const n = snl1_numbers(handle);
    const long nspecx = (long)n->nfrchg * n->nth;
    const long sizes[3] = {8 * nspecx, 8 * nspecx, 16L * group->nspec};
    int32_t *table[3];
    float *const af11 = malloc(sizeof(float) * (size_t)nspecx);
    int wrong = snl1_hash(n->sig, n->nk, 1) != group->tables[0];
    for (long q = 0; q < nspecx; q++)
        af11[q] = n->af11[q / n->nth];
    wrong += snl1_hash(af11, nspecx, 1) != group->tables[1];
    for (int i = 0; i < 3; i++)
        table[i] = malloc(sizeof(int32_t) * (size_t)sizes[i]);
    snl1_addresses(handle, table[0], table[1], table[2]);
    for (int i = 0; i < 3; i++)
        wrong += snl1_hash(table[i], sizes[i], 0) != group->tables[2 + i];
    wrong += snl1_hash(n->dal, 3, 1) != snl1_hash(group->weights, 3, 1);
    wrong += snl1_hash(n->awg, 8, 1) != snl1_hash(group->weights + 3, 8, 1);
    wrong += snl1_hash(n->swg, 8, 1) != snl1_hash(group->weights + 11, 8, 1);
    wrong += snl1_hash(&n->snlc1, 1, 1) != snl1_hash(group->weights + 19, 1, 1);
    wrong += snl1_hash(&n->fachfe, 1, 1) != snl1_hash(group->weights + 20, 1, 1);
    for (int i = 0; i < 3; i++)
        free(table[i]);
    free(af11);
    return wrong;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int g = 0; argc == 2 && g < SNL1_GROUPS; g++) {
        char text[SNL1_TEXT_SIZE];
        struct snl1_group group;
        struct snl1_results results;
        struct snl1 *handle;
        if (snl1_group_load(argv[1], g, &group) != 0)
            return 2;
        if (snl1_create(&group.config, NULL, &handle, text) != 0
            || snl1_choose(handle, SNL1_PARITY, "x86-64") != 0
            || snl1_run(handle, &group, group.npts, 0, &results) != 0) {
            fprintf(stderr, "%s: %s\n", group.name, text);
            return 2;
        }
        const int tables = wrong_tables(handle, &group);
        const int points = snl1_wrong_points(&group, &results);
        printf("%s tables %d points %d\n", group.name, tables, points);
        bad += tables + points;
        snl1_results_clear(&results);
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
    return argc != 2 ? 2 : bad != 0;
}
