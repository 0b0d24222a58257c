/* The headline of a training step: rates, shares of the peak, memory, goodput. */
#include "model/model_count.h"
#include "model/model_flop.h"
#include "study/train_figures.h"

#include <math.h>

static const char *const FORMULAS[] = {[WEIR_FLOPS_EXACT] = "exact",
                                       [WEIR_FLOPS_MEGATRON] = "megatron",
                                       [WEIR_FLOPS_PALM] = "palm",
                                       [WEIR_FLOPS_MEGATRON_2021] = "megatron-2021"};

/* FLOP of a step, of all devices: without and with what is calculated again. */
typedef struct {
    double model, hardware;
} flop_pair;

static flop_pair count_flop(const train_figures *f)
{
    const weir_train_job *job = &f->scenario->job;
    const weir_train_plan *plan = &job->plan;
    bool is_full = plan->recompute == WEIR_RECOMPUTE_PLAN_FULL;
    uint64_t batch = plan->global_batch, vocab;
    flop_pair pair = {f->step->model_flop, f->step->flop};
    if (f->options->flops == WEIR_FLOPS_MEGATRON) {
        vocab = weir_vocab_padded(job->model, job->stack.vocab_multiple, plan->tensor);
        pair.model = weir_flop_megatron_token(job->model, plan->sequence, vocab) * f->step->tokens;
        pair.hardware = pair.model + f->step->flop - f->step->model_flop;
    } else if (f->options->flops == WEIR_FLOPS_MEGATRON_2021) {
        pair.model = weir_flop_megatron_2021(job->model, batch, plan->sequence, false);
        pair.hardware = weir_flop_megatron_2021(job->model, batch, plan->sequence, is_full);
    } else if (f->options->flops == WEIR_FLOPS_PALM) {
        pair.model = weir_flop_palm_token(job->model, plan->sequence) * f->step->tokens;
        pair.hardware = pair.model * (is_full ? 4.0 / 3 : 1);
    }
    return pair;
}

static void note_formula(const train_figures *f, const char *format)
{
    static const char *const what[] = {
        [WEIR_FLOPS_EXACT] = "every operation of this model, masked pairs of attention left out",
        [WEIR_FLOPS_MEGATRON] = "what Megatron-LM logs (num_floating_point_operations)",
        [WEIR_FLOPS_MEGATRON_2021] = "72 B s L h^2 (1 + s/6h + V/12Lh) (arXiv 2104.04473), dense",
        [WEIR_FLOPS_PALM] = "6 N + 12 L H Q T for each token (arXiv 2204.02311)"};
    weir_result_note(f->result,
                     "MFU counts %s, without recomputation, over the dense peak of %s; --flops "
                     "exact|megatron|palm|megatron-2021",
                     what[f->options->flops], format);
}

static void fill_rates(const train_figures *f, weir_training_result *t)
{
    const weir_train_job *job = &f->scenario->job;
    const weir_accelerator *accelerator = weir_kernel_accelerator(job->kernels);
    double peak = weir_gemm_format_peak(accelerator, job->plan.format);
    double devices = (double)t->devices;
    flop_pair flop = count_flop(f);
    t->tokens = f->step->tokens;
    t->tokens_per_s = t->tokens / t->step_s;
    t->tokens_per_s_per_device = t->tokens_per_s / devices;
    t->model_tflops_per_device = flop.model / t->step_s / devices * 1e-12;
    t->hardware_tflops_per_device = flop.hardware / t->step_s / devices * 1e-12;
    t->mfu = peak > 0 ? t->model_tflops_per_device * 1e12 / peak : NAN;
    t->recomputes = f->scenario->job.plan.recompute != WEIR_RECOMPUTE_PLAN_NONE;
    t->hfu = peak > 0 ? t->hardware_tflops_per_device * 1e12 / peak : NAN;
    t->flops = FORMULAS[f->options->flops];
    t->format = f->scenario->precision;
    t->bubble_share = f->step->bubble_share;
    t->accelerator = weir_result_copy(f->result, weir_str_from(accelerator->name));
    note_formula(f, f->scenario->precision);
}

static void fill_memory(const weir_train_memory *memory, weir_training_result *t)
{
    t->memory_bytes.parameters = memory->parameters;
    t->memory_bytes.gradients = memory->gradients;
    t->memory_bytes.optimizer = memory->optimizer;
    t->memory_bytes.activations = memory->activations;
    t->memory_bytes.buffers = memory->buffers;
    t->memory_bytes.context = memory->context;
    t->memory_bytes.fragmentation = memory->fragmentation;
    t->memory_bytes.total = memory->total;
    t->memory_bytes.capacity = memory->capacity;
    t->memory_bytes.stage = memory->stage;
}

static void fill_goodput(const train_figures *f, weir_training_result *t)
{
    weir_goodput_job job = f->scenario->goodput;
    bool is_known = job.device_mtbf_s > 0 || job.stored_bytes_per_s > 0;
    weir_goodput goodput = {0};
    job.devices = job.devices > 0 ? job.devices : (double)t->devices;
    t->goodput = t->mtbf_s = t->checkpoint_share = t->lost_share = t->restart_share =
        t->checkpoint_interval_s = NAN;
    if (!is_known) {
        return;
    }
    weir_goodput_of(&job, &goodput);
    t->goodput = goodput.goodput;
    t->mtbf_s = goodput.mtbf_s;
    t->checkpoint_share = goodput.checkpoint_share;
    t->lost_share = goodput.lost_share;
    t->restart_share = goodput.restart_share;
    t->checkpoint_interval_s = goodput.interval_s;
    t->is_best_interval = !(job.interval_s > 0);
}

static const char *describe_plan(const train_figures *f)
{
    const weir_train_plan *p = &f->scenario->job.plan;
    weir_text text = {0};
    const struct {
        const char *name;
        uint32_t size;
    } axes[] = {{"tp", p->tensor}, {"cp", p->context},        {"pp", p->pipeline},
                {"ep", p->expert}, {"etp", p->expert_tensor}, {"dp", p->data}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        if (axes[i].size > 1) {
            weir_text_printf(&text, "%s%s%u", text.n ? " " : "", axes[i].name, axes[i].size);
        }
    }
    if (p->zero) {
        weir_text_printf(&text, "%szero%u", text.n ? " " : "", p->zero);
    }
    if (p->pipeline > 1) {
        weir_text_printf(&text, " %s", weir_schedule_kind_name(p->schedule));
        if (p->chunks > 1) {
            weir_text_printf(&text, " x%u", p->chunks);
        }
    }
    weir_text_printf(&text, "%s%s", text.n ? " " : "", f->scenario->precision);
    const char *made =
        text.failed ? NULL : weir_result_copy(f->result, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return made;
}

/* Where stages do not begin and end together, their own steps count, in the mean. */
static double step_of(const train_figures *f)
{
    double steps = f->scenario->steps ? f->scenario->steps : 1;
    double wall_s = (double)f->result->total.wall_ns * 1e-9 / f->result->window.devices;
    return (f->program->spmd.steps_apart ? wall_s : f->run->end_s) / steps;
}

weir_code train_figure_headline(const train_figures *f, weir_err *err)
{
    weir_training_result *t = f->result->training;
    const weir_train_scenario *s = f->scenario;
    t->devices = weir_train_devices(&s->job.plan);
    t->stages = s->job.plan.pipeline;
    t->micro_batches = s->job.plan.micro_batches;
    t->step_s = step_of(f);
    t->closed_step_s = f->step->step_s;
    t->scenario_name = weir_result_copy(f->result, weir_str_from(s->name ? s->name : ""));
    t->model = weir_result_copy(f->result, weir_str_from(s->model.id));
    t->stack = s->job.stack.id ? weir_result_copy(f->result, weir_str_from(s->job.stack.id)) : NULL;
    t->plan = describe_plan(f);
    if (!t->scenario_name || !t->model || !t->plan) {
        return TRAIN_NO_MEMORY(err);
    }
    fill_rates(f, t);
    fill_memory(&f->step->memory, t);
    fill_goodput(f, t);
    f->result->efficiency.mfu = isnan(t->mfu) ? -1 : t->mfu;
    return WEIR_OK;
}
