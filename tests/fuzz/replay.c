/* replay.c: feeds the files of the folders that it is given to a fuzz target, without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    if (fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        fclose(file);
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    /* Exactly as long as the file: a read past its end is seen by the sanitizer. */
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    int failed = !bytes || size < 0 || fread(bytes, 1, (size_t)size, file) != (size_t)size;
    fclose(file);
    if (failed)
        fprintf(stderr, "%s: cannot be read\n", path);
    else
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    return failed;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    int replayed = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries = NULL;
        int count = scandir(argv[i], &entries, is_visible, alphasort);
        if (count < 0) {
            perror(argv[i]);
            failed = 1;
        }
        for (int k = 0; k < count; k++) {
            char path[4096];
            int n = snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
            failed |= n < 0 || (size_t)n >= sizeof path || replay_file(path);
            free(entries[k]);
            replayed++;
        }
        free(entries);
    }
    printf("%d inputs replayed\n", replayed);
    return failed || replayed == 0;
}
