#pragma once
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/low_rank/compress_keys.hpp"

namespace cambium::train {

/// The stage `compress`: low-rank factorisation of a trained network such that a pass takes a given fraction of its
/// time on this machine, then fine-tuning. Writes an ordinary model file.
class Compress : public Task {
 public:
  using Params = CompressKeys;
  Compress(const Params& params, Context&);
  ~Compress() override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  void report_plan(Context& context) const;
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_, folders_, exported_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::train
