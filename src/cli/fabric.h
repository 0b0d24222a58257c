/* fabric.h: what one `weir fabric` has read and played, and the steps that its files share. */
#ifndef WEIR_CLI_FABRIC_H
#define WEIR_CLI_FABRIC_H

#include "base/text.h"
#include "cli/fabric_options.h"
#include "study/fabric_study.h"

/* All owned; zero where not yet there. */
typedef struct {
    const fabric_options *options; /* borrowed */
    weir_text input;               /* standard input, where the scenario is "-" */
    weir_budget *budget;
    weir_result *result;       /* what is printed */
    const weir_setting *point; /* of the sweep that result is of; NULL: none */
    uint32_t point_count;
    weir_result **results; /* of further plays that result refers to */
    uint32_t result_count, result_capacity;
    weir_spmd_run played; /* for pictures */
    weir_lines lines;
} fabric_run_state;

/* fabric_input.c: the scenario with the user's settings and those of wish (may be NULL), the
 * user's prices, and only the candidates that are asked for; all of them where wish->only names one
 * by its position. Owned (weir_fabric_scenario_clear). */
weir_code fabric_read_scenario(const fabric_run_state *run, const weir_play_wish *wish,
                               weir_fabric_scenario *scenario, weir_err *err);
/* Whether --candidate names it, or nothing is named. */
bool fabric_wants(const fabric_options *options, const char *candidate);
/* Reads standard input, where the scenario is "-". */
weir_code fabric_read_input(fabric_run_state *run, weir_err *err);

/* fabric_training.c: --traffic-from: cluster and traffic as settings before the user's own, and a
 * document with usual candidates where no scenario is named. */
weir_code fabric_take_training(fabric_options *options, weir_err *err);

/* fabric_resolved.c: notes in the result which scenario, with which settings, was played: its keys
 * and values as --set takes them, their hash, and the file. */
weir_code fabric_note_scenario(const fabric_run_state *run, weir_result *result, weir_err *err);

/* fabric_links.c: the load of links that was recorded, with the names that they have on the
 * recommended network, into the result. */
weir_code fabric_note_links(const fabric_run_state *run, const weir_fabric_scenario *scenario,
                            weir_err *err);

/* The cables of a candidate as CSV, each with the ports at its ends; nothing where circuits join
 * them (which cable ends where is the optical switches' own affair), or where there are more than a
 * million, which a note in the result says. */
weir_code fabric_list_cables(const fabric_run_state *run, const weir_fabric_scenario *scenario,
                             uint32_t candidate, weir_text *csv, weir_err *err);

/* fabric_ask.c: --sweep, --find, --mix. Fill run->result. */
weir_code fabric_sweep(fabric_run_state *run, weir_err *err);
weir_code fabric_find(fabric_run_state *run, weir_err *err);
weir_code fabric_mix(fabric_run_state *run, weir_err *err);

/* fabric_nccl.c: --compare. Fills run->result. */
weir_code fabric_compare(fabric_run_state *run, weir_err *err);

/* fabric_files.c: --bom and --perfetto. */
weir_code fabric_write_bills(const fabric_run_state *run, weir_err *err);
weir_code fabric_write_picture(const fabric_run_state *run, weir_err *err);

#endif
