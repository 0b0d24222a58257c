#include "codec/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };
enum { VARINT_MAX = 10 };

static size_t encode_varint(unsigned char bytes[VARINT_MAX], uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        bytes[n++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (unsigned char)value;
    return n;
}

static void add_varint(weir_text *out, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    weir_text_bytes(out, bytes, encode_varint(bytes, value));
}

static void add_tag(weir_text *out, uint32_t field, uint32_t wire)
{
    add_varint(out, (uint64_t)field << 3 | wire);
}

void weir_protobuf_uint(weir_text *out, uint32_t field, uint64_t value)
{
    add_tag(out, field, WIRE_VARINT);
    add_varint(out, value);
}

void weir_protobuf_int(weir_text *out, uint32_t field, int64_t value)
{
    weir_protobuf_uint(out, field, (uint64_t)value);
}

void weir_protobuf_fixed64(weir_text *out, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    add_tag(out, field, WIRE_FIXED64);
    weir_text_bytes(out, bytes, sizeof(bytes));
}

void weir_protobuf_double(weir_text *out, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    weir_protobuf_fixed64(out, field, bits);
}

void weir_protobuf_bytes(weir_text *out, uint32_t field, const void *bytes, size_t n)
{
    add_tag(out, field, WIRE_LENGTH);
    add_varint(out, n);
    weir_text_bytes(out, bytes, n);
}

void weir_protobuf_string(weir_text *out, uint32_t field, weir_str text)
{
    weir_protobuf_bytes(out, field, text.p, text.n);
}

size_t weir_protobuf_open(weir_text *out, uint32_t field)
{
    add_tag(out, field, WIRE_LENGTH);
    return out->n;
}

void weir_protobuf_close(weir_text *out, size_t opened)
{
    if (out->failed) {
        return;
    }
    unsigned char length[VARINT_MAX];
    size_t body = out->n - opened;
    size_t width = encode_varint(length, body);
    weir_text_bytes(out, length, width); /* makes the room; put in place below */
    if (out->failed) {
        return;
    }
    memmove(out->p + opened + width, out->p + opened, body);
    memcpy(out->p + opened, length, width);
}
