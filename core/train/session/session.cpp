#include "core/train/session/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/session/start_kokkos.hpp"

namespace cambium::train {

void Session::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "the network that is trained");
  d("optimizer", &Params::optimizer, "how gradients change weights").def("adam");
  d("learning_rate", &Params::learning_rate, "over the run");
  d("warm_up", &Params::warm_up, "rise in front of the learning rate's schedule");
  d("clip", &Params::clip, "bounds on the gradient");
  d("average", &Params::average, "moving average of the weights, used for evaluation and the written model");
  d("reduce", &Params::reduce, "how gradients of slices and ranks are added");
  d("steps", &Params::steps, "length of the learning rate's schedule").at_least(1).def(1000000);
  d("seed", &Params::seed, "of the first weights").at_least(0).def(1);
  d("log", &Params::log, "steps between two lines with the loss on standard output; 0 for none").at_least(0).def(0);
}

namespace {

/// A deck as text: itself, or what the file of that name holds; read by rank 0 alone.
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
  const auto node = parsed(deck, comm_);
  params_ = deck::read<Params>(node, &registry_);
  context_.seed = static_cast<std::uint64_t>(params_.seed);
  context_.resolved_deck = deck::resolved(node, deck::schema_of<Params>(), registry_);
  context_.command_line = "a session in another program";
  require_ranks(params_.reduce, comm_.size());
  network_ = registry_.make<Network>(params_.model, context_);
  optimizer_ = registry_.make<Optimizer>(params_.optimizer, context_);
  rate_ = registry_.make<LearningRate>(params_.learning_rate, context_);
}

Session::~Session() = default;

void Session::make_buffers() {
  const DType dtype = network_->dtype();
  terms_ = network_->terms();
  metrics_ = network_->metrics();
  mesh_ = std::make_unique<Mesh>(comm_);
  layout_ = std::make_unique<FlatLayout>(layout_of(params_.reduce, network_->parameters(), dtype));
  reducer_ = make_reducer(params_.reduce, *mesh_, *layout_, dtype);
  gradients_ = reducer_->make_buffer(*layout_, dtype);
  progress_ = {};
  progress_.weights = FlatBuffer(*layout_, dtype);
  progress_.states = make_states(*optimizer_, *layout_, dtype);
  if (params_.average) progress_.average = FlatBuffer(*layout_, dtype);
  progress_.window.assign(terms_.size(), {});
}

/// The network looks at the samples of all ranks once.
void Session::begin(const MemorySet& own) {
  MemorySet all = MemorySet::gathered(own, comm_);
  if (all.size() == 0)
    throw InputError("the first step has no samples on any rank; the network takes its sizes from them");
  fields_ = own.fields();
  ranges_ = field_ranges(all, 256);
  network_->fit_statistics(all, context_);
  make_buffers();
  network_->initialise(progress_.weights.views(), static_cast<std::uint64_t>(params_.seed));
  optimizer_->start(progress_.weights, progress_.states);
  if (params_.average) progress_.average.copy_from(progress_.weights);
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

double Session::rate() const {
  return params_.warm_up ? params_.warm_up->at(*rate_, progress_.step, params_.steps)
                         : rate_->at(progress_.step, params_.steps);
}

double Session::step(std::span<const HostArray> arrays) {
  std::optional<MemorySet> own;
  io::on_every_rank(comm_, [&] {
    own.emplace(arrays);
    if (!fields_.empty()) require_same_fields(*own);
  });
  if (!layout_) begin(*own);
  if (fields_.empty()) fields_ = own->fields();  // resumed
  const std::int64_t samples = comm_.sum(own->size());
  if (samples == 0) throw InputError("a step has no samples on any rank");
  const double first_rate = rate_->at(0, params_.steps);
  const auto term_weights = network_->term_weights(progress_.step, first_rate > 0.0 ? rate() / first_rate : 1.0);
  const bool ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  const int slices = ordered ? params_.reduce.slices / comm_.size() : 1;
  const std::size_t terms = terms_.size(), mine = static_cast<std::size_t>(slices * comm_.rank());
  std::vector<TermSum> table(static_cast<std::size_t>(slices * comm_.size()) * terms);
  const auto weights = progress_.weights.views();
  std::string problem;
  reducer_->sum(gradients_, slices, [&](int slice, FlatBuffer& into, const ReadyCallback& ready) {
    const std::int64_t from = own->size() * slice / slices, to = own->size() * (slice + 1) / slices;
    if (from == to) return;
    const auto part =
        std::span(own->samples()).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    try {
      network_->gradient(part, weights, term_weights, into.views(),
                         std::span(table).subspan((mine + static_cast<std::size_t>(slice)) * terms, terms), ready);
    } catch (const InputError& error) {
      problem = error.what();  // the other ranks wait for this one's messages first
    }
  });
  comm_.sum(numbers_of(table));
  const auto sums = add_rows(table, terms);
  io::on_every_rank(comm_, [&] {
    if (!problem.empty()) throw InputError(problem);
  });
  const double loss = weighted_loss(term_weights, sums);
  if (!std::isfinite(loss))
    throw NumericalError(
        fmt::format("the loss of step {} is {}; the weights are those before the step: look for a bad number in the "
                    "arrays, or lower the learning rate ({:.3g})",
                    progress_.step + 1, loss, rate()));
  const double now = rate();
  scale(gradients_, 1.0 / static_cast<double>(samples));
  if (params_.clip) params_.clip->apply(gradients_);
  ++progress_.step;
  optimizer_->step({progress_.weights, gradients_, progress_.states, now, progress_.step});
  if (params_.average) params_.average->update(progress_.average, progress_.weights, progress_.step);
  if (params_.log > 0 && progress_.step % params_.log == 0)
    log_.info(fmt::format("step {}: loss {:.5e}, rate {:.3e}", progress_.step, loss, now));
  return loss;
}

void Session::require_ready(const char* what) const {
  if (!layout_)
    throw InputError(fmt::format("{} needs a network whose sizes are known: call step() or load() first", what));
}

std::vector<double> Session::evaluate(std::span<const HostArray> arrays) {
  require_ready("evaluate");
  std::vector<TermSum> sums(metrics_.size() * static_cast<std::size_t>(comm_.size()));
  const auto weights = trained().views();
  io::on_every_rank(comm_, [&] {
    const MemorySet own(arrays);
    network_->evaluate(
        own.samples(), weights,
        std::span(sums).subspan(metrics_.size() * static_cast<std::size_t>(comm_.rank()), metrics_.size()));
  });
  comm_.sum(numbers_of(sums));
  const auto added = add_rows(sums, metrics_.size());
  std::vector<double> out;
  for (std::size_t k = 0; k < metrics_.size(); ++k) out.push_back(reported(metrics_[k], added[k]));
  return out;
}

std::vector<FieldInfo> Session::outputs() const {
  require_ready("outputs");
  return network_->outputs();
}

void Session::infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs) {
  require_ready("infer");
  const MemorySet own(inputs);
  std::vector<TensorRef> targets;
  for (const auto& info : network_->outputs()) {
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
    throw InputError(fmt::format("the model '{}' has no outputs beside its loss", params_.model.type));
  network_->infer(own.samples(), trained().views(), targets);
}

CheckpointKey Session::key() const {
  const bool ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  return {params_.model.type,
          params_.optimizer.type,
          optimizer_->states(network_->dtype()),
          ordered ? "ordered" : "fast",
          ordered ? params_.reduce.slices : 1,
          0,
          static_cast<std::uint64_t>(params_.seed)};
}

void Session::save(const std::string& path) {
  require_ready("save");
  write_train_checkpoint(path, progress_, key(), network_->state(), context_);
}

void Session::load(const std::string& path) {
  restore_network(*network_, path, context_);
  make_buffers();
  io::on_every_rank(comm_, [&] {
    progress_.best = FlatBuffer(*layout_, network_->dtype());
    read_train_checkpoint(path, progress_, key());
  });
}

void Session::write_model(const std::string& path) {
  require_ready("write_model");
  ArtifactInfo info;
  info.type = params_.model.type;
  info.config =
      deck::resolved(params_.model.node, registry_.find(Network::kind, params_.model.type)->schema, registry_);
  info.state = network_->state();
  info.fields = ranges_;
  info.card = {{"step", "", static_cast<double>(progress_.step)}};
  write_artifact(path, info, trained(), context_);
}

}  // namespace cambium::train
