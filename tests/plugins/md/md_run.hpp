#pragma once
// Molecular dynamics from a deck's text, without files, and the statistics of what it gives.
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/deck/node.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/provenance.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/advance.hpp"
#include "plugins/plugin_list.hpp"

namespace cambium::test {

/// Columns of Physics::observables() of md.
enum Quantity { temperature, pressure, potential, kinetic, conserved, volume };

/// Rows of positions, velocities and forces by tag.
struct Atoms {
  std::vector<std::array<double, 3>> x, v, f;
};

class MdRun {
 public:
  explicit MdRun(const std::string& deck, std::uint64_t seed = 1, MPI_Comm comm = MPI_COMM_WORLD) : comm_(comm) {
    make(deck, seed);
    physics_->initialise(state_, context_);
  }
  /// Resumes from a checkpoint.
  MdRun(const std::string& deck, const std::string& path) {
    make(deck, 1);
    const io::Checkpoint checkpoint(path, comm_);
    checkpoint.restore(state_, [&](std::int64_t rows) { physics_->resize(state_, rows); });
    physics_->restore(state_, context_, checkpoint.file().group("physics"), checkpoint.same_ranks());
  }
  /// The same, but going on from the positions, velocities and forces of another run of the same cell.
  MdRun(const std::string& deck, const Atoms& from) : MdRun(deck) {
    exchange([&](auto x, auto v, auto f, int i, std::size_t tag) {
      for (int k = 0; k < 3; ++k) {
        x(i, k) = from.x[tag][k];
        v(i, k) = from.v[tag][k];
        f(i, k) = from.f[tag][k];
      }
    });
    physics_->prepare_checkpoint(state_, context_);  // new ghosts and list
  }

  void write_checkpoint(const std::string& path) {
    physics_->prepare_checkpoint(state_, context_);
    io::write_checkpoint(path, state_, comm_, io::provenance_of(context_), [&](io::Group& root) {
      auto group = root.create_group("physics");
      physics_->save(group);
    });
  }
  void advance(int steps) {
    for (int k = 0; k < steps; ++k) cambium::advance(schedule_, *physics_, state_, context_.timing, k + 1 == steps);
  }
  /// All observables of the current state; needs the last advance() to have ended here.
  const std::vector<double>& measure() {
    physics_->measure(state_, context_, values_);
    return values_;
  }
  /// `count` rows of observables, one every `stride` steps.
  std::vector<std::vector<double>> record(int count, int stride) {
    std::vector<std::vector<double>> rows;
    for (int k = 0; k < count; ++k) {
      advance(stride);
      rows.push_back(measure());
    }
    return rows;
  }
  Atoms atoms() {
    const auto n = static_cast<std::size_t>(state_.particles.nlocal);
    Atoms out{std::vector<std::array<double, 3>>(n), std::vector<std::array<double, 3>>(n),
              std::vector<std::array<double, 3>>(n)};
    exchange([&](auto x, auto v, auto f, int i, std::size_t tag) {
      for (int k = 0; k < 3; ++k) {
        out.x[tag][k] = x(i, k);
        out.v[tag][k] = v(i, k);
        out.f[tag][k] = f(i, k);
      }
    });
    return out;
  }
  State& state() { return state_; }
  Physics& physics() { return *physics_; }
  Context& context() { return context_; }
  double count() const { return static_cast<double>(state_.particles.nglobal); }

 private:
  void make(const std::string& deck, std::uint64_t seed) {
    register_plugins(registry_);
    context_.registry = &registry_;
    context_.seed = seed;
    physics_ = registry_.make<Physics>("md", deck::parse(deck, "test"), context_);
    physics_->declare(state_, context_);
    physics_->schedule(schedule_);
    values_.resize(physics_->observables().size());
  }
  /// body(x, v, f, row, tag - 1) on host copies, which then replace the originals.
  template <class Body>
  void exchange(const Body& body) {
    const Particles& p = state_.particles;
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
    const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.v);
    const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.f);
    const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
    for (int i = 0; i < p.nlocal; ++i) body(x, v, f, i, static_cast<std::size_t>(tag(i) - 1));
    Kokkos::deep_copy(p.x, x);
    Kokkos::deep_copy(p.v, v);
    Kokkos::deep_copy(p.f, f);
  }

  Comm comm_;
  Log log_;
  Timing timing_;
  Registry registry_;
  Context context_{comm_, log_, timing_};
  State state_;
  Schedule schedule_;
  std::unique_ptr<Physics> physics_;
  std::vector<double> values_;
};

inline std::vector<double> column(const std::vector<std::vector<double>>& rows, int quantity) {
  std::vector<double> out;
  for (const auto& row : rows) out.push_back(row[quantity]);
  return out;
}

inline double mean(const std::vector<double>& a) {
  return std::accumulate(a.begin(), a.end(), 0.0) / static_cast<double>(a.size());
}

inline double variance(const std::vector<double>& a) {
  const double m = mean(a);
  double sum = 0.0;
  for (double x : a) sum += (x - m) * (x - m);
  return sum / static_cast<double>(a.size() - 1);
}

/// Means of `blocks` equal stretches of a series.
inline std::vector<double> block_means(const std::vector<double>& a, int blocks) {
  const auto length = static_cast<std::ptrdiff_t>(a.size()) / blocks;
  std::vector<double> out;
  for (int b = 0; b < blocks; ++b)
    out.push_back(mean(std::vector<double>(a.begin() + b * length, a.begin() + (b + 1) * length)));
  return out;
}

/// A mean and the standard error of it.
struct Estimate {
  double value = 0.0, error = 0.0;
};

/// Mean of a correlated series; the blocks must be longer than its memory.
inline Estimate block_average(const std::vector<double>& a, int blocks = 20) {
  const auto means = block_means(a, blocks);
  return {mean(a), std::sqrt(variance(means) / blocks)};
}

/// Variance of a correlated series, with its error from the scatter of the squares' block means.
inline Estimate block_variance(const std::vector<double>& a, int blocks = 20) {
  const double m = mean(a);
  std::vector<double> squares;
  for (double x : a) squares.push_back((x - m) * (x - m));
  return block_average(squares, blocks);
}

/// Slope of the least-squares line through (k interval, a_k).
inline double slope(const std::vector<double>& a, double interval) {
  const double m = mean(a), middle = 0.5 * static_cast<double>(a.size() - 1);
  double xy = 0.0, xx = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = static_cast<double>(k) - middle;
    xy += x * (a[k] - m);
    xx += x * x;
  }
  return xy / xx / interval;
}

}  // namespace cambium::test
