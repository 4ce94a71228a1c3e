/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/runner/dispatch_case.h"

#include <string.h>

#include <check.h>

void dispatch_case_make(const char *text, int workers, int capacity, struct scan **scan,
                        struct dispatch *d, struct dispatch_worker *w)
{
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, scan), 0);
    d->scan = *scan;
    d->chunk_time = 0.05;
    d->workers = workers;
    d->counts.total = scan_members(*scan);
    d->keys = (struct queue_keys){.block = 1};
    d->progress.quiet = true;
    ck_assert_int_eq(queue_init(&d->members, d->counts.total, true), 0);
    for (int i = 0; i < workers; i++)
        w[i].capacity = capacity;
}

void dispatch_case_long_members(struct dispatch *d)
{
    d->recent_seconds = 60;
    d->recent_count = 1;
}

void dispatch_case_clear(int workers, struct scan *scan, struct dispatch *d,
                         struct dispatch_worker *w)
{
    for (int i = 0; i < workers; i++)
        dispatch_worker_clear(&w[i]);
    dispatch_clear(d);
    scan_destroy(scan);
}
