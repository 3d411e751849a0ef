#pragma once
#include <memory>

#include "plugins/superres/networks/fourier/fourier_layers.hpp"
#include "plugins/superres/networks/plane_network.hpp"

namespace cambium::superres {

/// Fourier neural operator in two dimensions (Li et al. 2021, arXiv:2010.08895) as a network from plane to plane. With
/// a `kernel` of more than one point its layers have a local filter in addition to the modes (Liu-Schiaffini et al.
/// 2024, arXiv:2402.16845).
class FourierOperator : public PlaneNetwork {
 public:
  struct Params : PlaneKeys {
    int width = 32, layers = 4, hidden = 64, kernel = 1;
    std::array<int, 2> modes{};
    Continuation ends = Continuation::mirror;
    double padding = 0.25;
    static void describe(deck::Describe<Params>& d);
  };
  using Loss = PlaneKeys::Loss;
  FourierOperator(const Params& params, Context&) : PlaneNetwork(params), params_(params) {}

  std::vector<train::ParameterInfo> parameters() const override { return fourier_parameters(shape_); }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<Citation> citations() const override;

 private:
  void make(const PlaneSizes& sizes) override;
  std::vector<int> layer_modules() const override { return fourier_modules(shape_); }
  std::unique_ptr<PlaneLayers<double>> layers_f64(std::span<const TensorRef> weights) const override;
  std::unique_ptr<PlaneLayers<float>> layers_f32(std::span<const TensorRef> weights) const override;

  Params params_;
  FourierShape shape_;
  std::unique_ptr<SpectralTransform> transform_;
};

}  // namespace cambium::superres
