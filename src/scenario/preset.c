#include "scenario/preset.h"

#include "scenario/embedded.h"

#include <stdio.h>
#include <string.h>

weir_code weir_preset_open(const char *path, weir_yaml **doc, weir_err *err)
{
    uint32_t count;
    const weir_embedded_file *files = weir_embedded_files(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(files[i].path, path) == 0) {
            char name[256];
            snprintf(name, sizeof name, "presets/%s", path);
            return weir_yaml_parse(name, files[i].bytes, files[i].n, doc, err);
        }
    }
    return weir_err_set(err, WEIR_ERR_INTERNAL, "presets/%s is not built into this binary", path);
}

const char *weir_preset_next(const char *folder, uint32_t *state)
{
    uint32_t count;
    const weir_embedded_file *files = weir_embedded_files(&count);
    size_t n = strlen(folder);
    while (*state < count) {
        const char *path = files[(*state)++].path;
        size_t length = strlen(path);
        if (strncmp(path, folder, n) == 0 && path[n] == '/' && length > 5 &&
            strcmp(path + length - 5, ".yaml") == 0) {
            return path;
        }
    }
    return NULL;
}
