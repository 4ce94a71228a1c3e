/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_QUOTE_H
#define SLURM_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

/* Values in scripts: whatever stands in them, they mean themselves. */

/** Whether a value can be written into a script: it has no control character, no newline. */
bool quote_can(const char *text);

/** Write a word for bash: as it is where that is safe, else in single quotes. */
void quote_shell(const char *text, FILE *out);

/** Write a value for a line of sbatch's directives, which sbatch reads itself: in double
 * quotes, with backslashes before quotes and backslashes; no variable is ever filled in there.
 */
void quote_sbatch(const char *text, FILE *out);

/** The same for a file name, in which Slurm fills in %j and its like only where they stand in
 *  `pattern`, which follows the text. */
void quote_sbatch_path(const char *text, const char *pattern, FILE *out);

#endif
