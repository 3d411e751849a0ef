#pragma once
#include <map>
#include <optional>
#include <span>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// The stage `select_runs`: selects the candidate runs that differ most from an archive. Greedily takes the candidate
/// that is farthest from everything known and from those already taken, by the encoder's vectors of parameters and
/// fields, compared with distance in the parameters and a random choice. Writes candidates.csv, chosen.csv; with `run`
/// the selected runs are simulated at once and listed in made.csv.
class SelectRuns : public Task {
 public:
  enum class By { encoder, gaps, chance };
  struct Params {
    std::optional<std::string> model;
    deck::Choice<train::Dataset> archive;
    std::map<std::string, std::vector<double>> candidates;
    std::int64_t choose = 10, batch = 64;
    std::optional<deck::Choice<Task>> run;
    By by = By::encoder;
    static void describe(deck::Describe<Params>& d);
  };
  SelectRuns(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// Candidates in the order of selection, and the distance of each to the nearest known one at that time.
  struct Choice {
    std::string method;
    std::vector<std::int64_t> order;
    std::vector<double> distance;
  };
  std::map<std::string, double> parameters_of(std::span<const double> candidate) const;
  Outcome make(const Choice& choice, const Matrix& candidates, Context& context) const;
  void write(const Matrix& candidates, const std::vector<double>& distance, const std::vector<Choice>& choices,
             Context& context);

  Params params_;
  Work work_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::pretrain
