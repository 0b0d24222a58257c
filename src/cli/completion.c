#include "cli/document.h"

#include <string.h>

static bool offers_files(const cli_option *option)
{
    return option->choices && strcmp(option->choices, "@file") == 0;
}

static void add_bash_command(weir_text *out, const cli_command *command)
{
    weir_text_printf(out, "    %s)\n        case $previous in\n", command->name);
    for (uint32_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (!option->argument)
            continue;
        weir_text_printf(out, "        %s) ", option->name);
        if (offers_files(option))
            weir_text_add(out, WEIR_STR("COMPREPLY=($(compgen -f -- \"$word\")); "));
        else if (option->choices)
            weir_text_printf(out, "COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); ",
                             option->choices);
        weir_text_add(out, WEIR_STR("return ;;\n"));
    }
    weir_text_add(out, WEIR_STR("        esac\n        options=\"--help"));
    for (uint32_t i = 0; i < command->option_count; i++)
        weir_text_printf(out, " %s", command->options[i].name);
    weir_text_add(out, WEIR_STR("\"\n        ;;\n"));
}

void document_bash(weir_text *out)
{
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    weir_text_add(out,
                  WEIR_STR("# bash completion of weir; printed by: weir help --completion bash\n"
                           "_weir() {\n"
                           "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                           "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                           "    local options=\"\"\n"
                           "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                           "        COMPREPLY=($(compgen -W \"--help --version"));
    for (uint32_t i = 0; i < count; i++)
        weir_text_printf(out, " %s", commands[i]->name);
    weir_text_add(out, WEIR_STR("\" -- \"$word\"))\n        return\n    fi\n"
                                "    case ${COMP_WORDS[1]} in\n"));
    for (uint32_t i = 0; i < count; i++)
        add_bash_command(out, commands[i]);
    weir_text_add(out, WEIR_STR("    esac\n"
                                "    case $word in\n"
                                "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                                "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                                "    esac\n}\n"
                                "complete -o filenames -F _weir weir\n"));
}

/* Inside '[...]' of an _arguments specification, itself in single quotes. */
static void add_zsh_text(weir_text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            weir_text_add(out, WEIR_STR("'\\''"));
            continue;
        }
        if (strchr("[]:\\", *text))
            weir_text_char(out, '\\');
        weir_text_char(out, *text);
    }
}

static void add_zsh_command(weir_text *out, const cli_command *command)
{
    weir_text_printf(out, "    %s)\n        _arguments '--help[show help]'", command->name);
    for (uint32_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        weir_text_printf(out, " \\\n            '%s[", option->name);
        add_zsh_text(out, option->help);
        weir_text_char(out, ']');
        if (option->argument) {
            weir_text_char(out, ':');
            add_zsh_text(out, option->argument);
            weir_text_char(out, ':');
            if (offers_files(option))
                weir_text_add(out, WEIR_STR("_files"));
            else if (option->choices)
                weir_text_printf(out, "(%s)", option->choices);
        }
        weir_text_char(out, '\'');
    }
    weir_text_add(out, WEIR_STR(" \\\n            '*:file:_files'\n        ;;\n"));
}

void document_zsh(weir_text *out)
{
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    weir_text_add(out, WEIR_STR("#compdef weir\n"
                                "# zsh completion of weir; printed by: weir help --completion zsh\n"
                                "_weir() {\n"
                                "    if (( CURRENT == 2 )); then\n"
                                "        local -a commands=(\n"));
    for (uint32_t i = 0; i < count; i++) {
        weir_text_printf(out, "            '%s:", commands[i]->name);
        add_zsh_text(out, commands[i]->question);
        weir_text_add(out, WEIR_STR("'\n"));
    }
    weir_text_add(out, WEIR_STR("        )\n        _describe command commands\n        return\n"
                                "    fi\n    local command=$words[2]\n"
                                "    shift words\n    (( CURRENT-- ))\n    case $command in\n"));
    for (uint32_t i = 0; i < count; i++)
        add_zsh_command(out, commands[i]);
    weir_text_add(out, WEIR_STR("    esac\n}\n_weir \"$@\"\n"));
}
