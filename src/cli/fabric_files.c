#include "cli/fabric.h"
#include "cli/output.h"
#include "cli/picture.h"
#include "report/fabric_csv.h"

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
    weir_text_add(path, any ? WEIR_STR("") : WEIR_STR("candidate"));
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

/* "bills/A-clos-1-1" + ending */
static void add_path(weir_text *path, const fabric_run_state *run, uint32_t i, const char *ending)
{
    const weir_fabric_result *fabric = run->result->fabric;
    weir_str folder = weir_str_from(run->options->bom);
    uint32_t same = namesakes(fabric, i);
    weir_text_add(path, folder);
    if (!weir_str_ends(folder, WEIR_STR("/")))
        weir_text_char(path, '/');
    if (same > 0)
        weir_text_printf(path, "%u-", (unsigned)same + 1);
    add_file_name(path, fabric->candidates[i].name);
    weir_text_add(path, weir_str_from(ending));
}

static weir_code write_file(const fabric_run_state *run, uint32_t i, const char *ending,
                            const weir_text *text, weir_err *err)
{
    weir_text path = {0};
    add_path(&path, run, i, ending);
    weir_code code = path.failed || text->failed
                         ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %s", run->options->bom)
                         : write_text(path.p, text, err);
    weir_text_clear(&path);
    return code;
}

static weir_code write_bill(const fabric_run_state *run, uint32_t i, weir_err *err)
{
    weir_text bill = {0};
    weir_code code = weir_report_bill_csv(&bill, &run->result->fabric->candidates[i], err);
    if (code == WEIR_OK)
        code = write_file(run, i, ".csv", &bill, err);
    weir_text_clear(&bill);
    return code;
}

static weir_code write_cabling(const fabric_run_state *run, const weir_fabric_scenario *scenario,
                               uint32_t i, weir_err *err)
{
    weir_text cabling = {0};
    weir_code code = fabric_list_cables(run, scenario, i, &cabling, err);
    if (code == WEIR_OK && cabling.n > 0)
        code = write_file(run, i, ".cables.csv", &cabling, err);
    weir_text_clear(&cabling);
    return code;
}

weir_code fabric_write_bills(const fabric_run_state *run, weir_err *err)
{
    const char *folder = run->options->bom;
    const weir_fabric_result *fabric = run->result->fabric;
    weir_fabric_scenario scenario = {0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return weir_err_set(err, WEIR_ERR_IO, "%s: %s", folder, strerror(errno));
    weir_code code = fabric_read_scenario(run, NULL, &scenario, err);
    for (uint32_t i = 0; i < fabric->candidate_count && code == WEIR_OK; i++) {
        if (fabric->candidates[i].refused)
            continue;
        code = write_bill(run, i, err);
        if (code == WEIR_OK)
            code = write_cabling(run, &scenario, i, err);
    }
    weir_fabric_scenario_clear(&scenario);
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
    return picture_write(run->options->perfetto, &request, err);
}
