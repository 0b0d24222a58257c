/* source.h: bytes of a file, standard input or memory, decompressed, block by block.
 *
 * gzip (any number of members) and zstd (any number of frames) are told by their magic bytes, never
 * by the suffix. A damaged stream is no error: what could be decompressed is handed out, then the
 * source looks for the next gzip member, and `damage` says what happened.
 *
 * Not here: what the bytes mean. */
#ifndef WEIR_CODEC_SOURCE_H
#define WEIR_CODEC_SOURCE_H

#include "weir/base.h"

typedef struct {
    bool truncated;      /* the compressed stream ended before its end mark */
    uint32_t broken;     /* places where the compressed stream could not be decoded, or was none */
    uint32_t checksums;  /* members whose checksum was wrong (the bytes were handed out) */
    uint64_t first_byte; /* of the compressed file, where the first of these was found */
} weir_source_damage;

typedef struct weir_source weir_source;

/* path "-" is standard input. max_inflation: output bytes for each input byte at which the file is
 * refused as a decompression bomb (0 = 200; output up to 64 MiB is always allowed). path is
 * borrowed until close. */
weir_code weir_source_open(const char *path, uint64_t max_inflation, weir_source **source,
                           weir_err *err);
/* bytes are borrowed until close; name is for messages. */
weir_code weir_source_memory(const void *bytes, size_t n, const char *name, weir_source **source,
                             weir_err *err);
void weir_source_close(weir_source *source); /* NULL is fine */

/* Fills out with up to capacity bytes (capacity >= 1); *n = 0 is the end. */
weir_code weir_source_read(weir_source *source, void *out, size_t capacity, size_t *n,
                           weir_err *err);
weir_source_damage weir_source_get_damage(const weir_source *source);
/* What errors call a file: its path, or the end of a long one, so that the sentence fits behind it.
 */
const char *weir_source_shown_name(const char *path);
/* Bytes of the file or memory that were consumed so far (compressed, where it is). */
uint64_t weir_source_position(const weir_source *source);

#endif
