#include "weir/base.h"

#include <stdatomic.h>
#include <stdlib.h>

struct weir_budget {
    atomic_uint_fast64_t used, peak;
    uint64_t max; /* 0 = no limit */
};

weir_budget *weir_budget_new(uint64_t max_bytes)
{
    weir_budget *budget = calloc(1, sizeof *budget);
    if (budget) {
        budget->max = max_bytes;
    }
    return budget;
}

void weir_budget_free(weir_budget *budget)
{
    free(budget);
}

bool weir_budget_take(weir_budget *budget, uint64_t bytes)
{
    if (!budget) {
        return true;
    }
    uint64_t used = atomic_fetch_add(&budget->used, bytes) + bytes;
    if (budget->max && used > budget->max) {
        atomic_fetch_sub(&budget->used, bytes);
        return false;
    }
    uint64_t peak = atomic_load(&budget->peak);
    while (used > peak && !atomic_compare_exchange_weak(&budget->peak, &peak, used)) {
    }
    return true;
}

void weir_budget_give(weir_budget *budget, uint64_t bytes)
{
    if (budget) {
        atomic_fetch_sub(&budget->used, bytes);
    }
}

uint64_t weir_budget_peak(const weir_budget *budget)
{
    return budget ? atomic_load(&budget->peak) : 0;
}

uint64_t weir_budget_max(const weir_budget *budget)
{
    return budget ? budget->max : 0;
}
