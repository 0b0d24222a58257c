/* Folding devices together with their traffic: colour refinement over bodies, links, devices and
 * meetings at once.
 *
 * To fold.h a device is one more link that never binds, coloured by its program and its slowness; a
 * meeting is another, and a body of its own, its marker, crosses both: so what is alike has the
 * same kinds of partners in the same exchanges, round by round, over links that are loaded alike.
 * By induction over the events of a run it then does everything at the same moments. */
#include "sim/cast.h"

#include "fabric/ecmp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is folded, beside the cast: links 0 .. links-1 are those of the net, then devices, then
 * meetings; bodies are those of the cast, then a marker for each meeting. */
typedef struct {
    const sim_cast *all;
    uint32_t links;
    weir_net *net;
    weir_body *bodies;
    weir_link_id
        *also; /* by body: the link of its meeting; WEIR_NONE: a marker, whose path has it */
    uint64_t *colours;
    weir_arena *arena; /* owns bodies, colours, the markers' paths */
} fold_scene;

static weir_link_id device_link(const fold_scene *scene, uint32_t device)
{
    return scene->links + device;
}

static weir_link_id meeting_link(const fold_scene *scene, uint32_t meeting)
{
    return scene->links + scene->all->device_count + meeting;
}

static weir_code build_net(fold_scene *scene, weir_err *err)
{
    const weir_net *net = scene->all->net;
    uint64_t count = (uint64_t)scene->links + scene->all->device_count + scene->all->meeting_count;
    scene->net = weir_net_new();
    if (!scene->net || count >= WEIR_NONE) {
        return SIM_NO_MEMORY(err);
    }
    weir_code code = WEIR_OK;
    for (uint64_t l = 0; l < count && code == WEIR_OK; l++) {
        weir_link_id link = (weir_link_id)l;
        double bytes_per_s = link < scene->links ? weir_net_bytes_per_s(net, link) : INFINITY;
        code = weir_net_add(scene->net, bytes_per_s, 0, &link, err);
    }
    weir_net_seal(scene->net);
    return code;
}

enum { COLOUR_LINK = 0, COLOUR_DEVICE, COLOUR_MEETING, COLOUR_CHANGED };

/* Bodies tell how long a meeting takes; where there are none it has to say so itself. */
static uint64_t meeting_colour(const cast_meeting *meeting)
{
    const double s[2] = {meeting->latency_s, meeting->alone_s};
    uint64_t colour = ecmp_mix((uint64_t)COLOUR_MEETING << 32), bits[2];
    memcpy(bits, s, sizeof bits);
    return meeting->is_fixed ? ecmp_mix(ecmp_mix(colour ^ bits[0]) ^ bits[1]) : colour;
}

static bool colour_links(fold_scene *scene)
{
    const sim_cast *all = scene->all;
    size_t count = (size_t)scene->links + all->device_count + all->meeting_count;
    scene->colours = weir_arena_alloc(scene->arena, count + 1, sizeof *scene->colours);
    if (!scene->colours) {
        return false;
    }
    for (uint32_t i = 0; i < all->change_count; i++) { /* each on its own: it changes by itself */
        weir_link_id link = all->changes[i].link;
        scene->colours[link] = ecmp_mix((uint64_t)COLOUR_CHANGED << 32 | link);
    }
    for (uint32_t d = 0; d < all->device_count; d++) {
        uint64_t bits;
        memcpy(&bits, &all->devices[d].factor, sizeof bits);
        uint64_t colour = ecmp_mix((uint64_t)COLOUR_DEVICE << 32 | all->devices[d].program);
        scene->colours[device_link(scene, d)] = ecmp_mix(colour ^ bits);
    }
    for (uint32_t m = 0; m < all->meeting_count; m++) {
        scene->colours[meeting_link(scene, m)] = meeting_colour(&all->meetings[m]);
    }
    return true;
}

/* start_s tells exchanges and rounds apart: 0 is the marker's. */
static bool add_marker(fold_scene *scene, uint32_t m, double start_s)
{
    const sim_cast *all = scene->all;
    const cast_meeting *meeting = &all->meetings[m];
    const weir_exchange *exchange = &all->spmd->exchanges[meeting->exchange];
    weir_body *marker = &scene->bodies[all->body_count + m];
    weir_link_id *links =
        weir_arena_alloc(scene->arena, (size_t)meeting->member_count + 1, sizeof *links);
    if (!links) {
        return false;
    }
    for (uint32_t i = 0; i < meeting->member_count; i++) {
        links[i] = device_link(scene, all->members[meeting->first_member + i]);
    }
    links[meeting->member_count] = meeting_link(scene, m);
    scene->also[all->body_count + m] = WEIR_NONE;
    double *factors = NULL; /* of an eager message: who sends is told from who receives */
    if (meeting->sender != WEIR_NONE) {
        factors =
            weir_arena_alloc(scene->arena, (size_t)meeting->member_count + 1, sizeof *factors);
        if (!factors) {
            return false;
        }
        for (uint32_t i = 0; i <= meeting->member_count; i++) {
            factors[i] = links[i] == device_link(scene, meeting->sender) ? 2 : 1;
        }
    }
    *marker = (weir_body){
        .path = {.count = meeting->member_count + 1, .links = links, .bytes_per_unit = factors},
        .size = 1 + (double)exchange->groups[meeting->group].plan->pace_tier,
        .start_s = start_s};
    return true;
}

static bool add_bodies(fold_scene *scene)
{
    const sim_cast *all = scene->all;
    size_t count = (size_t)all->body_count + all->meeting_count + 1;
    scene->bodies = weir_arena_alloc(scene->arena, count, sizeof *scene->bodies);
    scene->also = weir_arena_alloc(scene->arena, count, sizeof *scene->also);
    if (!scene->bodies || !scene->also) {
        return false;
    }
    if (all->body_count) {
        memcpy(scene->bodies, all->bodies, all->body_count * sizeof *scene->bodies);
    }
    double code = 0;
    uint32_t longest = 0;
    for (uint32_t m = 0; m < all->meeting_count; m++) {
        const cast_meeting *meeting = &all->meetings[m];
        if (m && meeting->exchange != meeting[-1].exchange) {
            code += 1 + (double)longest;
            longest = 0;
        }
        longest = meeting->round_count > longest ? meeting->round_count : longest;
        bool ok = add_marker(scene, m, code);
        for (uint32_t r = 0; ok && r < meeting->round_count; r++) {
            const cast_round *round = &all->rounds[meeting->first_round + r];
            for (uint32_t b = 0; b < round->body_count; b++) {
                weir_body *body = &scene->bodies[round->first_body + b];
                body->start_s = code + 1 + (double)r;
                scene->also[round->first_body + b] = meeting_link(scene, m);
            }
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* --- one of each class --- */

typedef struct {
    const fold_scene *scene;
    const weir_fold *fold;
    sim_cast *cast;
    uint32_t *device_class; /* by class of links: row of cast.devices; WEIR_NONE: no device */
    uint32_t *seen;         /* by class of bodies, and by row of devices: last round or meeting */
    uint8_t *is_real;       /* by class of links: links of the net */
} fold_pick;

static bool pick_devices(fold_pick *pick)
{
    const sim_cast *all = pick->scene->all;
    sim_cast *cast = pick->cast;
    const uint32_t *class_of = weir_fold_class_of_link(pick->fold);
    cast->devices =
        weir_arena_alloc(cast->arena, (size_t)all->device_count + 1, sizeof *cast->devices);
    cast->class_of_device =
        weir_arena_alloc(cast->arena, (size_t)all->device_count + 1, sizeof *cast->class_of_device);
    if (!cast->devices || !cast->class_of_device) {
        return false;
    }
    for (uint32_t c = 0; c < weir_fold_link_classes(pick->fold); c++) {
        pick->device_class[c] = WEIR_NONE;
    }
    for (uint32_t d = 0; d < all->device_count; d++) {
        uint32_t *row = &pick->device_class[class_of[device_link(pick->scene, d)]];
        if (*row == WEIR_NONE) {
            *row = cast->device_count;
            cast->devices[cast->device_count] = all->devices[d];
            cast->devices[cast->device_count++].multiplicity = 0;
        }
        cast->devices[*row].multiplicity += all->devices[d].multiplicity;
        cast->class_of_device[d] = *row;
    }
    return true;
}

static bool pick_links(fold_pick *pick)
{
    const fold_scene *scene = pick->scene;
    sim_cast *cast = pick->cast;
    const uint32_t *class_of = weir_fold_class_of_link(pick->fold);
    size_t classes = (size_t)weir_fold_link_classes(pick->fold) + 1;
    cast->link_of = weir_arena_alloc(cast->arena, classes, sizeof *cast->link_of);
    cast->link_multiplicity =
        weir_arena_alloc(cast->arena, classes, sizeof *cast->link_multiplicity);
    if (!cast->link_of || !cast->link_multiplicity) {
        return false;
    }
    for (size_t c = 0; c < classes; c++) {
        cast->link_of[c] = WEIR_NONE;
    }
    for (uint32_t l = 0; l < scene->links; l++) {
        uint32_t c = class_of[l];
        cast->links += cast->link_multiplicity[c] == 0;
        cast->link_of[c] = cast->link_multiplicity[c]++ ? cast->link_of[c] : l;
        pick->is_real[c] = 1;
    }
    cast->change_count = scene->all->change_count;
    cast->changes =
        weir_arena_alloc(cast->arena, (size_t)cast->change_count + 1, sizeof *cast->changes);
    if (!cast->changes) {
        return false;
    }
    for (uint32_t i = 0; i < cast->change_count; i++) {
        cast->changes[i] = scene->all->changes[i];
        cast->changes[i].link = class_of[scene->all->changes[i].link];
    }
    return true;
}

/* Without the links that stand for devices and meetings: they never bind. */
static bool pick_body(fold_pick *pick, uint32_t class)
{
    sim_cast *cast = pick->cast;
    weir_body body = weir_fold_body(pick->fold, class);
    size_t n = (size_t)body.path.count + 1;
    weir_link_id *links = weir_arena_alloc(cast->arena, n, sizeof *links);
    double *factors = weir_arena_alloc(cast->arena, n, sizeof *factors);
    if (!links || !factors) {
        return false;
    }
    uint32_t kept = 0;
    for (uint32_t j = 0; j < body.path.count; j++) {
        if (pick->is_real[body.path.links[j]]) {
            links[kept] = body.path.links[j];
            factors[kept++] = body.path.bytes_per_unit[j];
        }
    }
    body.path.links = links;
    body.path.bytes_per_unit = factors;
    body.path.count = kept;
    body.start_s = 0;
    cast->bodies[cast->body_count++] = body;
    return true;
}

static bool pick_meeting(fold_pick *pick, uint32_t m)
{
    const sim_cast *all = pick->scene->all;
    sim_cast *cast = pick->cast;
    const uint32_t *body_class = weir_fold_class_of_body(pick->fold),
                   *link_class = weir_fold_class_of_link(pick->fold);
    cast_meeting *meeting = &cast->meetings[cast->meeting_count++];
    *meeting = all->meetings[m];
    meeting->multiplicity *= weir_fold_multiplicity(pick->fold, body_class[all->body_count + m]);
    if (meeting->sender != WEIR_NONE) {
        meeting->sender = pick->device_class[link_class[device_link(pick->scene, meeting->sender)]];
    }
    meeting->first_member = cast->member_count;
    meeting->first_round = cast->round_count;
    uint32_t classes = weir_fold_body_classes(pick->fold), stamp = cast->meeting_count;
    for (uint32_t i = 0; i < all->meetings[m].member_count; i++) {
        uint32_t device = all->members[all->meetings[m].first_member + i];
        uint32_t row = pick->device_class[link_class[device_link(pick->scene, device)]];
        if (pick->seen[classes + row] != stamp) {
            pick->seen[classes + row] = stamp;
            cast->members[cast->member_count++] = row;
        }
    }
    meeting->member_count = cast->member_count - meeting->first_member;
    for (uint32_t r = 0; r < meeting->round_count; r++) {
        const cast_round *round = &all->rounds[all->meetings[m].first_round + r];
        cast_round *row = &cast->rounds[cast->round_count++];
        row->first_body = cast->body_count;
        for (uint32_t b = 0; b < round->body_count; b++) {
            uint32_t class = body_class[round->first_body + b];
            if (pick->seen[class] == 0) { /* a class belongs to one round of one meeting */
                pick->seen[class] = 1;
                if (!pick_body(pick, class)) {
                    return false;
                }
            }
        }
        row->body_count = cast->body_count - row->first_body;
    }
    return true;
}

/* Few rows, almost in order. */
static void order_members(sim_cast *cast, const cast_meeting *meeting)
{
    uint32_t *rows = cast->members + meeting->first_member;
    for (uint32_t i = 1; i < meeting->member_count; i++) {
        uint32_t row = rows[i], k = i;
        for (; k > 0 && rows[k - 1] > row; k--) {
            rows[k] = rows[k - 1];
        }
        rows[k] = row;
    }
}

static bool pick_meetings(fold_pick *pick)
{
    const sim_cast *all = pick->scene->all;
    sim_cast *cast = pick->cast;
    uint32_t classes = weir_fold_body_classes(pick->fold);
    cast->meetings = weir_arena_alloc(cast->arena, (size_t)classes + 1, sizeof *cast->meetings);
    cast->members =
        weir_arena_alloc(cast->arena, (size_t)all->member_count + 1, sizeof *cast->members);
    cast->rounds =
        weir_arena_alloc(cast->arena, (size_t)all->round_count + 1, sizeof *cast->rounds);
    cast->bodies = weir_arena_alloc(cast->arena, (size_t)classes + 1, sizeof *cast->bodies);
    bool ok = cast->meetings && cast->members && cast->rounds && cast->bodies;
    for (uint32_t m = 0; ok && m < all->meeting_count; m++) {
        uint32_t class = weir_fold_class_of_body(pick->fold)[all->body_count + m];
        if (pick->seen[class] == 0) {
            pick->seen[class] = 1;
            ok = pick_meeting(pick, m);
            order_members(cast, &cast->meetings[cast->meeting_count - 1]);
        }
    }
    return ok;
}

static weir_code pick_all(const fold_scene *scene, weir_fold *fold, sim_cast *cast, weir_err *err)
{
    size_t links = (size_t)weir_fold_link_classes(fold) + 1;
    size_t bodies = (size_t)weir_fold_body_classes(fold) + 1;
    *cast = (sim_cast){.spmd = scene->all->spmd,
                       .net = weir_fold_net(fold),
                       .fold = fold,
                       .budget = scene->all->budget};
    cast->arena = weir_arena_new();
    fold_pick pick = {.scene = scene,
                      .fold = fold,
                      .cast = cast,
                      .device_class = calloc(links, sizeof *pick.device_class),
                      .seen = calloc(bodies + scene->all->device_count, sizeof *pick.seen),
                      .is_real = calloc(links, 1)};
    bool ok = cast->arena && pick.device_class && pick.seen && pick.is_real &&
              pick_devices(&pick) && pick_links(&pick) && pick_meetings(&pick);
    free(pick.device_class);
    free(pick.seen);
    free(pick.is_real);
    return ok ? sim_cast_index(cast, err) : SIM_NO_MEMORY(err);
}

weir_code sim_cast_fold(const sim_cast *all, sim_cast *folded, weir_err *err)
{
    fold_scene scene = {.all = all, .links = weir_net_count(all->net), .arena = weir_arena_new()};
    weir_fold *fold = NULL;
    weir_code code = scene.arena ? build_net(&scene, err) : SIM_NO_MEMORY(err);
    if (code == WEIR_OK && !(colour_links(&scene) && add_bodies(&scene))) {
        code = SIM_NO_MEMORY(err);
    }
    if (code == WEIR_OK) {
        const weir_traffic traffic = {.bodies = scene.bodies,
                                      .count = all->body_count + all->meeting_count,
                                      .link_colours = scene.colours,
                                      .also = scene.also};
        code = weir_fold_new(scene.net, &traffic, &fold, err);
    }
    if (code == WEIR_OK && fold) {
        code = pick_all(&scene, fold, folded, err);
        if (code != WEIR_OK) {
            sim_cast_clear(folded);
        }
    }
    weir_net_free(scene.net);
    weir_arena_free(scene.arena);
    return code;
}
