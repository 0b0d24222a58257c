/* uniform_mesh.h: as many circuits for each pair of nodes as for any other, as far as ports go.
 *
 * The ends of a node are dealt out over the rounds of a tournament in which everybody meets
 * everybody (circle method): round r joins i and j where i + j = r modulo the odd number at or
 * below n (n - 1 for even n), so that each round is a matching and all rounds are a full mesh. Full
 * meshes come first; what is left of the ends goes to rounds that let as many pairs as possible
 * meet over one other node (their differences cover the residues), as Jupiter's mesh does with 60 %
 * of its bytes direct. With an odd number of nodes one of them sits out each round.
 *
 * Not here: demand (circuit.h). */
#ifndef WEIR_FABRIC_UNIFORM_MESH_H
#define WEIR_FABRIC_UNIFORM_MESH_H

#include "fabric/circuit.h"

/* Rounds of the tournament: n - 1, for odd n: n. */
uint32_t weir_uniform_rounds(uint32_t n);
/* Who meets whom in a round: partner (n entries), WEIR_NONE: sits out. */
void weir_uniform_round(uint32_t n, uint32_t round, uint32_t *partner);

/* Appends both directions of each circuit, next to each other. As the functions of circuit.h. */
weir_code weir_circuit_from_uniform(const weir_circuit_switch *sw, weir_circuit_design *design,
                                    weir_err *err);

#endif
