#include "cli/input.h"

#include "codec/source.h"

#include <stdlib.h>
#include <string.h>

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

weir_code input_read(const char *path, weir_text *text, weir_err *err)
{
    enum { BLOCK = 1 << 16, MOST = 1 << 24 };
    weir_source *source = NULL;
    size_t n = 1;
    char *block = malloc(BLOCK);
    if (!block)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to read %s", input_name(path));
    weir_code code = weir_source_open(path, 0, &source, err);
    while (code == WEIR_OK && n > 0 && text->n <= MOST) {
        code = weir_source_read(source, block, BLOCK, &n, err);
        if (code == WEIR_OK)
            weir_text_bytes(text, block, n);
    }
    weir_source_close(source);
    free(block);
    if (code == WEIR_OK && text->n > MOST)
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s: more than 16 MiB", input_name(path));
    if (code == WEIR_OK && text->failed)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to read %s", input_name(path));
    return code;
}
