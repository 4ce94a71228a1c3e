/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VERDICT_PRIVATE_H
#define IO_VERDICT_PRIVATE_H

#include "io/store_private.h"

/** Open the columns of a file that has them. ERR_IO where one is not as it should be. */
int verdict_open(struct store *store);

/** Close them; legal without. */
void verdict_close(struct store *store);

/** What was judged of a member of one file goes to a member of another, and whether it is
 * chosen. A file without room for it takes nothing. */
int verdict_copy(struct store *from, int64_t there, struct store *to, int64_t here);

#endif
