#include "import/paths.h"

#include "base/sort.h"
#include "codec/source.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 8 }; /* of subdirectories: a loop of links ends */

#define SUFFIXES "*.json, *.json.gz, *.json.zst or *.json.tmp"

static bool is_trace_name(const char *name)
{
    static const char *const ENDS[] = {".json", ".json.gz", ".json.zst", ".json.tmp"};
    weir_str text = weir_str_from(name);
    for (uint32_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
        if (weir_str_ends(text, weir_str_from(ENDS[i])))
            return true;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Runs of digits by value, everything else by byte. */
static int natural_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        size_t na = strspn(a, "0123456789");
        size_t nb = strspn(b, "0123456789");
        int order = na != nb ? (na < nb ? -1 : 1) : memcmp(a, b, na);
        if (order != 0)
            return order;
        a += na;
        b += nb;
    }
    return (*a != '\0') - (*b != '\0');
}

static int path_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const char *left = *(char *const *)a;
    const char *right = *(char *const *)b;
    int order = natural_compare(left, right);
    return order != 0 ? order : strcmp(left, right); /* rank01 and rank1 */
}

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the list of files");
}

/* Takes path over, also on failure; NULL is lack of memory. */
static weir_code list_push(char ***list, uint32_t *count, uint32_t *capacity, char *path,
                           weir_err *err)
{
    if (path && *count == *capacity) {
        uint32_t more = *capacity ? *capacity * 2 : 16;
        char **items = realloc(*list, more * sizeof *items);
        if (!items) {
            free(path);
            path = NULL;
        } else {
            *list = items;
            *capacity = more;
        }
    }
    if (!path)
        return no_memory(err);
    (*list)[(*count)++] = path;
    return WEIR_OK;
}

static weir_code paths_push(weir_paths *paths, char *path, weir_err *err)
{
    return list_push(&paths->items, &paths->count, &paths->capacity, path, err);
}

static weir_code paths_skip(weir_paths *paths, char *path, weir_err *err)
{
    return list_push(&paths->skipped, &paths->skipped_count, &paths->skipped_capacity, path, err);
}

/* A whole JSON object whose beginning has none of the keys that traces begin with. What is damaged
 * or empty is not judged: the reader says what is wrong with it. */
static bool is_other_json(const char *path)
{
    static const char *const KEYS[] = {
        "\"traceEvents\"",     "\"schemaVersion\"",       "\"deviceProperties\"",
        "\"displayTimeUnit\"", "\"traceName\"",           "\"otherData\"",
        "\"distributedInfo\"", "\"baseTimeNanoseconds\"", "\"ph\"",
    };
    enum { LOOKED_AT = 64 << 10 };
    char *bytes = malloc(LOOKED_AT);
    weir_source *source = NULL;
    size_t n = 0;
    bool is_read = bytes && weir_source_open(path, 0, &source, NULL) == WEIR_OK &&
                   weir_source_read(source, bytes, LOOKED_AT, &n, NULL) == WEIR_OK && n > 0;
    bool is_other = false;
    if (is_read) {
        weir_str text = {bytes, (uint32_t)n};
        uint32_t i = 0;
        while (i < n && strchr(" \t\r\n", bytes[i]) && bytes[i] != '\0')
            i++;
        is_other = i < n && bytes[i] == '{';
        for (uint32_t k = 0; k < sizeof KEYS / sizeof *KEYS && is_other; k++)
            is_other = !weir_str_has(text, weir_str_from(KEYS[k]));
    }
    weir_source_close(source);
    free(bytes);
    return is_other;
}

static char *path_join(const char *folder, const char *name)
{
    size_t nf = strlen(folder);
    size_t nn = strlen(name);
    while (nf > 1 && folder[nf - 1] == '/')
        nf--;
    size_t size = nf + nn + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%.*s/%s", (int)nf, folder, name);
    return path;
}

static weir_code add_folder(weir_paths *paths, const char *folder, uint32_t depth, weir_err *err);

/* An entry of a folder: taken if it is a folder, or a file with the name of a trace. */
static weir_code add_entry(weir_paths *paths, const char *folder, const char *name, uint32_t depth,
                           weir_err *err)
{
    char *path = path_join(folder, name);
    if (!path)
        return no_memory(err);
    struct stat info;
    if (stat(path, &info) != 0) { /* gone meanwhile, or a dangling link */
        free(path);
        return WEIR_OK;
    }
    if (S_ISREG(info.st_mode) && is_trace_name(name))
        return is_other_json(path) ? paths_skip(paths, path, err) : paths_push(paths, path, err);
    weir_code code = WEIR_OK;
    if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX)
        code = add_folder(paths, path, depth + 1, err);
    free(path);
    return code;
}

static weir_code add_folder(weir_paths *paths, const char *folder, uint32_t depth, weir_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", folder, strerror(errno));
    weir_code code = WEIR_OK;
    const struct dirent *entry;
    while (code == WEIR_OK && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            code = add_entry(paths, folder, entry->d_name, depth, err);
    closedir(dir);
    return code;
}

/* What a pattern matches: files as they are, folders opened. */
static weir_code add_pattern(weir_paths *paths, const char *pattern, weir_err *err)
{
    glob_t matches;
    int failed = glob(pattern, GLOB_NOSORT, NULL, &matches);
    if (failed == GLOB_NOMATCH)
        return weir_err_set(err, WEIR_ERR_IO, "%s: no such file, and as a pattern it matches none",
                            pattern);
    if (failed)
        return weir_err_set(err, failed == GLOB_NOSPACE ? WEIR_ERR_MEMORY : WEIR_ERR_IO,
                            "%s: the pattern could not be expanded", pattern);
    weir_code code = WEIR_OK;
    for (size_t i = 0; i < matches.gl_pathc && code == WEIR_OK; i++) {
        struct stat info;
        const char *path = matches.gl_pathv[i];
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            code = add_folder(paths, path, 0, err);
        else
            code = paths_push(paths, strdup(path), err);
    }
    globfree(&matches);
    return code;
}

static weir_code add_name(weir_paths *paths, const char *name, weir_err *err)
{
    struct stat info;
    if (strcmp(name, "-") == 0)
        return paths_push(paths, strdup(name), err);
    bool exists = stat(name, &info) == 0;
    if (exists && !S_ISDIR(info.st_mode))
        return paths_push(paths, strdup(name), err);
    uint32_t before = paths->count;
    weir_code code;
    if (exists)
        code = add_folder(paths, name, 0, err);
    else if (errno == ENOENT && strpbrk(name, "*?["))
        code = add_pattern(paths, name, err);
    else
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", name, strerror(errno));
    if (code != WEIR_OK)
        return code;
    if (paths->count == before)
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: no trace file in it (expected %s)", name,
                            SUFFIXES);
    bool sorted =
        weir_sort(paths->items + before, paths->count - before, sizeof *paths->items, path_compare,
                  NULL) &&
        weir_sort(paths->skipped, paths->skipped_count, sizeof *paths->skipped, path_compare, NULL);
    return sorted ? WEIR_OK : no_memory(err);
}

/* Drops paths that name a file which an earlier one named, by whatever way. */
static weir_code drop_repeats(weir_paths *paths, weir_err *err)
{
    struct stat *seen = calloc(paths->count, sizeof *seen);
    if (!seen)
        return no_memory(err);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < paths->count; i++) {
        struct stat info = {0};
        bool is_file = strcmp(paths->items[i], "-") != 0 && stat(paths->items[i], &info) == 0;
        bool repeated = false;
        for (uint32_t k = 0; k < kept && !repeated; k++) {
            if (is_file)
                repeated = info.st_ino == seen[k].st_ino && info.st_dev == seen[k].st_dev;
            else
                repeated = strcmp(paths->items[i], paths->items[k]) == 0;
        }
        if (repeated) {
            free(paths->items[i]);
        } else {
            seen[kept] = info;
            paths->items[kept++] = paths->items[i];
        }
    }
    paths->count = kept;
    free(seen);
    return WEIR_OK;
}

weir_code weir_paths_expand(const char *const *names, uint32_t name_count, weir_paths *paths,
                            weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < name_count && code == WEIR_OK; i++)
        code = add_name(paths, names[i], err);
    if (code == WEIR_OK && paths->count > 0)
        code = drop_repeats(paths, err);
    if (code != WEIR_OK)
        weir_paths_clear(paths);
    return code;
}

void weir_paths_clear(weir_paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    for (uint32_t i = 0; i < paths->skipped_count; i++)
        free(paths->skipped[i]);
    free(paths->items);
    free(paths->skipped);
    *paths = (weir_paths){0};
}
