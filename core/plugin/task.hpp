#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/result.hpp"

namespace cambium {

class Check;

/// One stage of a deck: simulate, train, evaluate, search.
class Task {
 public:
  using Kind = Task;
  static constexpr std::string_view kind = "task";
  virtual ~Task() = default;
  /// For `cambium check`, and before a run: announces the files of the stage (Check::will_write) and, if the stage is
  /// tried, constructs everything, reports it through the log and requires what it needs; runs nothing, writes nothing.
  /// Collective. Its errors and limits are those of Checked.
  virtual void examine(Check&) = 0;
  /// Everything that a stage does, its checkpoints and files included; core/run writes its summary.
  enum class Outcome { done, stopped_early };
  virtual Outcome run(Context&) = 0;

  /// Item that the rate in the summary counts. {40, "frame"} prints frames/s; with steps, {192, "atom", 1000} prints
  /// steps/s and atom-steps/s.
  struct Work {
    std::int64_t items = 0;  ///< per step, or for the entire stage if it has no steps
    std::string name = {};   ///< of one item
    std::optional<std::int64_t> steps = {};
    std::optional<double> seconds = {};  ///< of the loop; absent: of the entire stage
    double time_per_step = 0.0;          ///< physical time of one step, 0 when it has none
    std::string time_unit = {};          ///< with "ps", the summary reports ns/day
    bool items_per_step = false;         ///< every step takes other items: "samples/s" instead of "atom-steps/s"
  };
  // For the stage summary: called once after run(), on every rank in this order; lines of rank 0 are printed.
  virtual Work work() const { return {}; }
  /// Results of the stage, for results.json, sweeps and the summary, where they follow the timing table. Collective.
  virtual std::vector<Result> results() const { return {}; }
  /// After the results: output other than named values, such as tables and sentences. Collective.
  virtual std::vector<std::string> lines() const { return {}; }
  /// Written in the stage's folder, by their names there.
  virtual std::vector<std::string> files() const { return {}; }
  /// Publications on which the results are based, for cite.bib; duplicates are allowed.
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium
