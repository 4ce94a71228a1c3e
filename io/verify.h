/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERIFY_H
#define IO_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"
#include "kernels/contract/contract.h"

/* Whether a result file is what it says: read only, plane by plane. */

#define VERIFY_WORST_MAX 10
#define VERIFY_TEXT_SIZE 400

/* What is looked at, and the contract class that it belongs to. */
#define VERIFY_LIST(X)                                                                         \
    X(VERIFY_FORMAT, "format", CONTRACT_P, "format 1, opens, has what readers need")           \
    X(VERIFY_LAYOUT, "layout", CONTRACT_P, "datasets as the configuration asks for")           \
    X(VERIFY_IDENTITIES, "identities", CONTRACT_P, "recomputed from the configuration")        \
    X(VERIFY_POINTS, "points", CONTRACT_P, "indices, scanned values and seeds of members")     \
    X(VERIFY_AXES, "axes", CONTRACT_P, "scales and planes stand where the configuration says") \
    X(VERIFY_STATES, "states", CONTRACT_P, "known, and in keeping with the saved planes")      \
    X(VERIFY_PLANES, "planes", CONTRACT_P, "counted planes have their checksums")              \
    X(VERIFY_ZEROS, "zeros", CONTRACT_P, "masked bins are exactly zero")                       \
    X(VERIFY_STEPS, "steps", CONTRACT_P, "counters are the sums of whole histories")           \
    X(VERIFY_STOPS, "stops", CONTRACT_P, "ensembles stopped where their members say")          \
    X(VERIFY_SHARD, "shard", CONTRACT_P, "the members are those of this part of the scan")     \
    X(VERIFY_VERDICTS, "verdicts", CONTRACT_T, "follow from stored errors and the envelope")   \
    X(VERIFY_ENSEMBLE, "ensemble", CONTRACT_N, "rows follow from the planes of the members")   \
    X(VERIFY_MATCHED, "matched", CONTRACT_R,                                                   \
      "computed again by this program, within rounding")                                       \
    X(VERIFY_ADAPTIVE, "adaptive", CONTRACT_T, "computed again, within twice the envelope")

/* A kind of check: a row of the list. */
enum verify_kind {
#define VERIFY_ENUM(kind, name, class, doc) kind,
    VERIFY_LIST(VERIFY_ENUM)
#undef VERIFY_ENUM
        VERIFY_KINDS
};

/* One kind of check. */
struct verify_result {
    char skipped[VERIFY_TEXT_SIZE]; /* why it was not made; "" when it was */
    int64_t checked;
    int64_t broken;
    int worst;                                     /* texts kept */
    char text[VERIFY_WORST_MAX][VERIFY_TEXT_SIZE]; /* of the first broken ones */
};

/* How near something came to its bound: the worst ones are kept. */
struct verify_offender {
    enum verify_kind kind;
    int64_t member; /* -1: of a point */
    int64_t point;
    long plane;
    long index;    /* element of the plane's array, -1: of a whole plane */
    char what[48]; /* "field", "g12", "field_l2" */
    double observed, allowed;
    double margin; /* observed / allowed */
};

/* All of one file. */
struct verify_report {
    struct verify_result kind[VERIFY_KINDS];
    struct verify_offender offender[VERIFY_WORST_MAX]; /* largest margins first */
    int offenders;
    uint8_t
        *bad; /* [members] borrowed: 1 where something of the member is broken; may be NULL */
    int64_t first, members; /* of bad */
};

/** "format", "layout", … */
const char *verify_kind_name(enum verify_kind kind);

/** What is looked at. */
const char *verify_kind_text(enum verify_kind kind);

/** The contract class that a kind belongs to. */
enum contract_class verify_kind_class(enum verify_kind kind);

/** Count a broken thing, with a text where there is room for one. */
void verify_break(struct verify_report *report, enum verify_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same of a member, which is noted. */
void verify_break_member(struct verify_report *report, enum verify_kind kind, int64_t member,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Say why a kind of check is not made. */
void verify_skip(struct verify_report *report, enum verify_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Keep it if it is among the worst. */
void verify_offend(struct verify_report *report, const struct verify_offender *offender);

/* How the right-hand sides of a member follow from its trial steps: first + each * trials. */
struct verify_law {
    bool known;
    bool controlled; /* steps are accepted by their error; false: executed as they stand */
    int64_t first, each;
};

/* What members were compared with. */
enum verdict_source { SOURCE_TIGHTER, SOURCE_STORED };

/* The envelope that members were judged by. */
struct verify_envelope {
    bool judged; /* false: the scan has none */
    enum verdict_source source;
    const char *norm;
    double tolerance;
    double safety;
    uint64_t key;           /* 0: not known, a stored reference is not there */
    const uint8_t *chosen;  /* [members of the file] whom its sample chooses; NULL: not known */
    bool sample_given;      /* it is that of the last run */
    bool sample_may_differ; /* the file may have been made with another sample than this one */
    double gain; /* members are judged on windows of smaller gains; 0: over their length */
};

/* What is known of one member's planes beforehand. */
struct verify_planes {
    double *position; /* [planes of the file] SI */
    bool *judged;     /* [planes of the file] */
    long planes;      /* of the member */
    double span;
};

/* What the stored configuration says. */
struct verify_scan {
    const struct store_spec *spec; /* with the file's window */
    bool identities;               /* false: they are not judged (another numerics version) */
    struct verify_law law;
    struct verify_envelope envelope;
    /* Fill in the planes of a member. 0, ERR_ARGUMENT, ERR_MEMORY */
    int (*planes)(void *context, int64_t member, struct verify_planes *out);
    /* Which elements of an array's plane are exactly zero. @param zero [elements] 0 or 1.
     * NULL: the model has none */
    int (*zeros)(void *context, int64_t member, int array, uint8_t *zero);
    void *context;
};

/**
 * What can be told from the stored numbers: states, planes, steps, verdicts.
 *
 * @param scan  NULL: the configuration is not understood, the rest is looked at
 * @return 0, ERR_IO, ERR_MEMORY
 */
int verify_store(struct store *store, const struct verify_scan *scan,
                 struct verify_report *report);

/** What the configuration says of the file: layout, identities, points, scales. */
int verify_spec(struct store *store, const struct verify_scan *scan,
                struct verify_report *report);

/**
 * Rows of /ensemble against the planes of the members: each one is computed anew.
 *
 * @return 0, ERR_IO, ERR_MEMORY
 */
int verify_ensemble(struct store *store, struct verify_report *report);

#endif
