/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the shards in a plan. */
#include "runner/plan.h"
#include "runner/text.h"

#define SHOWN_ALL 20 /* of more shards only some are shown */

static int64_t count_of(const struct shard_division *d, long shard)
{
    return d->first[shard + 1] - d->first[shard];
}

/* Of many shards: the first, the last, and those with least and most members and cost. */
struct extremes {
    long fewest, most, cheapest, dearest;
};

static struct extremes find_extremes(const struct shard_division *d)
{
    struct extremes e = {0};
    for (long k = 1; k < d->shards; k++) {
        e.fewest = count_of(d, k) < count_of(d, e.fewest) ? k : e.fewest;
        e.most = count_of(d, k) > count_of(d, e.most) ? k : e.most;
        e.cheapest = d->share[k] < d->share[e.cheapest] ? k : e.cheapest;
        e.dearest = d->share[k] > d->share[e.dearest] ? k : e.dearest;
    }
    return e;
}

static void write_shard(const struct shard_division *d, long k, FILE *out)
{
    char count[TEXT_SIZE];
    char members[TEXT_SIZE];
    text_count(count_of(d, k), count);
    text_members(d->first[k], d->first[k + 1] - 1, members);
    fprintf(out, "  %-10ld %s: %s, %.3g %% of the cost\n", k + 1, members, count,
            100 * d->share[k]);
}

void plan_write_shards_text(const struct plan *plan, FILE *out)
{
    const struct shard_division *const d = &plan->division;
    if (d->shards == 0)
        return;
    const struct extremes e = find_extremes(d);
    char shards[TEXT_SIZE];
    char fewest[TEXT_SIZE];
    char most[TEXT_SIZE];
    char bytes[TEXT_SIZE];
    text_count(d->shards, shards);
    text_count(count_of(d, e.fewest), fewest);
    text_count(count_of(d, e.most), most);
    text_bytes(plan->shard_size.apparent, bytes);
    fprintf(out, "Shards       %s, of ", shards);
    if (count_of(d, e.fewest) < count_of(d, e.most))
        fprintf(out, "%s to ", fewest);
    fprintf(out, "%s member%s and ", most, count_of(d, e.most) == 1 ? "" : "s");
    if (d->share[e.cheapest] < d->share[e.dearest])
        fprintf(out, "%.3g to ", 100 * d->share[e.cheapest]);
    fprintf(out, "%.3g %% of the cost; ", 100 * d->share[e.dearest]);
    fprintf(out, "a file of up to %s each\n", bytes);
    for (long k = 0; k < d->shards; k++)
        if (d->shards <= SHOWN_ALL || k == 0 || k == d->shards - 1 || k == e.fewest
            || k == e.most || k == e.cheapest || k == e.dearest)
            write_shard(d, k, out);
}

void plan_write_shards_json(const struct plan *plan, FILE *out)
{
    const struct shard_division *const d = &plan->division;
    if (d->shards == 0)
        return;
    fprintf(out, ",\"shard_file_bytes_most\":");
    json_number(out, plan->shard_size.apparent);
    fprintf(out, ",\"shards\":[");
    for (long k = 0; k < d->shards; k++) {
        fprintf(out,
                "%s{\"shard\":%ld,\"first\":%lld,\"count\":%lld,\"share\":", k > 0 ? "," : "",
                k + 1, (long long)d->first[k], (long long)count_of(d, k));
        json_number(out, d->share[k]);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}
