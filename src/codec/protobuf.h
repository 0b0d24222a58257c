/* protobuf.h: writes messages in the protobuf wire format (encoding: protobuf.dev).
 *
 * Fields are appended to a weir_text in the order of the calls. A message inside a message is
 * opened, filled and closed; closing moves its bytes by the width of its length (1 to 5 bytes).
 *
 * Not here: any schema; field numbers are the caller's. */
#ifndef WEIR_CODEC_PROTOBUF_H
#define WEIR_CODEC_PROTOBUF_H

#include "base/text.h"

void weir_protobuf_uint(weir_text *out, uint32_t field, uint64_t value); /* uint*, bool, enum */
void weir_protobuf_int(weir_text *out, uint32_t field, int64_t value);   /* int32, int64 */
void weir_protobuf_fixed64(weir_text *out, uint32_t field, uint64_t value);
void weir_protobuf_double(weir_text *out, uint32_t field, double value);
void weir_protobuf_bytes(weir_text *out, uint32_t field, const void *bytes, size_t n);
void weir_protobuf_string(weir_text *out, uint32_t field, weir_str text);

/* Returns what close wants. Messages close in the reverse order of opening. */
size_t weir_protobuf_open(weir_text *out, uint32_t field);
void weir_protobuf_close(weir_text *out, size_t opened);

#endif
