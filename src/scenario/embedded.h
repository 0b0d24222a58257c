/* embedded.h: the files under presets/, as they were when the binary was built.
 *
 * The table is written at build time (cmake/write_embedded.cmake) and never changes; reading it
 * costs nothing and is safe from any thread.
 *
 * Not here: what the files mean, folders of presets on disk. */
#ifndef WEIR_SCENARIO_EMBEDDED_H
#define WEIR_SCENARIO_EMBEDDED_H

#include <stdint.h>

typedef struct {
    const char *path;  /* below presets/: "accelerators/h100-sxm.yaml" */
    const char *bytes; /* followed by a NUL that n does not count */
    uint32_t n;
} weir_embedded_file;

/* All files, sorted by path (bytewise). */
const weir_embedded_file *weir_embedded_files(uint32_t *count);

#endif
