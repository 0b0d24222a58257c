/* model_config_fuzz.c: any bytes as a config.json: a model whose dimensions fit together and whose
 * counts and operations are finite, or a sentence and an untouched model. */
#include "model/model_config.h"
#include "model/model_count.h"
#include "model/model_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_BYTES = 1 << 16 };

static void expect_sound(const weir_model *model)
{
    weir_model_fault fault;
    weir_model_count count = weir_count_model(model);
    weir_op_shape shape = {.sequences = 1, .length = 64};
    weir_op_list list;
    if (!weir_model_is_sound(model, &fault) || count.main < count.layers ||
        count.total < count.main || count.active > count.main)
        abort();
    for (uint32_t i = 0; i < model->layers; i++) {
        for (uint32_t backward = 0; backward < 2; backward++) {
            weir_ops_layer(model, i, &shape, backward, &list);
            weir_op_sum sum = weir_ops_sum(&list);
            if (!isfinite(sum.flop) || sum.flop <= 0 || sum.bytes_read <= 0)
                abort();
        }
        if (!(weir_activations_layer(model, i, &shape, 0).total > 0))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const weir_model before = {.layers = 12345};
    weir_model model = before;
    weir_err err = {0};
    if (n > MOST_BYTES)
        return 0;
    if (weir_model_config_parse("config.json", (const char *)bytes, n, &model, &err) == WEIR_OK)
        expect_sound(&model);
    else if (!err.text[0] || memcmp(&model, &before, sizeof model) != 0)
        abort();
    return 0;
}
