/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_workers.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"

#define SHOWN_MAX   16
#define RANKS_MAX   1000000 /* a rank above is damage */
#define SILENT_LONG 10.0    /* s without a heartbeat that are worth a word */

static int grow(struct status_workers *w)
{
    struct status_worker *more = NULL;
    const int room = w->room > 0 ? 2 * w->room : 64;
    TRY(MEM_NEW(room, &more));
    if (w->count > 0)
        memcpy(more, w->worker, (size_t)w->count * sizeof *more);
    mem_free(w->worker);
    w->worker = more;
    w->room = room;
    return 0;
}

/* The place of a rank, in ascending order; NULL when it is not known of. */
static struct status_worker *find(const struct status_workers *w, int rank)
{
    int low = 0;
    int high = w->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (w->worker[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->count && w->worker[low].rank == rank ? &w->worker[low] : NULL;
}

static int insert(struct status_workers *w, int rank, struct status_worker **out)
{
    *out = find(w, rank);
    if (*out != NULL)
        return 0;
    if (w->count == w->room)
        TRY(grow(w));
    int place = w->count++;
    for (; place > 0 && w->worker[place - 1].rank > rank; place--)
        w->worker[place] = w->worker[place - 1];
    w->worker[place] = (struct status_worker){.rank = rank};
    *out = &w->worker[place];
    return 0;
}

/* Dead, parked, … */
static bool is_remarkable(const struct status_worker *worker)
{
    return worker->state[0] != '\0' && strcmp(worker->state, "ready") != 0
           && strcmp(worker->state, "left") != 0;
}

static int take_event(struct status_workers *w, const struct journal_record *record)
{
    struct status_worker *worker = NULL;
    if (record->rank < 0 || record->rank > RANKS_MAX)
        return 0;
    TRY(insert(w, record->rank, &worker));
    worker->pid = record->pid;
    snprintf(worker->host, sizeof worker->host, "%s", record->host);
    if (strcmp(record->word, "left") == 0)
        worker->members = 0; /* what it had not ended at a stop runs no more */
    if (is_remarkable(worker) && strcmp(record->word, "left") == 0)
        return 0; /* that it left in the end says less */
    if (strcmp(record->word, "checked") == 0)
        return 0; /* and goes on */
    snprintf(worker->state, sizeof worker->state, "%s", record->word);
    snprintf(worker->since, sizeof worker->since, "%s", record->time);
    return 0;
}

static void take_load(struct status_workers *w, const struct journal_record *record)
{
    for (int i = 0; i < record->loads; i++) {
        struct status_worker *const worker = find(w, record->load[i].rank);
        if (worker == NULL)
            continue;
        worker->load = record->load[i];
        snprintf(worker->told, sizeof worker->told, "%s", record->time);
    }
}

static void drop_members(struct status_worker *worker, int64_t first, int64_t last)
{
    int kept = 0;
    for (int i = 0; i < worker->members; i++)
        if (worker->member[i] < first || worker->member[i] > last)
            worker->member[kept++] = worker->member[i];
    worker->members = kept;
}

/* The newest come last; the oldest make room. */
static void hold_member(struct status_worker *worker, int64_t member)
{
    if (worker->members == STATUS_MEMBERS_MAX) {
        memmove(worker->member, worker->member + 1,
                (STATUS_MEMBERS_MAX - 1) * sizeof worker->member[0]);
        worker->members--;
    }
    worker->member[worker->members++] = member;
}

/* Members given are some worker's; whatever else becomes of them, they are nobody's. A record
 * of some members of a range says of none of them what it is: the file says whether they have
 * ended. */
static void take_members(struct status_workers *w, const struct journal_record *record)
{
    if (record->count != record->last - record->first + 1)
        return;
    for (int i = 0; i < w->count; i++)
        drop_members(&w->worker[i], record->first, record->last);
    struct status_worker *const worker = find(w, record->rank);
    if (worker == NULL || strcmp(record->word, "running") != 0)
        return;
    const int64_t last = record->last < record->first + STATUS_MEMBERS_MAX
                             ? record->last
                             : record->first + STATUS_MEMBERS_MAX - 1;
    for (int64_t m = record->first; m <= last; m++)
        hold_member(worker, m);
}

static int take(struct status_workers *w, const struct journal_record *record)
{
    switch (record->kind) {
    case JOURNAL_BEGIN:
        w->count = 0;
        return 0;
    case JOURNAL_WORKER:
        return take_event(w, record);
    case JOURNAL_LOAD:
        take_load(w, record);
        return 0;
    case JOURNAL_MEMBER:
        take_members(w, record);
        return 0;
    default:
        return 0;
    }
}

static int drop_ended(struct store *store, struct status_worker *worker)
{
    int kept = 0;
    for (int i = 0; i < worker->members; i++) {
        const int64_t member = worker->member[i];
        uint8_t state = MEMBER_DONE;
        if (member >= store_first(store) && member - store_first(store) < store_members(store))
            TRY(store_read_states(store, member, 1, &state, NULL));
        if (state == MEMBER_PENDING)
            worker->member[kept++] = member;
    }
    worker->members = kept;
    return 0;
}

int status_workers_read(const char *path, struct store *store, struct status_workers *out)
{
    struct journal_reader *reader = NULL;
    struct journal_record *record = NULL;
    int rc = 0;
    *out = (struct status_workers){0};
    TRY(journal_reader_open(path, true, &reader));
    if (reader == NULL)
        return 0;
    TRY_OR(rc, done, MEM_NEW(1, &record));
    while (journal_reader_next(reader, record))
        TRY_OR(rc, done, take(out, record));
    for (int i = 0; i < out->count; i++)
        TRY_OR(rc, done, drop_ended(store, &out->worker[i]));
done:
    mem_free(record);
    journal_reader_close(reader);
    return rc;
}

void status_workers_clear(struct status_workers *workers)
{
    mem_free(workers->worker);
    *workers = (struct status_workers){0};
}

static bool in_trouble(const struct status_worker *worker)
{
    return is_remarkable(worker) || worker->load.silent > SILENT_LONG;
}

static void write_members(const struct status_worker *worker, FILE *out)
{
    for (int i = 0; i < worker->members; i++)
        fprintf(out, "%s%lld", i > 0 ? ", " : " (member ", (long long)worker->member[i]);
    if (worker->members > 0)
        fprintf(out, ")");
}

static void write_worker(const struct status_worker *worker, bool running, FILE *out)
{
    char span[TEXT_SIZE];
    fprintf(out, "  worker    %d on %s, process %lld: %s", worker->rank, worker->host,
            (long long)worker->pid, worker->state);
    if (in_trouble(worker) && worker->load.silent <= SILENT_LONG)
        fprintf(out, " since %s", worker->since);
    if (running && worker->told[0] != '\0') {
        const struct journal_load *const load = &worker->load;
        fprintf(out, ", %lld task%s", (long long)load->held, load->held == 1 ? "" : "s");
        write_members(worker, out);
        fprintf(out, ", %lld ended, %lld steps", (long long)load->ended,
                (long long)load->steps);
    } else {
        write_members(worker, out);
    }
    if (worker->load.silent > SILENT_LONG) {
        text_seconds(worker->load.silent, span);
        fprintf(out, ", not heard of for %s at %s", span, worker->told);
    }
    fprintf(out, "\n");
}

void status_workers_text(const struct status_workers *workers, bool running, FILE *out)
{
    int shown = 0;
    int left_out = 0;
    for (int i = 0; i < workers->count; i++) {
        const struct status_worker *const worker = &workers->worker[i];
        const bool wanted = running && strcmp(worker->state, "left") != 0;
        if (in_trouble(worker) || (wanted && shown < SHOWN_MAX)) {
            write_worker(worker, running, out);
            shown++;
        } else {
            left_out += wanted;
        }
    }
    if (left_out > 0)
        fprintf(out, "  … and %d more workers\n", left_out);
}

static void write_json(const struct status_worker *worker, FILE *out)
{
    fprintf(out, "{\"rank\":%d,\"host\":", worker->rank);
    json_text(out, worker->host);
    fprintf(out, ",\"pid\":%lld,\"state\":", (long long)worker->pid);
    json_text(out, worker->state);
    fprintf(out, ",\"since\":");
    json_text(out, worker->since);
    fprintf(out, ",\"running\":[");
    for (int i = 0; i < worker->members; i++)
        fprintf(out, "%s%lld", i > 0 ? "," : "", (long long)worker->member[i]);
    fprintf(out, "]");
    if (worker->told[0] != '\0') {
        fprintf(out, ",\"tasks\":%lld,\"ended\":%lld,\"steps\":%lld,\"silent_s\":",
                (long long)worker->load.held, (long long)worker->load.ended,
                (long long)worker->load.steps);
        json_number(out, worker->load.silent);
        fprintf(out, ",\"told\":");
        json_text(out, worker->told);
    }
    fprintf(out, "}");
}

void status_workers_json(const struct status_workers *workers, FILE *out)
{
    fprintf(out, "[");
    for (int i = 0; i < workers->count; i++) {
        fprintf(out, "%s", i > 0 ? "," : "");
        write_json(&workers->worker[i], out);
    }
    fprintf(out, "]");
}
