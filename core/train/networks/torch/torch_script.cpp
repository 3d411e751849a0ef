#include "core/train/networks/torch/torch_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/train/networks/torch/archive_words.hpp"
#include "core/train/networks/torch/base64.hpp"

namespace cambium::train {

void TorchScript::Params::describe(deck::Describe<Params>& d) {
  using Kind = ScriptedLoss::Kind;
  d("file", &Params::file, "TorchScript archive of the module, as torch.jit.script(module).save(\"net.pt\") writes it");
  d("trust", &Params::trust, "permission to run the programs in the archives").def(false);
  d("inputs", &Params::inputs,
    "fields for the arguments of the module's forward, in their order; by default those named like the arguments, else "
    "all fields that are no targets")
      .def({});
  d("targets", &Params::targets,
    "fields that the module's outputs are compared with, in their order; by default all fields that are no inputs")
      .def({});
  d("loss", &Params::loss, "loss function of PyTorch, averaged over samples and their values")
      .options({{"mse", Kind::mse},
                {"l1", Kind::l1},
                {"huber", Kind::huber},
                {"cross_entropy", Kind::cross_entropy},
                {"gaussian_nll", Kind::gaussian_nll}})
      .def(Kind::mse);
  d("loss_file", &Params::loss_file,
    "TorchScript archive of a loss: forward takes all outputs, then all targets, and gives the mean over the batch; "
    "replaces loss")
      .def("");
  d("delta", &Params::delta, "error at which the Huber loss turns from quadratic to linear").positive().def(1.0);
  d("label_smoothing", &Params::label_smoothing,
    "label smoothing of the cross entropy: fraction of the target probability that is distributed uniformly over all "
    "classes")
      .range(0.0, 0.99)
      .def(0.0);
  d("precision", &Params::precision, "precision of weights and products; bfloat16 keeps float32 weights")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float32);
}

TorchScript::TorchScript(const Params& params, Context& context)
    : TorchNetwork(params.precision), params_(params), context_(context) {}

namespace {

namespace fs = std::filesystem;

/// True if a file is in the run folder, which contains the current stage's folder.
bool in_run(const std::string& path, const Context& context) {
  std::error_code error;
  const fs::path stage = fs::weakly_canonical(fs::absolute(context.run_directory), error);
  const fs::path file = fs::weakly_canonical(fs::absolute(path), error);
  if (!stage.has_parent_path() || context.run_directory == ".") return false;
  return file.string().starts_with(stage.parent_path().string() + "/");
}

/// Bytes of an archive whose program is trusted.
std::string trusted_archive(const char* key, const std::string& path, bool trust, const Context& context) {
  if (!trust && !in_run(path, context))
    throw KeyError("network.torch_script.trust", "trust",
                   fmt::format("the archive {} is a program, which this network would run; set trust: true if you know "
                               "where it comes from",
                               path));
  return deck::about_key("network.torch_script.archive", key, [&] { return read_archive(path); });
}

/// Floating-point values in the network's precision, integers as int64.
torch::Tensor values_of(const TorchBatch& batch, const std::string& field, torch::Dtype real) {
  const torch::Tensor stored = batch.stored(field);
  const bool integers = !stored.is_floating_point() && stored.scalar_type() != torch::kUInt8;
  return stored.to(integers ? torch::kInt64 : real);
}

std::int64_t mixed(std::uint64_t seed, std::int64_t step, std::int64_t sample) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t out = seed;
  for (const auto part : {step, sample}) {
    out = (out ^ static_cast<std::uint64_t>(part)) + golden;
    out = (out ^ out >> 30) * 0xbf58476d1ce4e5b9ULL;  // SplitMix64
    out = (out ^ out >> 27) * 0x94d049bb133111ebULL;
    out ^= out >> 31;
  }
  return static_cast<std::int64_t>(out);
}

}  // namespace

void TorchScript::open_archives(const Context& context) {
  archive_ = trusted_archive("file", params_.file, params_.trust, context);
  if (!params_.loss_file.empty())
    loss_archive_ = trusted_archive("loss_file", params_.loss_file, params_.trust, context);
  build();
}

std::shared_ptr<torch::nn::Module> TorchScript::build() {
  if (!module_) {
    module_ = deck::about_key("network.torch_script.file", "file",
                              [&] { return std::make_shared<ScriptedModule>(params_.file, archive_); });
    if (!loss_archive_.empty())
      loss_module_ = deck::about_key("network.torch_script.loss_file", "loss_file", [&] {
        return std::make_shared<const ScriptedModule>(params_.loss_file, loss_archive_);
      });
    module_->trainable()->to(real());
    if (loss_module_) loss_module_->trainable()->to(real());
    const torch::NoGradGuard no_graph;
    for (const auto& parameter : module_->trainable()->named_parameters())
      first_.emplace_back(parameter.key(), parameter.value().detach().clone());
    running_ = BufferStatistics(*module_, changing_);
    if (!restored_.empty()) running_.set(restored_);
  }
  if (!loss_) loss_.emplace(ScriptedLoss::Choice{params_.loss, params_.delta, params_.label_smoothing}, loss_module_);
  if (first_.empty())
    throw KeyError("network.torch_script.parameters", "file",
                   fmt::format("{}: has no parameters to train; export the module with torch.jit.script(module)."
                               "save(\"net.pt\"), neither frozen nor under no_grad",
                               params_.file));
  return module_->trainable();
}

void TorchScript::examine(Check& check) {
  for (const auto& path : {params_.file, params_.loss_file})
    if (!path.empty() && check.waits(path)) {
      check.not_looked_at(fmt::format("the archive {}, which an earlier stage makes", path));
      return;
    }
  open_archives(check.context());
}

void TorchScript::choose_fields(const std::vector<FieldInfo>& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const auto without = [&](const std::vector<std::string>& left_out) {
    std::vector<std::string> out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [&](auto& n) { return !has(left_out, n); });
    return out;
  };
  for (const char* key : {"inputs", "targets"})
    for (const auto& name : *key == 'i' ? params_.inputs : params_.targets)
      if (!has(names, name))
        throw KeyError("network.torch_script.fields.unknown", key,
                       fmt::format("the data set has no field '{}'; it has: {}", name, fmt::join(names, ", ")));
  const auto& arguments = module_->required();
  inputs_ = params_.inputs;
  if (inputs_.empty() && std::all_of(arguments.begin(), arguments.end(), [&](auto& n) { return has(names, n); }))
    inputs_ = arguments;
  if (inputs_.empty() && !params_.targets.empty()) inputs_ = without(params_.targets);
  if (inputs_.size() < arguments.size() || inputs_.size() > module_->most_arguments() || inputs_.empty())
    throw KeyError(
        "network.torch_script.inputs", "inputs",
        fmt::format("forward of {} takes the arguments {}, and which of the fields {} they are is not clear; "
                    "list one field for each argument",
                    params_.file, fmt::join(arguments, ", "), fmt::join(names, ", ")));
  targets_ = params_.targets.empty() ? without(inputs_) : params_.targets;
  if (targets_.empty())
    throw KeyError("network.torch_script.targets", "targets",
                   fmt::format("the module reads all fields of the data set ({}), so that none is left to compare its "
                               "outputs with; add labels to the data set",
                               fmt::join(names, ", ")));
  units_.clear();
  for (const auto& target : targets_)
    units_.push_back(std::find_if(fields.begin(), fields.end(), [&](auto& f) { return f.name == target; })->unit);
}

/// Unit of the target that an output is compared with; empty for variances and classes.
std::string TorchScript::unit_of_output(std::size_t number) const {
  using Kind = ScriptedLoss::Kind;
  if (!params_.loss_file.empty() || params_.loss == Kind::cross_entropy) return "";
  const std::size_t each = params_.loss == Kind::gaussian_nll ? 2 : 1;
  return number % each == 0 && number / each < units_.size() ? units_[number / each] : "";
}

void TorchScript::fit_statistics(Dataset& training, Context& context) {
  open_archives(context);
  choose_fields(training.fields());
  std::vector<std::int64_t> few{0};
  if (training.size() > 1) few.push_back(1);
  const auto samples = training.read(few);
  const TorchBatch batch(samples, real());
  deck::about_key("network.torch_script.program", "file", "", [&] {
    try_step(batch, context);
    note_outputs(batch);
  });
}

/// Computes one gradient, which is discarded: reports modules that cannot be trained before the first step, and
/// determines which buffers change.
void TorchScript::try_step(const TorchBatch& batch, Context& context) {
  std::vector<NamedTensor> before;
  for (const auto& [name, buffer] : module_->buffers()) before.emplace_back(name, buffer.clone());
  const auto named = module_->trainable()->named_parameters();
  std::vector<torch::Tensor> gradients;
  module_->trainable()->train();
  torch::manual_seed(0);
  torch::Tensor total;
  for (const auto& term : terms_of(answers(batch), batch)) total = total.defined() ? total + term.sum : term.sum;
  if (!total.requires_grad())
    throw KeyError("network.torch_script.derivative", "file",
                   fmt::format("{}: its outputs have no derivative by its parameters; look for detach(), no_grad, "
                               "argmax or integer outputs in its forward",
                               params_.file));
  try {
    gradients = torch::autograd::grad({total}, named.values(), {}, false, false, true);
  } catch (const std::exception& error) {
    refuse_answer(params_.file, error.what());
  }
  std::vector<std::string> unused;
  for (std::size_t k = 0; k < gradients.size(); ++k)
    if (!gradients[k].defined()) unused.push_back(named.keys()[k]);
  if (!unused.empty())
    context.log.warn(fmt::format("{}: the loss does not depend on these parameters, which are not trained: {}",
                                 params_.file, fmt::join(unused, ", ")));
  const torch::NoGradGuard no_graph;
  changing_.clear();
  const auto after = module_->buffers();
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (torch::equal(before[k].second, after[k].second)) continue;
    changing_.push_back(before[k].first);
    after[k].second.copy_(before[k].second);
  }
  running_ = BufferStatistics(*module_, changing_);
}

/// Records names and shapes of the module's outputs.
void TorchScript::note_outputs(const TorchBatch& batch) {
  const torch::NoGradGuard no_graph;
  module_->trainable()->eval();
  const auto given = answers(batch);
  module_->trainable()->train();
  outputs_.clear();
  for (std::size_t k = 0; k < given.size() && (loss_module_ || k < compared()); ++k) {
    const auto sizes = given[k].second.sizes();
    outputs_.push_back({given[k].first, unit_of_output(k), {sizes.begin() + 1, sizes.end()}, DType::f64});
  }
}

/// Puts outputs named like targets first, in the order of targets, to which they are compared.
static void put_by_names(std::vector<NamedTensor>& given, const std::vector<std::string>& targets) {
  std::vector<NamedTensor> out;
  for (const auto& target : targets)
    for (const auto& output : given)
      if (output.first == target) out.push_back(output);
  if (out.size() != targets.size()) return;
  for (const auto& output : given)
    if (std::find(targets.begin(), targets.end(), output.first) == targets.end()) out.push_back(output);
  given = std::move(out);
}

/// Outputs of the module for a batch, floating-point values in the network's precision.
std::vector<NamedTensor> TorchScript::answers(const TorchBatch& batch) const {
  std::vector<torch::Tensor> inputs;
  for (const auto& field : inputs_) inputs.push_back(values_of(batch, field, real()));
  auto given = module_->forward(inputs);
  if (!loss_module_ && given.size() < compared())
    throw InputError(fmt::format("{}: gives {} outputs, but {} targets ({}) need {}", params_.file, given.size(),
                                 targets_.size(), fmt::join(targets_, ", "), compared()));
  if (!loss_module_ && compared() == targets_.size()) put_by_names(given, targets_);
  for (std::size_t k = 0; k < given.size(); ++k) {
    auto& [name, value] = given[k];
    if (value.is_floating_point()) value = value.to(real());
    if (!loss_module_ && k >= compared()) continue;
    if (value.dim() == 0 || value.size(0) != batch.size())
      throw InputError(
          fmt::format("{}: its output '{}' has the shape ({}) for {} samples; the first axis must count samples",
                      params_.file, name, fmt::join(value.sizes(), ", "), batch.size()));
  }
  return given;
}

std::vector<NamedTensor> TorchScript::labels(const TorchBatch& batch) const {
  std::vector<NamedTensor> out;
  for (const auto& field : targets_)
    out.emplace_back(field, loss_->classifies() ? batch.integers(field)
                            : loss_module_      ? values_of(batch, field, real())
                                                : batch.real(field));
  return out;
}

std::vector<TorchNetwork::Term> TorchScript::terms_of(const std::vector<NamedTensor>& given,
                                                      const TorchBatch& batch) const {
  std::vector<Term> out;
  std::vector<torch::Tensor> sums;
  const auto right = labels(batch);
  try {
    sums = loss_->sums(given, right);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    refuse_answer("the loss of " + params_.file, error.what());
  }
  for (const auto& sum : sums) out.push_back({sum, static_cast<double>(batch.size())});
  return out;
}

void TorchScript::begin_step(std::uint64_t seed, std::int64_t step) {
  running_.begin();
  first_of_pass_ = nullptr;
  seed_ = seed;
  step_ = step;
}

void TorchScript::end_step() { running_.end(context_.comm); }

void TorchScript::take_best() {
  if (!best_.empty()) running_.set(best_);
}

std::vector<TorchNetwork::Term> TorchScript::loss(const TorchBatch& batch) {
  // A pass that begins with the same sample as a previous one of this step only probes activations.
  if (first_of_pass_ == batch.samples()[0].get()) running_.drop_pass();
  first_of_pass_ = batch.samples()[0].get();
  running_.before_pass(batch.size());
  torch::manual_seed(static_cast<std::uint64_t>(mixed(seed_, step_, batch.samples()[0]->id)));
  enter(0);
  return terms_of(answers(batch), batch);
}

std::vector<TorchNetwork::Term> TorchScript::measure(const TorchBatch& batch) {
  running_.show();
  const auto given = answers(batch);
  auto out = terms_of(given, batch);
  if (!loss_->classifies()) return out;
  const auto right = labels(batch);
  Term wrong{torch::zeros({}, torch::kFloat64), 0.0};
  for (std::size_t k = 0; k < right.size(); ++k) {
    const torch::Tensor found = given[k].second.argmax(1);
    wrong.sum += (found != right[k].second.reshape(found.sizes())).sum().to(torch::kFloat64);
    wrong.count += static_cast<double>(found.numel());
  }
  out.insert(out.begin(), wrong);
  return out;
}

std::vector<torch::Tensor> TorchScript::predict(const TorchBatch& batch) {
  running_.show();
  std::vector<torch::Tensor> out;
  for (const auto& [name, value] : answers(batch)) out.push_back(value);
  return out;
}

std::vector<TermInfo> TorchScript::terms() const {
  std::vector<TermInfo> out;
  const ScriptedLoss::Choice choice{params_.loss, params_.delta, params_.label_smoothing};
  const bool own = !params_.loss_file.empty();
  for (const auto& name : own ? std::vector<std::string>{"loss"} : ScriptedLoss(choice, nullptr).terms(targets_))
    out.push_back({name, "", TermInfo::Report::mean});
  return out;
}

std::vector<TermInfo> TorchScript::metrics() const {
  auto out = terms();
  if (params_.loss_file.empty() && params_.loss == ScriptedLoss::Kind::cross_entropy)
    out.insert(out.begin(), {"wrong", "", TermInfo::Report::mean});
  return out;
}

void TorchScript::initial(const ParameterInfo& info, std::int64_t /*index*/, const TensorRef& weights,
                          std::uint64_t /*seed*/) const {
  const auto found = std::find_if(first_.begin(), first_.end(), [&](auto& one) { return one.first == info.name; });
  const torch::NoGradGuard no_graph;
  tensor_on(weights).copy_(found->second);
}

std::vector<std::string> TorchScript::export_model(const std::string& directory, std::span<const TensorRef> weights,
                                                   Context&) const {
  auto* self = const_cast<TorchScript*>(this);
  self->with_weights(weights, [&] {
    self->running_.show();
    module_->save((fs::path(directory) / "model.pt").string());
  });
  return {"model.pt"};
}

std::string TorchScript::state() const {
  nlohmann::json out{{"inputs", inputs_}, {"targets", targets_}, {"changing", changing_}};
  out["outputs"] = nlohmann::json::array();
  out["archive"] = to_base64(archive_);
  if (!loss_archive_.empty()) out["loss_archive"] = to_base64(loss_archive_);
  out["buffers"] = module_ ? running_.numbers() : restored_;
  for (const auto& output : outputs_)
    out["outputs"].push_back({{"name", output.name}, {"shape", output.shape}, {"unit", output.unit}});
  return out.dump();
}

void TorchScript::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("buffers").get_to(restored_);
  if (module_) return running_.set(restored_);  // start_from: the deck's archive with the weights of a model file
  in.at("inputs").get_to(inputs_);
  in.at("targets").get_to(targets_);
  in.at("changing").get_to(changing_);
  archive_ = from_base64(in.at("archive").get_ref<const std::string&>());
  if (in.contains("loss_archive")) loss_archive_ = from_base64(in.at("loss_archive").get_ref<const std::string&>());
  outputs_.clear();
  for (const auto& output : in.at("outputs"))
    outputs_.push_back({output.at("name"), output.value("unit", std::string()), output.at("shape"), DType::f64});
}

}  // namespace cambium::train
