/* banned.h: C library calls that Weir never makes; using one is a compile error.
 *
 * Included before everything else by the build (-include), which is why the headers that declare
 * the calls come first: their own declarations must stay intact.
 *
 * Instead of: strcpy strcat strncpy sprintf -> base/text.h; atoi atof strtod -> digit by digit, no
 * locale; strtok, rand, localtime, setlocale -> hidden state; qsort -> base/sort.h (stable). */
#ifndef WEIR_BASE_BANNED_H
#define WEIR_BASE_BANNED_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WEIR_BANNED(name) sorry_##name##_is_banned_see_src_base_banned_h

#undef strcpy
#undef strcat
#undef strncpy
#undef sprintf
#undef vsprintf
#undef atoi
#undef atof
#undef strtok
#undef strtod
#undef localtime
#undef rand
#undef srand
#undef qsort
#undef setlocale
#undef gets
#define strcpy(to, from)                  WEIR_BANNED(strcpy)
#define strcat(to, from)                  WEIR_BANNED(strcat)
#define strncpy(to, from, n)              WEIR_BANNED(strncpy)
#define sprintf(...)                      WEIR_BANNED(sprintf)
#define vsprintf(...)                     WEIR_BANNED(vsprintf)
#define atoi(text)                        WEIR_BANNED(atoi)
#define atof(text)                        WEIR_BANNED(atof)
#define strtok(text, separators)          WEIR_BANNED(strtok)
#define strtod(text, end)                 WEIR_BANNED(strtod)
#define localtime(moment)                 WEIR_BANNED(localtime)
#define rand()                            WEIR_BANNED(rand)
#define srand(seed)                       WEIR_BANNED(srand)
#define qsort(base, count, size, compare) WEIR_BANNED(qsort)
#define setlocale(category, locale)       WEIR_BANNED(setlocale)
#define gets(to)                          WEIR_BANNED(gets)

#ifdef __clang_analyzer__
/* The analyzer does not look into other files: without this it takes every failure that is reported
 * for a possible success. Only clang-tidy sees it. */
#include "weir/base.h"
#define weir_err_set(err, code, ...) ((weir_err_set)((err), (code), __VA_ARGS__), (code))
#endif

#endif
