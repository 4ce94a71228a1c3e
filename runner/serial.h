/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SERIAL_H
#define RUNNER_SERIAL_H

#include "runner/prepare.h"

/**
 * Run in this one process, without MPI: the worker's code, with the controller's in line.
 *
 * @param prepared  what is to be done; its dispatch says afterwards how it ended, run errors
 *                  included: those are not logged here
 * @param attempt   receives the attempt's number, -1 when none was begun
 */
void serial_run(struct prepared *prepared, int *attempt);

#endif
