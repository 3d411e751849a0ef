#pragma once
#include <map>

#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Samples of formulas over a box, generated in memory: fields "input" (one value per variable) and "target" (one per
/// formula), in alphabetical order. Sample k is a function of (seed, k).
class ExpressionSet : public Dataset {
 public:
  struct Params {
    std::int64_t samples = 0;
    std::map<std::string, std::vector<double>> box;
    std::map<std::string, std::string> target;
    double noise = 0.0;
    std::int64_t seed = 1;
    static void describe(deck::Describe<Params>& d);
  };
  ExpressionSet(const Params& params, Context&);

  void open(Context&) override {}
  std::int64_t size() const override { return params_.samples; }
  std::vector<FieldInfo> fields() const override;
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  Origin origin() const override { return Origin::computed; }
  bool plain() const override { return true; }

 private:
  SamplePtr make(std::int64_t id) const;

  Params params_;
  std::vector<deck::Expression> formulas_;
};

}  // namespace cambium::train
