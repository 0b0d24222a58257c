/* document.h: the tables of options.h as help text, man page and shell completions.
 *
 * Each writer appends to out; lack of memory sticks in out->failed. Help fits 80 columns. */
#ifndef WEIR_CLI_DOCUMENT_H
#define WEIR_CLI_DOCUMENT_H

#include "base/text.h"
#include "cli/options.h"

void document_overview(weir_text *out);
void document_command(weir_text *out, const cli_command *command);
void document_man(weir_text *out);
void document_bash(weir_text *out);
void document_zsh(weir_text *out);

#endif
