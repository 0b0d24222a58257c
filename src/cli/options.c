#include "cli/options.h"

#include "base/nearest.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

const char *nearest_name(const char *text, const char *const *names, uint32_t count)
{
    uint32_t near[WEIR_NEAR_MOST];
    bool is_close = false;
    weir_nearest_words(weir_str_from(text), names, count, near, &is_close);
    return is_close ? names[near[0]] : NULL;
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
