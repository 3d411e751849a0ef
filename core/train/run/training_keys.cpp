#include "core/train/run/training_keys.hpp"

#include <algorithm>
#include <map>

#include "core/deck/describe.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/layerwise.hpp"
#include "core/train/optimizers/lion.hpp"
#include "core/train/optimizers/muon.hpp"
#include "core/train/optimizers/nadam.hpp"
#include "core/train/optimizers/rmsprop.hpp"
#include "core/train/optimizers/schedule_free.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "core/train/optimizers/soap.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

/// Name of an optimizer in the rules.
std::string name_of(const std::string& optimizer) {
  static const std::map<std::string, std::string> names{{"adam", "Adam"}, {"adamw", "AdamW"}, {"split_adamw", "AdamW"},
                                                        {"lamb", "LAMB"}, {"lars", "LARS"},   {"split_sgd", "sgd"}};
  const auto found = names.find(optimizer);
  return found == names.end() ? optimizer : found->second;
}

struct Dropout {
  double dropout = 0.0;
  static void describe(deck::Describe<Dropout>& d) {
    d("dropout", &Dropout::dropout, "dropout probability of a network's outputs");
  }
};

/// nvcc 13 drops a braced list inside a template.
Json pair_of(double first, double second) {
  Json both = Json::array();
  both.push_back(first);
  both.push_back(second);
  return both;
}

/// Logs the keys of an optimizer that occur in the rules.
template <class P>
void log_keys(const deck::Node& keys, MlLog& log, const Registry& registry) {
  const auto p = deck::read<P>(keys, &registry);
  if constexpr (requires { p.beta1; }) log.event("opt_betas", pair_of(p.beta1, p.beta2));
  if constexpr (requires { p.betas; }) log.event("opt_betas", pair_of(p.betas[0], p.betas[1]));
  if constexpr (requires { p.epsilon; }) log.event("opt_eps", p.epsilon);
  if constexpr (requires { p.eps; }) log.event("opt_eps", p.eps);
  if constexpr (requires { p.momentum; }) log.event("opt_momentum", p.momentum);
  log.event("opt_weight_decay", p.weight_decay);
}

void log_optimizer(const deck::Choice<Optimizer>& optimizer, MlLog& log, const Registry& registry) {
  const auto& type = optimizer.type;
  log.event("opt_name", name_of(type));
  const auto of = [&]<class O>(const char* name) {
    if (type == name) log_keys<typename O::Params>(optimizer.node, log, registry);
  };
  of.operator()<Adam>("adam");
  of.operator()<AdamW>("adamw");
  of.operator()<SplitAdamW>("split_adamw");
  of.operator()<NAdam>("nadam");
  of.operator()<ScheduleFreeAdamW>("schedule_free_adamw");
  of.operator()<Lamb>("lamb");
  of.operator()<Soap>("soap");
  of.operator()<Lion>("lion");
  of.operator()<Sgd>("sgd");
  of.operator()<SplitSgd>("split_sgd");
  of.operator()<RmsProp>("rmsprop");
  of.operator()<Muon>("muon");
  of.operator()<Lars>("lars");
}

/// In the rules of deepcam the factor is the last rate of the warm-up over its first, and opt_lr the first; a warm-up
/// from zero has the factor 1.
void log_warm_up(const TrainingKeys& keys, MlLog& log) {
  const double steps = keys.warm_up ? static_cast<double>(keys.warm_up->steps) : 0.0;
  const double from = keys.warm_up ? keys.warm_up->from : 1.0;
  const bool rises = from > 0.0 && from < 1.0;
  log.event("opt_learning_rate_warmup_epochs", steps / static_cast<double>(keys.steps_per_epoch));
  log.event("opt_learning_rate_warmup_steps", steps);
  log.event("opt_learning_rate_warmup_factor", from);
  log.event("opt_lr", rises ? from * keys.start_rate : keys.start_rate);
  log.event("scheduler_lr_warmup_steps", steps);
  log.event("scheduler_lr_warmup_factor", rises ? 1.0 / from : 1.0);
}

/// Steps of the run, including warm-up, at which the rate decreases.
std::vector<std::int64_t> boundaries_of(const StepRate::Params& p, const TrainingKeys& keys) {
  const std::int64_t before = keys.warm_up ? keys.warm_up->steps : 0;
  std::vector<std::int64_t> out;
  for (const auto step : p.at) out.push_back(before + step);
  if (p.every)
    for (std::int64_t step = *p.every; before + step < keys.steps; step += *p.every) out.push_back(before + step);
  std::sort(out.begin(), out.end());
  return out;
}

void log_decay(const std::vector<std::int64_t>& steps, double factor, const TrainingKeys& keys, MlLog& log) {
  Json epochs = Json::array();
  for (const auto step : steps) epochs.push_back(static_cast<double>(step) / static_cast<double>(keys.steps_per_epoch));
  log.event("opt_learning_rate_decay_boundary_epochs", epochs);
  log.event("opt_learning_rate_decay_boundary_steps", steps.empty() ? Json::array() : Json(steps));
  log.event("opt_learning_rate_decay_factor", factor);
}

void log_rate(const TrainingKeys& keys, MlLog& log, const Registry& registry) {
  const auto& type = keys.rate.type;
  log.event("scheduler_type", type == "step" ? "multistep" : type == "cosine" ? "cosine_annealing" : type);
  if (type == "constant") log_decay({}, 1.0, keys, log);
  if (type == "step") {
    const auto p = deck::read<StepRate::Params>(keys.rate.node, &registry);
    const auto steps = boundaries_of(p, keys);
    log_decay(steps, p.factor, keys, log);
    log.event("scheduler_milestones", steps.empty() ? Json::array() : Json(steps));
    log.event("scheduler_decay_rate", p.factor);
  }
  if (type == "cosine") {
    const auto p = deck::read<CosineRate::Params>(keys.rate.node, &registry);
    const std::int64_t before = keys.warm_up ? keys.warm_up->steps : 0;
    log.event("scheduler_t_max", p.steps.value_or(keys.steps - before));
    log.event("scheduler_eta_min", p.stop);
  }
}

}  // namespace

void log_training_keys(const TrainingKeys& keys, MlLog& log, const Registry& registry) {
  log_optimizer(keys.optimizer, log, registry);
  log.event("opt_base_learning_rate", keys.start_rate);
  log_warm_up(keys, log);
  log_rate(keys, log, registry);
  log.event("gradient_accumulation_frequency", keys.accumulate);
  log.event("batchnorm_group_size", 1);  // no network normalises across ranks
  if (keys.network.has("dropout")) {
    const auto alone = keys.network.without([](const std::string& key) { return key != "dropout"; });
    log.event("dropout", deck::read<Dropout>(alone, &registry).dropout);
  }
}

}  // namespace cambium::train
