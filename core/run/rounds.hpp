#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/run/summary/stage_summary.hpp"

namespace cambium {

/// One round of the stage `loop`, for substitution in the texts of its stages.
struct RoundPlace {
  std::string folder;                ///< for {round}
  std::vector<std::string> earlier;  ///< for {rounds}: folders of the earlier rounds, in order
};

/// Keys of a stage in one round: "{round}" in a text becomes the folder of the round, and an item of a list with
/// "{rounds}" becomes one item for each earlier round that has that path. Locations and paths in the deck are kept.
deck::Node keys_of_round(const deck::Node& keys, const RoundPlace& place);

/// The stage `loop`: stages that are repeated in rounds, each in a folder of its own, until a result reaches its
/// target. Seeds differ from round to round. Finished stages are listed in rounds.txt, from which a stopped or killed
/// run resumes at the current stage.
class Rounds : public Task {
 public:
  struct Until {
    std::string result;
    std::optional<double> at_most, at_least;
    static void describe(deck::Describe<Until>& d);
  };
  struct Params {
    int rounds = 10;
    std::optional<Until> until;
    std::vector<deck::Choice<Task>> stages;
    static void describe(deck::Describe<Params>& d);
  };
  Rounds(const Params& params, Context&);  ///< InputError where `until` names no stage of the round
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {std::ssize(values_), "round"}; }
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override { return {"rounds.csv", "last/"}; }
  std::vector<Citation> citations() const override { return cited_; }

 private:
  /// A line of rounds.txt: a stage that is done, and the value of the result that `until` names.
  struct Done {
    std::string stage;
    double value = 0.0;
  };
  std::vector<std::string> folders() const;
  std::vector<Done> done_before(const Context& context) const;
  void write_done(const std::vector<Done>& done, const Context& context) const;
  bool watched(const std::string& folder) const;
  bool reached(double value) const;
  bool run_stage(std::size_t k, const RoundPlace& place, bool resume, double& value, Context& context);
  void finish(const std::string& last, const Context& context) const;

  Params params_;
  std::vector<double> values_;  ///< of the watched result, by round
  std::vector<Citation> cited_;
};

}  // namespace cambium
