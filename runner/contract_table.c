/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/contract_table.h"

#include "kernels/contract/bounds.h"
#include "kernels/contract/contract.h"
#include "runner/text.h"

/* What a class asks for (numerics.md §1). */
static const char *const rules[] = {
    [CONTRACT_P] = "equal, bit for bit",
    [CONTRACT_R] = "within a rounding bound fixed beforehand",
    [CONTRACT_T] = "within an envelope of a reference, in a norm, at planes",
    [CONTRACT_N] = "within an envelope where gains are small, or errors of an ensemble"};

static void write_row(FILE *out, const struct bound_info *b)
{
    fprintf(out,
            "  %-18s class %s (%s: %s)\n      norm:   %s\n      rule:   %s\n"
            "      source: %s\n",
            b->quantity, contract_class_name(b->class), contract_class_doc(b->class),
            rules[b->class], b->norm, b->rule, b->source);
}

void contract_table_text(FILE *out, const struct model_info *info)
{
    fprintf(out, "Error contract of %s\n", info->name);
    for (int i = 0; model_bound(info, i) != NULL; i++)
        write_row(out, model_bound(info, i));
    fprintf(out, "\nTolerances (kernels/contract/bounds.def)\n");
    for (int i = 0; i < BOUND_COUNT; i++) {
        const struct bound_entry *const entry = bound_entry((enum bound_id)i);
        fprintf(out, "  %-22s %-12g %s\n      source: %s\n", entry->name, entry->value,
                entry->unit, entry->source);
    }
}

static void write_pair(FILE *out, const char *key, const char *text, const char *behind)
{
    fprintf(out, "\"%s\":", key);
    json_text(out, text);
    fputs(behind, out);
}

void contract_table_json(FILE *out, const struct model_info *info)
{
    fputc('{', out);
    write_pair(out, "model", info->name, ",\"contract\":[");
    for (int i = 0; model_bound(info, i) != NULL; i++) {
        const struct bound_info *const b = model_bound(info, i);
        fputs(i > 0 ? ",\n{" : "\n{", out);
        write_pair(out, "quantity", b->quantity, ",");
        write_pair(out, "class", contract_class_name(b->class), ",");
        write_pair(out, "norm", b->norm, ",");
        write_pair(out, "rule", b->rule, ",");
        write_pair(out, "source", b->source, "}");
    }
    fputs("],\"bounds\":[", out);
    for (int i = 0; i < BOUND_COUNT; i++) {
        const struct bound_entry *const entry = bound_entry((enum bound_id)i);
        fputs(i > 0 ? ",\n{" : "\n{", out);
        write_pair(out, "name", entry->name, ",");
        fputs("\"value\":", out);
        json_number(out, entry->value);
        fputc(',', out);
        write_pair(out, "unit", entry->unit, ",");
        write_pair(out, "source", entry->source, "}");
    }
    fputs("]}\n", out);
}
