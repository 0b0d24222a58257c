#include "codec/source.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    INPUT_BYTES = 256 << 10,
    DEFAULT_INFLATION = 200, /* traces reach 30:1, deflate up to 1032:1 */
    ALWAYS_ALLOWED = 64 << 20,
    SHOWN_NAME = 256
};

typedef enum { FORMAT_UNKNOWN, FORMAT_PLAIN, FORMAT_GZIP, FORMAT_ZSTD } source_format;

struct weir_source {
    const char *name;
    int fd; /* -1: memory */
    source_format format;
    uint8_t *buffer; /* owned; NULL: memory */
    const uint8_t *in;
    size_t in_n;
    bool in_end; /* nothing more to read into the buffer */
    uint64_t in_total, out_total, max_inflation;
    struct inflate_state *inflate;
    ZSTD_DStream *zstd;
    bool member_open; /* inside a gzip member or zstd frame */
    uint64_t reread;  /* bytes that were looked at again after damage */
    weir_source_damage damage;
};

const char *weir_source_shown_name(const char *path)
{
    size_t n = strlen(path);
    const char *shown = n > SHOWN_NAME ? path + n - SHOWN_NAME : path;
    while (((unsigned char)*shown & 0xc0) == 0x80) { /* whole UTF-8 characters */
        shown++;
    }
    return shown;
}

static weir_code source_new(const char *name, weir_source **source, weir_err *err)
{
    *source = calloc(1, sizeof **source);
    if (!*source) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory",
                            weir_source_shown_name(name));
    }
    (*source)->name = weir_source_shown_name(name);
    (*source)->fd = -1;
    (*source)->max_inflation = DEFAULT_INFLATION;
    return WEIR_OK;
}

weir_code weir_source_open(const char *path, uint64_t max_inflation, weir_source **source,
                           weir_err *err)
{
    weir_code code = source_new(path, source, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_source *s = *source;
    s->max_inflation = max_inflation ? max_inflation : DEFAULT_INFLATION;
    s->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (s->fd < 0 || fstat(s->fd, &info) != 0) {
        code = weir_err_set(err, WEIR_ERR_IO, "%s: %s", s->name, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        code = weir_err_set(err, WEIR_ERR_IO, "%s: is a directory, expected a file", s->name);
    } else {
        s->buffer = malloc(INPUT_BYTES);
        code =
            s->buffer ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->name);
    }
    if (code != WEIR_OK) {
        weir_source_close(s);
        *source = NULL;
    }
    return code;
}

weir_code weir_source_memory(const void *bytes, size_t n, const char *name, weir_source **source,
                             weir_err *err)
{
    weir_code code = source_new(name, source, err);
    if (code == WEIR_OK) {
        (*source)->in = bytes;
        (*source)->in_n = n;
        (*source)->in_total = n;
        (*source)->in_end = true;
    }
    return code;
}

void weir_source_close(weir_source *s)
{
    if (!s) {
        return;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    ZSTD_freeDStream(s->zstd);
    free(s->inflate);
    free(s->buffer);
    free(s);
}

/* Reads more input behind what is left of it, so that at least `want` bytes are there, if any. */
static weir_code source_fill(weir_source *s, size_t want, weir_err *err)
{
    while (!s->in_end && s->in_n < want) {
        if (s->in_n && s->in != s->buffer) {
            memmove(s->buffer, s->in, s->in_n);
        }
        s->in = s->buffer;
        ssize_t got = read(s->fd, s->buffer + s->in_n, INPUT_BYTES - s->in_n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return weir_err_set(err, WEIR_ERR_IO, "%s: %s", s->name, strerror(errno));
        }
        s->in_end = got == 0;
        s->in_n += (size_t)got;
        s->in_total += (uint64_t)got;
    }
    return WEIR_OK;
}

static void source_skip(weir_source *s, size_t n)
{
    s->in += n;
    s->in_n -= n;
}

static bool is_gzip(const weir_source *s)
{
    return s->in_n >= 3 && s->in[0] == 0x1f && s->in[1] == 0x8b && s->in[2] == 8;
}

static bool is_zstd(const weir_source *s)
{
    return s->in_n >= 4 && s->in[0] == 0x28 && s->in[1] == 0xb5 && s->in[2] == 0x2f &&
           s->in[3] == 0xfd;
}

static weir_code source_sniff(weir_source *s, weir_err *err)
{
    weir_code code = source_fill(s, 4, err);
    if (code != WEIR_OK) {
        return code;
    }
    s->format = is_gzip(s) ? FORMAT_GZIP : is_zstd(s) ? FORMAT_ZSTD : FORMAT_PLAIN;
    if (s->format == FORMAT_GZIP) {
        s->inflate = malloc(sizeof *s->inflate);
    } else if (s->format == FORMAT_ZSTD) {
        s->zstd = ZSTD_createDStream();
    }
    if ((s->format == FORMAT_GZIP && !s->inflate) || (s->format == FORMAT_ZSTD && !s->zstd)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->name);
    }
    return WEIR_OK;
}

uint64_t weir_source_position(const weir_source *s)
{
    return s->in_total - s->in_n;
}

/* Call before the damage is counted. */
static void damage_at(weir_source *s, uint64_t byte)
{
    if (!s->damage.truncated && s->damage.broken + s->damage.checksums == 0) {
        s->damage.first_byte = byte;
    }
}

static bool is_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Moves to the next gzip member header, or to the end of the input. *junk: bytes other than the
 * zeros that tapes and file systems pad with were passed. */
static weir_code gzip_find_member(weir_source *s, bool *junk, weir_err *err)
{
    *junk = false;
    for (;;) {
        weir_code code = source_fill(s, 3, err);
        if (code != WEIR_OK || is_gzip(s)) {
            return code;
        }
        const uint8_t *at = s->in_n < 3 ? NULL : memchr(s->in + 1, 0x1f, s->in_n - 1);
        size_t gone = at ? (size_t)(at - s->in) : s->in_n;
        *junk = *junk || !is_zero(s->in, gone);
        source_skip(s, gone);
        if (s->in_n == 0 && s->in_end) {
            return WEIR_OK;
        }
    }
}

static void gzip_begin(weir_source *s)
{
    isal_inflate_init(s->inflate);
    s->inflate->crc_flag = ISAL_GZIP;
    s->member_open = true;
}

/* After an undecodable place: note it and look for a member to go on with. The decoder notices a
 * cut member only inside the next one, so the search begins where this step began (behind the
 * header, where there was one). Each byte may be looked at twice: no file can make this slow. */
static weir_code gzip_recover(weir_source *s, int failure, size_t used, weir_err *err)
{
    damage_at(s, weir_source_position(s));
    s->member_open = false;
    if (failure == ISAL_INCORRECT_CHECKSUM) {
        s->damage.checksums++;
        return WEIR_OK;
    }
    s->damage.broken++;
    if (used > 1 && s->reread + used <= weir_source_position(s)) {
        s->reread += used;
        s->in -= used - 1;
        s->in_n += used - 1;
    } else if (s->in_n) {
        source_skip(s, 1);
    }
    bool junk;
    return gzip_find_member(s, &junk, err);
}

/* One call of the decoder. *n may be 0 without the end being reached. */
static weir_code gzip_step(weir_source *s, uint8_t *out, size_t capacity, size_t *n, bool *end,
                           weir_err *err)
{
    weir_code code = source_fill(s, 1, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!s->member_open) {
        uint64_t at = weir_source_position(s);
        bool junk;
        code = gzip_find_member(s, &junk, err);
        if (junk) {
            damage_at(s, at);
            s->damage.broken++;
        }
        if (code != WEIR_OK || s->in_n == 0) {
            *end = true;
            return code;
        }
        gzip_begin(s);
    }
    struct inflate_state *z = s->inflate;
    z->next_in = (uint8_t *)(uintptr_t)s->in; /* the library's type lacks the const */
    z->avail_in = s->in_n > UINT32_MAX ? UINT32_MAX : (uint32_t)s->in_n;
    uint32_t given = z->avail_in;
    z->next_out = out;
    z->avail_out = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
    uint32_t room = z->avail_out;
    int result = isal_inflate(z);
    /* After an error the library may count below zero. */
    uint32_t left = z->avail_in > given ? 0 : z->avail_in;
    source_skip(s, given - left);
    *n = room - z->avail_out;
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) {
        return gzip_recover(s, result, given - left, err);
    }
    if (z->block_state == ISAL_BLOCK_FINISH) {
        s->member_open = false;
    } else if (*n == 0 && s->in_n == 0 && s->in_end) {
        damage_at(s, weir_source_position(s));
        s->damage.truncated = true;
        *end = true;
    }
    return WEIR_OK;
}

static weir_code zstd_step(weir_source *s, uint8_t *out, size_t capacity, size_t *n, bool *end,
                           weir_err *err)
{
    weir_code code = source_fill(s, 1, err);
    if (code != WEIR_OK) {
        return code;
    }
    ZSTD_inBuffer in = {s->in, s->in_n, 0};
    ZSTD_outBuffer to = {out, capacity, 0};
    size_t result = ZSTD_decompressStream(s->zstd, &to, &in);
    source_skip(s, in.pos);
    *n = to.pos;
    if (ZSTD_isError(result)) {
        damage_at(s, weir_source_position(s));
        s->damage.broken++;
        *end = true;
        return WEIR_OK;
    }
    if (in.size || *n) { /* else `result` speaks of a frame that has not begun */
        s->member_open = result != 0;
    }
    if (*n == 0 && s->in_n == 0 && s->in_end) {
        if (s->member_open) {
            damage_at(s, weir_source_position(s));
            s->damage.truncated = true;
        }
        *end = true;
    }
    return WEIR_OK;
}

static weir_code plain_step(weir_source *s, uint8_t *out, size_t capacity, size_t *n, bool *end,
                            weir_err *err)
{
    if (s->in_n == 0 && !s->in_end) { /* straight to the caller, without the copy */
        ssize_t got;
        do {
            got = read(s->fd, out, capacity);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            return weir_err_set(err, WEIR_ERR_IO, "%s: %s", s->name, strerror(errno));
        }
        s->in_end = got == 0;
        *n = (size_t)got;
        s->in_total += (uint64_t)got;
        *end = got == 0;
        return WEIR_OK;
    }
    *n = s->in_n < capacity ? s->in_n : capacity;
    if (*n) {
        memcpy(out, s->in, *n);
    }
    source_skip(s, *n);
    *end = *n == 0;
    return WEIR_OK;
}

weir_code weir_source_read(weir_source *s, void *out, size_t capacity, size_t *n, weir_err *err)
{
    *n = 0;
    weir_code code = s->format == FORMAT_UNKNOWN ? source_sniff(s, err) : WEIR_OK;
    bool end = false;
    while (code == WEIR_OK && *n == 0 && !end) {
        switch (s->format) {
        case FORMAT_GZIP:
            code = gzip_step(s, out, capacity, n, &end, err);
            break;
        case FORMAT_ZSTD:
            code = zstd_step(s, out, capacity, n, &end, err);
            break;
        case FORMAT_PLAIN:
        case FORMAT_UNKNOWN:
            code = plain_step(s, out, capacity, n, &end, err);
            break;
        }
    }
    s->out_total += *n;
    if (code == WEIR_OK && s->out_total > ALWAYS_ALLOWED &&
        s->out_total / s->max_inflation > weir_source_position(s)) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "%s: decompresses to more than %llu times its size: refused as a "
                            "decompression bomb",
                            s->name, (unsigned long long)s->max_inflation);
    }
    return code;
}

weir_source_damage weir_source_get_damage(const weir_source *s)
{
    return s->damage;
}
