#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/task.hpp"

namespace cambium::my_task {

/// Mean of correlated values with its standard error by blocking: the values are divided into `blocks` runs of equal
/// length (a remainder at the front is not used), whose means m_b, being nearly independent, give
///   error^2 = sum_b (m_b - m)^2 / (blocks (blocks - 1)).
/// H. Flyvbjerg and H. G. Petersen, J. Chem. Phys. 91, 461 (1989).
struct BlockMean {
  double mean = 0.0, error = 0.0;
  std::size_t length = 0;  ///< values of a block
};
/// InputError with fewer values than blocks.
BlockMean block_mean(std::span<const double> values, int blocks);

/// A stage that reads one column of a table (CSV, header with names and units) written by an earlier stage.
class MyTask : public Task {
 public:
  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    std::string table, column;
    int blocks = 10;
    static void describe(deck::Describe<Params>& d);
  };
  MyTask(const Params& params, Context&) : params_(params) {}

  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return {"my_task.csv"}; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  Work work_;
  std::vector<Result> results_;
};

}  // namespace cambium::my_task
