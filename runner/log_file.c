/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/log_file.h"

#include <stdio.h>

#include "io/read.h"
#include "kernels/base/status.h"

const char *log_count_name(enum log_count count)
{
    static const char *const names[LOG_COUNTS] = {[LOG_ATTEMPTS] = "attempts",
                                                  [LOG_RANK] = "rank",
                                                  [LOG_STEPS] = "steps",
                                                  [LOG_REJECTED] = "rejected",
                                                  [LOG_RHS_CALLS] = "rhs_calls",
                                                  [LOG_TRANSFORMS] = "transforms",
                                                  [LOG_TRUNCATED] = "history_truncated"};
    return names[count];
}

static int read_number(struct store *store, const char *name, int64_t member, double *value)
{
    char path[64];
    snprintf(path, sizeof path, "member/%s", name);
    return read_rows(store, path, member, 1, 1, value);
}

static int read_state(struct store *store, struct log_member *out)
{
    struct read_dataset planes;
    uint8_t state = 0;
    TRY(store_read_states(store, out->member, 1, &state, &out->saved));
    out->state = state;
    TRY(read_describe(store, "plane/checksum", &planes));
    out->planes = planes.length[1];
    return read_text_row(store, "member/reason", out->member, out->reason, sizeof out->reason);
}

static int read_member(struct store *store, struct log_member *out)
{
    const int64_t m = out->member;
    const int64_t first = store_first(store);
    if (m < first || m - first >= store_members(store))
        FAIL(ERR_ARGUMENT, "member %lld: %lld to %lld are there", (long long)m,
             (long long)first, (long long)(first + store_members(store) - 1));
    out->point = m / store_realisations(store);
    out->realisation = m % store_realisations(store);
    TRY(read_state(store, out));
    for (int c = 0; c < LOG_COUNTS; c++) {
        double value = 0;
        TRY(read_number(store, log_count_name((enum log_count)c), m, &value));
        out->count[c] = (int64_t)value;
    }
    TRY(read_number(store, "wall_s", m, &out->wall));
    TRY(read_number(store, "cpu_s", m, &out->cpu));
    TRY(read_text_row(store, "member/host", m, out->host, sizeof out->host));
    TRY(read_text_row(store, "member/device", m, out->device, sizeof out->device));
    return read_text_row(store, "member/kernel_id", m, out->kernel, sizeof out->kernel);
}

int log_member_read(const char *path, int64_t member, struct log_member *out)
{
    struct store *store = NULL;
    *out = (struct log_member){.member = member};
    TRY(store_open_read(path, &store));
    const int rc = read_member(store, out);
    store_close(store);
    return rc;
}
