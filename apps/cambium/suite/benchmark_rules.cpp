#include "apps/cambium/suite/benchmark_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "apps/cambium/suite/rules.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

using Test = std::function<bool(double)>;

Bound number(std::string words, Test test) {
  return {[test = std::move(test)](const Json& v) {
            const auto x = number_in(v);
            return x && test(*x);
          },
          std::move(words)};
}
Bound at_least(double least) {
  return number(fmt::format("a number of at least {:g}", least), [=](double x) { return x >= least; });
}
Bound at_most(double most) {
  return number(fmt::format("a number of at most {:g}", most), [=](double x) { return x <= most; });
}
Bound above(double least) {
  return number(fmt::format("a number above {:g}", least), [=](double x) { return x > least; });
}
Bound within(double first, double end) {
  return number(fmt::format("a number from {:g} to below {:g}", first, end),
                [=](double x) { return x >= first && x < end; });
}
Bound near(double value) {
  return number(fmt::format("{:g}", value),
                [=](double x) { return std::abs(x - value) <= 1e-9 * std::max(std::abs(x), std::abs(value)); });
}
Bound equal(double value) {
  return number(Json(value).dump(), [=](double x) { return x == value; });
}
Bound whole(std::int64_t value) {
  return number(std::to_string(value), [=](double x) { return x == static_cast<double>(value); });
}
Bound yes() {
  return number("true", [](double x) { return x == 1.0; });
}
Bound no() {
  return number("false", [](double x) { return x == 0.0; });
}
Bound one_of(const std::vector<std::string>& names) {
  return {[=](const Json& v) {
            return v.is_string() && std::find(names.begin(), names.end(), v.get<std::string>()) != names.end();
          },
          join(names, " or ")};
}
/// Any list or string, of this length if given.
Bound list(std::optional<std::size_t> length) {
  return {[=](const Json& v) {
            const bool has_length = v.is_array() || v.is_object() || v.is_string();
            const std::size_t found = v.is_string() ? v.get_ref<const std::string&>().size() : v.size();
            return has_length && (!length || found == *length);
          },
          length ? fmt::format("a list of {} numbers", *length) : std::string("a list of numbers")};
}
Bound anything() {
  return {[](const Json&) { return true; }, "given"};
}
Bound neither_empty_nor_false() {
  return {[](const Json& v) {
            if (const auto x = number_in(v)) return *x != 0.0;
            return v.is_string() ? !v.get_ref<const std::string&>().empty() : !v.empty();
          },
          "true"};
}

Benchmark cosmoflow() {
  return {"cosmoflow",
          10,
          {{"global_batch_size", above(0.0)},
           {"opt_name", one_of({"sgd", "SGD"})},
           {"opt_base_learning_rate", at_least(0.0)},
           {"opt_learning_rate_warmup_epochs", at_least(0.0)},
           {"opt_learning_rate_warmup_factor", at_least(0.0)},
           {"opt_learning_rate_decay_boundary_epochs", anything()},
           {"opt_learning_rate_decay_factor", anything()},
           {"dropout", within(0.0, 1.0), false},
           {"opt_weight_decay", at_least(0.0), false}},
          {"eval_error", 0.124, true}};
}

Benchmark deepcam() {
  return {"deepcam",
          5,
          {{"global_batch_size", above(0.0)},
           {"gradient_accumulation_frequency", above(0.0)},
           {"seed", above(0.0)},
           {"batchnorm_group_size", above(0.0)},
           {"opt_name", one_of({"Adam", "AdamW", "LAMB"})},
           {"opt_lr", above(0.0)},
           {"opt_betas", list(2)},
           {"opt_eps", near(1e-6)},
           {"scheduler_type", one_of({"multistep", "cosine_annealing"})},
           {"scheduler_lr_warmup_steps", at_least(0.0)},
           {"scheduler_lr_warmup_factor", at_least(1.0)},
           {"train_samples", whole(121266)},
           {"eval_samples", whole(15158)}},
          {"eval_accuracy", 0.82, false}};
}

Benchmark oc20() {
  return {"oc20",
          5,
          {{"global_batch_size", above(0.0)},
           {"opt_name", one_of({"AdamW"})},
           {"opt_base_learning_rate", at_least(0.0)},
           {"opt_learning_rate_warmup_steps", at_least(0.0)},
           {"opt_learning_rate_warmup_factor", at_least(0.0)},
           {"opt_learning_rate_decay_boundary_steps", anything()},
           {"opt_learning_rate_decay_factor", anything()}},
          {"eval_error", 0.036, true}};
}

/// Keys of data, network, loss and optimizer of OpenFold, all of which are fixed in the closed division.
std::vector<KeyRule> keys_of_openfold() {
  return {{"global_batch_size", above(0.0)},
          {"target_avg_lddt_ca_value", equal(0.8)},
          {"train_max_pdb_release_date", one_of({"2021-09-16"})},
          {"val_min_cameo_submission_date", one_of({"2021-09-17"})},
          {"val_max_cameo_submission_date", one_of({"2021-12-11"})},
          {"val_max_sequence_length", whole(700)},
          {"val_every_iters", whole(40)},
          {"train_samples", whole(594595)},
          {"eval_samples", whole(180)},
          {"model_parameters_count", whole(93229082)},
          {"init_checkpoint_sha256sum", one_of({"b518be4677048f2c0f94889c91e2da73655a73b825a8aa7f8b6f5e580d8ffbed"})},
          {"train_sequence_crop_size", whole(256)},
          {"num_recycling_iters", whole(3)},
          {"max_msa_clusters", whole(124)},
          {"max_extra_msa", whole(1024)},
          {"templates_enabled", yes()},
          {"max_templates", whole(4)},
          {"fape_loss_weight", equal(1.0)},
          {"fape_loss_backbone_weight", equal(0.5)},
          {"fape_loss_sidechain_weight", equal(0.5)},
          {"supervised_chi_loss_weight", equal(1.0)},
          {"distogram_loss_weight", equal(0.3)},
          {"masked_msa_loss_weight", equal(2.0)},
          {"plddt_loss_weight", equal(0.01)},
          {"opt_name", one_of({"Adam"})},
          {"opt_adam_beta_1", equal(0.9)},
          {"opt_adam_beta_2", equal(0.999)},
          {"opt_adam_epsilon", equal(1e-6)},
          {"opt_weight_decay", equal(0.0)},
          {"opt_amsgrad", no()},
          {"opt_gradient_clipping", yes()},
          {"opt_gradient_clip_norm", equal(0.1)},
          {"swa_enabled", yes()},
          {"swa_decay_rate", equal(0.9)},
          {"opt_base_learning_rate", at_least(0.0)},
          {"opt_learning_rate_warmup_init", at_least(0.0)},
          {"opt_learning_rate_warmup_steps", at_least(0.0)},
          {"initial_training_dataloader_type", one_of({"InitialTrainingDataloaderPT", "InitialTrainingDataloaderPQ"})}};
}

}  // namespace

std::optional<double> number_in(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

bool Target::reached(double figure) const {
  return falls ? figure <= value && figure > 0.0 : figure >= value && figure <= 1.0;
}

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all{
      cosmoflow(), deepcam(), oc20(), {"openfold", 10, keys_of_openfold(), {"eval_accuracy", 0.8, false}}};
  return all;
}

const Benchmark* benchmark_named(const std::string& name) {
  for (const Benchmark& b : benchmarks())
    if (b.name == name) return &b;
  return nullptr;
}

const std::vector<KeyRule>& keys_of_closed() {
  static const std::vector<KeyRule> all{{"gradient_accumulation_steps", above(0.0), false},
                                        {"gradient_accumulation_frequency", above(0.0), false},
                                        {"number_of_nodes", above(0.0)},
                                        {"accelerators_per_node", at_least(0.0)}};
  return all;
}

const std::vector<KeyRule>& keys_beside(const std::string& key, const Json& value) {
  static const std::vector<KeyRule> none;
  static const std::map<std::pair<std::string, std::string>, std::vector<KeyRule>> all{
      {{"opt_name", "LAMB"},
       {{"opt_bias_correction", neither_empty_nor_false()},
        {"opt_grad_averaging", neither_empty_nor_false()},
        {"opt_max_grad_norm", equal(1.0)}}},
      {{"scheduler_type", "cosine_annealing"},
       {{"scheduler_t_max", at_least(1.0)}, {"scheduler_eta_min", at_least(0.0)}}},
      {{"scheduler_type", "multistep"}, {{"scheduler_milestones", list({})}, {"scheduler_decay_rate", at_most(1.0)}}}};
  if (!value.is_string()) return none;
  const auto found = all.find({key, value.get<std::string>()});
  return found == all.end() ? none : found->second;
}

int runs_of(const std::string& benchmark) {
  const Benchmark* found = benchmark_named(benchmark);
  return found ? found->runs : 0;
}

std::string benchmark_names() {
  std::vector<std::string> names;
  for (const Benchmark& b : benchmarks()) names.push_back(b.name);
  return join(names);
}

}  // namespace cambium::train
