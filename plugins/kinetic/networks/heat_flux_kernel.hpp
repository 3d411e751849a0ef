#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/reads_fields.hpp"

namespace cambium::kinetic {

/// A closure of the moment equations: the heat flux of a wave as a linear functional of temperature and velocity. In
/// units of the mean density n0, the thermal speed vt and the Debye length (k is k times it, T is T/T0, u is u/vt, q is
/// q/(n0 T0 vt)):
///   nonlocal   q_k = i sgn(k) a(|k|) T_k + b(|k|) u_k, a convolution over the entire line with one odd and one even
///   kernel
///              (reflection symmetry allows no other), whose transforms a, b are a small fully connected network of
///              |k|;
///   pointwise  q(x) = a T(x) + b u(x) with two constants.
/// Hammett and Perkins (Phys. Rev. Lett. 64, 3019, 1990) is a = -sqrt(8/pi), b = 0. Samples have the fields wavenumber
/// (1), temperature, velocity and heat_flux (2: real and imaginary part). The loss is |q - q_model|^2 / (|T|^2 +
/// |u|^2).
class HeatFluxKernel : public train::Network, public train::ReadsFields {
 public:
  enum class Reach { nonlocal, pointwise };
  struct Params {
    std::vector<std::int64_t> layers;
    Reach reach = Reach::nonlocal;
    static void describe(deck::Describe<Params>& d);
  };
  HeatFluxKernel(const Params& params, Context&) : params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override { return DType::f64; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<train::TermInfo> terms() const override {
    return {{"relative_error", "", train::TermInfo::Report::root_mean}};
  }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// "kernel": a and b of the sample's wavenumber, which is all that a sample needs here. Beyond the wavenumbers of the
  /// training set their values at its ends.
  std::vector<std::string> fields_to_infer() const override { return {"wavenumber"}; }
  train::NetworkTraits traits() override { return {.fields = this}; }
  std::vector<train::FieldInfo> outputs() const override { return {{"kernel", "", {2}, DType::f64}}; }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::vector<std::int64_t> widths() const;
  std::vector<double> inputs(std::span<const train::SamplePtr> samples) const;
  /// Derivatives of the weighted loss by a and b, sample by sample; the losses are added to `sum`.
  std::vector<double> loss(std::span<const train::SamplePtr> samples, std::span<const double> kernel, double weight,
                           train::TermSum& sum) const;

  Params params_;
  double lowest_ = 0.0, highest_ = 1.0;  ///< wavenumbers of the training set
};

}  // namespace cambium::kinetic
