#include "cli/options.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

/* Edits (insert, delete, replace, swap of neighbours) that make b of a: Damerau's restricted
 * distance, three rows of the table at a time. */
static uint32_t edit_distance(const char *a, const char *b)
{
    uint32_t rows[3][NAME_MAX_LENGTH + 2];
    uint32_t na = (uint32_t)strlen(a);
    uint32_t nb = (uint32_t)strlen(b);
    if (na > NAME_MAX_LENGTH || nb > NAME_MAX_LENGTH)
        return UINT32_MAX;
    for (uint32_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            uint32_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && above_that[j - 2] + 1 < best)
                best = above_that[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *nearest_name(const char *text, const char *const *names, uint32_t count)
{
    const char *best = NULL;
    uint32_t best_distance = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t distance = edit_distance(text, names[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best && best_distance <= (strlen(text) + 2) / 3 ? best : NULL;
}

const char *nearest_command(const char *text)
{
    enum { MOST = 32 };
    const char *names[MOST];
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    uint32_t n = count < MOST ? count : MOST;
    for (uint32_t i = 0; i < n; i++)
        names[i] = commands[i]->name;
    return nearest_name(text, names, n);
}

const cli_command *command_find(const char *name)
{
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

cli_args args_start(const cli_command *command, int argc, char **argv)
{
    return (cli_args){.command = command, .argc = argc, .next = 1, .argv = argv};
}

static weir_code refuse_unknown(const cli_command *command, const char *text, size_t n,
                                weir_err *err)
{
    enum { MOST = 64 };
    const char *names[MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < command->option_count && count < MOST; i++)
        names[count++] = command->options[i].name;
    char name[NAME_MAX_LENGTH + 1] = "";
    memcpy(name, text, n < NAME_MAX_LENGTH ? n : NAME_MAX_LENGTH);
    const char *near = nearest_name(name, names, count);
    if (near)
        return weir_err_set(err, WEIR_ERR_USAGE, "%s: unknown option %s; did you mean %s?",
                            command->name, name, near);
    return weir_err_set(err, WEIR_ERR_USAGE, "%s: unknown option %s; see weir help %s",
                        command->name, name, command->name);
}

static const cli_option *option_find(const cli_command *command, const char *name, size_t n)
{
    for (uint32_t i = 0; i < command->option_count; i++) {
        const char *candidate = command->options[i].name;
        if (strlen(candidate) == n && memcmp(candidate, name, n) == 0)
            return &command->options[i];
    }
    return NULL;
}

static weir_code option_read(cli_args *args, const char *text, cli_arg *arg, weir_err *err)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    const cli_option *option = option_find(args->command, text, n);
    if (!option)
        return refuse_unknown(args->command, text, n, err);
    if (!option->argument && equals)
        return weir_err_set(err, WEIR_ERR_USAGE, "%s: %s takes no value, found %s",
                            args->command->name, option->name, equals + 1);
    const char *value = NULL;
    if (option->argument && equals) {
        value = equals + 1;
    } else if (option->argument) {
        if (args->next >= args->argc)
            return weir_err_set(err, WEIR_ERR_USAGE, "%s: %s needs a value: %s %s",
                                args->command->name, option->name, option->name, option->argument);
        value = args->argv[args->next++];
    }
    *arg = (cli_arg){.id = option->id, .value = value};
    return WEIR_OK;
}

weir_code args_next(cli_args *args, cli_arg *arg, weir_err *err)
{
    if (args->next >= args->argc) {
        *arg = (cli_arg){.id = CLI_END};
        return WEIR_OK;
    }
    const char *text = args->argv[args->next++];
    bool is_option = !args->only_operands && text[0] == '-' && text[1] != '\0';
    if (!is_option) {
        *arg = (cli_arg){.id = CLI_OPERAND, .value = text};
        return WEIR_OK;
    }
    if (strcmp(text, "--") == 0) {
        args->only_operands = true;
        return args_next(args, arg, err);
    }
    if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
        *arg = (cli_arg){.id = CLI_HELP};
        return WEIR_OK;
    }
    return option_read(args, text, arg, err);
}
