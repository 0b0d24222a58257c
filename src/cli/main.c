/* weir: the command. Finds the subcommand and hands over; the tables are in commands.c. */
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/output.h"

#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static int print_version(void)
{
    weir_err err = {0};
    weir_text out = {0};
    weir_text_printf(&out, "weir %s\n", weir_version());
    weir_code code = output_print(&out, &err);
    weir_text_clear(&out);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}

static int refuse_command(const char *name)
{
    weir_err err = {0};
    const char *near = nearest_command(name);
    if (near)
        weir_err_set(&err, WEIR_ERR_USAGE, "no command %s; did you mean %s?", name, near);
    else
        weir_err_set(&err, WEIR_ERR_USAGE, "no command %s; see weir help", name);
    return report_error(&err);
}

int main(int argc, char **argv)
{
#ifdef __GLIBC__
    /* Blocks of a trace go back to the system when they are freed; by default glibc would keep them
     * after the first (its threshold moves): 146 -> 117 MB for 4 million events. */
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
#endif
    if (argc < 2) {
        weir_text out = {0};
        document_overview(&out);
        fputs(out.p ? out.p : "weir: no memory\n", stderr);
        weir_text_clear(&out);
        return EXIT_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    char *help[] = {argv[1], NULL};
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_run(1, help);
    const cli_command *command = command_find(argv[1]);
    return command ? command->run(argc - 1, argv + 1) : refuse_command(argv[1]);
}
