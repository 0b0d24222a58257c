/* base.h: what every public header of Weir uses: error codes, borrowed strings, memory budgets.
 *
 * Not here: anything of traces, networks or models. */
#ifndef WEIR_BASE_H
#define WEIR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEIR_API               __attribute__((visibility("default")))
#define WEIR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define WEIR_API
#define WEIR_PRINTF(fmt, args)
#endif

/* No index: what a table row that is not there is called. */
#define WEIR_NONE UINT32_MAX

typedef enum {
    WEIR_OK = 0,
    WEIR_ERR_MEMORY,  /* the system has no more memory */
    WEIR_ERR_LIMIT,   /* a stated limit (--max-memory, nesting, names) was reached */
    WEIR_ERR_IO,      /* a file could not be opened, read or written */
    WEIR_ERR_INPUT,   /* the input is not what it should be */
    WEIR_ERR_USAGE,   /* the caller asked for something that does not exist */
    WEIR_ERR_INTERNAL /* a bug of ours */
} weir_code;

/* An error, owned by the caller. Zero-initialise it before the first call. The first error that is
 * set stays: later ones are ignored, so that the cause is reported and not its consequences. */
typedef struct {
    weir_code code;
    uint64_t offset; /* byte in the (decompressed) input, 0 where it has no meaning */
    uint32_t line;   /* 1-based, 0 = unknown */
    uint32_t column; /* 1-based, in bytes, 0 = unknown */
    char text[512];  /* one sentence that names the input; NUL-terminated UTF-8 */
} weir_err;

/* Sets err (which may be NULL) unless it is set already; returns code. */
WEIR_API weir_code weir_err_set(weir_err *err, weir_code code, const char *fmt, ...)
    WEIR_PRINTF(3, 4);

/* A borrowed piece of text, not NUL-terminated. Whoever hands it out says until when it is good. */
typedef struct {
    const char *p;
    uint32_t n; /* bytes */
} weir_str;

#define WEIR_STR(literal) ((weir_str){(literal), (uint32_t)(sizeof(literal) - 1)})

WEIR_API weir_str weir_str_from(const char *text); /* text: NUL-terminated; borrows it */
WEIR_API bool weir_str_eq(weir_str a, weir_str b);
WEIR_API bool weir_str_has(weir_str text, weir_str part); /* part occurs in text */
WEIR_API bool weir_str_starts(weir_str text, weir_str prefix);
WEIR_API bool weir_str_ends(weir_str text, weir_str suffix);
WEIR_API int weir_str_cmp(weir_str a, weir_str b); /* bytewise, shorter first; <0, 0, >0 */
/* The position of part in text at or after from, or text.n where there is none. */
WEIR_API uint32_t weir_str_find(weir_str text, weir_str part, uint32_t from);

/* Counts the bytes of the big tables against --max-memory. Thread-safe. NULL = no limit. */
typedef struct weir_budget weir_budget;
WEIR_API weir_budget *weir_budget_new(uint64_t max_bytes); /* 0 = no limit; NULL: no memory */
WEIR_API void weir_budget_free(weir_budget *budget);       /* NULL is fine */
WEIR_API bool weir_budget_take(weir_budget *budget, uint64_t bytes); /* false: would exceed */
WEIR_API void weir_budget_give(weir_budget *budget, uint64_t bytes);
WEIR_API uint64_t weir_budget_peak(const weir_budget *budget);
WEIR_API uint64_t weir_budget_max(const weir_budget *budget);

/* The version of the library, "0.1.0". */
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif
#endif
