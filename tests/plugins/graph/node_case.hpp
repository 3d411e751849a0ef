#pragma once
// A physics on nodes from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/deck/node.hpp"
#include "core/driver/advance.hpp"
#include "core/io/run/checkpoint.hpp"
#include "plugins/graph/physics/graph_diffusion.hpp"
#include "plugins/graph/physics/mesh_transport.hpp"
#include "tests/catch.hpp"

namespace cambium::graph::test {

/// A physics of this plugin, its state and its schedule.
template <class P>
class Case {
 public:
  explicit Case(const std::string& deck, MPI_Comm comm = MPI_COMM_SELF, bool begin = true) : comm_(comm) {
    physics_ = std::make_unique<P>(deck::read<typename P::Params>(deck::parse(deck, "test")), context_);
    physics_->declare(state_, context_);
    physics_->schedule(schedule_);
    if (begin) physics_->initialise(state_, context_);
    values_.resize(physics_->observables().size());
  }
  void advance() { cambium::advance(schedule_, *physics_, state_, context_.timing, false); }
  void finish() {
    while (!physics_->finished()) advance();
  }
  /// An observable by name.
  double operator()(const std::string& name) {
    const auto list = physics_->observables();
    physics_->measure(state_, context_, values_);
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].name == name) return values_[k];
    throw InternalError("no observable " + name);
  }
  /// Own values of all columns.
  std::vector<double> own() const {
    const auto& stepper = node_run().stepper();
    return {stepper.own(), stepper.own() + stepper.range().owned() * stepper.columns()};
  }
  /// Those of the nodes that the same case owns on another communicator.
  std::vector<double> same_rows(const NodeRange& range) const {
    const auto& stepper = node_run().stepper();
    const double* first = stepper.own() + (range.first() - stepper.range().first()) * stepper.columns();
    return {first, first + range.owned() * stepper.columns()};
  }
  const NodeRun& node_run() const { return static_cast<const NodePhysics&>(*physics_).run(); }
  P& physics() { return *physics_; }
  State& state() { return state_; }
  Context& context() { return context_; }
  const Comm& comm() const { return comm_; }
  Log& log() { return log_; }

  void write(const std::string& path) {
    io::write_checkpoint(path, state_, comm_, io::provenance_of(context_), [&](io::Group& root) {
      auto group = root.create_group("physics");
      physics_->save(group);
    });
  }
  void resume(const std::string& path) {
    const io::Checkpoint checkpoint(path, comm_);
    checkpoint.restore(state_, [](std::int64_t) {});
    physics_->restore(state_, context_, checkpoint.file().group("physics"), checkpoint.same_ranks());
  }

 private:
  Comm comm_;
  Log log_;
  Timing timing_;
  Context context_{comm_, log_, timing_};
  std::unique_ptr<P> physics_;
  State state_;
  Schedule schedule_;
  std::vector<double> values_;
};

using Diffusion = Case<GraphDiffusion>;
using Transport = Case<MeshTransport>;

}  // namespace cambium::graph::test
