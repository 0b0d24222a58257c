/* The tables of model types and keys (transformers 4.57.1, configuration_TYPE.py,
 * modeling_TYPE.py).
 *
 * A base holds what the model's code fixes (norms, biases, gates) and the configuration class's
 * defaults of keys that a file may leave out. */
#include "model/model_config_inside.h"

#define AT(member) offsetof(weir_model, member)

/* RMS norms, SwiGLU, rotary positions: what most models since LLaMA have in common. */
#define MODERN_WITH(function, norm_count)                                                          \
    .norms_per_layer = (norm_count), .activation = WEIR_ACTIVATION_##function, .gated = true,      \
    .final_norm = true, .norm = WEIR_NORM_RMS
#define MODERN MODERN_WITH(SILU, 2)
/* Layer norms with biases, biases everywhere. */
#define CLASSIC(function)                                                                          \
    .norms_per_layer = 2, .activation = WEIR_ACTIVATION_##function, .final_norm = true,            \
    .norm = WEIR_NORM_LAYER, .norm_bias = true, .qkv_bias = true, .output_bias = true,             \
    .ffn_bias = true

const model_family_base model_families[MODEL_FAMILY_COUNT] = {
    [MODEL_LLAMA] = {"llama", {MODERN, .max_positions = 2048}},
    [MODEL_MISTRAL] = {"mistral", {MODERN, .kv_heads = 8, .max_positions = 131072, .window = 4096}},
    [MODEL_MIXTRAL] = {"mixtral",
                       {MODERN, .names = WEIR_TENSORS_MIXTRAL, .kv_heads = 8,
                        .max_positions = 131072, .experts = 8, .experts_per_token = 2}},
    [MODEL_QWEN2] = {"qwen2",
                     {MODERN, .kv_heads = 32, .max_positions = 32768, .qkv_bias = true,
                      .window = 4096}},
    [MODEL_QWEN2_MOE] = {"qwen2_moe",
                         {MODERN, .kv_heads = 16, .max_positions = 32768, .qkv_bias = true,
                          .window = 4096, .experts = 60, .experts_per_token = 4, .expert_ffn = 1408,
                          .shared_ffn = 5632, .shared_gate = true}},
    [MODEL_QWEN3] = {"qwen3",
                     {MODERN, .kv_heads = 32, .head_dim = 128, .max_positions = 32768,
                      .qk_norm = true, .window = 4096}},
    [MODEL_QWEN3_MOE] = {"qwen3_moe",
                         {MODERN, .kv_heads = 4, .max_positions = 32768, .qk_norm = true,
                          .window = 4096, .experts = 128, .experts_per_token = 8,
                          .expert_ffn = 768}},
    [MODEL_DEEPSEEK_V2] = {"deepseek_v2",
                           {MODERN, .max_positions = 2048, .kv_rank = 512, .q_rank = 1536,
                            .nope_dim = 128, .rope_dim = 64, .value_dim = 128, .experts = 64,
                            .expert_ffn = 1407}},
    [MODEL_DEEPSEEK_V3] = {"deepseek_v3",
                           {MODERN, .max_positions = 4096, .kv_rank = 512, .q_rank = 1536,
                            .nope_dim = 128, .rope_dim = 64, .value_dim = 128, .experts = 256,
                            .experts_per_token = 8, .expert_ffn = 2048}},
    [MODEL_GPT_OSS] = {"gpt_oss",
                       {MODERN, .names = WEIR_TENSORS_GPT_OSS, .kv_heads = 8, .head_dim = 64,
                        .max_positions = 131072, .window = 128, .experts = 128,
                        .experts_per_token = 4, .qkv_bias = true, .output_bias = true,
                        .ffn_bias = true, .router_bias = true, .sinks = true}},
    [MODEL_PHI3] = {"phi3", {MODERN, .names = WEIR_TENSORS_PHI3, .max_positions = 4096}},
    [MODEL_GEMMA] = {"gemma",
                     {MODERN_WITH(GELU, 2), .kv_heads = 16, .head_dim = 256, .max_positions = 8192,
                      .tied = true}},
    [MODEL_GEMMA2] = {"gemma2",
                      {MODERN_WITH(GELU, 4), .kv_heads = 4, .head_dim = 256, .max_positions = 8192,
                       .window = 4096, .tied = true}},
    [MODEL_GPT_NEOX] = {"gpt_neox",
                        {CLASSIC(GELU), .names = WEIR_TENSORS_NEOX,
                         .positions = WEIR_POSITIONS_ROTARY, .max_positions = 2048,
                         .parallel_residual = true}},
    [MODEL_GPT2] = {"gpt2",
                    {CLASSIC(GELU), .names = WEIR_TENSORS_GPT2, .positions = WEIR_POSITIONS_LEARNED,
                     .max_positions = 1024, .tied = true}},
    [MODEL_OPT] = {"opt",
                   {CLASSIC(RELU), .names = WEIR_TENSORS_OPT, .positions = WEIR_POSITIONS_LEARNED,
                    .max_positions = 2048, .tied = true}},
    [MODEL_BLOOM] = {"bloom",
                     {CLASSIC(GELU), .names = WEIR_TENSORS_BLOOM, .positions = WEIR_POSITIONS_ALIBI,
                      .embedding_norm = true, .tied = true}},
};

#define B(name) (1u << MODEL_##name)
#define ALL     ((1u << MODEL_FAMILY_COUNT) - 1)
#define QWEN    (B(QWEN2) | B(QWEN2_MOE) | B(QWEN3) | B(QWEN3_MOE))
#define DEEP    (B(DEEPSEEK_V2) | B(DEEPSEEK_V3))
#define EXPERTS (B(QWEN2_MOE) | B(QWEN3_MOE) | DEEP)
#define GPT     (B(GPT_NEOX) | B(GPT2) | B(OPT) | B(BLOOM))
#define GROUPED (ALL & ~GPT)
#define WIDE    (GROUPED & ~DEEP)

const model_config_key model_config_keys[] = {
    {"hidden_size", "n_embd", MODEL_CONFIG_UINT, AT(hidden), B(GPT2), B(GPT2), false},
    {"hidden_size", "n_embed", MODEL_CONFIG_UINT, AT(hidden), B(BLOOM), B(BLOOM), false},
    {"hidden_size", NULL, MODEL_CONFIG_UINT, AT(hidden), ALL & ~(B(GPT2) | B(BLOOM)), ALL, false},
    {"num_hidden_layers", "n_layer", MODEL_CONFIG_UINT, AT(layers), ALL, ALL, false},
    {"num_attention_heads", "n_head", MODEL_CONFIG_UINT, AT(heads), ALL, ALL, false},
    {"num_key_value_heads", NULL, MODEL_CONFIG_UINT, AT(kv_heads), GROUPED, 0, true},
    {"head_dim", NULL, MODEL_CONFIG_UINT, AT(head_dim), WIDE, 0, true},
    {"q_lora_rank", NULL, MODEL_CONFIG_UINT, AT(q_rank), DEEP, 0, true},
    {"kv_lora_rank", NULL, MODEL_CONFIG_UINT, AT(kv_rank), DEEP, 0, false},
    {"qk_nope_head_dim", NULL, MODEL_CONFIG_UINT, AT(nope_dim), DEEP, 0, false},
    {"qk_rope_head_dim", NULL, MODEL_CONFIG_UINT, AT(rope_dim), DEEP, 0, false},
    {"v_head_dim", NULL, MODEL_CONFIG_UINT, AT(value_dim), DEEP, 0, false},
    {"intermediate_size", "n_inner", MODEL_CONFIG_UINT, AT(ffn), B(GPT2), 0, false},
    {"intermediate_size", NULL, MODEL_CONFIG_UINT, AT(expert_ffn), B(MIXTRAL) | B(GPT_OSS), ALL,
     false},
    {"ffn_dim", NULL, MODEL_CONFIG_UINT, AT(ffn), B(OPT), B(OPT), false},
    {"intermediate_size", NULL, MODEL_CONFIG_UINT, AT(ffn),
     ALL & ~(B(GPT2) | B(OPT) | B(BLOOM) | B(MIXTRAL) | B(GPT_OSS)),
     ALL & ~(B(QWEN2_MOE) | B(QWEN3_MOE)), false},
    {"moe_intermediate_size", NULL, MODEL_CONFIG_UINT, AT(expert_ffn), EXPERTS, EXPERTS, false},
    {"shared_expert_intermediate_size", NULL, MODEL_CONFIG_UINT, AT(shared_ffn), B(QWEN2_MOE), 0,
     false},
    {"num_local_experts", "num_experts", MODEL_CONFIG_UINT, AT(experts), B(MIXTRAL) | B(GPT_OSS), 0,
     false},
    {"num_experts", "num_local_experts", MODEL_CONFIG_UINT, AT(experts),
     B(QWEN2_MOE) | B(QWEN3_MOE), 0, false},
    {"n_routed_experts", "num_experts", MODEL_CONFIG_UINT, AT(experts), DEEP, 0, true},
    {"num_experts_per_tok", "experts_per_token", MODEL_CONFIG_UINT, AT(experts_per_token),
     EXPERTS | B(MIXTRAL) | B(GPT_OSS), B(DEEPSEEK_V2), false},
    {"num_nextn_predict_layers", NULL, MODEL_CONFIG_UINT, AT(mtp_layers), B(DEEPSEEK_V3), 0, false},
    {"vocab_size", NULL, MODEL_CONFIG_UINT, AT(vocab), ALL, ALL, false},
    {"max_position_embeddings", "n_positions", MODEL_CONFIG_UINT, AT(max_positions),
     ALL & ~B(BLOOM), 0, false},
    {"seq_length", NULL, MODEL_CONFIG_UINT, AT(max_positions), B(BLOOM), 0, false},
    {"sliding_window", NULL, MODEL_CONFIG_UINT, AT(window),
     QWEN | B(MISTRAL) | B(MIXTRAL) | B(GPT_OSS) | B(PHI3) | B(GEMMA2), 0, true},
    {"tie_word_embeddings", NULL, MODEL_CONFIG_FLAG, AT(tied), ALL, 0, false},
    {"hidden_act", NULL, MODEL_CONFIG_ACTIVATION, AT(activation),
     ALL & ~(B(GPT2) | B(OPT) | B(BLOOM) | B(GEMMA) | B(GEMMA2)), 0, false},
    {"activation_function", NULL, MODEL_CONFIG_ACTIVATION, AT(activation), B(GPT2) | B(OPT), 0,
     false},
    {"attention_bias", NULL, MODEL_CONFIG_FLAG, AT(qkv_bias),
     B(LLAMA) | B(QWEN3) | B(QWEN3_MOE) | DEEP | B(GPT_OSS) | B(GEMMA) | B(GEMMA2) | B(GPT_NEOX), 0,
     false},
    {"attention_bias", NULL, MODEL_CONFIG_FLAG, AT(output_bias),
     B(LLAMA) | B(QWEN3) | B(QWEN3_MOE) | DEEP | B(GPT_OSS) | B(GEMMA) | B(GEMMA2) | B(GPT_NEOX), 0,
     false},
    {"qkv_bias", NULL, MODEL_CONFIG_FLAG, AT(qkv_bias), B(QWEN2_MOE), 0, false},
    {"mlp_bias", NULL, MODEL_CONFIG_FLAG, AT(ffn_bias), B(LLAMA) | B(DEEPSEEK_V2), 0, false},
    {"use_parallel_residual", NULL, MODEL_CONFIG_FLAG, AT(parallel_residual), B(GPT_NEOX), 0,
     false},
    {"enable_bias", NULL, MODEL_CONFIG_FLAG, AT(qkv_bias), B(OPT), 0, false},
    {"enable_bias", NULL, MODEL_CONFIG_FLAG, AT(output_bias), B(OPT), 0, false},
    {"enable_bias", NULL, MODEL_CONFIG_FLAG, AT(ffn_bias), B(OPT), 0, false},
};
const uint32_t model_config_key_count = sizeof model_config_keys / sizeof *model_config_keys;
