#include "plugins/graph/transport/node_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/counts.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"
#include "core/numerics/exact_sum.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::graph {
namespace {

constexpr double usual_courant = 0.9;
constexpr std::int64_t look_every = 10;  // steps between two checks for NaN

TensorRef column_of(double* first, std::int64_t rows, std::int64_t columns) {
  TensorRef t;
  t.data = first;
  t.rank = 1;
  t.shape[0] = rows;
  t.stride[0] = columns;
  t.dtype = DType::f64;
  return t;
}

}  // namespace

NodeRange divided_nodes(const sparse::Csr<double>& pattern, Partition partition, Context& context) {
  return NodeRange(pattern, context.comm, ownership_of(pattern, context.comm.size(), partition, context.log));
}

NodeRun::NodeRun(const NodeKeys& keys, Context& context, NodeRange& range, Equations equations,
                 std::vector<std::string> names, ShownNodes shown)
    : keys_(keys), context_(context), range_(range), stepper_(range, std::move(equations), keys.method, keys.tolerance),
      names_(std::move(names)), shown_(std::move(shown)) {}

void NodeRun::declare(State& state) {
  for (std::size_t k = 0; k < names_.size(); ++k)
    state.add({names_[k], At::node, "", "on the nodes, in the order of the run", true, [this, k] {
                 if (range_.ranges()) return column_of(stepper_.own() + k, range_.owned(), stepper_.columns());
                 run_values_.resize(at(range_.run().size() * stepper_.columns()));
                 return column_of(run_values_.data() + k, range_.run().size(), stepper_.columns());
               }});
  state.add({"terms", At::node, "", "terms of the nodes other than diffusion", false, [] { return TensorRef{}; }});
}

void NodeRun::schedule(Schedule& schedule) {
  auto with_terms = names_;
  with_terms.push_back("terms");
  if (!keys_.surrogate.empty())
    schedule.add({"network: step", names_, names_, [this](State&, const StepInfo& info) { network_step(info.step); }});
  for (int stage = 0; keys_.surrogate.empty() && stage < stepper_.stages(); ++stage) {
    schedule.add({fmt::format("exchange: stage {}", stage + 1), names_, names_,
                  [this](State&, const StepInfo&) { stepper_.exchange(); }});
    schedule.add(
        {fmt::format("terms: stage {}", stage + 1), names_, {"terms"}, [this, stage](State&, const StepInfo& info) {
           stepper_.terms(stage, info.time - info.dt, info.dt);
         }});
    schedule.add(
        {fmt::format("diffusion: stage {}", stage + 1), with_terms, names_,
         [this, stage](State&, const StepInfo& info) { stepper_.diffusion(stage, info.time - info.dt, info.dt); }});
  }
  schedule.add({"timestep: length", names_, {}, [this](State&, const StepInfo& info) {
                  ++steps_;
                  shortest_ = steps_ == 1 ? info.dt : std::min(shortest_, info.dt);
                  longest_ = std::max(longest_, info.dt);
                  choose_timestep(info.step, info.time);
                }});
}

void NodeRun::prepare_checkpoint() {
  if (range_.ranges()) return;
  run_values_.resize(at(range_.run().size() * stepper_.columns()));
  range_.range_rows().collect({stepper_.own(), at(range_.owned() * stepper_.columns())}, stepper_.columns(),
                              run_values_);
}

void NodeRun::begin(State& state, const std::function<double(double)>& stable, const AllNodesShown& all) {
  stable_ = stable;
  if (!keys_.start_from.empty()) state.time = read_start();
  if (keys_.start_time) state.time = *keys_.start_time;
  start_ = state.time;
  require_later_end();
  load_network(all);
  stepper_.hold(state.time);
  choose_timestep(0, state.time);
}

void NodeRun::restore(State& state, const std::function<double(double)>& stable, const AllNodesShown& all) {
  stable_ = stable;
  start_ = keys_.start_time.value_or(0.0);  // for progress only
  if (!range_.ranges()) {
    range_.range_rows().distribute(run_values_, stepper_.columns(),
                                   {stepper_.own(), at(range_.owned() * stepper_.columns())});
    run_values_ = {};
  }
  load_network(all);
  choose_timestep(1, state.time);
}

void NodeRun::require_later_end() const {
  if (start_ < keys_.end_time * (1.0 - 1e-12)) return;
  throw KeyError(
      "nodes.end_time.start", "end_time",
      fmt::format(
          "'end_time' is {:g}, and the run begins at t = {:g}{}: give a later one, or another "
          "'start_time'",
          keys_.end_time, start_,
          keys_.start_from.empty() || keys_.start_time ? "" : fmt::format(", the time of '{}'", keys_.start_from)));
}

/// Number of snapshots in a file, one time each; KeyError if it is of another kind.
static std::int64_t snapshots_in(const io::File& file) {
  if (!file.exists("time"))
    throw KeyError(
        "nodes.start_from.array", "start_from",
        fmt::format("start_from: '{}' has no array 'time'; give a file of the output 'node_fields'", file.file()));
  const auto shape = file.dataset("time").shape();
  return shape.size() == 1 ? shape[0] : -1;
}

double NodeRun::read_start() {
  double time = 0.0;
  const auto& path = keys_.start_from;
  io::on_every_rank(context_.comm, [&] {
    io::reading(path, [&] {
      const auto file = io::File::open(path);
      const auto snapshots = snapshots_in(file);
      for (std::size_t k = 0; k < names_.size(); ++k) {
        if (!file.exists(names_[k]))
          throw KeyError("nodes.start_from.array", "start_from",
                         fmt::format("start_from: '{}' has no array '{}'; give a file of the output 'node_fields'",
                                     path, names_[k]));
        const auto set = file.dataset(names_[k]);
        const auto shape = set.shape();
        if (shape.size() != 2 || shape[0] < 1 || shape[0] != snapshots || shape[1] != range_.nodes())
          throw KeyError("nodes.start_from.nodes", "start_from",
                         fmt::format("start_from: '{}' does not hold snapshots of the {} nodes of this deck", path,
                                     range_.nodes()));
        std::vector<double> last(shape[1]);
        const std::int64_t from[2] = {shape[0] - 1, 0};
        TensorRef row = io::tensor_of(last.data(), {1, shape[1]});
        row.is_const = false;
        set.read_block(from, row);
        for (std::int64_t i = 0; i < range_.owned(); ++i)
          stepper_.own()[i * stepper_.columns() + static_cast<std::int64_t>(k)] = last[shown_.number[i]];
      }
      time = file.read<std::vector<double>>("time").back();
    });
  });
  return time;
}

/// The rank with values that are not finite reports them.
static void require_finite(const Stepper& stepper, const std::vector<std::string>& names, const ShownNodes& shown,
                           std::int64_t step, double time) {
  const auto& range = stepper.range();
  const auto number_of = [&](std::int64_t row) {
    const auto number = shown.number[row];
    return shown.names.size() > 0 ? shown.names.number(number) : number;
  };
  std::string text;
  for (std::int64_t at = 0; at < range.owned() * stepper.columns() && text.empty(); ++at)
    if (!std::isfinite(stepper.own()[at]))
      text =
          step == 0
              ? fmt::format(
                    "{} is not finite at the start, at node {}; correct the formulas, or the file, that "
                    "it begins with",
                    names[at % stepper.columns()], number_of(at / stepper.columns()))
              : fmt::format(
                    "{} is not finite any more after step {} (t = {:.6g}) at node {}; take a shorter 'timestep' or a "
                    "smaller 'cfl'",
                    names[at % stepper.columns()], step, time, number_of(at / stepper.columns()));
  const auto& comm = range.comm();
  const int speaker = static_cast<int>(comm.min(static_cast<double>(text.empty() ? comm.size() : comm.rank())));
  if (speaker == comm.size()) return;
  comm.broadcast(text, speaker);
  throw NumericalError(text);
}

void NodeRun::load_network(const AllNodesShown& all) {
  if (keys_.surrogate.empty() && keys_.codec != lowp::WireCodec::none)
    throw KeyError(
        "nodes.codec.equations", "codec",
        "'codec' rounds the nodes of other ranks, and the equations would then not keep their totals; give a "
        "'surrogate', or leave codec out");
  if (keys_.surrogate.empty()) return;
  if (keys_.timestep)
    throw KeyError("nodes.timestep.surrogate", "timestep",
                   "'timestep' and 'surrogate' exclude each other: a network's steps have the length that it was "
                   "trained on; leave timestep out");
  const auto shown = all();
  std::vector<std::int64_t> first{0};
  for (const auto owned : context_.comm.all_gather(range_.owned())) first.push_back(first.back() + owned);
  std::vector<std::int32_t> number;
  const auto run = range_.run();
  for (const auto node : range_.order()) number.push_back(shown.number[at(node)]);
  network_ = deck::about_key("nodes.surrogate.file", "surrogate", [&] {
    return std::make_unique<NetworkSteps>(keys_.surrogate, whole_of(shown), number, first,
                                          std::span(shown.number).subspan(at(run.begin), at(run.size())),
                                          stepper_.columns(), keys_.codec, context_);
  });
  const auto whole = [&](double time) {
    const double steps = time / network_->interval();
    return std::abs(steps - std::round(steps)) < 1e-6 * std::max(1.0, steps) && steps > 0.5;
  };
  for (const auto& [name, time] : {std::pair{"end_time", keys_.end_time}, {"sample_interval", keys_.sample_interval}})
    if (time > 0.0 && !whole(time))
      throw KeyError("nodes.surrogate.interval", name,
                     fmt::format("{} is {:g}, but '{}' makes steps of {:g}; take a multiple of these", name, time,
                                 keys_.surrogate, network_->interval()));
  if (start_ > 0.0 && !whole(start_))
    throw KeyError(
        "nodes.surrogate.start", keys_.start_time ? "start_time" : "start_from",
        fmt::format("the run begins at t = {:g}, but '{}' makes steps of {:g}; begin at a multiple of these, "
                    "or set 'start_time: 0'",
                    start_, keys_.surrogate, network_->interval()));
}

void NodeRun::network_step(std::int64_t step) {
  network_->step({stepper_.own(), static_cast<std::size_t>(range_.owned() * stepper_.columns())}, step);
  stepper_.hold(time_ + dt_);
}

void NodeRun::choose_network_step() {
  last_stable_ = 0.0;
  dt_ = network_->interval();
}

/// Equal steps up to the next time that has to be hit exactly.
void NodeRun::choose_timestep(std::int64_t step, double time) {
  time_ = time;
  if (step % look_every == 0) require_finite(stepper_, names_, shown_, step, time);
  if (network_) return choose_network_step();
  const double stable = last_stable_ = stable_(time);
  if (!keys_.timestep && stable <= 0.0)
    throw KeyError("nodes.timestep.missing", "timestep",
                   keys_.method == Method::implicit
                       ? "'timestep' is missing: nothing limits the length of these implicit steps"
                       : "'timestep' is missing: nothing diffuses and nothing flows, so no step is too long");
  if (keys_.timestep && stable > 0.0 && *keys_.timestep > stable * (1.0 + 1e-9))
    throw KeyError(
        "nodes.timestep.stable", "timestep",
        fmt::format("timestep {:g} is longer than the longest stable step, {:.4g}{}", *keys_.timestep, stable,
                    keys_.method == Method::implicit ? "; take a shorter one, or none"
                                                     : "; take a shorter one, none, or 'method: implicit'"));
  const double free = keys_.timestep.value_or(keys_.courant.value_or(usual_courant) * stable);
  double target = keys_.end_time;
  if (const double interval = keys_.sample_interval; interval > 0.0)
    target = std::min(target, (std::floor(time / interval + 1e-6) + 1.0) * interval);
  const double left = target - time;
  dt_ = left <= 0.0 ? free : left / std::max(1.0, std::ceil(left / free - 1e-6));
}

std::vector<double> NodeRun::column_on_root(std::int64_t column) const {
  return on_root(shown_, range_, stepper_.own() + column, stepper_.columns());
}

std::optional<NodeFields> NodeRun::node_fields() const {
  if (!asked_) cells_ = on_root(shown_, range_).cells;
  asked_ = true;
  NodeFields out{cells_, {}};
  for (std::size_t k = 0; k < names_.size(); ++k)
    out.fields.push_back({names_[k], "", 1, column_on_root(static_cast<std::int64_t>(k))});
  return out;
}

std::int64_t NodeRun::bytes() const {
  return bytes_in(run_values_) + shown_.bytes() + range_.bytes() + stepper_.bytes() +
         (network_ ? network_->bytes() : 0);
}

double NodeRun::sum(std::int64_t column, const std::function<double(std::int64_t)>& weight) const {
  ExactSum sum;
  for (std::int64_t i = 0; i < range_.owned(); ++i)
    sum.add(weight(i) * stepper_.own()[i * stepper_.columns() + column]);
  ExactSum::over_ranks({&sum, 1}, context_.comm);
  return sum.value();
}

std::array<double, 2> NodeRun::ends(std::int64_t column) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::int64_t i = 0; i < range_.owned(); ++i) {
    const double value = stepper_.own()[i * stepper_.columns() + column];
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {context_.comm.min(low), context_.comm.max(high)};
}

/// Adds the data received by all ranks for nodes of other ranks.
void NodeRun::add_halo(std::vector<Result>& out) const {
  if (context_.comm.size() == 1) return;
  const auto& words = network_ ? network_->words() : range_.words();
  const double bytes = static_cast<double>(context_.comm.sum(words.bytes)) / static_cast<double>(steps_),
               here = static_cast<double>(network_ ? network_->halo() : range_.halo()),
               ranges = static_cast<double>(network_ ? network_->halo_of_ranges() : range_.halo_of_ranges());
  out.push_back({.key = "halo_bytes_per_step", .label = "halo: bytes per step", .value = bytes});
  if (here > 0.0)
    out.push_back({.key = "halo_bytes_per_step_of_ranges",
                   .label = "halo: bytes per step with ranges of nodes",
                   .value = bytes * ranges / here});
}

std::vector<Result> NodeRun::results() const {
  std::vector<Result> out;
  if (steps_ == 0) return out;
  add_halo(out);
  if (network_) return out;
  const auto length = [&](const char* key, const char* label, double value) {
    out.push_back({.key = key, .label = label, .value = value, .digits = 4});
  };
  length("steps_of", "length of steps: least", shortest_);
  length("longest_step", "length of steps: largest", longest_);
  length("longest_stable_one", "length of steps: longest stable one", last_stable_);
  if (keys_.method == Method::implicit)
    out.push_back({.key = "conjugate_gradients_products_per_solution",
                   .label = "conjugate gradients: products per solution",
                   .value = static_cast<double>(stepper_.iterations()) / static_cast<double>(2 * steps_),
                   .digits = 3});
  return out;
}

std::vector<std::string> NodeRun::report() const {
  if (!network_) return {};
  return {fmt::format("steps of {:.4g} by the network of '{}'; a rank computes {} of {} nodes", network_->interval(),
                      keys_.surrogate, network_->computed(), range_.nodes())};
}

}  // namespace cambium::graph
