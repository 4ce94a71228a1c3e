/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * snl1_check FOLDER: points and tables of each reference group that are not reproduced, by the
 * baseline kernel: "A1 tables 0 points 0". Exit code 0 when all are. The mutants are linked
 * with it.
 */
#include <stdio.h>

#include "tests/kernels/snl1_case.h"

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
        const int tables = snl1_wrong_tables(handle, &group);
        const int points = snl1_wrong_points(&group, &results);
        printf("%s tables %d points %d\n", group.name, tables, points);
        bad += tables + points;
        snl1_results_clear(&results);
        snl1_destroy(handle);
        snl1_group_clear(&group);
    }
    return argc != 2 ? 2 : bad != 0;
}
