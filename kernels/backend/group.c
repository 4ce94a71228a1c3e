/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend/group.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <fftw3-mpi.h>
#include <mpi.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct group_fft {
    enum fft_kind kind;
    MPI_Comm comm; /* our own duplicate, on which errors are fatal */
    struct group_layout layout;
    struct group_span *span;
    fftw_plan plan;
};

static bool kind_is_real(enum fft_kind kind)
{
    return kind == FFT_R2C || kind == FFT_C2R;
}

/* Points of the last axis of the spectrum, which is also half of a padded row of reals. */
static long spectrum_length(const struct group_options *o)
{
    return kind_is_real(o->kind) ? o->n[2] / 2 + 1 : o->n[2];
}

/* A rank that failed has spoken; the others follow it silently. */
static int code_agree(MPI_Comm comm, int rc)
{
    int worst = 0;
    MPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, comm);
    return rc != 0 ? rc : worst;
}

static int comm_copy(long handle, MPI_Comm *out)
{
    int begun = 0;
    int ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!begun || ended)
        FAIL(ERR_ARGUMENT, "a group needs MPI, which is %s", begun ? "over" : "not started");
    const MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)handle);
    if (comm == MPI_COMM_NULL)
        FAIL(ERR_ARGUMENT, "the communicator of a group is null: this rank belongs to none");
    int is_inter = 0;
    if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS)
        FAIL(ERR_MPI, "MPI does not know communicator %ld of a group", handle);
    if (is_inter)
        FAIL(ERR_ARGUMENT, "a group needs an intracommunicator, and was given one between two");
    if (MPI_Comm_dup(comm, out) != MPI_SUCCESS)
        FAIL(ERR_MPI, "MPI could not duplicate the communicator of a group");
    MPI_Comm_set_errhandler(*out, MPI_ERRORS_ARE_FATAL);
    return 0;
}

static int options_check(const struct group_options *o)
{
    if (o->kind < FFT_C2C_FORWARD || o->kind > FFT_C2R)
        FAIL(ERR_ARGUMENT, "unknown kind of transform %d", (int)o->kind);
    if (o->rigour < FFT_ESTIMATE || o->rigour > FFT_PATIENT)
        FAIL(ERR_ARGUMENT, "unknown FFT rigour %d", (int)o->rigour);
    for (int axis = 0; axis < 3; axis++)
        if (o->n[axis] < 1)
            FAIL(ERR_ARGUMENT, "axis %d of a group's transform has %ld points: at least 1",
                 axis, o->n[axis]);
    /* FFTW 3.3.10 drops axes of one point, and its transform of one axis has other slabs, no
     * plan or wrong results (github.com/FFTW/fftw3/issues/20); for one point it crashes. */
    if (o->n[1] == 1 && o->n[2] == 1)
        FAIL(ERR_UNSUPPORTED,
             "%ld x 1 x 1 points are a line along the axis that is cut: axis 1 or 2 needs more "
             "than 1 point",
             o->n[0]);
    const long most = LONG_MAX / (long)sizeof(cplx);
    if (most / o->n[0] / o->n[1] < spectrum_length(o))
        FAIL(ERR_ARGUMENT, "%ld x %ld x %ld points exceed the address space: at most %ld",
             o->n[0], o->n[1], o->n[2], most);
    return 0;
}

static int options_compare(MPI_Comm comm, const struct group_options *o)
{
    const long mine[5] = {o->n[0], o->n[1], o->n[2], (long)o->kind, (long)o->rigour};
    long first[5];
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, 5, MPI_LONG, 0, comm);
    int rc = 0;
    if (memcmp(mine, first, sizeof mine) != 0)
        rc = status_fail(ERR_ARGUMENT,
                         "a rank asks for %ld x %ld x %ld points, kind %ld, rigour %ld; rank 0 "
                         "of its group for %ld x %ld x %ld, kind %ld, rigour %ld",
                         mine[0], mine[1], mine[2], mine[3], mine[4], first[0], first[1],
                         first[2], first[3], first[4]);
    return code_agree(comm, rc);
}

/* FFTW casts the counts and offsets of its exchanges to int unseen (FFTW 3.3.10,
 * mpi/transpose-alltoall.c): the largest is below ranks * block0 * block1 rows of the spectrum,
 * in reals. One rank exchanges nothing. */
static int slab_check(const struct group_options *o, int ranks)
{
    if (ranks == 1)
        return 0;
    const long block0 = (o->n[0] - 1) / ranks + 1;
    const long block1 = (o->n[1] - 1) / ranks + 1;
    if (INT_MAX / 2 / spectrum_length(o) / ranks / block1 < block0)
        FAIL(
            ERR_UNSUPPORTED,
            "a slab of %ld x %ld x %ld points over %d ranks exceeds MPI's %d reals: more ranks "
            "are needed",
            o->n[0], o->n[1], o->n[2], ranks, INT_MAX);
    return 0;
}

int group_spans(long planes, int ranks, struct group_span *span)
{
    if (planes < 1 || ranks < 1)
        FAIL(ERR_ARGUMENT, "cannot cut %ld planes into %d spans: at least 1 of each", planes,
             ranks);
    const long block = (planes - 1) / ranks + 1;
    long offset = 0;
    for (int r = 0; r < ranks; r++) {
        const long left = planes - offset;
        span[r].offset = offset;
        span[r].count = left < block ? left : block;
        offset += span[r].count;
    }
    return 0;
}

static struct group_array array_make(const struct group_options *o, bool is_spectrum)
{
    const long length = spectrum_length(o);
    struct group_array array = {.n = {o->n[0], o->n[1], length}, .row = length};
    if (kind_is_real(o->kind) && !is_spectrum) {
        array.n[2] = o->n[2];
        array.row = 2 * length;
    }
    return array;
}

static int layout_fill(struct group_fft *plan, const struct group_options *o)
{
    struct group_layout *layout = &plan->layout;
    layout->in = array_make(o, o->kind == FFT_C2R);
    layout->out = array_make(o, o->kind != FFT_C2R);
    layout->span = plan->span;
    TRY(group_spans(o->n[0], layout->ranks, plan->span));
    ptrdiff_t count = 0;
    ptrdiff_t offset = 0;
    layout->capacity = fftw_mpi_local_size_3d(o->n[0], o->n[1], spectrum_length(o), plan->comm,
                                              &count, &offset);
    const struct group_span *mine = &plan->span[layout->rank];
    if (count != mine->count || (count != 0 && offset != mine->offset))
        FAIL(ERR_BUG, "FFTW gives rank %d planes %ld + %ld, and %ld + %ld were expected",
             layout->rank, (long)offset, (long)count, mine->offset, mine->count);
    return 0;
}

/* First line of FFTW's wisdom text, which names version and solvers. A rank with another one
 * (a CPU with other vector instructions) would refuse the text, and then FFTW's own functions
 * abort the program. */
static bool wisdom_is_alike(MPI_Comm comm)
{
    char mine[128] = "";
    char first[128];
    char *const text = fftw_export_wisdom_to_string();
    if (text != NULL) {
        const size_t length = strcspn(text, "\n");
        memcpy(mine, text, length < sizeof mine ? length : sizeof mine - 1);
        fftw_free(text);
    }
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
    const int same = memcmp(mine, first, sizeof mine) == 0;
    int all = 0;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, comm);
    return all != 0;
}

static void wisdom_share(const struct group_fft *plan, const char *text)
{
    const bool is_first = plan->layout.rank == 0;
    if (is_first && text != NULL && text[0] != '\0' && !fftw_import_wisdom_from_string(text))
        log_warn("FFTW did not accept the wisdom given for a group (made by another version or "
                 "without MPI?): planning anew");
    if (wisdom_is_alike(plan->comm))
        fftw_mpi_broadcast_wisdom(plan->comm);
    else if (is_first)
        log_warn("the ranks of a group have different FFTW libraries or CPUs: each plans with "
                 "its own wisdom");
}

static fftw_plan plan_make(const struct group_fft *plan, const struct group_options *o,
                           void *in, void *out)
{
    static const unsigned rigours[] = {[FFT_ESTIMATE] = FFTW_ESTIMATE,
                                       [FFT_MEASURE] = FFTW_MEASURE,
                                       [FFT_PATIENT] = FFTW_PATIENT};
    const unsigned flags = rigours[o->rigour];
    const long *n = o->n;
    switch (o->kind) {
    case FFT_C2C_FORWARD:
        return fftw_mpi_plan_dft_3d(n[0], n[1], n[2], in, out, plan->comm, FFTW_FORWARD, flags);
    case FFT_C2C_BACKWARD:
        return fftw_mpi_plan_dft_3d(n[0], n[1], n[2], in, out, plan->comm, FFTW_BACKWARD,
                                    flags);
    case FFT_R2C:
        return fftw_mpi_plan_dft_r2c_3d(n[0], n[1], n[2], in, out, plan->comm, flags);
    case FFT_C2R:
        return fftw_mpi_plan_dft_c2r_3d(n[0], n[1], n[2], in, out, plan->comm,
                                        flags | FFTW_DESTROY_INPUT);
    }
    return NULL;
}

static int scratch_make(long capacity, cplx **in, cplx **out)
{
    TRY(MEM_NEW(capacity, in));
    return MEM_NEW(capacity, out);
}

static int plan_measure(struct group_fft *plan, const struct group_options *o)
{
    cplx *in = NULL;
    cplx *out = NULL;
    int rc;
    TRY_OR(rc, done, code_agree(plan->comm, scratch_make(plan->layout.capacity, &in, &out)));
    plan->plan = plan_make(plan, o, in, out);
    if (plan->plan == NULL)
        rc = status_fail(ERR_DEVICE, "FFTW made no plan for %ld x %ld x %ld points on %d ranks",
                         o->n[0], o->n[1], o->n[2], plan->layout.ranks);
    rc = code_agree(plan->comm, rc);
done:
    mem_free(in);
    mem_free(out);
    return rc;
}

static int plan_fill(struct group_fft *plan, const struct group_options *o)
{
    MPI_Comm_size(plan->comm, &plan->layout.ranks);
    MPI_Comm_rank(plan->comm, &plan->layout.rank);
    TRY(code_agree(plan->comm, options_check(o)));
    TRY(options_compare(plan->comm, o));
    TRY(code_agree(plan->comm, slab_check(o, plan->layout.ranks)));
    TRY(code_agree(plan->comm, MEM_NEW(plan->layout.ranks, &plan->span)));
    plan->kind = o->kind;
    fftw_mpi_init(); /* idempotent, and before any wisdom is read */
    TRY(code_agree(plan->comm, layout_fill(plan, o)));
    wisdom_share(plan, o->wisdom);
    return plan_measure(plan, o);
}

static void plan_free(struct group_fft *plan)
{
    if (plan == NULL)
        return;
    if (plan->plan != NULL)
        fftw_destroy_plan(plan->plan);
    mem_free(plan->span);
    mem_free(plan);
}

int group_fft_create(const struct group_options *options, struct group_fft **out)
{
    *out = NULL;
    MPI_Comm comm;
    TRY(comm_copy(options->communicator, &comm));
    struct group_fft *plan = NULL;
    int rc;
    TRY_OR(rc, done, code_agree(comm, MEM_NEW(1, &plan)));
    plan->comm = comm;
    TRY_OR(rc, done, plan_fill(plan, options));
    *out = plan;
done:
    if (rc != 0) {
        plan_free(plan);
        MPI_Comm_free(&comm);
    }
    return rc;
}

void group_fft_destroy(struct group_fft *plan)
{
    if (plan == NULL)
        return;
    MPI_Comm comm = plan->comm;
    plan_free(plan);
    MPI_Comm_free(&comm);
}

const struct group_layout *group_fft_layout(const struct group_fft *plan)
{
    return &plan->layout;
}

int group_fft_execute(const struct group_fft *plan, void *in, void *out)
{
    if (in == NULL || out == NULL || in == out)
        FAIL(ERR_BUG, "a group's transform needs two arrays, and was given %s",
             in == NULL || out == NULL ? "none on one side" : "one twice");
    if (((uintptr_t)in | (uintptr_t)out) % MEM_ALIGNMENT != 0)
        FAIL(ERR_BUG, "an array of a group's transform is not on a %d-byte boundary",
             MEM_ALIGNMENT);
    switch (plan->kind) {
    case FFT_C2C_FORWARD:
    case FFT_C2C_BACKWARD:
        fftw_mpi_execute_dft(plan->plan, in, out);
        break;
    case FFT_R2C:
        fftw_mpi_execute_dft_r2c(plan->plan, in, out);
        break;
    case FFT_C2R:
        fftw_mpi_execute_dft_c2r(plan->plan, in, out);
        break;
    }
    return 0;
}

static int wisdom_export(char **text)
{
    char *const wisdom = fftw_export_wisdom_to_string();
    if (wisdom == NULL)
        FAIL(ERR_MEMORY, "out of memory: no room for FFTW's wisdom");
    const int rc = mem_copy_text(wisdom, text);
    fftw_free(wisdom);
    return rc;
}

int group_fft_wisdom(const struct group_fft *plan, char **text)
{
    *text = NULL;
    if (wisdom_is_alike(plan->comm))
        fftw_mpi_gather_wisdom(plan->comm);
    return code_agree(plan->comm, plan->layout.rank == 0 ? wisdom_export(text) : 0);
}
