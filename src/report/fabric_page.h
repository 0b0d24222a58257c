/* fabric_page.h: what the parts of the report on networks share (private to report/). */
#ifndef WEIR_REPORT_FABRIC_PAGE_H
#define WEIR_REPORT_FABRIC_PAGE_H

#include "report/page.h"

/* The candidate that is recommended, or NULL. */
const weir_fabric_candidate_row *candidate_recommended(const weir_fabric_result *fabric);
/* "B" of "B ocs per job", else the whole name: how sentences call a candidate. Escaped. */
void candidate_add(weir_text *line, const weir_fabric_candidate_row *row);
/* Wraps the line onto the page and frees it; an empty one is not written. */
void fabric_line(const page *p, weir_text *line);

/* fabric_table.c */
void fabric_candidates(const page *p);
void fabric_traffic(const page *p);

/* fabric_light.c: one line each, none where nothing is known */
void fabric_refused(const page *p);
void fabric_break_even(const page *p);
void fabric_budget(const page *p);
void fabric_conversions(const page *p);
void fabric_next(const page *p);
void fabric_values(const page *p);
void fabric_failures(const page *p);

#endif
