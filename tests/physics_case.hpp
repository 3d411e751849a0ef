#pragma once
// A physics from a deck's text, without files.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/deck/describe.hpp"
#include "core/deck/node.hpp"
#include "core/io/checkpoint.hpp"
#include "core/run/advance.hpp"
#include "tests/catch.hpp"

namespace cambium::test {

/// A physics P, its state and its schedule, on a communicator of its own.
template <class P>
class PhysicsCase {
 public:
  explicit PhysicsCase(const std::string& deck, MPI_Comm comm = MPI_COMM_SELF, bool begin = true,
                       std::uint64_t seed = 1)
      : comm_(comm) {
    context_.seed = seed;
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
  /// An observable by its column.
  double measure(int column) {
    physics_->measure(state_, context_, values_);
    return values_[column];
  }
  /// An observable by name.
  double operator()(const std::string& name) {
    const auto list = physics_->observables();
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].name == name) return measure(static_cast<int>(k));
    throw InternalError("no observable " + name);
  }
  P& physics() { return *physics_; }
  const P& physics() const { return *physics_; }
  State& state() { return state_; }
  const State& state() const { return state_; }
  Context& context() { return context_; }
  const Comm& comm() const { return comm_; }
  Log& log() { return log_; }

  void write(const std::string& path) {
    physics_->prepare_checkpoint(state_, context_);
    io::write_checkpoint(path, state_, comm_, io::provenance_of(context_), [&](io::Group& root) {
      auto group = root.create_group("physics");
      physics_->save(group);
    });
  }
  void resume(const std::string& path) {
    const io::Checkpoint checkpoint(path, comm_);
    checkpoint.restore(state_, [&](std::int64_t rows) { physics_->resize(state_, rows); });
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

}  // namespace cambium::test
