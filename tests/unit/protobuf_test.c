#include "codec/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_bytes(weir_text *text, const char *bytes, size_t n)
{
    assert_false(text->failed);
    assert_int_equal(text->n, n);
    assert_memory_equal(text->p, bytes, n);
    weir_text_clear(text);
}

/* "08 96 01" and "12 07 testing" are the examples of protobuf.dev/programming-guides/encoding. */
static void writes_the_examples_of_the_specification(void **state)
{
    weir_text text = {0};
    (void)state;
    weir_protobuf_uint(&text, 1, 150);
    assert_bytes(&text, "\x08\x96\x01", 3);
    weir_protobuf_string(&text, 2, WEIR_STR("testing"));
    assert_bytes(&text, "\x12\x07testing", 9);
    size_t opened = weir_protobuf_open(&text, 3);
    weir_protobuf_uint(&text, 1, 150);
    weir_protobuf_close(&text, opened);
    assert_bytes(&text, "\x1a\x03\x08\x96\x01", 5);
}

static void writes_negative_numbers_in_ten_bytes(void **state)
{
    weir_text text = {0};
    (void)state;
    weir_protobuf_int(&text, 1, -2);
    assert_bytes(&text, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void writes_fixed64_and_doubles_little_endian(void **state)
{
    weir_text text = {0};
    (void)state;
    weir_protobuf_fixed64(&text, 47, 1); /* tag 47 << 3 | 1 = 377 */
    assert_bytes(&text, "\xf9\x02\x01\0\0\0\0\0\0\0", 10);
    weir_protobuf_double(&text, 1, 1.0); /* 0x3ff0000000000000 */
    assert_bytes(&text, "\x09\0\0\0\0\0\0\xf0\x3f", 9);
}

static void moves_long_messages_by_the_width_of_their_length(void **state)
{
    weir_text text = {0};
    char body[300];
    (void)state;
    memset(body, 'x', sizeof(body));
    size_t outer = weir_protobuf_open(&text, 1);
    size_t inner = weir_protobuf_open(&text, 2);
    weir_protobuf_bytes(&text, 3, body, sizeof(body));
    weir_protobuf_close(&text, inner);
    weir_protobuf_uint(&text, 4, 1);
    weir_protobuf_close(&text, outer);
    /* bytes: tag, 300 = ac 02; inner: 303 = af 02; outer: 306 + 2 = b4 02 */
    assert_int_equal(text.n, 311);
    assert_memory_equal(text.p, "\x0a\xb4\x02\x12\xaf\x02\x1a\xac\x02xxx", 12);
    assert_memory_equal(text.p + 309, "\x20\x01", 2);
    weir_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_examples_of_the_specification),
        cmocka_unit_test(writes_negative_numbers_in_ten_bytes),
        cmocka_unit_test(writes_fixed64_and_doubles_little_endian),
        cmocka_unit_test(moves_long_messages_by_the_width_of_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
