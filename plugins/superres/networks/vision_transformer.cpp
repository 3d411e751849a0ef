#include "plugins/superres/networks/vision_transformer.hpp"

namespace cambium::superres {

void VisionTransformer::Params::describe(deck::Describe<Params>& d) {
  d("patch", &Params::patch, "points of a patch along x and z; they divide the points of the plane").def({4, 4});
  d("width", &Params::width, "number of channels of a patch inside the network").at_least(1).def(64);
  d("layers", &Params::layers, "number of layers of attention and feed-forward part").at_least(1).def(4);
  d("heads", &Params::heads, "number of attention heads; it divides 'width'").at_least(1).def(4);
  d("hidden", &Params::hidden, "number of channels inside a feed-forward part; 0: four times 'width'")
      .non_negative()
      .def(0);
  describe_plane(d);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) {
    return p.patch[0] < 1 || p.patch[1] < 1 ? "'patch' must have at least 1 point along x and along z" : "";
  });
}

void VisionTransformer::make(const PlaneSizes& sizes) {
  shape_.points = sizes.points;
  shape_.patch = params_.patch;
  shape_.wraps = sizes.wraps;
  shape_.inputs = sizes.inputs;
  shape_.outputs = sizes.outputs;
  shape_.width = params_.width;
  shape_.heads = params_.heads;
  shape_.layers = params_.layers;
  shape_.hidden = params_.hidden > 0 ? params_.hidden : 4 * params_.width;
  require_divisible(shape_);
}

void VisionTransformer::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  initialise_axial(shape_, weights, seed, begins_as_interpolation());
}

std::unique_ptr<PlaneLayers<double>> VisionTransformer::layers_f64(std::span<const TensorRef> weights) const {
  return std::make_unique<AxialLayers<double>>(shape_, weights);
}

std::unique_ptr<PlaneLayers<float>> VisionTransformer::layers_f32(std::span<const TensorRef> weights) const {
  return std::make_unique<AxialLayers<float>>(shape_, weights);
}

std::vector<Citation> VisionTransformer::citations() const {
  return {{"mccabe2024", R"(@inproceedings{mccabe2024,
  author = {McCabe, Michael and R{\'e}galdo-Saint Blancard, Bruno and Parker, Liam and Ohana, Ruben and Cranmer, Miles and Bietti, Alberto and Eickenberg, Michael and Golkar, Siavash and Krawezik, Geraud and Lanusse, Francois and Pettee, Mariel and Tesileanu, Tiberiu and Cho, Kyunghyun and Ho, Shirley},
  title = {Multiple Physics Pretraining for Spatiotemporal Surrogate Models},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2024}, eprint = {2310.02994}, archivePrefix = {arXiv}
})"},
          {"dosovitskiy2021", R"(@inproceedings{dosovitskiy2021,
  author = {Dosovitskiy, Alexey and Beyer, Lucas and Kolesnikov, Alexander and Weissenborn, Dirk and Zhai, Xiaohua and Unterthiner, Thomas and Dehghani, Mostafa and Minderer, Matthias and Heigold, Georg and Gelly, Sylvain and Uszkoreit, Jakob and Houlsby, Neil},
  title = {An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale},
  booktitle = {International Conference on Learning Representations},
  year = {2021}, eprint = {2010.11929}, archivePrefix = {arXiv}
})"}};
}

}  // namespace cambium::superres
