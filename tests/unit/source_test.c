/* source_test.c: bytes come out whole, or as much of them as can be had, with what was wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "codec/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Made with Python: gzip.compress(b"first line\n", 9, mtime=0), likewise b"second line\n";
 * zstd -19 --no-check of b"first line\n". */
static const unsigned char FIRST[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xcb, 0x2c, 0x2a, 0x2e, 0x51,
    0xc8, 0xc9, 0xcc, 0x4b, 0xe5, 0x02, 0x00, 0x10, 0xfc, 0xef, 0xbd, 0x0b, 0x00, 0x00, 0x00};
static const unsigned char SECOND[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0x4e, 0x4d, 0xce, 0xcf, 0x4b,
    0x51, 0xc8, 0xc9, 0xcc, 0x4b, 0xe5, 0x02, 0x00, 0x4d, 0x33, 0x46, 0xad, 0x0c, 0x00, 0x00, 0x00};
static const unsigned char ZSTD_FIRST[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x59,
                                           0x00, 0x00, 0x66, 0x69, 0x72, 0x73, 0x74,
                                           0x20, 0x6c, 0x69, 0x6e, 0x65, 0x0a};

static void add(weir_text *input, const void *bytes, size_t n)
{
    weir_text_bytes(input, bytes, n);
    assert_false(input->failed);
}
#define ADD(input, bytes) add(input, bytes, sizeof bytes)

typedef struct {
    weir_text out;
    weir_source_damage damage;
    weir_code code;
    weir_err err;
} reading;

/* capacity: of each read; small ones end everywhere. */
static reading read_source(weir_source *source, size_t capacity)
{
    reading r = {0};
    char block[4096];
    size_t n = 1;
    while (n > 0 && r.code == WEIR_OK) {
        r.code = weir_source_read(source, block, capacity, &n, &r.err);
        weir_text_bytes(&r.out, block, n);
    }
    r.damage = weir_source_get_damage(source);
    weir_source_close(source);
    return r;
}

static void expect(const weir_text *input, const char *text, weir_source_damage damage)
{
    static const size_t capacities[] = {4096, 7, 1};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        weir_err err = {0};
        weir_source *source = NULL;
        assert_int_equal(weir_source_memory(input->p, input->n, "memory", &source, &err), WEIR_OK);
        reading r = read_source(source, capacities[i]);
        assert_int_equal(r.code, WEIR_OK);
        assert_string_equal(r.out.p ? r.out.p : "", text);
        assert_int_equal(r.damage.truncated, damage.truncated);
        assert_int_equal(r.damage.broken, damage.broken);
        assert_int_equal(r.damage.checksums, damage.checksums);
        if (damage.first_byte) {
            assert_int_equal(r.damage.first_byte, damage.first_byte);
        }
        weir_text_clear(&r.out);
    }
}

static const weir_source_damage NONE;

static void plain_bytes_come_as_they_are(void **state)
{
    weir_text input = {0};
    ADD(&input, "{\"traceEvents\": []}");
    input.n--;
    expect(&input, "{\"traceEvents\": []}", NONE);
    input.n = 2; /* shorter than a magic number */
    expect(&input, "{\"", NONE);
    input.n = 0;
    expect(&input, "", NONE);
    weir_text_clear(&input);
}

static void members_follow_one_another(void **state)
{
    weir_text input = {0};
    ADD(&input, FIRST);
    expect(&input, "first line\n", NONE);
    ADD(&input, SECOND);
    expect(&input, "first line\nsecond line\n", NONE);
    ADD(&input, FIRST);
    expect(&input, "first line\nsecond line\nfirst line\n", NONE);
    weir_text_clear(&input);
}

static void zeros_behind_a_member_are_padding_and_junk_is_damage(void **state)
{
    weir_text input = {0};
    ADD(&input, FIRST);
    static const char zeros[512];
    ADD(&input, zeros);
    expect(&input, "first line\n", NONE);
    add(&input, "junk", 4);
    ADD(&input, SECOND);
    expect(&input, "first line\nsecond line\n",
           (weir_source_damage){.broken = 1, .first_byte = sizeof FIRST});
    weir_text_clear(&input);
}

/* The first n bytes of the input give a part of the text, and say that they are cut. */
static void expect_cut(const weir_text *input, size_t n, const char *text)
{
    weir_err err = {0};
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(input->p, n, "memory", &source, &err), WEIR_OK);
    reading r = read_source(source, 4096);
    assert_int_equal(r.code, WEIR_OK);
    assert_true(r.damage.truncated);
    assert_int_equal(r.damage.broken, 0);
    assert_true(r.out.n <= strlen(text));
    assert_memory_equal(text, r.out.p ? r.out.p : "", r.out.n);
    weir_text_clear(&r.out);
}

static void a_cut_member_gives_what_it_has(void **state)
{
    weir_text input = {0};
    ADD(&input, FIRST);
    for (size_t n = 3; n < sizeof FIRST; n++) {
        expect_cut(&input, n, "first line\n");
    }
    weir_text_clear(&input);
}

static void a_cut_member_does_not_take_the_next_one_with_it(void **state)
{
    weir_text input = {0};
    add(&input, FIRST, 16); /* in the middle of its text */
    ADD(&input, SECOND);
    weir_err err = {0};
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(input.p, input.n, "memory", &source, &err), WEIR_OK);
    reading r = read_source(source, 4096);
    assert_int_equal(r.code, WEIR_OK);
    assert_int_equal(r.damage.broken, 1);
    assert_non_null(strstr(r.out.p, "second line\n"));
    weir_text_clear(&r.out);
    weir_text_clear(&input);
}

static void damage_in_the_middle_does_not_hide_a_later_member(void **state)
{
    weir_text input = {0};
    ADD(&input, FIRST);
    input.p[10] = 0x07; /* a block of the type that does not exist */
    ADD(&input, SECOND);
    expect(&input, "second line\n", (weir_source_damage){.broken = 1});
    weir_text_clear(&input);
}

static void a_wrong_checksum_is_told_and_the_bytes_are_kept(void **state)
{
    weir_text input = {0};
    ADD(&input, FIRST);
    input.p[sizeof FIRST - 6] ^= 1;
    ADD(&input, SECOND);
    expect(&input, "first line\nsecond line\n", (weir_source_damage){.checksums = 1});
    weir_text_clear(&input);
}

static void an_empty_member_is_no_damage(void **state)
{
    static const unsigned char empty[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3,
                                          3,    0,    0, 0, 0, 0, 0, 0, 0, 0};
    weir_text input = {0};
    ADD(&input, empty);
    expect(&input, "", NONE);
    weir_text_clear(&input);
}

static void zstd_frames_follow_one_another_and_may_be_cut(void **state)
{
    weir_text input = {0};
    ADD(&input, ZSTD_FIRST);
    ADD(&input, ZSTD_FIRST);
    expect(&input, "first line\nfirst line\n", NONE);
    for (size_t cut = 1; cut < sizeof ZSTD_FIRST; cut++) {
        expect_cut(&input, 2 * sizeof ZSTD_FIRST - cut, "first line\nfirst line\n");
    }
    input.n = sizeof ZSTD_FIRST;
    add(&input, "junk", 4);
    expect(&input, "first line\n", (weir_source_damage){.broken = 1});
    weir_text_clear(&input);
}

/* 80 MB of blanks from 80 kB: refused; so is nothing that a real trace reaches. */
static void a_bomb_is_refused(void **state)
{
    weir_text input = {0};
    static const unsigned char bomb[] = {
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, /* zstd, window of 2 MiB, no size */
    };
    ADD(&input, bomb);
    for (int i = 0; i < 700; i++) { /* blocks of 128 KiB of one repeated byte: RFC 8878, 3.1.1.2 */
        static const unsigned char rle[] = {0x02, 0x00, 0x10, ' '};
        ADD(&input, rle);
    }
    weir_err err = {0};
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(input.p, input.n, "bomb.zst", &source, &err), WEIR_OK);
    reading r = read_source(source, 4096);
    assert_int_equal(r.code, WEIR_ERR_LIMIT);
    assert_string_equal(r.err.text, "bomb.zst: decompresses to more than 200 times its size: "
                                    "refused as a decompression bomb");
    assert_in_range(r.out.n, 64 << 20, 65 << 20);
    weir_text_clear(&r.out);
    weir_text_clear(&input);
}

static void files_are_read_and_what_is_none_is_named(void **state)
{
    char path[] = "/tmp/weir-source-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, FIRST, sizeof FIRST), sizeof FIRST);
    close(fd);
    weir_err err = {0};
    weir_source *source = NULL;
    assert_int_equal(weir_source_open(path, 0, &source, &err), WEIR_OK);
    reading r = read_source(source, 3);
    assert_string_equal(r.out.p, "first line\n");
    weir_text_clear(&r.out);
    unlink(path);
    assert_int_equal(weir_source_open(path, 0, &source, &err), WEIR_ERR_IO);
    assert_non_null(strstr(err.text, "No such file"));
    err = (weir_err){0};
    assert_int_equal(weir_source_open("/tmp", 0, &source, &err), WEIR_ERR_IO);
    assert_string_equal(err.text, "/tmp: is a directory, expected a file");
}

/* The sentence must not be pushed out of the error by the name. */
static void long_names_leave_room_for_what_is_wrong(void **state)
{
    char name[2001];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    weir_err err = {0};
    weir_source *source = NULL;
    assert_int_equal(weir_source_open(name, 0, &source, &err), WEIR_ERR_IO);
    assert_non_null(strstr(err.text, "nnn: File name too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_bytes_come_as_they_are),
        cmocka_unit_test(members_follow_one_another),
        cmocka_unit_test(zeros_behind_a_member_are_padding_and_junk_is_damage),
        cmocka_unit_test(a_cut_member_gives_what_it_has),
        cmocka_unit_test(a_cut_member_does_not_take_the_next_one_with_it),
        cmocka_unit_test(damage_in_the_middle_does_not_hide_a_later_member),
        cmocka_unit_test(a_wrong_checksum_is_told_and_the_bytes_are_kept),
        cmocka_unit_test(an_empty_member_is_no_damage),
        cmocka_unit_test(zstd_frames_follow_one_another_and_may_be_cut),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(files_are_read_and_what_is_none_is_named),
        cmocka_unit_test(long_names_leave_room_for_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
