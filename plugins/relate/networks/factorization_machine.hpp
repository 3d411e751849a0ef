#pragma once
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/networks/table_network.hpp"

namespace cambium::relate {

/// A factorization machine of second order (Rendle 2010): features are the table rows of a record, with value 1, and
/// its dense features x, centred and scaled; each has a weight w_i and a vector v_i, and the output is
///   b + sum_i w_i x_i + sum_{i < j} v_i . v_j x_i x_j.
/// For a column with bags of several rows the vector is their sum: products are between columns, not within a bag. With
/// only the columns user and item this is matrix factorization with biases (Koren, Bell, Volinsky 2009).
class FactorizationMachine : public TableNetwork {
 public:
  struct Params {
    enum class Objective { cross_entropy, squared };
    std::int64_t width = 16;
    double reach = 0.1;
    Objective loss = Objective::cross_entropy;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  FactorizationMachine(const Params& params, Context& context)
      : TableNetwork("factorization_machine", params.precision, context), params_(params) {}

  std::vector<train::ParameterInfo> parameters() const override;
  std::vector<train::TableInfo> tables() const override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<train::TermInfo> metrics() const override;
  std::vector<Citation> citations() const override;

 protected:
  void require_columns(const RecordSet& records) const override;
  std::unique_ptr<Passes<double>> passes64() const override { return make_factors<double>(shape()); }
  std::unique_ptr<Passes<float>> passes32() const override { return make_factors<float>(shape()); }
  Loss loss_of(double output, double answer) const override;
  double prediction_of(double output) const override;
  void measure(double output, double answer, std::span<train::TermSum> metrics) const override;

 private:
  FactorsShape shape() const { return {params_.width, std::ssize(seen().mean), std::ssize(seen().columns)}; }
  bool says_yes_or_no() const { return params_.loss == Params::Objective::cross_entropy; }
  Params params_;
};

}  // namespace cambium::relate
