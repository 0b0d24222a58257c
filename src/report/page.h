/* page.h: what the parts of the text report share (private to report/). */
#ifndef WEIR_REPORT_PAGE_H
#define WEIR_REPORT_PAGE_H

#include "report/report.h"
#include "report/table.h"

typedef struct {
    weir_text *out;
    const weir_result *result;
    const weir_text_options *options;
} page;

/* summary.c: the first screen below bars and control; each writes nothing where nothing is to say
 */
void page_stragglers(const page *p);
void page_axes(const page *p, uint32_t top);
void page_efficiency(const page *p);
void page_path(const page *p);
void page_hidden(const page *p);
void page_sureness(const page *p);
void page_losses(const page *p, bool lost); /* lost, or only repaired */
void page_notes(const page *p);

/* screen.c: the bar of one wait, and how much of the waiting is planned */
void page_bar(const page *p, weir_wait wait);
void page_control(const page *p);

/* by.c */
void page_by(const page *p);
void page_unknown_kernels(const page *p);

/* Rows of a table that was asked for: options->top or its default. */
uint32_t page_top(const page *p, uint32_t otherwise);

/* SGR codes around text, nothing where colour is off. */
typedef enum { INK_FAINT, INK_BOLD, INK_WAIT } ink;
void page_ink(const page *p, ink which, weir_wait wait);
void page_plain(const page *p);

/* Collectives of one parallel axis. */
typedef struct {
    const char *axis;
    int64_t exposed_ns, transfer_ns, arrival_wait_ns, unsplit_ns;
    double bus_bytes; /* bus bandwidth x transfer of the rows where it is known */
    int64_t bus_ns;   /* their transfer */
} axis_row;
enum { AXES_MAX = 16 };
/* Most exposed first; returns how many. */
uint32_t axes_of(const weir_result *result, axis_row rows[AXES_MAX]);

/* total / devices / steps: what one device spends in a step. */
int64_t mean_ns(const weir_result *result, int64_t total_ns);

#endif
