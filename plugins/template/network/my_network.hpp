#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/reads_fields.hpp"

namespace cambium::my_network {

/// Radial basis function network for a scalar function of d variables,
///   y(x) = b + sum_k w_k exp(-|x - c_k|^2 / (2 s_k^2)),
/// with trained weights w, centres c and widths s = exp(log s); x and y are scaled to mean 0 and standard deviation 1.
/// The loss is the mean squared error of the scaled y. D. S. Broomhead and D. Lowe, Complex Systems 2, 321 (1988).
class MyNetwork : public train::Network, public train::ReadsFields {
 public:
  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    int units = 16;
    std::string input = "input", target = "target";
    static void describe(deck::Describe<Params>& d);
  };
  MyNetwork(const Params& params, Context&) : params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override { return DType::f64; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<train::TermInfo> terms() const override {
    return {{"scaled_error", "", train::TermInfo::Report::root_mean}};
  }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  std::vector<train::TermInfo> metrics() const override {
    return {{"error", scaling_.unit, train::TermInfo::Report::root_mean}};
  }
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// The target is not an input: inference uses data without labels.
  std::vector<std::string> fields_to_infer() const override { return {params_.input}; }
  std::vector<std::string> fields_to_train() const override { return {params_.input, params_.target}; }
  train::NetworkTraits traits() override { return {.fields = this}; }
  std::vector<train::FieldInfo> outputs() const override { return {{"output", scaling_.unit, {1}, DType::f64}}; }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  /// Statistics of the data; the same on every rank, part of state().
  struct Scaling {
    std::vector<double> mean, scale;  ///< of each input
    double target_mean = 0.0, target_scale = 1.0;
    std::string unit;
  };
  struct Point;  ///< scaled inputs and the values of the basis functions

  Point at(const train::Sample& sample, std::span<const TensorRef> weights) const;
  double target_of(const train::Sample& sample) const;

  Params params_;
  Scaling scaling_;
};

}  // namespace cambium::my_network
