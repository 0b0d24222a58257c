#include "cli/document.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 79, OPTION_INDENT = 27 };

/* Appends text in lines of at most COLUMNS; column is where the first one starts. */
static void add_wrapped(weir_text *out, const char *text, uint32_t indent, uint32_t column)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > indent && column + 1 + n > COLUMNS) {
            weir_text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            weir_text_char(out, ' ');
            column++;
        }
        weir_text_bytes(out, text, n);
        column += (uint32_t)n;
        text += n;
        text += strspn(text, " ");
    }
    weir_text_char(out, '\n');
}

static void add_option(weir_text *out, const cli_option *option)
{
    char label[64];
    int n = snprintf(label, sizeof label, "  %s%s%s", option->name, option->argument ? " " : "",
                     option->argument ? option->argument : "");
    weir_text_printf(out, "%-*s", OPTION_INDENT, label);
    if (n >= OPTION_INDENT)
        weir_text_printf(out, "\n%*s", OPTION_INDENT, "");
    char line[512];
    snprintf(line, sizeof line, "%s%s%s", option->help, option->example ? ", e.g. " : "",
             option->example ? option->example : "");
    add_wrapped(out, line, OPTION_INDENT, OPTION_INDENT);
}

static const char *const EXIT_CODES[] = {
    "0  done",
    "1  a condition of --fail-if is met",
    "2  bad usage or input",
    "3  an error of Weir itself: please report it",
};
enum { EXIT_CODE_COUNT = sizeof EXIT_CODES / sizeof *EXIT_CODES };

static void add_exit_codes(weir_text *out)
{
    weir_text_add(out, WEIR_STR("\nExit codes:\n"));
    for (uint32_t i = 0; i < EXIT_CODE_COUNT; i++)
        weir_text_printf(out, "  %s\n", EXIT_CODES[i]);
}

void document_overview(weir_text *out)
{
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    weir_text_add(out, WEIR_STR("weir: where a large-model system waits, and what for\n\n"
                                "Usage: weir COMMAND [OPTION...] [FILE...]\n\n"));
    for (uint32_t i = 0; i < count; i++)
        weir_text_printf(out, "  %-8s %s\n", commands[i]->name, commands[i]->question);
    weir_text_add(out, WEIR_STR("\n  weir help COMMAND   options and examples of a command\n"
                                "  weir help capture   how to record a trace worth reading\n"
                                "  weir --version      the version\n"));
    add_exit_codes(out);
}

void document_command(weir_text *out, const cli_command *command)
{
    weir_text_printf(out, "weir %s: %s\n\nUsage: weir %s [OPTION...] %s\n\n", command->name,
                     command->question, command->name, command->operands);
    add_wrapped(out, command->about, 0, 0);
    if (command->option_count > 0)
        weir_text_add(out, WEIR_STR("\nOptions:\n"));
    for (uint32_t i = 0; i < command->option_count; i++)
        add_option(out, &command->options[i]);
    weir_text_add(out, WEIR_STR("\nExamples:\n"));
    for (uint32_t i = 0; i < command->example_count; i++)
        weir_text_printf(out, "  %s\n      %s\n", command->examples[i].line,
                         command->examples[i].about);
    add_exit_codes(out);
}

/* roff takes "-" for a hyphen, "\" for an escape and "." or "'" at the start of a line for a
 * request. */
static void add_roff(weir_text *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        weir_text_add(out, WEIR_STR("\\&"));
    for (; *text; text++) {
        if (*text == '\\')
            weir_text_add(out, WEIR_STR("\\e"));
        else if (*text == '-')
            weir_text_add(out, WEIR_STR("\\-"));
        else
            weir_text_char(out, *text);
    }
}

static void add_man_line(weir_text *out, const char *before, const char *text, const char *after)
{
    weir_text_add(out, weir_str_from(before));
    add_roff(out, text);
    weir_text_add(out, weir_str_from(after));
}

static void add_man_command(weir_text *out, const cli_command *command)
{
    weir_text_printf(out, ".SS \"weir %s\"\n", command->name);
    add_man_line(out, "", command->about, "\n");
    for (uint32_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        add_man_line(out, ".TP\n\\fB", option->name, "\\fR");
        if (option->argument)
            add_man_line(out, " \\fI", option->argument, "\\fR");
        add_man_line(out, "\n", option->help, "");
        if (option->example)
            add_man_line(out, ", e.g. ", option->example, "");
        weir_text_add(out, WEIR_STR(".\n"));
    }
}

void document_man(weir_text *out)
{
    uint32_t count;
    const cli_command *const *commands = command_list(&count);
    weir_text_printf(out, ".TH WEIR 1 \"\" \"weir %s\" \"User Commands\"\n", weir_version());
    weir_text_add(out, WEIR_STR(".SH NAME\nweir \\- where a large\\-model system waits, and what "
                                "for\n.SH SYNOPSIS\n.B weir\n\\fICOMMAND\\fR "
                                "[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n.SH COMMANDS\n"));
    for (uint32_t i = 0; i < count; i++)
        add_man_command(out, commands[i]);
    weir_text_add(out, WEIR_STR(".SH EXAMPLES\n"));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < commands[i]->example_count; k++) {
            add_man_line(out, ".TP\n\\fB", commands[i]->examples[k].line, "\\fR\n");
            add_man_line(out, "", commands[i]->examples[k].about, "\n");
        }
    weir_text_add(out, WEIR_STR(".SH EXIT STATUS\n"));
    for (uint32_t i = 0; i < EXIT_CODE_COUNT; i++)
        weir_text_printf(out, ".TP\n%c\n%s\n", EXIT_CODES[i][0], EXIT_CODES[i] + 3);
}
