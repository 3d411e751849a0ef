#include "core/train/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/start_kokkos.hpp"

namespace cambium::train {

void Session::Params::describe(deck::Describe<Params>& d) {
  d("network", &Params::network, "network to train").formerly("model");
  describe_update(d);
  d("steps", &Params::steps,
    "number of steps of the learning rate schedule; required by schedules that fall over all steps (linear, "
    "polynomial, exponential, cosine, wsd)")
      .at_least(1);
  d("seed", &Params::seed, "seed of the initial weights").at_least(0).def(1);
  d("log_every", &Params::log, "number of steps between two lines with the loss on standard output; 0 for none")
      .formerly("log")
      .at_least(0)
      .def(0);
}

namespace {

/// Parses a deck given as text or as the name of a file; only rank 0 reads the file.
deck::Node parsed(const std::string& deck, const Comm& comm) {
  const bool is_text = deck.find_first_of("\n:") != std::string::npos;
  std::string text = deck;
  io::on_root(comm, [&] {
    if (is_text) return;
    std::ifstream in(deck);
    if (!in)
      throw InputError(fmt::format("cannot read the deck '{}'; give the name of a YAML file, or YAML text", deck));
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
  });
  comm.broadcast(text);
  return deck::parse(text, is_text ? "deck" : deck);
}

}  // namespace

Session::Session(MPI_Comm comm, const std::string& deck, const Fill& plugins)
    : comm_(comm),
      log_(stdout, comm_.root()), context_{comm_, log_, timing_, &registry_, 1, ".", "", "", nullptr, false, false} {
  start_kokkos();
  register_training(registry_);
  if (plugins) plugins(registry_);
  deck::Problems problems;
  const auto node = deck::present_names(parsed(deck, comm_), deck::schema_of<Params>(), &registry_, problems);
  params_ = deck::read<Params>(node, problems, &registry_);
  problems.throw_if_any();
  for (const auto& hint : problems.hints()) log_.warn(hint.line());
  context_.seed = static_cast<std::uint64_t>(params_.seed);
  context_.resolved_deck = deck::resolved(node, deck::schema_of<Params>(), registry_);
  context_.command_line = "a session in another program";
  const auto& reduce = params_.reduce;
  if (reduce.mode == ReduceParams::Mode::ordered && reduce.slices % comm_.size() != 0)
    throw KeyError("train.session.micro_batches", "reduce.micro_batches",
                   fmt::format("each rank of a session divides samples of its own, so that {} ranks need a multiple of "
                               "{} micro-batches, not {}; start another number of ranks, or set reduce.mode to fast",
                               comm_.size(), comm_.size(), reduce.slices));
  step_ = new_step();
  if (step_->needs_validations())
    throw KeyError("train.session.learning_rate", "learning_rate",
                   fmt::format("learning_rate {} follows the validations of a stage train, which a session does not "
                               "have; take another one",
                               params_.learning_rate.type));
  if (step_->rate_needs_total() && !params_.steps)
    throw KeyError("train.session.steps", "steps",
                   fmt::format("learning_rate {} changes over all steps, whose number is not given to the session; "
                               "give steps, the number of calls of step()",
                               params_.learning_rate.type));
}

Session::~Session() = default;

std::unique_ptr<TrainingStep> Session::new_step() {
  return std::make_unique<TrainingStep>(params_, context_.seed, context_);
}

Progress Session::prepare(TrainingStep& step) const {
  constexpr std::int64_t any = 1000000;  // for schedules that do not depend on the number of steps
  step.prepare(params_.steps.value_or(any));
  Progress progress;
  progress.window.assign(step.network().terms().size(), {});
  return progress;
}

/// Initialises the network with the statistics of the samples of all ranks.
void Session::begin(const MemorySet& own) {
  MemorySet all = MemorySet::gathered(own, comm_);
  if (all.size() == 0)
    throw InputError("the first step has no samples on any rank; the network takes its sizes from them");
  ranges_ = field_ranges(all, 256);
  step_->network().fit_statistics(all, context_);
  progress_ = prepare(*step_);
  metrics_ = step_->network().metrics();
  step_->start();
}

void Session::require_same_fields(const MemorySet& own) const {
  for (const auto& known : fields_) {
    bool found = false;
    for (const auto& field : own.fields()) {
      if (field.name != known.name) continue;
      found = true;
      if (field.shape != known.shape || field.dtype != known.dtype || field.unit != known.unit)
        throw InputError(
            fmt::format("array '{}' has samples of shape ({}){}, those of the first step had ({}){}; shape, type and "
                        "unit must stay",
                        field.name, fmt::join(field.shape, ", "), field.unit.empty() ? "" : " in " + field.unit,
                        fmt::join(known.shape, ", "), known.unit.empty() ? "" : " in " + known.unit));
    }
    if (!found) throw InputError(fmt::format("array '{}' is missing; the first step had it", known.name));
  }
}

/// Samples of this rank in `slices` parts of nearly equal size.
static Share share_in(const MemorySet& own, int slices, const Comm& comm) {
  Share share;
  for (int k = 0; k < slices; ++k) {
    const std::int64_t from = own.size() * k / slices, to = own.size() * (k + 1) / slices;
    share.slices.push_back(std::span(own.samples()).subspan(from, static_cast<std::size_t>(to - from)));
    share.numbers.push_back(slices * comm.rank() + k);
  }
  return share;
}

double Session::step(std::span<const HostArray> arrays) {
  const bool first = !step_->prepared();
  try {
    return stepped(arrays);
  } catch (...) {
    // Statistics and initial weights of a failed step are discarded.
    if (first) {
      step_ = new_step();
      progress_ = {};
      metrics_.clear();
      ranges_.clear();
    }
    throw;
  }
}

double Session::stepped(std::span<const HostArray> arrays) {
  std::optional<MemorySet> own;
  io::on_every_rank(comm_, [&] {
    own.emplace(arrays);
    if (!fields_.empty()) require_same_fields(*own);
  });
  if (!step_->prepared()) begin(*own);
  const std::int64_t samples = comm_.sum(own->size());
  if (samples == 0) throw InputError("a step has no samples on any rank");
  const bool ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  std::string problem;
  const auto loss = step_->gradient(share_in(*own, ordered ? params_.reduce.slices / comm_.size() : 1, comm_),
                                    progress_.step, &problem);
  io::on_every_rank(comm_, [&] {
    if (!problem.empty()) throw InputError(problem);
  });
  const double rate = step_->rate(progress_.step);
  if (!std::isfinite(loss.value))
    throw NumericalError(
        fmt::format("the loss of step {} is {}; the weights are those before the step: look for a bad value in the "
                    "arrays, or lower the learning rate ({:.3g})",
                    progress_.step + 1, loss.value, rate));
  step_->update(samples, progress_.step);
  ++progress_.step;
  if (fields_.empty()) fields_ = own->fields();
  if (params_.log > 0 && progress_.step % params_.log == 0)
    log_.info(fmt::format("step {}: loss {:.5e}, rate {:.3e}", progress_.step, loss.value, rate));
  return loss.value;
}

void Session::require_ready(const char* what) const {
  if (!step_->prepared())
    throw InputError(fmt::format("{} needs a network whose sizes are known: call step() or load() first", what));
}

std::vector<double> Session::evaluate(std::span<const HostArray> arrays) {
  require_ready("evaluate");
  std::vector<TermSum> sums(metrics_.size() * static_cast<std::size_t>(comm_.size()));
  const auto mine = std::span(sums).subspan(metrics_.size() * static_cast<std::size_t>(comm_.rank()), metrics_.size());
  step_->weights().whole([&](FlatBuffer& weights) {
    io::on_every_rank(comm_, [&] {
      const MemorySet own(arrays);
      step_->network().evaluate(own.samples(), weights.views(), mine);
    });
  });
  comm_.sum(numbers_of(sums));
  const auto added = add_rows(sums, metrics_.size());
  std::vector<double> out;
  for (std::size_t k = 0; k < metrics_.size(); ++k) out.push_back(reported(metrics_[k], added[k]));
  return out;
}

std::vector<FieldInfo> Session::outputs() const {
  require_ready("outputs");
  return step_->network().outputs();
}

void Session::infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs) {
  require_ready("infer");
  const MemorySet own(inputs);
  std::vector<TensorRef> targets;
  for (const auto& info : step_->network().outputs()) {
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&](const HostArray& a) { return a.name == info.name; });
    std::vector<std::int64_t> shape = info.shape;
    shape.insert(shape.begin(), own.size());
    if (found == outputs.end() || found->values.dtype != DType::f64 ||
        shape != std::vector<std::int64_t>(found->values.shape, found->values.shape + found->values.rank))
      throw InputError(
          fmt::format("the output '{}' needs a float64 array of shape ({})", info.name, fmt::join(shape, ", ")));
    targets.push_back(found->values);
  }
  if (targets.empty())
    throw InputError(fmt::format("the network '{}' has no outputs except its loss", params_.network.type));
  step_->weights().whole([&](FlatBuffer& weights) { step_->network().infer(own.samples(), weights.views(), targets); });
}

void Session::save(const std::string& path) {
  require_ready("save");
  progress_.kept = step_->kept();
  write_train_checkpoint(path, step_->weights().save(false), {progress_, step_->key(0), step_->network(), context_});
}

/// Loads into a separate network, which replaces the session's once the entire file is read.
void Session::load(const std::string& path) {
  auto loaded = new_step();
  restore_network(loaded->network(), path, context_);
  Progress progress = prepare(*loaded);
  io::on_every_rank(comm_, [&] { read_train_checkpoint(path, progress, loaded->weights(), loaded->key(0)); });
  loaded->take(progress.kept);
  step_ = std::move(loaded);
  progress_ = std::move(progress);
  metrics_ = step_->network().metrics();
  fields_.clear();
}

void Session::write_model(const std::string& path) {
  require_ready("write_model");
  auto info = step_->model_info();
  info.fields = ranges_;
  const auto* reader = step_->network().traits().fields;
  std::erase_if(info.fields, [&](const FieldRange& field) { return !reads_in_training(reader, field.info.name); });
  info.card = {{"step", "", static_cast<double>(progress_.step)}};
  step_->weights().whole([&](FlatBuffer& weights) { write_artifact(path, info, weights, context_); });
}

}  // namespace cambium::train
