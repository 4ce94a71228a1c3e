/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "slurm/submit.h"

/* `scanfarm submit` and `scanfarm cancel` become this program. */
int main(int argc, char **argv)
{
    int code = 0;
    if (argc >= 2 && strcmp(argv[1], "submit") == 0)
        code = submit_command(argc - 1, argv + 1);
    else if (argc >= 2 && strcmp(argv[1], "cancel") == 0)
        code = cancel_command(argc - 1, argv + 1);
    else
        code = status_exit_code(status_fail(ERR_ARGUMENT, "scanfarm-submit is what `scanfarm "
                                                          "submit` and `scanfarm cancel` run"));
    if (fflush(stdout) != 0 && code == 0)
        code = status_exit_code(
            status_fail(ERR_IO, "cannot write the results: %s", strerrordesc_np(errno)));
    return code;
}
