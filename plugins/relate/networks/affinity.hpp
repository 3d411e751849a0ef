#pragma once
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/networks/table_network.hpp"

namespace cambium::relate {

/// Binding affinity, or any other scalar, of a pair of a compound and a target. Each side is represented by its own
/// embedding, zero if unseen, plus the mean of the embeddings of its parts: fragments of the compound, k-mers of the
/// target's sequence. The output is the sum of a constant for each side, their product, and an MLP of both.
class Affinity : public TableNetwork {
 public:
  struct Params {
    std::int64_t width = 32;
    std::vector<std::int64_t> layers;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  Affinity(const Params& params, Context& context)
      : TableNetwork("affinity", params.precision, context), params_(params) {}

  std::vector<train::ParameterInfo> parameters() const override;
  std::vector<train::TableInfo> tables() const override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<train::TermInfo> metrics() const override;
  void restore(const std::string& state) override;

 protected:
  void require_columns(const RecordSet& records) const override;
  std::unique_ptr<Passes<double>> passes64() const override { return make_affinity<double>(shape()); }
  std::unique_ptr<Passes<float>> passes32() const override { return make_affinity<float>(shape()); }
  Loss loss_of(double output, double answer) const override;
  double prediction_of(double output) const override { return seen().centre + seen().spread * output; }
  void measure(double output, double answer, std::span<train::TermSum> metrics) const override;

 private:
  AffinityShape shape() const { return {params_.width, params_.layers}; }
  Params params_;
};

}  // namespace cambium::relate
