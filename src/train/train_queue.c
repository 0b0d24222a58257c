#include "train/train_queue.h"

#include <math.h>

typedef struct {
    double host_s, device_s; /* when each is free */
} clocks;

/* The first of the launches lets the device begin, the last one lets it end. */
static void run(clocks *now, const weir_queue_item *item, double launch_s, double read_s)
{
    if (item->reads) {
        now->host_s = fmax(now->host_s, now->device_s) + read_s;
    }
    if (!(item->launches > 0)) {
        now->device_s += item->device_s;
        return;
    }
    double first_s = now->host_s + launch_s * fmin(1, item->launches);
    now->host_s += launch_s * item->launches;
    double last_s = item->device_s / fmax(1, item->launches);
    now->device_s = fmax(fmax(now->device_s, first_s) + item->device_s, now->host_s + last_s);
}

double weir_queue_idle_s(const weir_queue_item *items, uint32_t count, double launch_s,
                         double read_s)
{
    enum { TIMES = 3 }; /* the first starts from nothing, the second from what that left */
    clocks now = {0, 0};
    double begin_s = 0, busy_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        busy_s += items[i].device_s;
    }
    for (uint32_t time = 0; time < TIMES; time++) {
        begin_s = now.device_s;
        for (uint32_t i = 0; i < count; i++) {
            run(&now, &items[i], launch_s, read_s);
        }
    }
    return fmax(0, now.device_s - begin_s - busy_s);
}
