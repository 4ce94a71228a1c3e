#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""snl1_install CC CXX: what `cmake --install` puts somewhere is enough for another program, in C and in C++, which calls
it out of parallel regions of its own, one inside of the other. The library keeps no data that threads could share by
accident, and starts neither MPI nor OpenMP. With a Fortran compiler the same of the interface, by the example.
"""
import os
import re
import shutil
import subprocess
import sys

BUILD, SOURCE = os.environ["SCANFARM_BUILD"], os.environ["SCANFARM_SOURCE"]
PROGRAM = r"""
#include <scanfarm/snl1.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N (32 * 36)
#define POINTS 24
static float a[POINTS * N], cg[POINTS * 32], kdmean[POINTS], s[2][POINTS * N], d[2][POINTS * N];
static int compute(struct snl1 *handle, int first, int count, int which)
{
    void *scratch = malloc(snl1_scratch_bytes(handle));
    struct snl1_batch b;
    memset(&b, 0, sizeof b);
    b.npts = count; b.nspec = N; b.nk = 32;
    b.a = a + first * N; b.cg = cg + first * 32; b.kdmean = kdmean + first;
    b.s = s[which] + first * N; b.d = d[which] + first * N;
    b.scratch = scratch; b.scratch_bytes = snl1_scratch_bytes(handle);
    const int code = snl1_compute(handle, &b);
    free(scratch);
    return code;
}
int main(void)
{
    struct snl1_config config, other;
    struct snl1 *shared;
    int bad = 0;
    if (snl1_defaults(SNL1_ST4, &config) != SNL1_OK || snl1_create(&config, NULL, &shared, NULL) != SNL1_OK) return 1;
    for (int i = 0; i < POINTS * N; i++) a[i] = (float)((i * 7919) % 101) / 101.0f;
    for (int i = 0; i < POINTS * 32; i++) cg[i] = 3.0f + (float)(i % 5);
    for (int i = 0; i < POINTS; i++) kdmean[i] = 0.2f * (float)i;
    if (compute(shared, 0, POINTS, 0) != SNL1_OK) return 2;
    omp_set_max_active_levels(2);
    for (int again = 0; again < 50; again++) {
        memset(s[1], 0xff, sizeof s[1]);
        memset(d[1], 0xff, sizeof d[1]);
#pragma omp parallel for num_threads(4) reduction(+ : bad)
        for (int p = 0; p < POINTS; p += 6) {
#pragma omp parallel for num_threads(2) reduction(+ : bad)
            for (int q = p; q < p + 6; q++) {
                struct snl1 *own;
                bad += snl1_create(&config, NULL, &own, NULL) != SNL1_OK;
                bad += compute(q % 2 ? own : shared, q, 1, 1) != SNL1_OK;
                snl1_destroy(own);
            }
        }
        bad += memcmp(s[0], s[1], sizeof s[0]) != 0 || memcmp(d[0], d[1], sizeof d[0]) != 0;
    }
    /* two configurations at once, and an error that leaves no numbers */
    struct snl1 *st6;
    snl1_defaults(SNL1_ST6, &other);
    bad += snl1_create(&other, NULL, &st6, NULL) != SNL1_OK;
    bad += compute(st6, 0, POINTS, 1) != SNL1_OK || memcmp(s[0], s[1], sizeof s[0]) == 0;
    cg[40] = -1.0f;
    bad += compute(shared, 0, POINTS, 1) != SNL1_ARGUMENT || !isnan(s[1][0]) || !isnan(d[1][POINTS * N - 1]);
    char text[SNL1_TEXT_SIZE];
    snl1_message(shared, text);
    bad += strstr(text, "point 2, frequency 9") == NULL;
    snl1_destroy(st6);
    snl1_destroy(shared);
    printf("%d wrong\n", bad);
    return bad != 0;
}
"""


def check_symbols(library):
    symbols = subprocess.run(["nm", library], check=True, capture_output=True, text=True).stdout
    kinds = [(kind, name) for kind, name in re.findall(r" ([A-Za-z]) (\w[\w.]*)$", symbols, re.M)]
    assert kinds
    writable = [name for kind, name in kinds if kind in "bBdDcC"]
    # constants with addresses in them lie in .data.rel.ro, which nm calls d
    sections = subprocess.run(["objdump", "-t", library], check=True, capture_output=True, text=True).stdout
    written = [name for name in writable if not re.search(rf"\.data\.rel\.ro\S*\s.*\b{re.escape(name)}$", sections, re.M)]
    assert not written, f"data that is written: {written}"
    foreign = [name for kind, name in kinds if re.match(r"MPI_|GOMP_|omp_|__kmpc|printf|exit$|abort$|puts", name)]
    assert not foreign, foreign


def check_fortran(place, libraries):
    compiler = shutil.which("gfortran")
    if not compiler:
        print("no gfortran: its interface was not tried")
        return
    program = os.path.abspath("fortran_host")
    subprocess.run([compiler, "-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=all,no-array-temps", "-o", program,
                    os.path.join(place, "share/scanfarm/fortran/scanfarm_snl1.f90"),
                    os.path.join(SOURCE, "kernels/models/snl1/fortran/example.f90"), libraries["libscanfarm_snl1.a"],
                    libraries["libscanfarm_base.a"], "-lpthread", "-lm"], check=True)
    subprocess.run([sys.executable, os.path.join(SOURCE, "tests/kernels/snl1_fortran.py"), program], check=True)


def main(compilers):
    place = os.path.abspath("installed")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", place], check=True, stdout=subprocess.DEVNULL)
    libraries = {name: os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names if name.endswith(".a")}
    check_symbols(libraries["libscanfarm_snl1.a"])
    for compiler, suffix in zip(compilers, (".c", ".cpp")):
        with open("host" + suffix, "w") as file:
            file.write(PROGRAM)
        subprocess.run([compiler, "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(place, "include"), "-o", "host",
                        "host" + suffix, libraries["libscanfarm_snl1.a"], libraries["libscanfarm_base.a"], "-lpthread", "-lm"], check=True)
        run = subprocess.run(["./host"], capture_output=True, text=True, check=False)
        assert run.returncode == 0 and run.stdout == "0 wrong\n" and run.stderr == "", (compiler, run)
    check_fortran(place, libraries)


main(sys.argv[1:3])
