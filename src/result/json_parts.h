/* json_parts.h: the pieces of the JSON object that its files share (private to result/). */
#ifndef WEIR_RESULT_JSON_PARTS_H
#define WEIR_RESULT_JSON_PARTS_H

#include "codec/json_write.h"
#include "result/result.h"

/* json_ledger.c: keys and objects of waits (W), causes (C), hidden (H) */
void json_waits(weir_json_writer *w, const weir_waits *waits);
void json_causes(weir_json_writer *w, const weir_causes *causes);
void json_hidden(weir_json_writer *w, const weir_hidden *hidden);
void json_total(weir_json_writer *w, const weir_result *result);
void json_devices(weir_json_writer *w, const weir_result *result);
void json_steps(weir_json_writer *w, const weir_result *result);
void json_nodes(weir_json_writer *w, const weir_result *result);

/* json_tables.c: one key and its value each */
void json_critical_path(weir_json_writer *w, const weir_result *result);
void json_stragglers(weir_json_writer *w, const weir_result *result);
void json_collectives(weir_json_writer *w, const weir_result *result);
void json_efficiency(weir_json_writer *w, const weir_result *result);
void json_series(weir_json_writer *w, const weir_result *result);

/* json_training.c */
void json_training(weir_json_writer *w, const weir_training_result *training);

/* json_fabric.c */
void json_fabric(weir_json_writer *w, const weir_fabric_result *fabric);

/* json_fabric_questions.c: "sweep", "find", "mix", "compare", each where it was asked for; "links"
 */
void json_questions(weir_json_writer *w, const weir_result *result);
void json_links(weir_json_writer *w, const weir_fabric_result *fabric);

/* json_timeline.c: "timeline" */
void json_timeline(weir_json_writer *w, const weir_result *result);

/* "key": value */
void json_put_int(weir_json_writer *w, const char *key, int64_t value);
void json_put_text(weir_json_writer *w, const char *key, const char *text); /* NULL -> null */
void json_put_bool(weir_json_writer *w, const char *key, bool value);
void json_put_number(weir_json_writer *w, const char *key, double value); /* NAN -> null */
void json_put_known(weir_json_writer *w, const char *key, double value, bool known);
void json_put_rank(weir_json_writer *w, const char *key, int32_t rank); /* negative -> null */

#endif
