/* What is written is what is read again, and the same bytes make the same file. */
#include "codec/gzip_write.h"

#include "codec/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void write_file(const char *path, const char *bytes, size_t n)
{
    weir_err err = {0};
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(weir_gzip_write(out, path, bytes, n, &err), WEIR_OK);
    assert_int_equal(fclose(out), 0);
}

static size_t read_all(FILE *in, char *bytes, size_t room)
{
    assert_non_null(in);
    size_t n = fread(bytes, 1, room, in);
    assert_int_equal(fclose(in), 0);
    return n;
}

static void must_come_back(const char *path, const char *bytes, size_t n)
{
    weir_err err = {0};
    weir_source *source = NULL;
    char *again = malloc(n + 2);
    size_t got = 0, more = 1;
    assert_non_null(again);
    write_file(path, bytes, n);
    assert_int_equal(weir_source_open(path, 0, &source, &err), WEIR_OK);
    while (more > 0) {
        assert_int_equal(weir_source_read(source, again + got, n + 1 - got, &more, &err), WEIR_OK);
        got += more;
    }
    weir_source_close(source);
    assert_int_equal(got, n);
    assert_memory_equal(again, bytes, n);
    free(again);
}

static void bytes_come_back(void **state)
{
    (void)state;
    enum { MOST = 3000017 };
    char path[] = "/tmp/weir-gzip-XXXXXX", *bytes = malloc(MOST);
    static const size_t sizes[] = {1, 2, 1000, 1 << 18, (1 << 18) + 1, MOST};
    uint32_t random = 1;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_non_null(bytes);
    for (size_t i = 0; i < MOST; i++) { /* half of it repeats, half does not */
        random = random * 1664525u + 1013904223u;
        bytes[i] = (char)(i % 4096 < 2048 ? 'a' + (int)(i % 7) : (int)(random >> 24));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        must_come_back(path, bytes, sizes[i]);
    }
    unlink(path);
    free(bytes);
}

static void the_same_bytes_make_the_same_file(void **state)
{
    (void)state;
    char path[] = "/tmp/weir-gzip-XXXXXX", first[4096], second[4096];
    const char *text = "{\"traceEvents\": []}\n";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_file(path, text, strlen(text));
    size_t n = read_all(fopen(path, "rb"), first, sizeof first);
    sleep(1); /* a time in the file would differ */
    write_file(path, text, strlen(text));
    assert_int_equal(read_all(fopen(path, "rb"), second, sizeof second), n);
    assert_memory_equal(first, second, n);
    assert_true(n > 18);
    unlink(path);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    enum { SIZE = 1 << 22 };
    weir_err err = {0};
    char *bytes = malloc(SIZE);
    uint32_t random = 1;
    FILE *out = fopen("/dev/full", "wb");
    assert_non_null(bytes);
    if (out) {
        for (size_t i = 0; i < SIZE; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (char)(random >> 24);
        }
        assert_int_equal(weir_gzip_write(out, "trace.gz", bytes, SIZE, &err), WEIR_ERR_IO);
        assert_string_equal(err.text, "trace.gz: No space left on device");
        fclose(out);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(the_same_bytes_make_the_same_file),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
