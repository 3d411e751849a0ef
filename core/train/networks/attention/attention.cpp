#include "core/train/networks/attention/attention.hpp"

#include "core/train/networks/attention/feature_map.hpp"
#include "core/train/networks/attention/kernel_attention.hpp"
#include "core/train/networks/attention/softmax_attention.hpp"
#include "core/train/networks/attention/two_pass_attention.hpp"

namespace cambium::train {

void AttentionParams::describe(deck::Describe<AttentionParams>& d) {
  d("type", &AttentionParams::type,
    "softmax: all weights of a text at once; two_pass: the same numbers block by block, in memory that grows with the "
    "length alone; linear: features elu + 1 (Katharopoulos et al. 2020); favor: positive orthogonal random features "
    "(Choromanski et al. 2021)")
      .options({{"softmax", Type::softmax}, {"two_pass", Type::two_pass}, {"linear", Type::linear}, {"favor", Type::favor}})
      .def(Type::softmax);
  d("features", &AttentionParams::features, "how many random features favor has: twice the numbers of a head, or more")
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
      return std::make_unique<KernelAttention<T>>(shape,
                                                  std::make_unique<PositiveFeatures<T>>(shape.width, features));
  }
  return nullptr;
}

template std::unique_ptr<Attention<double>> make_attention(AttentionParams::Type, const HeadShape&,
                                                           std::span<const double>);
template std::unique_ptr<Attention<float>> make_attention(AttentionParams::Type, const HeadShape&,
                                                          std::span<const double>);

}  // namespace cambium::train
