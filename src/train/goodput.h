/* goodput.h: what failures, restarts and checkpoints leave of a run's time.
 *
 * J. Young, CACM 17(9), 1974; J. Daly, FGCS 22(3), 2006; failure rates per part from
 * presets/reliability.yaml (Llama 3, 2407.21783, table 5). Not here: the step itself. */
#ifndef WEIR_TRAIN_GOODPUT_H
#define WEIR_TRAIN_GOODPUT_H

#include "weir/base.h"

typedef struct {
    double devices;
    double device_mtbf_s; /* of one device with its share of host and network; 0: never fails */
    double detect_s, restart_s;
    double interval_s;         /* between checkpoints; 0: the best one */
    double state_bytes;        /* of a checkpoint on one device's share */
    double stored_bytes_per_s; /* of one device to storage */
    double
        copied_bytes_per_s; /* of one device to its host; asynchronous checkpoints stall for it */
    bool asynchronous;
} weir_goodput_job;

typedef struct {
    double mtbf_s;                                      /* of the job */
    double stall_s;                                     /* of a checkpoint */
    double interval_s;                                  /* used */
    double young_s, daly_s;                             /* the best intervals by both formulas */
    double checkpoint_share, lost_share, restart_share; /* of the time */
    double goodput;                                     /* the rest */
} weir_goodput;

void weir_goodput_of(const weir_goodput_job *job, weir_goodput *goodput);

/* Played with seeded exponential failures over `hours`; for tests and distributions. */
double weir_goodput_play(const weir_goodput_job *job, double hours, uint64_t seed);

#endif
