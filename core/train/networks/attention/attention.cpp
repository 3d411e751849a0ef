#include "core/train/networks/attention/attention.hpp"

#include <fmt/format.h>

#include "core/train/networks/attention/feature_map.hpp"
#include "core/train/networks/attention/kernel_attention.hpp"
#include "core/train/networks/attention/softmax_attention.hpp"
#include "core/train/networks/attention/two_pass_attention.hpp"

namespace cambium::train {

void AttentionParams::describe(deck::Describe<AttentionParams>& d) {
  d("type", &AttentionParams::type,
    "attention kernel: softmax (all attention weights of a text at once); two_pass (the same values block by block, "
    "memory-efficient as in FlashAttention: memory linear in the length); linear: features elu + 1 (Katharopoulos et "
    "al. 2020); favor: positive orthogonal random features (Choromanski et al. 2021)")
      .options(
          {{"softmax", Type::softmax}, {"two_pass", Type::two_pass}, {"linear", Type::linear}, {"favor", Type::favor}})
      .def(Type::softmax);
  d("features", &AttentionParams::features,
    "number of random features of favor; at least twice the head dimension is recommended")
      .at_least(1);
  d.check([](const AttentionParams& p) -> std::string {
    if (p.type == Type::favor && !p.features)
      return "favor needs features, how many it draws for each layer; give features: 64, for example";
    if (p.type != Type::favor && p.features)
      return fmt::format("features are those of type favor, and {} has none to choose; remove features",
                         p.type == Type::softmax    ? "softmax"
                         : p.type == Type::two_pass ? "two_pass"
                                                    : "linear");
    return {};
  });
}

Citation citation_of(AttentionParams::Type type) {
  if (type == AttentionParams::Type::two_pass)
    return {"dao2022", R"(@inproceedings{dao2022,
  author = {Dao, Tri and Fu, Daniel Y. and Ermon, Stefano and Rudra, Atri and R{\'e}, Christopher},
  title = {{FlashAttention}: Fast and Memory-Efficient Exact Attention with {IO}-Awareness},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {35}, year = {2022}
})"};
  if (type == AttentionParams::Type::linear)
    return {"katharopoulos2020", R"(@inproceedings{katharopoulos2020,
  author = {Katharopoulos, Angelos and Vyas, Apoorv and Pappas, Nikolaos and Fleuret, Fran{\c{c}}ois},
  title = {Transformers are {RNNs}: Fast Autoregressive Transformers with Linear Attention},
  booktitle = {International Conference on Machine Learning}, year = {2020}
})"};
  return {"choromanski2021", R"(@inproceedings{choromanski2021,
  author = {Choromanski, Krzysztof and Likhosherstov, Valerii and Dohan, David and Song, Xingyou and Gane, Andreea and Sarlos, Tamas and Hawkins, Peter and Davis, Jared and Mohiuddin, Afroz and Kaiser, Lukasz and Belanger, David and Colwell, Lucy and Weller, Adrian},
  title = {Rethinking Attention with Performers},
  booktitle = {International Conference on Learning Representations}, year = {2021}
})"};
}

template <class T>
std::unique_ptr<Attention<T>> make_attention(AttentionParams::Type type, const HeadShape& shape,
                                             std::span<const double> features) {
  using Type = AttentionParams::Type;
  switch (type) {
    case Type::softmax:
      return std::make_unique<SoftmaxAttention<T>>(shape);
    case Type::two_pass:
      return std::make_unique<TwoPassAttention<T>>(shape);
    case Type::linear:
      return std::make_unique<KernelAttention<T>>(shape, std::make_unique<EluFeatures<T>>(shape.width));
    case Type::favor:
      return std::make_unique<KernelAttention<T>>(shape, std::make_unique<PositiveFeatures<T>>(shape.width, features));
  }
  return nullptr;
}

template std::unique_ptr<Attention<double>> make_attention(AttentionParams::Type, const HeadShape&,
                                                           std::span<const double>);
template std::unique_ptr<Attention<float>> make_attention(AttentionParams::Type, const HeadShape&,
                                                          std::span<const double>);

}  // namespace cambium::train
