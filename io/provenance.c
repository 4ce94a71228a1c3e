/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/h5.h"
#include "io/journal.h"
#include "io/read.h"
#include "io/store.h"
#include "io/store_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scanfarm_version.h"

#define ATTEMPT_TEXT 256 /* longest text of a row, with its NUL */
#define BLOCK        65536

static int put_value(int64_t file, const char *path, const char *name, int64_t row,
                     const void *value)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, name, &dataset));
    const int rc = h5_write_rows(&dataset, row, 1, value);
    h5_dataset_close(&dataset);
    return rc;
}

static int put_integer(int64_t file, const char *path, const char *name, int64_t row,
                       int32_t value)
{
    return put_value(file, path, name, row, &value);
}

/* A text of an attempt's row, NUL-padded. */
static int put_text(int64_t file, const char *path, const char *name, int64_t row,
                    const char *text)
{
    char padded[ATTEMPT_TEXT] = "";
    snprintf(padded, sizeof padded, "%s", text);
    return put_value(file, path, name, row, padded);
}

static int get_text(int64_t file, const char *path, const char *name, int64_t row,
                    char text[ATTEMPT_TEXT])
{
    memset(text, 0, ATTEMPT_TEXT);
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, name, &dataset));
    const int rc = h5_read_rows(&dataset, row, 1, text);
    h5_dataset_close(&dataset);
    return rc;
}

/* Bytes of a text in its place. Past HDF5, which writes all of it or nothing: most of a quarter
 * of a megabyte is NULs that a new file has anyway, and they would take their room. */
static int put_bytes(const char *path, const struct h5_dataset *dataset, const char *bytes,
                     size_t count)
{
    const int fd = count > 0 ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (count == 0)
        return 0;
    if (fd < 0)
        FAIL(ERR_IO, "cannot open %s: %s", path, strerror(errno));
    const ssize_t written = pwrite(fd, bytes, count, (off_t)dataset->offset);
    const int error = written == (ssize_t)count ? 0 : written < 0 ? errno : ENOSPC;
    close(fd);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s: %s: %s (errno %d)", path, dataset->name, strerror(error),
             error);
    return 0;
}

/* One of the long texts; what does not fit is cut, or left out when it would be no use then. */
static int put_long(int64_t file, const char *path, const char *name, const char *text,
                    bool whole_only)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, name, &dataset));
    char *padded = NULL;
    int rc = 0;
    const char *const given = text == NULL ? "" : text;
    TRY_OR(rc, done, MEM_NEW((long)dataset.size + 1, &padded));
    TRY_OR(rc, done, h5_read_rows(&dataset, 0, 1, padded));
    const size_t before = strnlen(padded, dataset.size);
    memset(padded, 0, dataset.size + 1);
    if (strlen(given) > dataset.size)
        log_warn("%s: %s has %zu bytes, the file keeps %zu: it is %s", path, name,
                 strlen(given), dataset.size, whole_only ? "left out" : "cut");
    if (strlen(given) <= dataset.size || !whole_only)
        snprintf(padded, dataset.size + 1, "%s", given);
    const size_t now = strlen(padded);
    if (dataset.offset < 0)
        rc = h5_write_rows(&dataset, 0, 1, padded);
    else
        rc = put_bytes(path, &dataset, padded, now > before ? now : before);
done:
    mem_free(padded);
    h5_dataset_close(&dataset);
    return rc;
}

static int numbers_read(int64_t file, const char *path, int64_t numbers[STORE_ATTEMPT_ROWS])
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, "provenance/attempt/number", &dataset));
    const int rc = dataset.length[0] == STORE_ATTEMPT_ROWS
                       ? h5_read_rows(&dataset, 0, STORE_ATTEMPT_ROWS, numbers)
                       : status_fail(ERR_IO, "%s: %s has %lld rows, not %d", path, dataset.name,
                                     (long long)dataset.length[0], STORE_ATTEMPT_ROWS);
    h5_dataset_close(&dataset);
    return rc;
}

static int attempt_end(int64_t file, const char *path, int64_t row, int exit_code,
                       const char *reason)
{
    char now[CLOCK_ISO_SIZE];
    clock_iso(now);
    TRY(put_integer(file, path, "provenance/attempt/exit_code", row, exit_code));
    TRY(put_text(file, path, "provenance/attempt/reason", row, reason));
    /* The end's time says that the row is closed: it comes last. */
    return put_text(file, path, "provenance/attempt/end", row, now);
}

/* Close the rows of writers that died. */
static int attempts_close(int64_t file, const char *path,
                          const int64_t numbers[STORE_ATTEMPT_ROWS])
{
    for (int row = 0; row < STORE_ATTEMPT_ROWS; row++) {
        char end[ATTEMPT_TEXT];
        if (numbers[row] == 0)
            continue;
        TRY(get_text(file, path, "provenance/attempt/end", row, end));
        if (end[0] != '\0')
            continue;
        struct journal_summary journal;
        char reason[STORE_REASON_SIZE] = "ended without a record";
        if (journal_read_summary(path, &journal) == 0 && journal.heartbeat[0] != '\0'
            && journal.attempt == numbers[row] - 1)
            snprintf(reason, sizeof reason, "ended without a record; last heartbeat %s",
                     journal.heartbeat);
        TRY(attempt_end(file, path, row, -1, reason));
    }
    return 0;
}

static int newest_row(const int64_t numbers[STORE_ATTEMPT_ROWS])
{
    int newest = 0;
    for (int row = 0; row < STORE_ATTEMPT_ROWS; row++)
        newest = numbers[row] > numbers[newest] ? row : newest;
    return newest;
}

static int get_value(struct store *store, const char *name, int64_t row, void *value)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(store->file, store->path, name, &dataset));
    const int rc = h5_read_rows(&dataset, row, 1, value);
    h5_dataset_close(&dataset);
    return rc;
}

int store_ended_well(struct store *store, bool *well, bool *synced)
{
    int64_t numbers[STORE_ATTEMPT_ROWS] = {0};
    char end[ATTEMPT_TEXT];
    int32_t code = 0;
    uint8_t sync = 0;
    TRY(numbers_read(store->file, store->path, numbers));
    const int row = newest_row(numbers);
    *well = numbers[row] == 0;
    if (*well)
        return 0;
    TRY(get_text(store->file, store->path, "provenance/attempt/end", row, end));
    TRY(get_value(store, "provenance/attempt/exit_code", row, &code));
    if (read_exists(store, "provenance/attempt/sync"))
        TRY(get_value(store, "provenance/attempt/sync", row, &sync));
    *synced = sync != 0;
    /* What ended without a record is closed after its planes have been checked. */
    *well = end[0] != '\0'
            && (code == 0 || code == EXIT_MEMBERS_FAILED || code == EXIT_STOPPED || code == -1);
    return 0;
}

int store_close_attempts(struct store *store)
{
    int64_t numbers[STORE_ATTEMPT_ROWS] = {0};
    TRY(numbers_read(store->file, store->path, numbers));
    return attempts_close(store->file, store->path, numbers);
}

static int attempt_begin(int64_t file, const char *path,
                         const struct store_provenance *provenance, int *attempt)
{
    int64_t numbers[STORE_ATTEMPT_ROWS] = {0};
    TRY(numbers_read(file, path, numbers));
    TRY(attempts_close(file, path, numbers));
    const int64_t newest = numbers[newest_row(numbers)];
    const int64_t row = newest % STORE_ATTEMPT_ROWS;
    char now[CLOCK_ISO_SIZE];
    clock_iso(now);
    const uint8_t sync = provenance->sync_member ? 1 : 0;
    const int64_t number = newest + 1;
    TRY(put_text(file, path, "provenance/attempt/end", row, ""));
    TRY(put_text(file, path, "provenance/attempt/reason", row, ""));
    TRY(put_text(file, path, "provenance/attempt/start", row, now));
    TRY(put_text(file, path, "provenance/attempt/job_id", row,
                 provenance->job == NULL ? "" : provenance->job));
    TRY(put_text(file, path, "provenance/attempt/software", row,
                 "scanfarm " SCANFARM_VERSION " " SCANFARM_GIT_REVISION));
    TRY(put_integer(file, path, "provenance/attempt/restart_count", row,
                    provenance->restart_count));
    TRY(put_integer(file, path, "provenance/attempt/exit_code", row, 0));
    TRY(put_value(file, path, "provenance/attempt/sync", row, &sync));
    TRY(put_value(file, path, "provenance/attempt/number", row, &number));
    *attempt = (int)newest;
    TRY(put_long(file, path, "provenance/libraries", provenance->libraries, false));
    TRY(put_long(file, path, "provenance/build", provenance->build, false));
    TRY(put_long(file, path, "provenance/layout", provenance->layout, false));
    /* A file that an earlier program made has no place for them. */
    if (H5Lexists(file, "provenance/thresholds", H5P_DEFAULT) > 0)
        TRY(put_long(file, path, "provenance/thresholds", provenance->thresholds, false));
    return put_long(file, path, "provenance/wisdom", provenance->wisdom, true);
}

/* Through to the disk: the file is closed already, a descriptor of ours does it. */
static int file_sync(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        FAIL(ERR_IO, "cannot open %s: %s", path, strerror(errno));
    const int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s through to the disk: %s (errno %d)", path,
             strerror(error), error);
    return 0;
}

int store_begin_attempt(const char *path, const struct store_provenance *provenance,
                        int *attempt)
{
    TRY(store_check_format(path));
    int64_t file = 0;
    TRY(h5_file_open(path, H5_WRITE, &file));
    const int rc = attempt_begin(file, path, provenance, attempt);
    const int closed = h5_file_close(file, path);
    TRY(rc);
    TRY(closed);
    return file_sync(path);
}

int store_write_wisdom(const char *path, const char *wisdom)
{
    int64_t file = 0;
    TRY(h5_file_open(path, H5_WRITE, &file));
    const int rc = put_long(file, path, "provenance/wisdom", wisdom, true);
    const int closed = h5_file_close(file, path);
    TRY(rc);
    return closed;
}

/* What says whether a member is over: its state, and of a file with an envelope whether it is
 * to be judged and what came of that. */
enum { LAST_STATE, LAST_CHOSEN, LAST_OUTCOME, LASTS };

/* A block of such columns. */
struct last_words {
    struct h5_dataset column[LASTS];
    bool judged;
    uint8_t value[LASTS][BLOCK];
};

static int last_open(int64_t file, const char *path, struct last_words *last)
{
    TRY(h5_dataset_open(file, path, "member/state", &last->column[LAST_STATE]));
    last->judged = H5Lexists(file, "member/contract/chosen", H5P_DEFAULT) > 0;
    if (!last->judged)
        return 0;
    TRY(h5_dataset_open(file, path, "member/contract/chosen", &last->column[LAST_CHOSEN]));
    return h5_dataset_open(file, path, "member/contract/outcome", &last->column[LAST_OUTCOME]);
}

/* Whether a member waits for nothing: a done one that is chosen waits for its judgment. */
static bool is_over(const struct last_words *last, int64_t i)
{
    const uint8_t state = last->value[LAST_STATE][i];
    return state != MEMBER_PENDING
           && !(last->judged && state == MEMBER_DONE && last->value[LAST_CHOSEN][i] != 0
                && last->value[LAST_OUTCOME][i] == MEMBER_PENDING);
}

static int check_block(struct last_words *last, int64_t first, int64_t count, bool *complete)
{
    for (int c = 0; c < (last->judged ? LASTS : LAST_CHOSEN); c++)
        TRY(h5_read_rows(&last->column[c], first, count, last->value[c]));
    for (int64_t i = 0; i < count && *complete; i++)
        *complete = is_over(last, i);
    return 0;
}

/* Whether no member is pending and no judgment is. */
static int nothing_pending(int64_t file, const char *path, bool *complete)
{
    struct last_words *last = NULL;
    int rc = 0;
    *complete = true;
    TRY(MEM_NEW(1, &last));
    TRY_OR(rc, done, last_open(file, path, last));
    const int64_t members = last->column[LAST_STATE].length[0];
    for (int64_t first = 0; *complete && first < members; first += BLOCK) {
        const int64_t left = members - first;
        TRY_OR(rc, done, check_block(last, first, left < BLOCK ? left : BLOCK, complete));
    }
done:
    for (int c = 0; c < LASTS; c++)
        h5_dataset_close(&last->column[c]);
    mem_free(last);
    return rc;
}

static int finish_all(int64_t file, const char *path, int attempt, int exit_code,
                      const char *reason)
{
    bool complete = false;
    TRY(nothing_pending(file, path, &complete));
    const uint8_t word = complete ? 1 : 0;
    TRY(put_value(file, path, "complete", 0, &word));
    if (attempt < 0)
        return 0;
    int64_t numbers[STORE_ATTEMPT_ROWS] = {0};
    TRY(numbers_read(file, path, numbers));
    const int row = attempt % STORE_ATTEMPT_ROWS;
    if (numbers[row] != (int64_t)attempt + 1)
        FAIL(ERR_ARGUMENT, "%s has no attempt %d", path, attempt);
    char end[ATTEMPT_TEXT];
    TRY(get_text(file, path, "provenance/attempt/end", row, end));
    return end[0] != '\0' ? 0 : attempt_end(file, path, row, exit_code, reason);
}

int store_finish(const char *path, int attempt, int exit_code, const char *reason)
{
    TRY(store_check_format(path));
    int64_t file = 0;
    TRY(h5_file_open(path, H5_WRITE, &file));
    const int rc = finish_all(file, path, attempt, exit_code, reason == NULL ? "" : reason);
    const int closed = h5_file_close(file, path);
    TRY(rc);
    TRY(closed);
    return file_sync(path);
}
