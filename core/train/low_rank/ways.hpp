#pragma once
#include <map>
#include <span>
#include <string>

#include "core/train/low_rank/equal_time.hpp"
#include "core/train/low_rank/search_ranks.hpp"

namespace cambium::train {

/// Ranks under a name.
struct Way {
  std::string key, name;
  Choice choice = {};
  double predicted = 0.0, seconds = 0.0;  ///< s of a pass; measured
  double time_over =
      0.0;  ///< time over that of the chosen ranks, measured in turns with them; 0 where that is not known
};

/// Ranks by every rule, as large as their measured time (or their number of multiplications) allows. Collective: what
/// rank 0 measured holds for all.
class Ways {
 public:
  Ways(CostTable& costs, LoadedModel& whole, std::span<const SamplePtr> timed, Context& context)
      : costs_(costs), whole_(whole), timed_(timed), context_(context) {}

  /// Within `seconds`, measured; with no choice where no ranks are predicted to be as fast. A table whose predictions
  /// are off is corrected on the way.
  Way by_table(double seconds);
  Way by_search(double seconds, std::span<const SamplePtr> samples, const SearchKeys& keys);
  /// The fastest ranks there are.
  Way least();
  /// Equal shares and equal energy in the time of the chosen ranks.
  std::vector<Way> baselines(const Way& chosen);
  /// The whole network.
  Way whole() const;

 private:
  Way within(const char* key, const char* name, const Choose& choose, double seconds);
  double seconds_of(const Choice& choice);
  std::vector<Choice> around(const Choose& choose, double seconds) const;

  CostTable& costs_;
  LoadedModel& whole_;
  std::span<const SamplePtr> timed_;
  Context& context_;
  std::map<Choice, double> said_;  ///< s, predicted before the choice corrected the table
};

/// For ranks of which no clock says that they are as fast as predicted; s.
std::string slower_than_allowed(const std::string& name, double predicted, double measured, double allowed);

}  // namespace cambium::train
