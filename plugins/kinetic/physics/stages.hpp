#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/schedule.hpp"
#include "plugins/kinetic/physics/plasma.hpp"
#include "plugins/kinetic/physics/rank_sums.hpp"

namespace cambium::kinetic {

/// The three stages of a step of a plasma (SSP-RK3: Shu and Osher, J. Comput. Phys. 77, 439 (1988)) as named tasks with
/// declared reads and writes: a step begins and ends with slot 0.
class Stages {
 public:
  Stages(Plasma& plasma, Precision precision, const Comm& comm);

  using Tasks = std::vector<Schedule::Task>;
  /// Tasks of stage k: cells, sums over ranks, fields.
  void add_stage(int k, Tasks& tasks);
  /// Tasks of the first two stages if they are fused: the fields of the second come before the cells of the first.
  void add_shared_pass(Tasks& tasks);
  /// The fields of all slots, as tasks name them.
  void declare(State& state);
  /// Names of declared fields in these slots: "f" or "moments" of every species, and fields where there are some.
  std::vector<std::string> of_species(const std::string& what, std::initializer_list<int> slots) const;
  std::vector<std::string> of_fluids(std::initializer_list<int> slots) const;
  std::vector<std::string> of_fields(std::initializer_list<int> slots) const;

  /// Runs a stage of length zero and returns the frequency of the fresh state.
  double start(double time);
  /// For each stage the largest sum of frequencies of the state that it starts from.
  const std::array<double, 3>& fastest() const { return fastest_; }

 private:
  void add_fields(int k, Tasks& tasks);
  std::int64_t components_of_fields(int slot) const;
  /// One stage of all species; fresh_[k] and fastest_[k] are then those of this rank.
  void sweep(int k, const Stage& stage, double time);
  /// The first two stages in one pass over the cells.
  void sweep_twice(double time, double dt);
  void advance_fluids(int k, const Stage& stage, double time, int which);
  /// `time` is that of stage.in, `after` that of stage.out.
  void advance_fields(const Stage& stage, double time, double after);
  /// Reduces over ranks: moments of species after stages that led to these slots, and largest frequencies. A frequency
  /// is infinite if a moment is not finite.
  void gather(std::span<const int> slots, std::span<std::vector<std::vector<double>>> fresh, std::span<double> fastest);

  Plasma& plasma_;
  Precision precision_;
  /// For each stage: moments of every species before they are summed over ranks.
  std::array<std::vector<std::vector<double>>, 3> fresh_;
  std::array<double, 3> fastest_{};
  RankSums rank_sums_;
};

/// Each name once, in order of first appearance.
std::vector<std::string> together(std::initializer_list<std::vector<std::string>> lists);

}  // namespace cambium::kinetic
