/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/order.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define CLASS_WIDTH 0.1 /* of ln(cost) */

/* How many nodes behind the first are looked at for members of its key. */
#define LOOK_AHEAD 1024

static void empty(struct order *o)
{
    for (int32_t i = 0; i < o->room; i++)
        o->node[i].next = i + 1 < o->room ? i + 1 : -1;
    o->free = 0;
    for (int k = 0; k < ORDER_CLASSES; k++)
        o->head[k] = o->tail[k] = -1;
    o->top = -1;
    o->based = false;
    o->members = 0;
    o->sum = 0;
}

int order_init(struct order *o, int64_t members)
{
    memset(o, 0, sizeof *o);
    o->room = members < ORDER_WINDOW ? (int32_t)members : ORDER_WINDOW;
    TRY(MEM_NEW(o->room > 0 ? o->room : 1, &o->node));
    empty(o);
    return 0;
}

void order_clear(struct order *o)
{
    mem_free(o->node);
    memset(o, 0, sizeof *o);
}

int64_t order_room(const struct order *o)
{
    return o->node == NULL || o->free < 0 ? 0 : ORDER_WINDOW - o->members;
}

static int class_of(struct order *o, double rank)
{
    if (!o->based)
        o->base = rank;
    o->based = true;
    const double k = floor((rank - o->base) / CLASS_WIDTH + 0.5) + 0.5 * ORDER_CLASSES;
    return k < 0 ? 0 : k < ORDER_CLASSES ? (int)k : ORDER_CLASSES - 1;
}

/* Append a node that has been filled in. */
static void link_node(struct order *o, int32_t i)
{
    struct order_node *node = &o->node[i];
    const int k = class_of(o, (double)node->rank);
    node->next = -1;
    if (o->tail[k] >= 0)
        o->node[o->tail[k]].next = i;
    else
        o->head[k] = i;
    o->tail[k] = i;
    o->top = k > o->top ? k : o->top;
    o->members += node->count;
    o->sum += node->count * exp((double)node->rank);
}

void order_add(struct order *o, const struct order_node *members)
{
    const int32_t i = o->free;
    o->free = o->node[i].next;
    o->node[i] = *members;
    link_node(o, i);
}

static bool is_within(const struct order_node *node, double limit)
{
    return limit >= DBL_MAX || (double)node->rank - log((double)node->planes) <= limit;
}

/* The class to take from, -1: none. Within a class costs are alike: its first one is asked. */
static int find_class(const struct order *o, double limit)
{
    for (int k = o->top; o->members > 0 && k >= 0; k--)
        if (o->head[k] >= 0 && is_within(&o->node[o->head[k]], limit))
            return k;
    return -1;
}

bool order_peek(const struct order *o, double limit, double *rank)
{
    const int k = find_class(o, limit);
    if (k < 0)
        return false;
    *rank = (double)o->node[o->head[k]].rank;
    return true;
}

/* Take members from the front of a node; an empty one leaves its class. before: -1, the head.
 */
static void cut_node(struct order *o, int k, int32_t before, int32_t i, int32_t count)
{
    struct order_node *node = &o->node[i];
    node->first += count;
    node->count -= count;
    o->members -= count;
    o->sum -= count * exp((double)node->rank);
    if (o->members == 0 || o->sum < 0)
        o->sum = 0;
    if (node->count > 0)
        return;
    if (before >= 0)
        o->node[before].next = node->next;
    else
        o->head[k] = node->next;
    if (o->tail[k] == i)
        o->tail[k] = before;
    node->next = o->free;
    o->free = i;
}

/* Neighbours from the front of a class. */
static int64_t take_range(struct order *o, int k, int64_t most, struct message_give *give)
{
    const int64_t key = o->node[o->head[k]].key;
    give->count = 0;
    give->first = o->node[o->head[k]].first;
    give->length = 0;
    while (o->head[k] >= 0 && give->length < most) {
        const struct order_node *node = &o->node[o->head[k]];
        const int64_t left = most - give->length;
        if (node->key != key || node->first != give->first + give->length)
            break;
        const int32_t count = node->count < left ? node->count : (int32_t)left;
        cut_node(o, k, -1, o->head[k], count);
        give->length += count;
    }
    return give->length;
}

/* Further members of the class and key, as ids. */
static void add_ids(struct order *o, int k, int64_t key, int64_t most,
                    struct message_give *give)
{
    int32_t before = -1;
    int32_t i = o->head[k];
    for (int looked = 0; i >= 0 && give->count < most && looked < LOOK_AHEAD; looked++) {
        const struct order_node *node = &o->node[i];
        const int32_t next = node->next;
        const int64_t left = most - give->count;
        const int32_t count = node->count < left ? node->count : (int32_t)left;
        if (node->key != key) {
            before = i;
        } else {
            for (int32_t m = 0; m < count; m++)
                give->id[give->count++] = node->first + m;
            cut_node(o, k, before, i, count);
            before = node->count > 0 ? i : before;
        }
        i = next;
    }
}

int64_t order_take(struct order *o, int64_t most, double limit, struct message_give *give)
{
    const int k = find_class(o, limit);
    if (k < 0 || most < 1)
        return 0;
    o->top = limit >= DBL_MAX ? k : o->top; /* those above may be within it later */
    const int64_t key = o->node[o->head[k]].key;
    const int64_t taken = take_range(o, k, most, give);
    const int64_t list = most < PROTOCOL_IDS_MAX ? most : PROTOCOL_IDS_MAX;
    if (taken >= list)
        return taken;
    for (int64_t m = 0; m < taken; m++)
        give->id[m] = give->first + m;
    give->count = (int32_t)taken;
    add_ids(o, k, key, list, give);
    if (give->count > taken)
        return give->count;
    give->count = 0;
    return taken;
}

/* The nodes that hold members, chained through `next`. */
static int32_t collect_nodes(struct order *o)
{
    int32_t first = -1;
    for (int k = 0; k < ORDER_CLASSES; k++) {
        if (o->head[k] < 0)
            continue;
        o->node[o->tail[k]].next = first;
        first = o->head[k];
        o->head[k] = o->tail[k] = -1;
    }
    return first;
}

/* Merge two chains by their first member: neighbours shall stay neighbours. */
static int32_t merge_nodes(struct order_node *node, int32_t a, int32_t b)
{
    int32_t first = -1;
    int32_t *end = &first;
    while (a >= 0 && b >= 0) {
        int32_t *const least = node[a].first < node[b].first ? &a : &b;
        *end = *least;
        end = &node[*least].next;
        *least = *end;
    }
    *end = a >= 0 ? a : b;
    return first;
}

/* Sort a chain by merging runs of 1, 2, 4, … nodes. */
static int32_t sort_nodes(struct order_node *node, int32_t first)
{
    int32_t run[32];
    int runs = 0;
    for (int r = 0; r < 32; r++)
        run[r] = -1;
    while (first >= 0) {
        int32_t one = first;
        int r = 0;
        first = node[first].next;
        node[one].next = -1;
        for (; r < runs && run[r] >= 0; r++) {
            one = merge_nodes(node, run[r], one);
            run[r] = -1;
        }
        run[r] = one;
        runs = r == runs ? runs + 1 : runs;
    }
    for (int r = 0; r < runs; r++)
        first = merge_nodes(node, run[r], first);
    return first;
}

void order_sort(struct order *o, const struct cost *cost)
{
    struct cost_input input;
    if (o->node == NULL)
        return;
    int32_t i = sort_nodes(o->node, collect_nodes(o));
    o->top = -1;
    o->based = false;
    o->members = 0;
    o->sum = 0;
    while (i >= 0) {
        const int32_t next = o->node[i].next;
        cost_look_again(cost, o->node[i].point, (double)o->node[i].work, &input);
        o->node[i].rank = (float)cost_rank(cost, &input);
        link_node(o, i);
        i = next;
    }
}
