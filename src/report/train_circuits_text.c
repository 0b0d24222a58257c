#include "report/train_circuits_text.h"

#include "report/table.h"
#include "result/quantity.h"

static void put_circuits(table *rows, const weir_training_circuit_row *row)
{
    weir_text *cell = table_cell(rows);
    switch (row->circuits) {
    case WEIR_CIRCUITS_STAY:
        weir_text_add(cell, WEIR_STR("stay"));
        break;
    case WEIR_CIRCUITS_SET:
        weir_text_add(cell, WEIR_STR("set in "));
        weir_quantity_seconds(cell, row->setting_s, 2);
        break;
    default:
        weir_text_add(cell, WEIR_STR("none: packets"));
        break;
    }
    table_end(rows);
}

static void put_row(table *rows, const weir_training_circuit_row *row)
{
    weir_text_printf(table_cell(rows), "  %s %s", row->axis, row->phase);
    table_end(rows);
    weir_quantity_si(table_cell(rows), row->bytes_per_device / row->times, "B");
    table_end(rows);
    weir_quantity_digits(table_cell(rows), row->times);
    table_end(rows);
    weir_quantity_seconds(table_cell(rows), row->seconds / row->times, 3);
    table_end(rows);
    weir_text_printf(table_cell(rows), "%u of %u", row->partners, row->ports);
    table_end(rows);
    put_circuits(rows, row);
}

void page_circuits(const page *p, const weir_training_result *training)
{
    static const char *const heads[] = {"light between nodes", "bytes",    "times",
                                        "each takes",          "partners", "circuits"};
    table rows;
    if (training->circuit_count == 0) {
        return;
    }
    table_begin(&rows, "lrrrrl");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        table_put(&rows, heads[i]);
    }
    for (uint32_t i = 0; i < training->circuit_count; i++) {
        put_row(&rows, &training->circuits[i]);
    }
    table_print(&rows, p->out, p->options->colour);
    if (training->step_s > training->closed_step_s * 1.0005) {
        weir_text_add(p->out, WEIR_STR("  light: of the undisturbed step\n"));
    }
}
