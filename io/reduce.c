/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/reduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "io/histogram.h"
#include "io/read.h"
#include "io/reduce_sums.h"
#include "io/store_private.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The members of a point, and where the results go. */
struct reduce_job {
    struct store *store;
    int64_t point;
    int64_t *member; /* [n] done ones, in realisation order */
    int64_t n;
    int64_t failed;
    uint8_t *state; /* [realisations] */
    bool looks;     /* the ensemble stops itself */
    struct until_end until;
    char array[SCHEMA_NAME_MAX];    /* whose spectrum is reduced, "" for none */
    long length;                    /* valid bins of this point */
    long whole;                     /* bins of a row of the file */
    const struct reduce_look *look; /* NULL: rows are written */
};

static int members_find(struct reduce_job *job)
{
    const int64_t m = job->store->realisations;
    const int64_t first = job->point * m;
    TRY(MEM_NEW((long)m, &job->state));
    TRY(MEM_NEW((long)m, &job->member));
    const uint8_t *const state = job->state;
    TRY(store_read_states(job->store, first, m, job->state, NULL));
    job->looks = until_is_on(job->store);
    if (job->looks)
        TRY(until_decide(job->store, job->point, state, &job->until));
    const int64_t end = job->until.looks > 0 ? job->until.realisations : m;
    for (int64_t r = 0; r < end; r++) {
        if (state[r] == MEMBER_DONE)
            job->member[job->n++] = first + r;
        else if (state[r] == MEMBER_FAILED || state[r] == MEMBER_TIMED_OUT
                 || state[r] == MEMBER_QUARANTINED)
            job->failed++;
    }
    return 0;
}

/* Hand the stored row and the one just computed to whoever compares them. */
static int look_row(const struct reduce_job *job, const char *name, long plane,
                    const struct h5_dataset *dataset, const int64_t *start,
                    const int64_t *count, const void *values)
{
    long n = 1;
    void *stored = NULL;
    for (int d = 0; d < dataset->dims; d++)
        n *= (long)count[d];
    TRY(mem_alloc(n, dataset->size, &stored));
    int rc = store_get(job->store, dataset, start, count, stored);
    if (rc == 0) {
        const struct reduce_row row = {.name = name,
                                       .point = job->point,
                                       .plane = plane,
                                       .members = job->n,
                                       .n = n,
                                       .size = dataset->size,
                                       .is_double = dataset->kind == H5_F64,
                                       .stored = stored,
                                       .right = values};
        rc = job->look->row(job->look->context, &row);
    }
    mem_free(stored);
    return rc;
}

/* Write values of one plane (plane >= 0) or of the point's row into /ensemble, when it is
 * there. bytes: of the values; a file whose rows are of another size is damaged.
 */
static int put(const struct reduce_job *job, const char *name, long plane, size_t bytes,
               const void *values)
{
    struct store *const store = job->store;
    char path[H5_PATH_MAX];
    snprintf(path, sizeof path, "ensemble/%s", name);
    if (!read_exists(store, path))
        return 0;
    struct h5_dataset dataset;
    TRY(h5_dataset_open(store->file, store->path, path, &dataset));
    int64_t start[H5_DIMS_MAX] = {job->point, plane < 0 ? 0 : plane};
    int64_t count[H5_DIMS_MAX] = {1, 1};
    size_t row = dataset.size;
    for (int d = 2; d < dataset.dims; d++) {
        count[d] = dataset.length[d];
        row *= (size_t)count[d];
    }
    const bool fits = row == bytes && dataset.dims >= (plane < 0 ? 1 : 2)
                      && dataset.length[0] == store->points
                      && (plane < 0 || dataset.length[1] == store->planes);
    int rc = 0;
    if (fits && job->look != NULL)
        rc = look_row(job, name, plane, &dataset, start, count, values);
    else
        rc = fits ? store_put(store, &dataset, start, count, values)
                  : status_fail(ERR_CONFLICT, "%s is damaged: %s has rows of %zu bytes",
                                store->path, path, row);
    h5_dataset_close(&dataset);
    return rc;
}

/* Both passes over the members of one plane. */
static int plane_sums(const struct reduce_job *job, long plane, struct reduce_sums *sums,
                      double *field)
{
    reduce_sums_begin(sums);
    for (int64_t i = 0; i < job->n; i++) {
        TRY(store_read_plane(job->store, job->array, job->member[i], plane, job->length,
                             field));
        reduce_sums_add(sums, field);
    }
    reduce_sums_mean(sums);
    for (int64_t i = 0; i < job->n; i++) {
        TRY(store_read_plane(job->store, job->array, job->member[i], plane, job->length,
                             field));
        reduce_sums_leave_out(sums, field);
    }
    return 0;
}

static int plane_put(const struct reduce_job *job, long plane, struct reduce_sums *sums,
                     double *row, struct reduce_result *result)
{
    static const struct {
        const char *name;
        enum reduce_spectrum spectrum;
    } parts[] = {{"mean_spectrum", REDUCE_MEAN},
                 {"std_spectrum", REDUCE_STD},
                 {"snr", REDUCE_SNR},
                 {"g12", REDUCE_G12},
                 {"g12_error", REDUCE_G12_ERROR}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        reduce_sums_spectrum(sums, parts[i].spectrum, row);
        for (long k = job->length; k < job->whole; k++)
            row[k] = (double)NAN;
        TRY(put(job, parts[i].name, plane, (size_t)job->whole * sizeof *row, row));
    }
    result->coherence = reduce_sums_coherence(sums, &result->error);
    TRY(put(job, "coherence", plane, sizeof(double), &result->coherence));
    return put(job, "coherence_error", plane, sizeof(double), &result->error);
}

static int spectra_reduce(const struct reduce_job *job, struct reduce_result *result)
{
    struct reduce_sums *sums = NULL;
    double *field = NULL;
    double *row = NULL;
    int rc = 0;
    TRY_OR(rc, done, reduce_sums_create(job->length, &sums));
    TRY_OR(rc, done, MEM_NEW(2 * job->length, &field));
    TRY_OR(rc, done, MEM_NEW(job->whole, &row));
    for (long plane = 0; plane < job->store->planes; plane++) {
        TRY_OR(rc, done, plane_sums(job, plane, sums, field));
        TRY_OR(rc, done, plane_put(job, plane, sums, row, result));
    }
done:
    mem_free(row);
    mem_free(field);
    reduce_sums_destroy(sums);
    return rc;
}

static int histogram_plane(const struct reduce_job *job, long plane,
                           struct histogram *histogram, double *power)
{
    for (int64_t i = 0; i < job->n; i++)
        TRY(store_read_plane(job->store, "peak_power", job->member[i], plane, 1, &power[i]));
    histogram_fill(histogram, power, (long)job->n);
    const size_t bins = (size_t)histogram->bins;
    TRY(put(job, "peak_power_histogram", plane, bins * sizeof(int32_t), histogram->count));
    return put(job, "peak_power_edges", plane, (bins + 1) * sizeof(double), histogram->edge);
}

static int histograms_reduce(const struct reduce_job *job)
{
    struct read_dataset info;
    if (!read_exists(job->store, "ensemble/peak_power_histogram"))
        return 0;
    TRY(read_describe(job->store, "ensemble/peak_power_histogram", &info));
    if (info.dims != 3 || info.length[2] < 1)
        return store_fail_damaged(job->store->path,
                                  "ensemble/peak_power_histogram has no bins");
    struct histogram histogram = {0};
    double *power = NULL;
    int rc = 0;
    TRY_OR(rc, done, histogram_init(&histogram, (long)info.length[2]));
    TRY_OR(rc, done, MEM_NEW((long)job->n, &power));
    for (long plane = 0; rc == 0 && plane < job->store->planes; plane++)
        rc = histogram_plane(job, plane, &histogram, power);
done:
    mem_free(power);
    histogram_clear(&histogram);
    return rc;
}

/* Which array, and how many bins it has at this point. */
static int job_array(struct reduce_job *job)
{
    struct store *const store = job->store;
    if (!read_exists(store, "ensemble/mean_spectrum"))
        return 0;
    TRY(read_attribute(store, "ensemble/mean_spectrum", "array", job->array,
                       sizeof job->array));
    struct store_part *const part = store_find_name(store, job->array);
    if (part == NULL)
        FAIL(ERR_CONFLICT, "%s is damaged: plane/%s, which /ensemble reduces, is absent",
             store->path, job->array);
    struct store_shape shape;
    TRY(store_shape(store, part, job->point * store->realisations, &shape));
    job->length = store_shape_valid(&shape);
    job->whole = shape.whole[LAYOUT_DIMS_MAX - 1];
    return 0;
}

/* The row of the looks, and what follows of it. @param whole the rest of the row is there */
static int put_looks(const struct reduce_job *job, bool whole)
{
    const bool write = job->look == NULL;
    if (job->looks && write)
        TRY(until_write_row(job->store, job->point, &job->until));
    const uint8_t reduced = whole ? 1 : 0;
    fault_point("look.row", job->point * job->store->realisations, -1);
    TRY(put(job, "reduced", -1, sizeof reduced, &reduced));
    if (!job->looks || !write || job->until.stopped == UNTIL_OPEN)
        return 0;
    fault_point("look.done", job->point * job->store->realisations, -1);
    return until_drop_members(job->store, job->point, job->until.realisations, job->state);
}

/* @param brief  nothing but the looks while more members are to come */
static int job_run(struct reduce_job *job, bool brief, struct reduce_result *result)
{
    TRY(members_find(job));
    result->n = job->n;
    result->failed = job->failed;
    result->until = job->until;
    TRY(job_array(job));
    if (!read_exists(job->store, "ensemble"))
        return 0;
    /* Not valid while it is rewritten. */
    const uint8_t reduced = 0;
    if (job->look == NULL)
        TRY(put(job, "reduced", -1, sizeof reduced, &reduced));
    if (brief && job->looks && job->until.stopped == UNTIL_OPEN)
        return put_looks(job, false);
    if (job->array[0] != '\0')
        TRY(spectra_reduce(job, result));
    TRY(histograms_reduce(job));
    const uint8_t biased = job->failed > 0 ? 1 : 0;
    TRY(put(job, "n", -1, sizeof job->n, &job->n));
    TRY(put(job, "n_failed", -1, sizeof job->failed, &job->failed));
    TRY(put(job, "biased", -1, sizeof biased, &biased));
    return put_looks(job, true);
}

static int reduce(struct store *store, int64_t point, bool brief,
                  const struct reduce_look *look, struct reduce_result *result)
{
    *result = (struct reduce_result){.coherence = (double)NAN, .error = (double)NAN};
    TRY(store_refuse_shard(store, "points are reduced over all their members"));
    if (point < 0 || point >= store->points)
        FAIL(ERR_ARGUMENT, "%s: point %lld of %lld", store->path, (long long)point,
             (long long)store->points);
    struct reduce_job job = {.store = store, .point = point, .look = look};
    const int rc = job_run(&job, brief, result);
    mem_free(job.member);
    mem_free(job.state);
    return rc;
}

int reduce_point(struct store *store, int64_t point, struct reduce_result *result)
{
    return reduce(store, point, false, NULL, result);
}

int reduce_look(struct store *store, int64_t point, struct reduce_result *result)
{
    return reduce(store, point, true, NULL, result);
}

int reduce_look_at(struct store *store, int64_t point, const struct reduce_look *look)
{
    struct reduce_result result;
    return reduce(store, point, false, look, &result);
}

int reduce_forget(struct store *store, int64_t point)
{
    const struct reduce_job job = {.store = store, .point = point};
    const uint8_t reduced = 0;
    return read_exists(store, "ensemble") ? put(&job, "reduced", -1, sizeof reduced, &reduced)
                                          : 0;
}

static int column_read(struct store *store, const char *path, int64_t first, int64_t count,
                       void *values)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(store->file, store->path, path, &dataset));
    const int rc = h5_read_rows(&dataset, first, count, values);
    h5_dataset_close(&dataset);
    return rc;
}

int reduce_read_rows(struct store *store, int64_t first, int64_t count, uint8_t *reduced,
                     int64_t *n)
{
    if (first < 0 || count < 0 || first + count > store->points)
        FAIL(ERR_ARGUMENT, "%s: points %lld to %lld of %lld", store->path, (long long)first,
             (long long)(first + count), (long long)store->points);
    if (!read_exists(store, "ensemble"))
        FAIL(ERR_ARGUMENT, "%s has no /ensemble", store->path);
    if (reduced != NULL)
        TRY(column_read(store, "ensemble/reduced", first, count, reduced));
    if (n != NULL)
        TRY(column_read(store, "ensemble/n", first, count, n));
    return 0;
}
