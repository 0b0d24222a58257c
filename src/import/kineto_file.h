/* kineto_file.h: finds the events and the metadata of one trace file, whole or damaged. */
#ifndef WEIR_IMPORT_KINETO_FILE_H
#define WEIR_IMPORT_KINETO_FILE_H

#include "codec/source.h"
#include "import/kineto_spans.h"

/* Reads source to its end into shard. WEIR_ERR_INPUT where it is no trace at all. */
weir_code kineto_file_read(kineto_shard *shard, weir_source *source,
                           const weir_kineto_options *options, weir_err *err);

#endif
