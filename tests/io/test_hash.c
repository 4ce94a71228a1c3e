/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include <check.h>

#include "io/hash.h"
#include "kernels/base/mem.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

/* Known answers: xxHash's own sanity checks (XXH3, length 0). */
START_TEST(the_hash_of_nothing_is_the_published_one)
{
    ck_assert(hash_64("", 0) == UINT64_C(0x2D06800538D394C2));
    uint64_t both[2];
    hash_128("", 0, both);
    ck_assert(both[0] == UINT64_C(0x99AA06D3014798D8));
    ck_assert(both[1] == UINT64_C(0x6001C324468D497F));
}
END_TEST

START_TEST(a_stream_in_pieces_equals_the_whole)
{
    unsigned char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    struct hash_stream *stream = NULL;
    ck_assert_int_eq(hash_stream_create(&stream), 0);
    static const size_t pieces[] = {1, 7, 64, 255, 1000, 3000};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        hash_stream_reset(stream, 99);
        for (size_t at = 0; at < sizeof bytes; at += pieces[p]) {
            const size_t left = sizeof bytes - at;
            hash_stream_add(stream, bytes + at, left < pieces[p] ? left : pieces[p]);
        }
        ck_assert(hash_stream_value(stream) == hash_64_seeded(bytes, sizeof bytes, 99));
    }
    hash_stream_destroy(stream);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(an_identity_is_the_hash_of_text_and_key)
{
    /* "abc", point key 0x0102030405060708, realisation 2, little-endian */
    static const unsigned char bytes[] = {'a', 'b', 'c', 8, 7, 6, 5, 4, 3, 2,
                                          1,   2,   0,   0, 0, 0, 0, 0, 0};
    uint64_t expected[2];
    uint64_t identity[2];
    hash_128(bytes, sizeof bytes, expected);
    hash_identity("abc", 3, UINT64_C(0x0102030405060708), 2, identity);
    ck_assert(equal_bits(identity, expected, sizeof identity));
    hash_identity("abc", 3, UINT64_C(0x0102030405060708), 3, identity);
    ck_assert(!equal_bits(identity, expected, sizeof identity));
}
END_TEST

START_TEST(plane_seeds_differ)
{
    ck_assert(hash_plane_seed(0, 1) != hash_plane_seed(1, 0));
    ck_assert(hash_plane_seed(0, 0) != hash_plane_seed(0, 1));
}
END_TEST

static Suite *hash_suite(void)
{
    Suite *const suite = suite_create("hash");
    TCase *const tests = tcase_create("hash");
    tcase_add_test(tests, the_hash_of_nothing_is_the_published_one);
    tcase_add_test(tests, a_stream_in_pieces_equals_the_whole);
    tcase_add_test(tests, an_identity_is_the_hash_of_text_and_key);
    tcase_add_test(tests, plane_seeds_differ);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(hash_suite());
}
