/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What models and their callers exchange, and its version. */
#include "kernels/model.h"
#include "tests/unit_main.h"

/* The sizes of what models and their callers exchange, where a pointer has 8 bytes, as they
 * were when the version was raised last. A row that is wrong says: raise MODEL_ABI_VERSION,
 * then write the new size here. */
START_TEST(the_version_of_the_interface_stands_for_its_structs)
{
    static const struct {
        const char *name;
        size_t size, known;
    } structs[] = {{"model_ops", sizeof(struct model_ops), 104},
                   {"model_info", sizeof(struct model_info), 104},
                   {"observable_info", sizeof(struct observable_info), 24},
                   {"bound_info", sizeof(struct bound_info), 40},
                   {"plane_layout", sizeof(struct plane_layout), 8600},
                   {"run_control", sizeof(struct run_control), 32},
                   {"seed", sizeof(struct seed), 40},
                   {"step_record", sizeof(struct step_record), 32},
                   {"row_status", sizeof(struct row_status), 352},
                   {"plane_buffers", sizeof(struct plane_buffers), 320},
                   {"state_out", sizeof(struct state_out), 24},
                   {"state_in", sizeof(struct state_in), 16}};
    ck_assert_int_eq(MODEL_ABI_VERSION, 6);
    for (size_t i = 0; sizeof(void *) == 8 && i < sizeof structs / sizeof structs[0]; i++)
        ck_assert_msg(structs[i].size == structs[i].known,
                      "struct %s has %zu bytes, in version %d of the interface %zu",
                      structs[i].name, structs[i].size, MODEL_ABI_VERSION, structs[i].known);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("interface");
    TCase *const tests = tcase_create("version");
    tcase_add_test(tests, the_version_of_the_interface_stands_for_its_structs);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
