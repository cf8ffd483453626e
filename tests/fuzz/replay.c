/* The main of the fuzz targets where there is no libFuzzer: runs each file of a directory once.
 *
 *     replay DIRECTORY      TAP: one test, which ends with the number of inputs
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_LIMIT_S 10 /* of one input; the alarm ends the program */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The file in a block of exactly its size, so that the sanitizer sees a step beyond it. */
static void run_file(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    uint8_t *bytes = size >= 0 ? malloc((size_t)size) : NULL;
    if (size < 0 || (size > 0 && (bytes == NULL || fread(bytes, (size_t)size, 1, file) != 1))) {
        printf("Bail out! cannot read %s: %s\n", path, strerror(errno));
        exit(1);
    }
    fclose(file);
    printf("# %s\n", name); /* the last one printed is the one that crashed */
    fflush(stdout);
    alarm(TIME_LIMIT_S);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    alarm(0);
    free(bytes);
}

int main(int argc, char **argv)
{
    struct dirent **files = NULL;
    int count = argc == 2 ? scandir(argv[1], &files, NULL, alphasort) : -1;
    if (count < 0) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 64;
    }
    LLVMFuzzerInitialize(&argc, &argv);
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    int inputs = 0;
    for (int i = 0; i < count; i++) {
        if (files[i]->d_name[0] != '.') {
            run_file(argv[1], files[i]->d_name);
            inputs++;
        }
        free(files[i]);
    }
    free(files);
    printf("1..1\n%s 1 - %d inputs\n", inputs > 0 ? "ok" : "not ok", inputs);
    return inputs > 0 ? 0 : 1;
}
