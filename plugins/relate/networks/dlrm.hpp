#pragma once
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/networks/table_network.hpp"

namespace cambium::relate {

/// DLRM (Naumov et al. 2019): a bottom MLP maps the dense features to a vector as wide as the embeddings; the dot
/// products of all pairs of these vectors, and the first vector, are the input of a top MLP with one output
/// probability.
class Dlrm : public TableNetwork {
 public:
  struct Params {
    enum class Objective { cross_entropy, squared };
    std::int64_t width = 16;
    std::vector<std::int64_t> bottom, top;
    bool wide = false;
    Objective loss = Objective::cross_entropy;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  Dlrm(const Params& params, Context& context) : TableNetwork("dlrm", params.precision, context), params_(params) {}

  std::vector<train::ParameterInfo> parameters() const override;
  std::vector<train::TableInfo> tables() const override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<train::TermInfo> metrics() const override;
  std::vector<Citation> citations() const override;

 protected:
  void require_columns(const RecordSet& records) const override;
  std::unique_ptr<Passes<double>> passes64() const override { return make_dlrm<double>(shape()); }
  std::unique_ptr<Passes<float>> passes32() const override { return make_dlrm<float>(shape()); }
  Loss loss_of(double output, double answer) const override;
  double prediction_of(double output) const override;
  void measure(double output, double answer, std::span<train::TermSum> metrics) const override;

 private:
  DlrmShape shape() const;
  Params params_;
};

}  // namespace cambium::relate
