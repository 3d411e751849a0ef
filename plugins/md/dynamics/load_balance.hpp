#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/wait_clock.hpp"
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "core/plugin/result.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {

/// The key `balance`.
struct BalanceKeys {
  enum class By { pairs, atoms, time, volume };
  By by = By::pairs;
  std::int64_t every = 1000;
  double above = 1.1;
  static void describe(deck::Describe<BalanceKeys>& d);
};

/// Load balancing: repartitions the cell when the ranks' work has become unequal. Balancing by pairs or atoms is
/// reproducible from the same state; measured time is not, so the planes are stored in checkpoints.
class LoadBalance {
 public:
  LoadBalance(const BalanceKeys& keys, const Particles& particles, Domain& domain, double range,
              const Context& context);

  /// False if the parts stay bricks of equal volume, and on one rank.
  bool works() const { return keys_.by != BalanceKeys::By::volume && context_.comm.size() > 1; }
  bool due(std::int64_t step) const { return works() && step % keys_.every == 0; }
  /// Collective. Compares the ranks' work, by the most recent list; if it is too unequal and other planes are better,
  /// passes them to the domain. Returns true then: migration, ghosts and list must be redone. `begins`: no step has
  /// been timed yet.
  bool cut(const NeighborList& list, std::int64_t step, bool begins);
  /// Collective: lines for the stage summary; none on one rank.
  std::vector<std::string> report(const NeighborList& list) const;
  /// Collective: the same as data; the text of report() is that of the summary.
  std::vector<Result> results(const NeighborList& list) const;
  /// "4 ranks balanced by pairs"
  std::string summary() const;

 private:
  std::vector<double> work_of_atoms(const NeighborList& list) const;
  double worked();
  double busiest(const NeighborList& list) const;  ///< largest work of a rank over the mean; collective

  BalanceKeys keys_;
  const Particles& particles_;
  Domain& domain_;
  double range_;
  const Context& context_;
  std::optional<WaitClock> waits_;
  double since_ = 0.0, waited_before_ = 0.0;  ///< start of the time measurement, and the waiting time before
  double at_first_ = 0.0;                     ///< largest over mean before the first repartitioning
  std::int64_t cuts_ = 0, last_step_ = 0;
};

}  // namespace cambium::md
