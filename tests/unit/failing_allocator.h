/* failing_allocator.h: the n-th allocation fails, once or with all later ones.
 *
 * For tests that cmake/Tests.cmake links with --wrap, so that the library's calls of malloc, calloc
 * and realloc come here. To be included by the one source of such a test. */
#ifndef WEIR_TESTS_FAILING_ALLOCATOR_H
#define WEIR_TESTS_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static struct {
    uint64_t calls;
    uint64_t fail_at; /* 0 = never */
    bool for_good;    /* all later calls fail too */
} allocator;

static bool must_fail(void)
{
    allocator.calls++;
    return allocator.fail_at && (allocator.for_good ? allocator.calls >= allocator.fail_at
                                                    : allocator.calls == allocator.fail_at);
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    return must_fail() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return must_fail() ? NULL : __real_realloc(p, n);
}

#endif
