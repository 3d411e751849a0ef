#pragma once
#include <map>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/features/encode.hpp"
#include "plugins/pretrain/features/table.hpp"
#include "plugins/pretrain/search/index_keys.hpp"

namespace cambium::pretrain {

/// The stage `retrieve`: the entries of an archive most similar to given fields or parameters, by an encoder's vectors;
/// exactly, or by an index with measured recall that can be saved. Writes found.csv, and with an approximate index
/// index.h5. If the runs' parameters are known, the search by parameters is compared with canonical correlations and a
/// fit.
class Retrieve : public Task {
 public:
  struct Params {
    std::string model;
    std::optional<deck::Choice<train::Dataset>> archive;
    std::optional<std::string> from;
    std::optional<deck::Choice<train::Dataset>> queries;
    std::map<std::string, std::vector<double>> parameters;
    std::int64_t entries = 5, batch = 64;
    IndexKeys index;
    static void describe(deck::Describe<Params>& d);
  };
  Retrieve(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  bool keeps_index() const { return params_.archive && params_.index.type == IndexKeys::Type::approximate; }
  Matrix asked(LoadedEncoder& encoder, Context& context) const;
  Entries search(LoadedEncoder& encoder, const FloatRows& queries, Context& context);
  void judge_parameters(const Table& archive, const Matrix& vectors, const Matrix& queries);
  void write_found(const Entries& found, Context& context) const;

  Params params_;
  EntryMarks marks_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::pretrain
