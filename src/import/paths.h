/* paths.h: what the user named -> the list of files to read.
 *
 * A directory becomes its trace files (*.json, *.json.gz, *.json.zst, and *.json.tmp, which Kineto
 * leaves behind when it is killed), those of its subdirectories included; a pattern that no file
 * bears as its name becomes what it matches; both in natural order (rank2 before rank10), which
 * does not depend on the file system or the locale. The same file is listed once. JSON objects that
 * a directory holds beside traces (a configuration, a result) are told by their first keys, left
 * out and named. What is named itself is never judged.
 *
 * Not here: what is in the files. */
#ifndef WEIR_IMPORT_PATHS_H
#define WEIR_IMPORT_PATHS_H

#include "weir/base.h"

typedef struct {
    char **items; /* owned, NUL-terminated; "-" is standard input */
    uint32_t count, capacity;
    char **skipped; /* owned: files of directories that are JSON, but no traces */
    uint32_t skipped_count, skipped_capacity;
} weir_paths;

/* paths must be zeroed; it is empty again on failure. Errors: a name that does not exist, a
 * directory or a pattern without a trace file. */
weir_code weir_paths_expand(const char *const *names, uint32_t name_count, weir_paths *paths,
                            weir_err *err);
void weir_paths_clear(weir_paths *paths);

#endif
