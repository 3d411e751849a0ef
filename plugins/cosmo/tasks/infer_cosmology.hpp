#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/cosmo/boxes/box_file.hpp"
#include "plugins/cosmo/boxes/statistics.hpp"

namespace cambium::cosmo {

/// Stage `infer_cosmology`: parameters of boxes outside the training set, by networks and by baselines, in one table:
/// the mean of the training boxes, a linear fit to the logarithms of their power spectra, one that adds moments of the
/// counts, and one that also adds moments of coarser cells. Errors are mean absolute errors in units of targets, whose
/// intervals are -1 to 1.
class InferCosmology : public Task {
 public:
  struct Params {
    std::string boxes;
    std::optional<std::string> test_boxes;
    std::array<std::int64_t, 2> training{}, test{};
    std::vector<std::string> models;
    std::int64_t batch = 32;
    static void describe(deck::Describe<Params>& d);
  };
  InferCosmology(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {params_.test[1] - params_.test[0], "sample"}; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "cosmologies.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string name;
    Table found;  ///< (test boxes, targets)
  };
  /// True if the evaluated boxes are in a file of their own.
  bool apart() const { return params_.test_boxes.has_value(); }
  const std::string& test_file() const { return apart() ? *params_.test_boxes : params_.boxes; }
  /// Targets of the evaluated boxes, by the names and intervals of the training file.
  Table truth_of(const BoxFile& file, const BoxFile& judged) const;
  std::vector<Row> baselines(const BoxFile& file, const BoxFile& judged, const Table& known) const;
  Row network(const std::string& model, std::int64_t targets, Context& context);
  void write(const std::vector<Row>& rows, const Table& truth, const BoxFile& file, Context& context);

  Params params_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::cosmo
