#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/task.hpp"

namespace cambium::my_task {

/// Mean of correlated values with its standard error by blocks: the values are cut into `blocks` runs of equal length
/// (what is left over at the front is not used), whose means m_b, being nearly independent, give
///   error^2 = sum_b (m_b - m)^2 / (blocks (blocks - 1)).
/// H. Flyvbjerg and H. G. Petersen, J. Chem. Phys. 91, 461 (1989).
struct BlockMean {
  double mean = 0.0, error = 0.0;
  std::size_t length = 0;  ///< values of a block
};
/// InputError with fewer values than blocks.
BlockMean block_mean(std::span<const double> values, int blocks);

/// A stage that reads one column of a table (CSV, names with units in its first line) which an earlier stage wrote.
class MyTask : public Task {
 public:
  /// The keys of a deck. This declaration is also their check, their documentation and their JSON schema.
  struct Params {
    std::string table, column;
    int blocks = 10;
    static void describe(deck::Describe<Params>& d);
  };
  MyTask(const Params& params, Context&) : params_(params) {}

  void check(Context&) override;
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
