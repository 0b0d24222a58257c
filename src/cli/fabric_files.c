#include "cli/fabric.h"
#include "cli/output.h"
#include "report/fabric_csv.h"
#include "report/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- bills --- */

static weir_code write_text(const char *path, const weir_text *text, weir_err *err)
{
    output_file out;
    weir_code code = output_open(&out, path, err);
    if (code != WEIR_OK)
        return code;
    if (text->n > 0 && fwrite(text->p, 1, text->n, out.file) != text->n) {
        output_discard(&out);
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", path, strerror(errno));
    }
    return output_commit(&out, err);
}

/* "A clos 1:1" -> "A-clos-1-1": letters and digits stay, the rest becomes one hyphen. */
static void add_file_name(weir_text *path, const char *name)
{
    bool pending = false, any = false;
    for (; *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '_';
        if (plain && pending && any)
            weir_text_char(path, '-');
        if (plain)
            weir_text_char(path, *name);
        any |= plain;
        pending = !plain;
    }
    weir_text_add(path, any ? WEIR_STR(".csv") : WEIR_STR("candidate.csv"));
}

/* How many candidates before the i-th would be called so, too: "A 1" and "A-1". */
static uint32_t namesakes(const weir_fabric_result *fabric, uint32_t i)
{
    weir_text own = {0};
    uint32_t count = 0;
    add_file_name(&own, fabric->candidates[i].name);
    for (uint32_t k = 0; k < i; k++) {
        weir_text other = {0};
        add_file_name(&other, fabric->candidates[k].name);
        count += !own.failed && !other.failed && strcmp(own.p, other.p) == 0;
        weir_text_clear(&other);
    }
    weir_text_clear(&own);
    return count;
}

static weir_code write_bill(const char *folder, const weir_fabric_result *fabric, uint32_t i,
                            weir_err *err)
{
    weir_text path = {0}, bill = {0};
    const weir_fabric_candidate_row *row = &fabric->candidates[i];
    uint32_t same = namesakes(fabric, i);
    weir_text_add(&path, weir_str_from(folder));
    if (!weir_str_ends(weir_str_from(folder), WEIR_STR("/")))
        weir_text_char(&path, '/');
    if (same > 0)
        weir_text_printf(&path, "%u-", (unsigned)same + 1);
    add_file_name(&path, row->name);
    weir_code code = weir_report_bill_csv(&bill, row, err);
    if (code == WEIR_OK && path.failed)
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    if (code == WEIR_OK)
        code = write_text(path.p, &bill, err);
    weir_text_clear(&path);
    weir_text_clear(&bill);
    return code;
}

weir_code fabric_write_bills(const fabric_run_state *run, weir_err *err)
{
    const char *folder = run->options->bom;
    const weir_fabric_result *fabric = run->result->fabric;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", folder, strerror(errno));
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < fabric->candidate_count && code == WEIR_OK; i++)
        if (!fabric->candidates[i].refused)
            code = write_bill(folder, fabric, i, err);
    return code;
}

/* --- pictures --- */

enum { PICTURE_LINKS = 64 };

weir_code fabric_write_picture(const fabric_run_state *run, weir_err *err)
{
    const weir_fabric_result *fabric = run->result->fabric;
    if (!run->played.timeline)
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "--perfetto: no candidate was played, so there is nothing to draw");
    weir_perfetto_request request = {
        .timeline = run->played.timeline,
        .lines = &run->lines,
        .result = run->result,
        .all = true,
        .links = fabric->links,
        .link_count = fabric->link_count < PICTURE_LINKS ? fabric->link_count : PICTURE_LINKS,
        .full = {WEIR_NONE, WEIR_NONE},
    };
    output_file out;
    weir_code code = output_open(&out, run->options->perfetto, err);
    if (code != WEIR_OK)
        return code;
    code = weir_perfetto_write(out.file, &request, err);
    if (code == WEIR_OK)
        return output_commit(&out, err);
    output_discard(&out);
    return code;
}
