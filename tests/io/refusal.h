/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_IO_REFUSAL_H
#define TESTS_IO_REFUSAL_H

#include <check.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/io/fixture.h"

/* Of a test program whose tests make one file in a folder of their own and read what is
 * refused: `message` is the last error. */

static char folder[256];
static char path[512];
static char message[2500];
static struct fixture fixture;

static void listen_anew(void)
{
    message[0] = '\0';
    status_capture(message, sizeof message);
}

static void setup(void)
{
    fixture_folder(folder);
    fixture_path(folder, "out.h5", path);
    fixture_init(&fixture);
    listen_anew();
}

static void teardown(void)
{
    status_capture(NULL, 0);
    fixture_folder_remove(folder);
    ck_assert_int_eq(mem_live(), 0);
}

#endif
