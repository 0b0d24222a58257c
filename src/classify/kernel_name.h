/* kernel_name.h: number formats and tile that the name of a matrix kernel tells.
 *
 * Not here: families (families.c). */
#ifndef WEIR_CLASSIFY_KERNEL_NAME_H
#define WEIR_CLASSIFY_KERNEL_NAME_H

#include "machine/accelerator.h"
#include "weir/base.h"

typedef struct {
    weir_dtype dtype;      /* that the products are calculated in */
    uint8_t weight_bits;   /* of the narrower operand */
    bool has_dtype;        /* false: the name does not tell, taken to be bf16 */
    bool one_block_a_tile; /* grid x tile covers the result: no persistent blocks, no split */
    uint16_t tile[2];      /* 0 = not told */
} kernel_name_hint;

kernel_name_hint kernel_name_read(weir_str name);

#endif
