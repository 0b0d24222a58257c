/* plan_tree.c: two trees over the nodes, each for half of the bytes, pipelined.
 *
 * Sanders, Speck and Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan
 * (Parallel Computing 35, 2009), with the numbering of NCCL (graph/trees.cc): who is inside one
 * tree is a leaf, or nearly, of the other. There is a pair of trees on each rail. Inside a node the
 * members hang on the one with the rail's NIC. */
#include "collective/plan_inside.h"

/* The parent in the first tree: the number with its lowest set bit moved up by one, if there. */
static uint32_t parent_of(uint32_t place, uint32_t count)
{
    uint32_t bit = place & (~place + 1);
    uint32_t up = (place ^ bit) | (bit << 1);
    return up < count ? up : place ^ bit;
}

/* The node at a place of the second tree: mirrored, or shifted where their number is odd. */
static uint32_t second(uint32_t place, uint32_t count)
{
    return count % 2 ? (place + 1) % count : count - 1 - place;
}

typedef struct {
    plan_draft *draft;
    double up, down; /* bytes of one edge */
    uint32_t rail;
    bool is_second;
} tree_pass;

static uint32_t tree_member(const planner *p, const tree_pass *pass, uint32_t place)
{
    uint32_t node = pass->is_second ? second(place, p->nodes) : place;
    return plan_member(p, node, pass->rail);
}

static weir_code load_edge(planner *p, const tree_pass *pass, uint32_t child, uint32_t parent)
{
    const uint32_t up[2] = {child, parent}, down[2] = {parent, child};
    weir_code code = plan_load_rail(p, pass->draft, up, pass->up);
    return code == WEIR_OK ? plan_load_rail(p, pass->draft, down, pass->down) : code;
}

static weir_code load_tree(planner *p, const tree_pass *pass)
{
    bool is_rooted = pass->up * pass->down == 0;
    uint32_t root = plan_member(p, 0, pass->rail);
    weir_code code = WEIR_OK;
    for (uint32_t place = 1; place < p->nodes && code == WEIR_OK; place++) {
        uint32_t child = tree_member(p, pass, place);
        if (!is_rooted || child != root) {
            code = load_edge(p, pass, child, tree_member(p, pass, parent_of(place, p->nodes)));
        }
    }
    /* A broadcast or reduce begins or ends at the first node: the second tree's root is told. */
    if (pass->is_second && is_rooted && code == WEIR_OK) {
        code = load_edge(p, pass, tree_member(p, pass, 0), root);
    }
    return code;
}

/* up, down: bytes that each node sends and gets in all. */
static weir_code load_trees(planner *p, plan_draft *draft, double up, double down)
{
    double share = 1.0 / (2.0 * p->least);
    weir_code code = WEIR_OK;
    for (uint32_t rail = 0; rail < p->least && p->nodes > 1; rail++) {
        for (uint32_t which = 0; which < 2 && code == WEIR_OK; which++) {
            const tree_pass pass = {draft, up * share, down * share, rail, which == 1};
            code = load_tree(p, &pass);
        }
    }
    return code;
}

weir_code plan_load_trees(planner *p, plan_draft *draft, double bytes)
{
    return load_trees(p, draft, bytes, bytes);
}

/* A chain from the rail's member (in a mesh: a star) through the other members of its node; in the
 * root's node of a broadcast it begins at the root. */
static weir_code load_members(planner *p, const tree_pass *pass, uint32_t node)
{
    uint32_t c = plan_members_of(p, node), root = pass->rail % c;
    bool is_rooted = pass->up * pass->down == 0 && node == 0;
    weir_code code = WEIR_OK;
    if (is_rooted && root != 0) {
        code = load_edge(p, pass, plan_member(p, 0, root), plan_member(p, 0, 0));
    }
    uint32_t before = root;
    for (uint32_t i = 1; i < c && code == WEIR_OK; i++) {
        uint32_t next = (root + i) % c;
        if (is_rooted && next == 0) {
            continue;
        }
        code = load_edge(p, pass, plan_member(p, node, next), plan_member(p, node, before));
        before = p->wiring == PLAN_WIRING_MESHED ? root : next;
    }
    return code;
}

weir_code plan_tree(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    double up = kind == WEIR_COLLECTIVE_BROADCAST ? 0 : p->job->bytes;
    double down = kind == WEIR_COLLECTIVE_REDUCE ? 0 : p->job->bytes;
    if (kind != WEIR_COLLECTIVE_ALL_REDUCE && up * down > 0) {
        return plan_refuse(p, "it does all_reduce, broadcast and reduce");
    }
    weir_code code = load_trees(p, &p->drafts[0], up, down);
    for (uint32_t rail = 0; rail < p->least && p->most > 1; rail++) {
        const tree_pass pass = {&p->drafts[0], up / p->least, down / p->least, rail, false};
        for (uint32_t k = 0; k < p->nodes && code == WEIR_OK; k++) {
            code = load_members(p, &pass, k);
        }
    }
    return code == WEIR_OK ? plan_round_of(p, p->job->bytes / p->least, 1) : code;
}
