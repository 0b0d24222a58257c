#include "fabric/fluid_inside.h"

#include "base/grow.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

weir_code weir_fluid_new(const weir_net *net, weir_fluid **fluid, weir_err *err)
{
    if (!weir_net_is_sealed(net)) {
        return weir_err_set(err, WEIR_ERR_USAGE, "bandwidth is shared on a sealed net only");
    }
    weir_fluid *made = calloc(1, sizeof *made);
    if (!made) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for sharing bandwidth");
    }
    size_t count = weir_net_count(net);
    size_t room = count ? count : 1;
    made->net = net;
    made->link_count = (uint32_t)count;
    made->fresh = true;
    made->shares = calloc(room, sizeof *made->shares);
    made->links = calloc(room, sizeof *made->links);
    made->active = malloc(room * sizeof *made->active);
    made->touched = malloc(room * sizeof *made->touched);
    made->turns = malloc(room * sizeof *made->turns);
    if (!made->shares || !made->links || !made->active || !made->touched || !made->turns) {
        weir_fluid_free(made);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u links", (unsigned)count);
    }
    for (uint32_t l = 0; l < count; l++) {
        made->links[l].capacity = weir_net_bytes_per_s(net, l);
        made->links[l].active_at = WEIR_NONE;
    }
    *fluid = made;
    return WEIR_OK;
}

void weir_fluid_free(weir_fluid *fluid)
{
    if (!fluid) {
        return;
    }
    for (uint32_t l = 0; fluid->links && l < fluid->link_count; l++) {
        free(fluid->links[l].entries);
    }
    free(fluid->shares);
    free(fluid->links);
    free(fluid->bodies);
    free(fluid->path);
    free(fluid->factors);
    free(fluid->spare);
    free(fluid->pending);
    free(fluid->active);
    free(fluid->touched);
    free(fluid->changed);
    free(fluid->turns);
    free(fluid->events);
    free(fluid->sorted);
    free(fluid);
}

/* --- storing bodies --- */

static bool is_positive(double number)
{
    return number > 0 && !isinf(number);
}

static weir_code check_path(const weir_fluid *fluid, const weir_path *path, weir_err *err)
{
    for (uint32_t i = 0; i < path->count; i++) {
        if (path->links[i] >= fluid->link_count) {
            return weir_err_set(err, WEIR_ERR_INPUT, "a route crosses link %u; the net has %u",
                                path->links[i], fluid->link_count);
        }
        if (path->bytes_per_unit && !is_positive(path->bytes_per_unit[i])) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "a load of %g on link %u; it must be above 0 and finite",
                                path->bytes_per_unit[i], path->links[i]);
        }
    }
    if (!(path->weight >= 0) || isinf(path->weight)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a weight of %g; it must be above 0 and finite",
                            path->weight);
    }
    if (!(path->cap >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a rate cap of %g; it must be above 0", path->cap);
    }
    return WEIR_OK;
}

static bool reserve(void *array, uint32_t need, uint32_t *room, size_t size)
{
    void *old;
    memcpy(&old, array, sizeof old);
    if (need <= *room) {
        return true;
    }
    uint32_t more = need > UINT32_MAX - *room ? UINT32_MAX : need + *room;
    void *grown = realloc(old, more * size);
    if (!grown) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

/* Room for one more body with this path, in all the tables that it goes to. */
static weir_code make_room(weir_fluid *fluid, const weir_path *path, weir_err *err)
{
    uint64_t links = (uint64_t)fluid->path_count + path->count;
    uint64_t factors = (uint64_t)fluid->factor_count + path->count;
    if (links >= WEIR_NONE || factors >= WEIR_NONE || fluid->body_count >= WEIR_NONE - 1) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "more than %u links of routes at a time",
                            WEIR_NONE - 1);
    }
    if (!weir_grow(&fluid->bodies, fluid->body_count, &fluid->body_room, sizeof *fluid->bodies) ||
        !weir_grow(&fluid->pending, fluid->body_count, &fluid->pending_room,
                   sizeof *fluid->pending) ||
        !weir_grow(&fluid->spare, fluid->body_count, &fluid->spare_room, sizeof *fluid->spare) ||
        !reserve(&fluid->path, (uint32_t)links, &fluid->path_room, sizeof *fluid->path) ||
        (path->bytes_per_unit && !reserve(&fluid->factors, (uint32_t)factors, &fluid->factor_room,
                                          sizeof *fluid->factors))) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u bodies", fluid->body_count + 1);
    }
    return WEIR_OK;
}

weir_code weir_fluid_add(weir_fluid *fluid, const weir_path *path, weir_body_id *body,
                         weir_err *err)
{
    weir_code code = check_path(fluid, path, err);
    if (code == WEIR_OK) {
        code = make_room(fluid, path, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    weir_body_id id = fluid->spare_count ? fluid->spare[--fluid->spare_count] : fluid->body_count++;
    fluid_body *b = &fluid->bodies[id];
    *b = (fluid_body){
        .first = fluid->path_count,
        .count = path->count,
        .factors = path->bytes_per_unit ? fluid->factor_count : WEIR_NONE,
        .stage = BODY_STORED,
        .weight = path->weight > 0 ? path->weight : 1,
        .cap = path->cap > 0 ? path->cap : INFINITY,
        .link = WEIR_NONE,
        .limit_link = WEIR_NONE,
    };
    if (path->count) {
        memcpy(fluid->path + b->first, path->links, path->count * sizeof *path->links);
        fluid->path_count += path->count;
        if (path->bytes_per_unit) {
            memcpy(fluid->factors + b->factors, path->bytes_per_unit,
                   path->count * sizeof *path->bytes_per_unit);
            fluid->factor_count += path->count;
        }
    }
    *body = id;
    return WEIR_OK;
}

weir_code weir_fluid_start(weir_fluid *fluid, weir_body_id body, weir_err *err)
{
    fluid_body *b = &fluid->bodies[body];
    if (body >= fluid->body_count || b->stage != BODY_STORED) {
        return weir_err_set(err, WEIR_ERR_USAGE, "body %u is not there to be started", body);
    }
    b->stage = BODY_PENDING;
    b->arrival = fluid->arrivals++;
    fluid->pending[fluid->pending_count++] = body;
    return WEIR_OK;
}

static void touch(weir_fluid *fluid, weir_link_id link)
{
    if (!fluid->links[link].changed) {
        fluid->links[link].changed = true;
        fluid->touched[fluid->touched_count++] = link;
    }
}

void weir_fluid_remove(weir_fluid *fluid, weir_body_id body)
{
    fluid_body *b = &fluid->bodies[body];
    assert(body < fluid->body_count && b->stage != BODY_FREE && b->stage != BODY_DEAD);
    if (b->stage == BODY_LIVE) {
        for (uint32_t i = 0; i < b->count; i++) {
            weir_link_id link = fluid->path[b->first + i];
            touch(fluid, link);
            fluid->links[link].stale = true;
            fluid->shares[link].live--;
        }
        fluid->live_entries -= b->count;
        fluid->live_count--;
    }
    b->stage = BODY_DEAD; /* its id may still stand in lists: free after the next sweep */
    fluid->dead_count++;
    fluid->dead_path += b->count;
}

weir_code weir_fluid_set_capacity(weir_fluid *fluid, weir_link_id link, double bytes_per_s,
                                  weir_err *err)
{
    if (link >= fluid->link_count || !(bytes_per_s >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a capacity of %g bytes/s for link %u of %u; it must be 0 or more",
                            bytes_per_s, link, fluid->link_count);
    }
    fluid->links[link].capacity = bytes_per_s;
    touch(fluid, link);
    return WEIR_OK;
}

/* --- before a solve --- */

static void drop_dead_entries(weir_fluid *fluid, fluid_link *link, uint32_t live)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < link->count && kept < live; i++) {
        if (fluid->bodies[link->entries[i].body].stage == BODY_LIVE) {
            link->entries[kept++] = link->entries[i];
        }
    }
    link->count = kept;
}

/* Pools without what the dead left in them. Bodies lie there in no order, so a new pool is made. */
static void pack_pools(weir_fluid *fluid)
{
    if (fluid->body_count == fluid->spare_count) { /* nobody is left */
        fluid->path_count = fluid->factor_count = 0;
        return;
    }
    weir_link_id *path = malloc((size_t)fluid->path_room * sizeof *path);
    double *factors = malloc(((size_t)fluid->factor_room + 1) * sizeof *factors);
    if (!path || !factors) {
        free(path);
        free(factors);
        return; /* the old pools are good, only bigger than they need be */
    }
    uint32_t links = 0, scaled = 0;
    for (uint32_t i = 0; i < fluid->body_count; i++) {
        fluid_body *b = &fluid->bodies[i];
        if (b->stage == BODY_FREE || b->count == 0) {
            continue;
        }
        memcpy(path + links, fluid->path + b->first, b->count * sizeof *path);
        b->first = links;
        links += b->count;
        if (b->factors != WEIR_NONE) {
            memcpy(factors + scaled, fluid->factors + b->factors, b->count * sizeof *factors);
            b->factors = scaled;
            scaled += b->count;
        }
    }
    free(fluid->path);
    free(fluid->factors);
    fluid->path = path;
    fluid->factors = factors;
    fluid->path_count = links;
    fluid->factor_count = scaled;
}

static void free_dead(weir_fluid *fluid)
{
    for (uint32_t i = fluid->body_count; i-- > 0;) {
        if (fluid->bodies[i].stage == BODY_DEAD) {
            fluid->bodies[i].stage = BODY_FREE;
            fluid->spare[fluid->spare_count++] = i;
        }
    }
    fluid->dead_count = 0;
    fluid->dead_path = 0;
}

/* Frees the ids of the dead, once there are many: amortised O(1) an entry. */
static void sweep(weir_fluid *fluid)
{
    if (fluid->dead_count < 1024 + fluid->live_count + fluid->link_count / 8 &&
        fluid->dead_path < 65536 + fluid->live_entries) {
        return;
    }
    for (uint32_t l = 0; l < fluid->link_count; l++) {
        if (fluid->links[l].count > fluid->shares[l].live) {
            drop_dead_entries(fluid, &fluid->links[l], fluid->shares[l].live);
        }
    }
    free_dead(fluid);
    pack_pools(fluid);
}

static void drop_dead_pending(weir_fluid *fluid)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fluid->pending_count; i++) {
        if (fluid->bodies[fluid->pending[i]].stage == BODY_PENDING) {
            fluid->pending[kept++] = fluid->pending[i];
        }
    }
    fluid->pending_count = kept;
}

static bool reserve_entries(weir_fluid *fluid)
{
    for (uint32_t i = 0; i < fluid->pending_count; i++) {
        const fluid_body *b = &fluid->bodies[fluid->pending[i]];
        for (uint32_t j = 0; j < b->count; j++) {
            weir_link_id l = fluid->path[b->first + j];
            touch(fluid, l);
            fluid->links[l].more++;
        }
    }
    bool enough = true;
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        fluid_link *link = &fluid->links[fluid->touched[i]];
        uint32_t need = link->count + link->more;
        link->more = 0;
        enough = enough && (need <= link->room ||
                            reserve(&link->entries, need, &link->room, sizeof *link->entries));
    }
    return enough;
}

static void append_entries(weir_fluid *fluid)
{
    for (uint32_t i = 0; i < fluid->pending_count; i++) {
        weir_body_id id = fluid->pending[i];
        fluid_body *b = &fluid->bodies[id];
        for (uint32_t j = 0; j < b->count; j++) {
            weir_link_id l = fluid->path[b->first + j];
            fluid_link *link = &fluid->links[l];
            link->entries[link->count++] = (fluid_entry){id, j};
            link->total += b->weight * fluid_factor(fluid, b, j);
            fluid->shares[l].live++;
        }
        b->stage = BODY_LIVE;
        fluid->live_entries += b->count;
    }
    fluid->live_count += fluid->pending_count;
}

static void set_active(weir_fluid *fluid, weir_link_id l)
{
    fluid_link *link = &fluid->links[l];
    if (fluid->shares[l].live > 0 && link->active_at == WEIR_NONE) {
        link->active_at = fluid->active_count;
        fluid->active[fluid->active_count++] = l;
    } else if (fluid->shares[l].live == 0 && link->active_at != WEIR_NONE) {
        weir_link_id last = fluid->active[--fluid->active_count];
        fluid->active[link->active_at] = last;
        fluid->links[last].active_at = link->active_at;
        link->active_at = WEIR_NONE;
    }
}

/* Lists and sums of the links that lost bodies. */
static void mend_touched(weir_fluid *fluid)
{
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        weir_link_id l = fluid->touched[i];
        fluid_link *link = &fluid->links[l];
        uint32_t live = fluid->shares[l].live;
        if (live == 0) {
            link->count = 0;
        } else if (link->count > 2 * live) {
            drop_dead_entries(fluid, link, live);
        }
        if (!link->stale) {
            continue;
        }
        link->stale = false;
        link->total = 0;
        for (uint32_t j = 0; j < link->count; j++) {
            const fluid_body *b = &fluid->bodies[link->entries[j].body];
            if (b->stage == BODY_LIVE) {
                link->total += b->weight * fluid_factor(fluid, b, link->entries[j].step);
            }
        }
    }
}

weir_code fluid_settle(weir_fluid *fluid, weir_err *err)
{
    sweep(fluid);
    drop_dead_pending(fluid);
    mend_touched(fluid);
    if (!reserve(&fluid->changed, fluid->body_count, &fluid->changed_room,
                 sizeof *fluid->changed) ||
        !reserve_entries(fluid)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for sharing links among %u bodies",
                            fluid->live_count + fluid->pending_count);
    }
    append_entries(fluid);
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        set_active(fluid, fluid->touched[i]);
    }
    fluid->changed_count = 0;
    fluid->solve++;
    return WEIR_OK;
}

void fluid_untouch(weir_fluid *fluid)
{
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        weir_link_id l = fluid->touched[i];
        fluid->links[l].changed = false;
        fluid->links[l].was_shared = fluid_is_shared(fluid, l);
    }
    fluid->touched_count = 0;
    fluid->pending_count = 0;
}

/* --- reading --- */

double weir_fluid_rate(const weir_fluid *fluid, weir_body_id body)
{
    return fluid->bodies[body].rate;
}

weir_link_id weir_fluid_bottleneck(const weir_fluid *fluid, weir_body_id body)
{
    const fluid_body *b = &fluid->bodies[body];
    return b->link != WEIR_NONE && b->phase == PHASE_SHARED ? b->link : b->limit_link;
}

const weir_body_id *weir_fluid_changed(const weir_fluid *fluid, uint32_t *count)
{
    *count = fluid->changed_count;
    return fluid->changed;
}

double weir_fluid_capacity(const weir_fluid *fluid, weir_link_id link)
{
    return fluid->links[link].capacity;
}

double weir_fluid_load(const weir_fluid *fluid, weir_link_id link)
{
    const fluid_link *l = &fluid->links[link];
    double sum = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const fluid_body *b = &fluid->bodies[l->entries[i].body];
        if (b->stage == BODY_LIVE) {
            sum += b->rate * fluid_factor(fluid, b, l->entries[i].step);
        }
    }
    return sum;
}

uint32_t weir_fluid_body_bound(const weir_fluid *fluid)
{
    return fluid->body_count;
}

weir_fluid_work weir_fluid_work_done(const weir_fluid *fluid)
{
    return fluid->work;
}
