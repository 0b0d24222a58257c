/* goodput.h: what failures, restarts and checkpoints leave of a run's time.
 *
 * J. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974;
 * J. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS
 * 22(3), 2006. Failures are a Poisson process; they also hit checkpoints and restarts. Work between
 * two checkpoints of w = interval + stall then takes M e^(R/M) (e^(w/M) - 1) (Daly, equation 13),
 * M the mean time between failures of the job and R detection plus restart. A copy that is written
 * while work goes on is safe write - stall later; a failure before that goes back one more copy: of
 * w seconds a share of (write - stall) / w loses w more, so R is longer by write - stall.
 *
 * Rates and times: presets/reliability.yaml. Not here: the step itself. */
#ifndef WEIR_TRAIN_GOODPUT_H
#define WEIR_TRAIN_GOODPUT_H

#include "weir/base.h"

typedef struct {
    double devices;
    double device_mtbf_s; /* of one device with its share of host and network; 0: never fails */
    double detect_s, restart_s;
    double interval_s;         /* of work between checkpoints; 0: Daly's */
    double state_bytes;        /* of a checkpoint, of one device's share */
    double stored_bytes_per_s; /* of one device to storage; 0: no checkpoints are written */
    double copied_bytes_per_s; /* of one device to its host's memory */
    bool asynchronous;         /* it goes on once the copy is made */
} weir_goodput_job;

typedef struct {
    double mtbf_s;          /* of the job; INFINITY: never fails */
    double stall_s;         /* of one checkpoint */
    double write_s;         /* until it is safe; an interval is not shorter */
    double interval_s;      /* that was used; INFINITY: none are written and none are needed */
    double young_s, daly_s; /* the best ones by both formulas */
    double checkpoint_share, lost_share, restart_share; /* of the time */
    double goodput;                                     /* the rest; the four add up to 1 */
} weir_goodput;

/* Without checkpoints a job that fails never ends: goodput 0. */
void weir_goodput_of(const weir_goodput_job *job, weir_goodput *goodput);

#endif
