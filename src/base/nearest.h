/* nearest.h: which words somebody may have meant who wrote one that is not known.
 *
 * Case and `-`, `_`, `.` and blanks do not count ("gpt-3" begins gpt3-175b). Near are, the first of
 * these that there are: words that begin with the one that was written (alone: those of one letter
 * more); words one slip of the pen away; words with which it begins; words that hold it, or that it
 * holds; words that begin as it would with a slip for each three letters (h1000: h100-sxm); else
 * the best of those that share half of their letters with it. */
#ifndef WEIR_BASE_NEAREST_H
#define WEIR_BASE_NEAREST_H

#include "weir/base.h"

enum { WEIR_NEAR_MOST = 3 };

/* Indices of the words near to word, equally near ones from short to long; returns how many.
 * *is_close (may be NULL): better than half of the letters. */
uint32_t weir_nearest_words(weir_str word, const char *const *words, uint32_t word_count,
                            uint32_t near[WEIR_NEAR_MOST], bool *is_close);

/* The first of them, or WEIR_NONE. */
uint32_t weir_nearest_word(weir_str word, const char *const *words, uint32_t word_count);

/* Writes those that are near: "'a', 'b', 'c'"; "" and false where none is. */
bool weir_nearest_list(weir_str word, const char *const *words, uint32_t word_count, char *text,
                       size_t n);

/* Writes what an error says that it expected, where it must be one of words (1 or more; text has
 * room for 16 bytes): the close ones; else all, up to ten; else the first three. */
void weir_expected_word(weir_str word, const char *const *words, uint32_t word_count, char *text,
                        size_t n);

#endif
