#pragma once
#include <map>
#include <span>
#include <string>

#include "core/train/low_rank/equal_time.hpp"
#include "core/train/low_rank/search_ranks.hpp"

namespace cambium::train {

/// Named ranks.
struct Way {
  std::string key, name;
  Choice choice = {};
  double predicted = 0.0, seconds = 0.0;  ///< predicted and measured time of a pass in s
  double time_over = 0.0;                 ///< time relative to the chosen ranks, in interleaved runs; 0 if unknown
};

/// Ranks by each strategy, as large as their measured time (or their number of multiplications) allows. Collective:
/// measurements of rank 0 apply to all.
class Ways {
 public:
  Ways(CostTable& costs, LoadedModel& whole, std::span<const SamplePtr> timed, Context& context)
      : costs_(costs), whole_(whole), timed_(timed), context_(context) {}

  /// Within `seconds`, as measured; without a choice if no ranks are predicted to be fast enough. A table with wrong
  /// predictions is corrected in the process.
  Way by_table(double seconds);
  Way by_search(double seconds, std::span<const SamplePtr> samples, const SearchKeys& keys);
  /// The fastest possible ranks.
  Way least();
  /// Equal fractions and equal energy within the time of the chosen ranks.
  std::vector<Way> baselines(const Way& chosen);
  /// The full network.
  Way whole() const;

 private:
  Way within(const char* key, const char* name, const Choose& choose, double seconds);
  double seconds_of(const Choice& choice);
  std::vector<Choice> around(const Choose& choose, double seconds) const;

  CostTable& costs_;
  LoadedModel& whole_;
  std::span<const SamplePtr> timed_;
  Context& context_;
  std::map<Choice, double> said_;  ///< predicted s before the choice corrected the table
};

/// Message for ranks that are slower than predicted according to measurements, in s.
std::string slower_than_allowed(const std::string& name, double predicted, double measured, double allowed);

}  // namespace cambium::train
