#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/submatrix/columns/level_prediction.hpp"
#include "plugins/submatrix/datasets/moments.hpp"

namespace cambium::submatrix {

/// Predicts levels of a Hamiltonian from its local spectra. One fully connected network maps the moments of each block
/// column (SpectraSet) to three outputs; the first is the column's band energy, the means of the others over all
/// columns are the highest occupied and the lowest empty level, for any number of columns. The loss is the mean squared
/// error of the scaled band energies plus that of the scaled levels; float64.
class LocalLevels : public train::Network {
 public:
  struct Params {
    std::vector<std::int64_t> layers;
    static void describe(deck::Describe<Params>& d);
  };
  LocalLevels(const Params& params, Context&) : params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override { return DType::f64; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t, double) const override { return {1.0, 1.0}; }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  /// band_energy, homo, lumo and their middle mu: root mean squared errors in eV.
  std::vector<train::TermInfo> metrics() const override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override;
  void restore(const std::string& state) override;

  const Window& window() const { return window_; }
  int functions() const { return functions_; }
  int moments() const { return static_cast<int>(moment_mean_.size()); }
  /// Maps block columns (moments of each) to band energies; adds the sums of their contributions to the two levels to
  /// `levels`. Hartree.
  std::vector<double> predict(const std::vector<double>& moments, std::span<const TensorRef> weights,
                              double levels[2]) const;

 private:
  struct Target;
  std::vector<std::int64_t> widths() const;
  void add_inputs(const train::Sample& sample, std::vector<double>& out) const;
  std::vector<double> scaled(std::span<const double> moments) const;

  Params params_;
  Window window_;
  int functions_ = 0;
  std::vector<double> moment_mean_, moment_scale_;
  std::vector<double> mean_ = {0.0, 0.0, 0.0}, scale_ = {1.0, 1.0, 1.0};  ///< of band energy and both levels, hartree
};

}  // namespace cambium::submatrix
