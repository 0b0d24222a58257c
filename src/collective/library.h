/* library.h: what a collective library chooses for a size and a scale, and what that costs.
 *
 * The figures are in presets/collectives/ID.yaml: latencies per algorithm, protocol and transport,
 * efficiencies, thresholds; each with its source, and fitted ones with what they were fitted on and
 * the error that is left. The model is that of NCCL's tuning (t = latency + bytes / bandwidth, the
 * smallest of the algorithms and protocols that are possible) with what docs/model/collective.md
 * says beside it.
 *
 * Not here: which links a collective loads (plan.h). */
#ifndef WEIR_COLLECTIVE_LIBRARY_H
#define WEIR_COLLECTIVE_LIBRARY_H

#include "codec/yaml.h"
#include "collective/collective.h"

typedef struct weir_library weir_library;

/* id: of a preset, "nccl-2.27". Owned. */
weir_code weir_library_open(const char *id, weir_library **library, weir_err *err);
/* The same from a mapping of a document (a scenario's own library); id: what errors call it. */
weir_code weir_library_read(const char *id, const weir_yaml *doc, const weir_yaml_node *mapping,
                            weir_library **library, weir_err *err);
void weir_library_free(weir_library *library); /* NULL is fine */

typedef struct {
    weir_collective_algorithm algorithm; /* WEIR_ALGORITHM_COUNT: the best one */
    weir_collective_protocol protocol;   /* WEIR_PROTOCOL_COUNT: the best one */
    /* The library's names, "nvlink4", "ib-ndr", "efa-v2", or ids of presets/links and presets/nics,
     * "efa-p5". NULL, or a part that no transport stands for: the nearest rate. */
    const char *node_transport, *network_transport;
    const char *caller; /* what launches it, "torch"; NULL: the library's own test */
} weir_collective_wish;

/* The fastest possible choice. WEIR_ERR_INPUT: the wish is not possible for that shape. */
weir_code weir_library_choose(const weir_library *library, const weir_collective_shape *shape,
                              const weir_collective_wish *wish, weir_collective_choice *choice,
                              weir_err *err);
/* Seconds that this choice takes where nobody else is on the links: the closed form that playing
 * its plan on an idle, non-blocking fabric reproduces. */
double weir_collective_estimate_s(const weir_collective_shape *shape,
                                  const weir_collective_choice *choice);
/* The error that the fit left for such a shape, as a share (mean over calibration rows of that
 * system class and size class); NAN: not validated there. */
double weir_library_error(const weir_library *library, const weir_collective_shape *shape);

#endif
