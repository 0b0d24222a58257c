#include "cli/output.h"

#include "result/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

weir_code output_print(const weir_text *text, weir_err *err)
{
    if (text->failed)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the report");
    if (text->n > 0 && fwrite(text->p, 1, text->n, stdout) != text->n)
        return weir_err_set(err, WEIR_ERR_IO, "standard output: %s", strerror(errno));
    if (fflush(stdout) != 0)
        return weir_err_set(err, WEIR_ERR_IO, "standard output: %s", strerror(errno));
    return WEIR_OK;
}

bool output_wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

static weir_code open_failed(const char *path, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
}

weir_code output_open(output_file *out, const char *target, weir_err *err)
{
    struct stat info;
    *out = (output_file){.target = target};
    if (stat(target, &info) == 0 && !S_ISREG(info.st_mode)) {
        out->file = fopen(target, "wb");
        return out->file ? WEIR_OK : open_failed(target, err);
    }
    size_t size = strlen(target) + 32;
    out->path = malloc(size);
    if (!out->path)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the name %s", target);
    snprintf(out->path, size, "%s.part-%ld", target, (long)getpid());
    int fd = open(out->path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        out->file = fdopen(fd, "wb");
    if (out->file)
        return WEIR_OK;
    weir_code code = open_failed(target, err);
    if (fd >= 0) {
        close(fd);
        unlink(out->path);
    }
    free(out->path);
    out->path = NULL;
    return code;
}

weir_code output_commit(output_file *out, weir_err *err)
{
    bool failed = ferror(out->file) != 0;
    failed |= fclose(out->file) != 0;
    out->file = NULL;
    if (!failed && out->path)
        failed = rename(out->path, out->target) != 0;
    weir_code code = failed ? open_failed(out->target, err) : WEIR_OK;
    if (failed && out->path)
        unlink(out->path);
    free(out->path);
    out->path = NULL;
    return code;
}

void output_discard(output_file *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    if (out->path)
        unlink(out->path);
    free(out->path);
    *out = (output_file){0};
}

void output_show_timeline(weir_result *result, const weir_spmd_run *played, const weir_lines *lines)
{
    uint64_t spans = lines->first ? lines->first[lines->device_count] : 0;
    result->timeline = played->timeline;
    result->lines = lines;
    if (spans > WEIR_JSON_TIMELINE_MOST)
        weir_result_note(result, "series.timeline has the first %d of %llu spans",
                         WEIR_JSON_TIMELINE_MOST, (unsigned long long)spans);
}
