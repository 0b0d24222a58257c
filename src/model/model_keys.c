/* The table of keys of dimensions written out, and what it cannot say: which layers have experts
 * or a window. */
#include "model/model_keys.h"

#include "model/model_source.h"

typedef struct {
    weir_model model;
    const char *name, *preset, *source, *url, *note;
    uint32_t confidence, dense_layers, moe_interval, window_interval;
} written;

#define AT(member) offsetof(written, member)

static const char *const activations[] = {
#define X(name, text) text,
    WEIR_MODEL_ACTIVATIONS(X)
#undef X
};
static const char *const positions[] = {
#define X(name, text) text,
    WEIR_MODEL_POSITIONS(X)
#undef X
};
static const char *const norms[] = {
#define X(name, text) text,
    WEIR_MODEL_NORMS(X)
#undef X
};
static const char *const tensors[] = {"llama", "mixtral", "gpt-oss", "phi3",
                                      "neox",  "gpt2",    "opt",     "bloom"};
static const char *const confidences[] = {"verified", "secondary", "memory", "derived", "fitted"};
_Static_assert(WEIR_TENSORS_BLOOM == 7, "tensors follows weir_tensor_names");

static const weir_key keys[] = {
    {.name = "name",
     .type = WEIR_KEY_TEXT,
     .offset = AT(name),
     .help = "what it is called",
     .example = "Llama 3 8B"},
    {.name = "preset",
     .type = WEIR_KEY_TEXT,
     .offset = AT(preset),
     .help = "a model of `weir presets` whose keys count where none is written here",
     .example = "llama3-8b"},
    {.name = "source",
     .type = WEIR_KEY_TEXT,
     .offset = AT(source),
     .help = "where the dimensions are from",
     .example = "config.json of the model"},
    {.name = "url",
     .type = WEIR_KEY_TEXT,
     .offset = AT(url),
     .help = "the same as an address",
     .example = "https://huggingface.co/..."},
    {.name = "confidence",
     .type = WEIR_KEY_CHOICE,
     .words = confidences,
     .word_count = sizeof confidences / sizeof *confidences,
     .offset = AT(confidence),
     .help = "how sure the source is",
     .example = "verified"},
    {.name = "note",
     .type = WEIR_KEY_TEXT,
     .offset = AT(note),
     .help = "a remark",
     .example = "without multi-token prediction"},
    {.name = "layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.layers),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .max = 1024,
     .help = "blocks",
     .example = "32"},
    {.name = "hidden",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.hidden),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .help = "hidden units",
     .example = "4096"},
    {.name = "heads",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.heads),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .help = "query heads",
     .example = "32"},
    {.name = "kv_heads",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.kv_heads),
     .unset = "0",
     .help = "key-value heads; 0: as many as query heads",
     .example = "8"},
    {.name = "head_dim",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.head_dim),
     .unset = "0",
     .help = "width of a head; 0: hidden / heads",
     .example = "128"},
    {.name = "q_rank",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.q_rank),
     .unset = "0",
     .help = "latent attention: rank of queries; 0: not compressed",
     .example = "1536"},
    {.name = "kv_rank",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.kv_rank),
     .unset = "0",
     .help = "latent attention: rank of keys and values; 0: heads are grouped",
     .example = "512"},
    {.name = "nope_dim",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.nope_dim),
     .unset = "0",
     .help = "latent attention: width of a query's head without positions",
     .example = "128"},
    {.name = "rope_dim",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.rope_dim),
     .unset = "0",
     .help = "latent attention: width of its rotary part",
     .example = "64"},
    {.name = "value_dim",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.value_dim),
     .unset = "0",
     .help = "latent attention: width of a value's head",
     .example = "128"},
    {.name = "ffn",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.ffn),
     .unset = "0",
     .help = "width of the network of dense layers",
     .example = "14336"},
    {.name = "gated",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.gated),
     .unset = "yes",
     .help = "three matrices (SwiGLU, GeGLU) instead of two",
     .example = "no"},
    {.name = "activation",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(model.activation),
     .words = activations,
     .word_count = sizeof activations / sizeof *activations,
     .unset = "silu",
     .help = "of the network",
     .example = "gelu"},
    {.name = "experts",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.experts),
     .unset = "0",
     .help = "routed experts of a layer; 0: no mixture",
     .example = "256"},
    {.name = "experts_per_token",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.experts_per_token),
     .unset = "0",
     .help = "top-k",
     .example = "8"},
    {.name = "expert_ffn",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.expert_ffn),
     .unset = "0",
     .help = "width of an expert",
     .example = "2048"},
    {.name = "shared_ffn",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.shared_ffn),
     .unset = "0",
     .help = "width of all shared experts together",
     .example = "2048"},
    {.name = "shared_gate",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.shared_gate),
     .unset = "no",
     .help = "the shared expert has a gate (Qwen2-MoE)",
     .example = "yes"},
    {.name = "dense_layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(dense_layers),
     .unset = "0",
     .help = "first layers without experts",
     .example = "3"},
    {.name = "moe_interval",
     .type = WEIR_KEY_UINT,
     .offset = AT(moe_interval),
     .min = 1,
     .unset = "1",
     .help = "every n-th of the other layers has experts, the last of each n",
     .example = "2"},
    {.name = "mtp_layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.mtp_layers),
     .max = 64,
     .unset = "0",
     .help = "multi-token prediction modules",
     .example = "1"},
    {.name = "vocab",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.vocab),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .help = "words, not padded",
     .example = "128256"},
    {.name = "tied",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.tied),
     .unset = "no",
     .help = "the head is the embedding",
     .example = "yes"},
    {.name = "positions",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(model.positions),
     .words = positions,
     .word_count = sizeof positions / sizeof *positions,
     .unset = "rotary",
     .help = "how positions are told",
     .example = "learned"},
    {.name = "max_positions",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.max_positions),
     .unset = "0",
     .help = "longest text; rows of a learned table; 0: no limit known",
     .example = "8192"},
    {.name = "position_rows",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.position_rows),
     .unset = "0",
     .help = "rows of a learned table; 0: max_positions",
     .example = "2050"},
    {.name = "norm",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(model.norm),
     .words = norms,
     .word_count = sizeof norms / sizeof *norms,
     .unset = "rms",
     .help = "kind of norms",
     .example = "layer"},
    {.name = "norms_per_layer",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.norms_per_layer),
     .min = 1,
     .max = 4,
     .unset = "2",
     .help = "norms of a block",
     .example = "4"},
    {.name = "norm_bias",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.norm_bias),
     .unset = "no",
     .help = "layer norms have biases",
     .example = "yes"},
    {.name = "final_norm",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.final_norm),
     .unset = "yes",
     .help = "a norm before the head",
     .example = "no"},
    {.name = "embedding_norm",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.embedding_norm),
     .unset = "no",
     .help = "a norm after the embedding (BLOOM)",
     .example = "yes"},
    {.name = "qk_norm",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.qk_norm),
     .unset = "no",
     .help = "norms of each head's queries and keys (Qwen3)",
     .example = "yes"},
    {.name = "parallel_residual",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.parallel_residual),
     .unset = "no",
     .help = "attention and network side by side (GPT-NeoX)",
     .example = "yes"},
    {.name = "qkv_bias",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.qkv_bias),
     .unset = "no",
     .help = "biases of queries, keys and values",
     .example = "yes"},
    {.name = "output_bias",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.output_bias),
     .unset = "no",
     .help = "biases of attention's output",
     .example = "yes"},
    {.name = "ffn_bias",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.ffn_bias),
     .unset = "no",
     .help = "biases of networks and experts",
     .example = "yes"},
    {.name = "router_bias",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.router_bias),
     .unset = "no",
     .help = "biases of the router (gpt-oss)",
     .example = "yes"},
    {.name = "sinks",
     .type = WEIR_KEY_BOOL,
     .offset = AT(model.sinks),
     .unset = "no",
     .help = "a learned logit for each head (gpt-oss)",
     .example = "yes"},
    {.name = "window",
     .type = WEIR_KEY_UINT,
     .offset = AT(model.window),
     .unset = "0",
     .help = "tokens that windowed layers see; 0: all",
     .example = "4096"},
    {.name = "window_interval",
     .type = WEIR_KEY_UINT,
     .offset = AT(window_interval),
     .unset = "0",
     .help = "every n-th layer sees all the same; 0: every layer has the window",
     .example = "2"},
    {.name = "tensors",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(model.names),
     .words = tensors,
     .word_count = sizeof tensors / sizeof *tensors,
     .unset = "llama",
     .help = "how checkpoints name the weights",
     .example = "gpt2"},
};

const weir_key_table weir_model_keys = {
    .title = "model",
    .about = "A transformer's dimensions; or the name of a model of `weir presets`, or the path of "
             "a `config.json` of Hugging Face.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

static void mark_layers(written *w)
{
    weir_model *m = &w->model;
    for (uint32_t i = 0; i < m->layers; i++) {
        bool moe = m->experts > 0 && i >= w->dense_layers && (i + 1) % w->moe_interval == 0;
        bool sees_all =
            m->window == 0 || (w->window_interval > 0 && (i + 1) % w->window_interval == 0);
        m->layer[i] = (uint8_t)((moe ? WEIR_LAYER_MOE : 0) | (sees_all ? 0 : WEIR_LAYER_WINDOW));
    }
}

static bool is_of_preset(const weir_yaml_node *node)
{
    return node->origin && weir_str_starts(weir_str_from(node->origin), WEIR_STR("presets/"));
}

/* Where the reader can do something: the first key over a preset; NULL: there is no preset. */
static const weir_yaml_node *own_key(const weir_yaml_node *root)
{
    const weir_yaml_node *m = weir_yaml_find(root, "preset") ? root->first : NULL;
    while (m && (is_of_preset(m) || weir_str_eq(m->key, WEIR_STR("preset")) ||
                 weir_str_eq(m->key, WEIR_STR("name")))) {
        m = m->next;
    }
    return m;
}

/* The sentence goes to the key that the field was read from. */
static weir_code report(const weir_yaml *doc, const weir_yaml_node *root,
                        const weir_model_fault *fault, weir_err *err)
{
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].offset == AT(model) + fault->field) {
            const weir_yaml_node *node = weir_yaml_find(root, keys[i].name), *ours = own_key(root);
            node = ours && (!node || is_of_preset(node)) ? ours : node;
            return weir_yaml_fail(doc, node ? node : root, err, "key '%s': %s", keys[i].name,
                                  fault->text);
        }
    }
    return weir_yaml_fail(doc, root, err, "%s", fault->text);
}

weir_code model_keys_read(const weir_yaml *doc, const weir_yaml_node *root, weir_model *model,
                          weir_err *err)
{
    written w = {0};
    weir_model_fault fault;
    weir_arena *arena = weir_arena_new();
    if (!arena) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a model");
    }
    weir_key_source source = {doc, arena};
    weir_code code = weir_keys_read(&source, root, &weir_model_keys, 0, &w, err);
    weir_arena_free(arena);
    if (code != WEIR_OK) {
        return code;
    }
    mark_layers(&w);
    weir_model_complete(&w.model);
    if (!weir_model_is_sound(&w.model, &fault)) {
        return report(doc, root, &fault, err);
    }
    *model = w.model;
    return WEIR_OK;
}
