/* kineto_identity.h: which rank, on which host, each file is of.
 *
 * Rank: distributedInfo, else arguments of collectives, else the file name, else numbered in the
 * order of the files with a diagnostic. Host: metadata, else traceName, else the file name. */
#ifndef WEIR_IMPORT_KINETO_IDENTITY_H
#define WEIR_IMPORT_KINETO_IDENTITY_H

#include "import/kineto_spans.h"

/* Completes the rank rows of all shards; those without a timeline are passed over. */
weir_code kineto_identify(kineto_shard *shards, uint32_t count, weir_diags *diags, weir_err *err);

/* A rank that a file name tells ("rank3.json", "worker0.", "rank-12.", "TP-3"), or -1. */
int64_t kineto_rank_of_name(weir_str path);
/* The host that a file name of the form HOST_PID.STAMP.pt.trace.json tells, or "". */
weir_str kineto_host_of_name(weir_str path);

#endif
