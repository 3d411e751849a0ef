#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/datasets/baselines.hpp"
#include "plugins/superres/datasets/overlap.hpp"

namespace cambium::superres {

class Plumes;

/// The stage `find_plumes`: evaluates networks that segment plumes on unseen images, compared with baselines without a
/// network: all background, a temperature threshold, and a pointwise logistic regression. The metric is the
/// intersection over union of DeepCAM.
class FindPlumes : public Task {
 public:
  struct Params {
    deck::Choice<train::Dataset> training, test;
    std::vector<std::string> models;
    std::int64_t batch = 8;
    static void describe(deck::Describe<Params>& d);
  };
  FindPlumes(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {images_, "sample"}; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "plumes.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string name;
    std::array<double, plume_classes> overlap{};  ///< of each class, mean over the images
    std::vector<std::uint8_t> first{};            ///< classes of the first image
    void add(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth, double images);
  };
  std::shared_ptr<Plumes> open(const deck::Choice<train::Dataset>& data, const char* key, Context& context) const;
  std::vector<Row> baselines(const Plumes& training, const Plumes& test) const;
  Row network(const std::string& model, Plumes& test, Context& context);
  void write(const std::vector<Row>& rows, const Plumes& test, Context& context);

  Params params_;
  std::int64_t images_ = 0;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::superres
