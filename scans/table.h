/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_TABLE_H
#define SCANS_TABLE_H

#include "kernels/base/data.h"

/*
 * Text tables (docs/scan-file.md): a header line with names and units, `time [fs] intensity
 * phase [rad]`, then rows of numbers. Blanks, tabs, commas and semicolons separate; `#` begins
 * a comment; the last comment before the numbers is the header when there is no other.
 */

/**
 * Read a text table.
 *
 * @param path  stands in messages and in out->file
 * @param out   free with data_table_clear, also after an error
 * @return 0; ERR_ARGUMENT (no such file, not a regular one); ERR_UNSUPPORTED (too large);
 *         ERR_PARSE with file:line:col; ERR_MEMORY
 */
int table_read(const char *path, struct data_table *out);

/**
 * Choose the columns that go together, convert them to SI and check them: an axis is strictly
 * monotone and comes out ascending, every number is finite.
 *
 * @param info     what is accepted
 * @param columns  one of info->tables, or NULL: the longest that the table has
 * @param out      gets one array a column, in the order of info->tables; free with data_clear,
 *                 also after an error
 * @return 0; ERR_PARSE: one line with file, line or dataset, and what would be accepted;
 *         ERR_IO (no units database), ERR_MEMORY, ERR_UNSUPPORTED (too large)
 */
int table_take(const struct data_table *table, const struct data_info *info,
               const char *columns, struct data_set *out);

#endif
