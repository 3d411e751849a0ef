#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/submatrix/datasets/spectra_file.hpp"
#include "plugins/submatrix/tasks/matrix_input.hpp"

namespace cambium::submatrix {

/// Stage that computes the training data of local_levels: each Hamiltonian is fully diagonalised on one rank;
/// Hamiltonians are distributed round-robin.
class LocalSpectra : public Task {
 public:
  struct Set {
    std::string name;
    MatrixInput matrices;
    int frames = 1;
    static void describe(deck::Describe<Set>& d);
  };
  struct Params {
    std::vector<Set> sets;
    int krylov_blocks = 4;
    std::optional<std::vector<double>> window;
    static void describe(deck::Describe<Params>& d);
  };
  LocalSpectra(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return {std::ssize(jobs()), "Hamiltonian"}; }
  std::vector<std::string> files() const override { return files_; }

 private:
  struct Job {
    std::size_t set;
    std::int64_t frame;  ///< no two Hamiltonians of a stage have the same
  };
  std::vector<Job> jobs() const;
  int moments() const { return 2 * params_.krylov_blocks - 1; }
  MatrixSystem system(const Job& job, Context& alone) const;
  Window find_window(const Job& first, Context& context) const;
  /// Collective. The samples of all jobs, on rank 0.
  std::vector<LevelSample> compute(const std::vector<Job>& jobs, const Window& window, Context& context) const;
  void report(const std::string& name, const std::vector<LevelSample>& samples, Log& log) const;

  Params params_;
  std::vector<std::string> files_;  ///< on rank 0
};

}  // namespace cambium::submatrix
