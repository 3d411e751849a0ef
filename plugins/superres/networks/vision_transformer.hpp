#pragma once
#include "plugins/superres/networks/axial/axial_layers.hpp"
#include "plugins/superres/networks/plane_network.hpp"

namespace cambium::superres {

/// Vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) with axial attention as a network from plane to
/// plane. Along a periodic x only distances between patches matter, so that a shift of the flow by an integer number of
/// patches shifts the output.
class VisionTransformer : public PlaneNetwork {
 public:
  struct Params : PlaneKeys {
    int width = 64, layers = 4, heads = 4, hidden = 0;
    std::array<int, 2> patch{};
    static void describe(deck::Describe<Params>& d);
  };
  VisionTransformer(const Params& params, Context&) : PlaneNetwork(params), params_(params) {}

  std::vector<train::ParameterInfo> parameters() const override { return axial_parameters(shape_); }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<Citation> citations() const override;

 private:
  void make(const PlaneSizes& sizes) override;
  std::vector<int> layer_modules() const override { return axial_modules(shape_); }
  std::unique_ptr<PlaneLayers<double>> layers_f64(std::span<const TensorRef> weights) const override;
  std::unique_ptr<PlaneLayers<float>> layers_f32(std::span<const TensorRef> weights) const override;

  Params params_;
  AxialShape shape_;
};

}  // namespace cambium::superres
