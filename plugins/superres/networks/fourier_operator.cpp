#include "plugins/superres/networks/fourier_operator.hpp"

namespace cambium::superres {

void FourierOperator::Params::describe(deck::Describe<Params>& d) {
  d("width", &Params::width, "number of channels of the Fourier layers").at_least(1).def(32);
  d("layers", &Params::layers, "number of Fourier layers").at_least(1).def(4);
  d("hidden", &Params::hidden, "number of channels in the projection to the output").at_least(1).def(64);
  d("modes", &Params::modes,
    "number of Fourier modes retained along x (of each sign of the wave number) and along z, counted over the period "
    "that 'ends' makes")
      .def({16, 16});
  d("ends", &Params::ends,
    "continuation of the fields beyond walls, which makes them periodic for the transform: mirror (even; the modes are "
    "cosines) or zeros (padding). A periodic x needs none")
      .options({{"mirror", Continuation::mirror}, {"zeros", Continuation::zeros}})
      .def(Continuation::mirror);
  d("padding", &Params::padding, "ends: zeros: number of zeros over the number of points, rounded up")
      .range(0.0, 4.0)
      .def(0.25);
  d("kernel", &Params::kernel,
    "kernel size along x and z of the convolution alongside the modes, odd; 1: pointwise, as published; 3 and more let "
    "a layer resolve differences between neighbours, which few modes cannot represent")
      .range(1, 9)
      .def(1);
  describe_plane(d);
  d("precision", &Params::precision,
    "floating-point precision of weights and products; Fourier transforms are in float64")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) {
    if (p.kernel % 2 == 0) return "'kernel' must be odd, with as many points on either side";
    return p.modes[0] < 1 || p.modes[1] < 1 ? "'modes' must keep at least 1 along x and along z" : "";
  });
}

void FourierOperator::make(const PlaneSizes& sizes) {
  shape_.grid.points = sizes.points;
  shape_.grid.modes = params_.modes;
  const bool of_nodes = sizes.ends_at_points && params_.ends == Continuation::mirror;
  const Continuation ends = of_nodes ? Continuation::mirror_nodes : params_.ends;
  shape_.grid.ends = {sizes.wraps ? Continuation::periodic : ends, ends};
  shape_.grid.padding = params_.padding;
  shape_.inputs = sizes.inputs;
  shape_.outputs = sizes.outputs;
  shape_.width = params_.width;
  shape_.layers = params_.layers;
  shape_.hidden = params_.hidden;
  shape_.kernel = params_.kernel;
  require_transformable(shape_.grid);
  transform_ = std::make_unique<SpectralTransform>(shape_.grid);
}

void FourierOperator::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  initialise_fourier(shape_, weights, seed, begins_as_interpolation());
}

std::unique_ptr<PlaneLayers<double>> FourierOperator::layers_f64(std::span<const TensorRef> weights) const {
  return std::make_unique<FourierLayers<double>>(shape_, *transform_, weights);
}

std::unique_ptr<PlaneLayers<float>> FourierOperator::layers_f32(std::span<const TensorRef> weights) const {
  return std::make_unique<FourierLayers<float>>(shape_, *transform_, weights);
}

std::vector<Citation> FourierOperator::citations() const {
  return {{"li2021fourier", R"(@inproceedings{li2021fourier,
  author = {Li, Zongyi and Kovachki, Nikola and Azizzadenesheli, Kamyar and Liu, Burigede and Bhattacharya, Kaushik and Stuart, Andrew and Anandkumar, Anima},
  title = {Fourier Neural Operator for Parametric Partial Differential Equations},
  booktitle = {International Conference on Learning Representations},
  year = {2021}, eprint = {2010.08895}, archivePrefix = {arXiv}
})"}};
}

}  // namespace cambium::superres
