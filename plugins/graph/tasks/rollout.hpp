#pragma once
#include <functional>
#include <map>
#include <memory>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/graph/trajectories/linear_step.hpp"

namespace cambium::graph {

/// The stage `rollout`: autoregressive predictions of a one-step network (mesh_graph_net), compared with persistence,
/// linear steps fitted to the same training runs, and the solver itself on coarser meshes; errors over time on runs
/// unseen in training, and the cost of a step.
class Rollout : public Task {
 public:
  struct Params {
    std::string model;
    std::vector<std::string> training, test, fields;
    std::map<std::string, std::vector<std::string>> coarse;
    std::int64_t stride = 1, steps = 50;
    static void describe(deck::Describe<Params>& d);
  };
  Rollout(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  /// "error_network = 0.012", ... at the last step.
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override { return {"rollout.csv", "rollout.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  using Step = std::function<std::vector<double>(const std::vector<double>&)>;
  /// One prediction method: its errors at each step, root mean square over nodes, fields and runs; and of the amount.
  struct Row {
    std::string name;
    std::vector<double> error, amount;
    std::int64_t runs = 0;                   ///< for which it can be used
    std::vector<std::vector<double>> first;  ///< its states of the first run
    double seconds = 0.0;                    ///< of all steps
    double per_step() const { return runs > 0 ? seconds / static_cast<double>(runs * std::ssize(error)) : 0.0; }
  };
  using TrajectoryPtr = std::shared_ptr<const Trajectory>;
  void read(Context& context);
  void go(Row& row, const Trajectory& truth, const Step& step) const;
  void go_linear(const Trajectory& truth, const LinearStep& linear);
  void go_coarse(const std::string& name, const Trajectory& truth, const Trajectory& coarse);
  Row& row(const std::string& name);
  const Row* find(const std::string& name) const;
  void finish_rows();
  std::string verdict(const Row& row) const;
  void write(const Trajectory& truth, Context& context) const;

  Params params_;
  std::vector<Trajectory> training_;
  std::vector<TrajectoryPtr> test_;
  std::map<std::string, std::vector<TrajectoryPtr>> coarse_;
  std::vector<Row> rows_;
  double solver_seconds_ = 0.0;  ///< of a step of the runs themselves; 0: not known
  Work work_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
