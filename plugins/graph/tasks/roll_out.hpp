#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/graph/trajectories/linear_step.hpp"

namespace cambium::graph {

/// The stage `roll_out`: a network of one step (mesh_graph) applied to its own answers, beside persistence and linear
/// steps fitted to the same training runs; errors over time on runs that none of them saw.
class RollOut : public Task, public Checked {
 public:
  struct Params {
    std::string model;
    std::vector<std::string> training, test, fields;
    std::int64_t stride = 1, steps = 50;
    static void describe(deck::Describe<Params>& d);
  };
  RollOut(const Params& params, Context&) : params_(params) {}
  void check(Context&) override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  /// "error_network = 0.012", ... at the last step.
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override { return {"roll_out.csv", "roll_out.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// One way to go on: its errors at each step, root mean square over nodes, fields and runs; and of the amount.
  struct Row {
    std::string name;
    std::vector<double> error, amount;
    std::int64_t runs = 0;                   ///< that it can be used on
    std::vector<std::vector<double>> first;  ///< its states of the first run
  };
  void go(Row& row, const Trajectory& truth,
          const std::function<std::vector<double>(const std::vector<double>&)>& step) const;
  void write(const Trajectory& truth, Context& context) const;

  Params params_;
  double interval_ = 0.0;
  std::vector<Row> rows_;
  Work work_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
