#pragma once
// Structure growth from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/driver/advance.hpp"
#include "core/io/run/checkpoint.hpp"
#include "plugins/cosmo/physics/structure_growth.hpp"
#include "tests/catch.hpp"

namespace cambium::cosmo::test {

inline constexpr double pi = constants::pi;

/// A run, its state and its schedule.
class Case {
 public:
  explicit Case(const std::string& deck, MPI_Comm comm = MPI_COMM_SELF, bool begin = true) : comm_(comm) {
    physics_ =
        std::make_unique<StructureGrowth>(deck::read<StructureGrowth::Params>(deck::parse(deck, "test")), context_);
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
  StructureGrowth& physics() { return *physics_; }
  State& state() { return state_; }
  const Comm& comm() const { return comm_; }

  void write(const std::string& path) {
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
  std::unique_ptr<StructureGrowth> physics_;
  State state_;
  Schedule schedule_;
  std::vector<double> values_;
};

/// Rows of a view, one after another.
inline std::vector<double> numbers(const View<double**>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.size()};
}

/// A view of numbers.
template <class T>
View<T*> on_device(const std::vector<T>& values) {
  View<T*> out("test", values.size());
  const auto host = Kokkos::create_mirror_view(out);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(out, host);
  return out;
}

/// f(x, y, z) at the points of a mesh, in units of its edge.
template <class F>
View<double*> on_mesh(int n, F&& f) {
  std::vector<double> values;
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) values.push_back(f(1.0 * x / n, 1.0 * y / n, 1.0 * z / n));
  return on_device(values);
}

}  // namespace cambium::cosmo::test
