#pragma once
#include <optional>

#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/podlstm/pod/basis.hpp"
#include "plugins/podlstm/pod/field.hpp"

namespace cambium::podlstm {

/// The stage `pod`: modes of a field, and its coefficients over time.
class PodTask : public Task {
 public:
  struct Params {
    FieldParams field;
    std::int64_t modes = 5;
    std::optional<std::int64_t> training;
    AreaWeights weights = AreaWeights::none;
    AnomalyKeys anomalies;
    PodMethod method = PodMethod::snapshots;
    std::int64_t oversampling = 10;
    int passes = 40;
    double tolerance = 1e-11;
    double buffer = 256.0;
    static void describe(deck::Describe<Params>& d);
  };
  PodTask(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<std::string> files() const override { return {"pod.h5"}; }

 private:
  void report(const Field& field, const Basis& basis, double seconds, Context& context) const;
  Params params_;
  Work work_;
};

}  // namespace cambium::podlstm
