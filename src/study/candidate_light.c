/* candidate_light.c: candidates with circuits of light. */
#include "study/candidate_inside.h"

weir_code candidate_build_circuits(const candidate_build *b, weir_err *err)
{
    (void)b;
    return weir_err_set(err, WEIR_ERR_INPUT, "circuits are not built yet");
}

weir_code candidate_build_rotor(const candidate_build *b, weir_err *err)
{
    (void)b;
    return weir_err_set(err, WEIR_ERR_INPUT, "rotors are not built yet");
}

weir_code candidate_build_hybrid(const candidate_build *b, weir_err *err)
{
    (void)b;
    return weir_err_set(err, WEIR_ERR_INPUT, "hybrids are not built yet");
}
