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

/// The stage `select_runs`: of runs that could be made, those least like what an archive holds. One after the other the
/// candidate is taken that is farthest from everything known and from those taken before; far by the encoder's vectors
/// of parameters and fields, beside far in the parameters themselves and a random choice. Writes candidates.csv,
/// chosen.csv; with `run` the chosen ones are made at once, and made.csv lists them.
class SelectRuns : public Task, public Checked {
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
  void check(Context&) override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// Candidates in the order in which they are taken, and how far each was from the nearest known one then.
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
