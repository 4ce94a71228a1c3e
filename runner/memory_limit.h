/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_MEMORY_LIMIT_H
#define RUNNER_MEMORY_LIMIT_H

/**
 * Let this process take so much more memory for its data than it has now, besides the stacks of
 * its threads (RLIMIT_DATA): what asks for more gets ERR_MEMORY in its own place, where the
 * kernel would end some process of the node.
 *
 * @param bytes   0: no limit is set
 * @param threads that will be started
 * @return 0, or ERR_IO when the limit cannot be set
 */
int memory_limit_set(double bytes, int threads);

#endif
