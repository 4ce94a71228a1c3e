/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_STOP_H
#define TESTS_EMU_STOP_H

/** End the program: what a device would not forgive, or would not notice, was done. */
_Noreturn void emu_stop(const char *what);

#endif
