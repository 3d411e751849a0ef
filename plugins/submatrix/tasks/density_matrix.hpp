#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"
#include "plugins/submatrix/tasks/matrix_input.hpp"

namespace cambium::submatrix {

/// One density matrix: reads, evaluates, reports, writes. No self-consistency.
class DensityTask : public Task {
 public:
  enum class Method { submatrix, purification };
  struct Groups {
    GroupBy by = GroupBy::none;
    std::optional<int> size;
    static void describe(deck::Describe<Groups>& d);
  };
  struct Prediction {
    std::string model;
    double suspect = 8.0;
    static void describe(deck::Describe<Prediction>& d);
  };
  struct Params {
    MatrixInput matrices;
    Method method = Method::submatrix;
    std::optional<Polynomial> polynomial;
    std::optional<double> threshold;
    std::optional<double> eps;
    std::optional<double> eps_overlap;
    double overlap_threshold = 0.0;
    SolverKind solver = SolverKind::lanczos;
    Form form = Form::orthogonal;
    Precision precision = Precision::float64;
    double krylov_tolerance = 0.0;
    double prune = 1e-4;
    std::optional<double> mu, electrons, magnetisation;
    double temperature = 0.0;
    Groups groups;
    std::optional<Prediction> prediction;
    int error_sample = 8;
    std::vector<std::string> output;
    static void describe(deck::Describe<Params>& d);
  };

  DensityTask(const Params& params, Context& context);
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }

 private:
  DensityOptions options(const MatrixSystem& system) const;
  /// Evaluates, writes files_ and results_, and returns the lines of the summary.
  std::vector<std::string> evaluate(const MatrixSystem& system, Context& context);

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
};

}  // namespace cambium::submatrix
