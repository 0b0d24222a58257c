#include "codec/gzip_write.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18, MOST_AT_ONCE = 1 << 30 };

typedef struct {
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT];
    uint8_t piece[PIECE];
} deflater;

static weir_code put(FILE *out, const char *path, const deflater *d, weir_err *err)
{
    size_t n = PIECE - d->stream.avail_out;
    return n == 0 || fwrite(d->piece, 1, n, out) == n
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
}

static weir_code deflate_all(deflater *d, FILE *out, const char *path, const uint8_t *bytes,
                             size_t n, weir_err *err)
{
    weir_code code = WEIR_OK;
    struct isal_zstream *z = &d->stream;
    isal_deflate_init(z);
    z->level = 1;
    z->level_buf = d->level;
    z->level_buf_size = sizeof d->level;
    z->gzip_flag = IGZIP_GZIP;
    z->next_in = (uint8_t *)(uintptr_t)bytes; /* it only reads */
    while (code == WEIR_OK && z->internal_state.state != ZSTATE_END) {
        if (z->avail_in == 0) {
            size_t more = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
            z->avail_in = (uint32_t)more;
            n -= more;
            z->end_of_stream = n == 0;
        }
        z->next_out = d->piece;
        z->avail_out = PIECE;
        if (isal_deflate(z) != COMP_OK) {
            return weir_err_set(err, WEIR_ERR_INTERNAL, "%s: cannot be compressed", path);
        }
        code = put(out, path, d, err);
    }
    return code;
}

weir_code weir_gzip_write(FILE *out, const char *path, const void *bytes, size_t n, weir_err *err)
{
    deflater *d = calloc(1, sizeof *d); /* also what isal_deflate_init leaves as it is */
    if (!d) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write %s", path);
    }
    weir_code code = deflate_all(d, out, path, bytes, n, err);
    free(d);
    return code;
}
