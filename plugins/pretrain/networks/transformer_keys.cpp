#include "plugins/pretrain/networks/transformer_keys.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"

namespace cambium::pretrain {

void TransformerKeys::describe(deck::Describe<TransformerKeys>& d) {
  using Type = train::AttentionParams::Type;
  d("patch", &TransformerKeys::patch, "cells of a patch along each axis").example("[4, 4]");
  d("width", &TransformerKeys::width, "hidden size of each patch").at_least(2).def(64);
  d("heads", &TransformerKeys::heads, "number of attention heads, which divide the hidden size").at_least(1).def(4);
  d("blocks", &TransformerKeys::blocks, "number of transformer blocks (self-attention and two linear layers)")
      .at_least(1)
      .def(3);
  d("attention", &TransformerKeys::attention,
    "attention kernel: softmax, all attention weights of a field at once; two_pass, the same values in memory linear "
    "in the number of patches")
      .options({{"softmax", Type::softmax}, {"two_pass", Type::two_pass}})
      .def(Type::softmax);
  d.check([](const TransformerKeys& p) -> std::string {
    for (const auto n : p.patch)
      if (n < 1) return "patch names an extent below 1; give cells along each axis";
    if (p.width % p.heads != 0 || p.width / p.heads % 2 != 0)
      return fmt::format(
          "{} channels in {} heads: each head needs an even number of them; take a width that is a multiple of {}",
          p.width, p.heads, 2 * p.heads);
    return "";
  });
}

std::vector<Citation> TransformerKeys::citations() {
  return {{"dosovitskiy2021", R"(@inproceedings{dosovitskiy2021,
  author = {Dosovitskiy, Alexey and Beyer, Lucas and Kolesnikov, Alexander and Weissenborn, Dirk and Zhai, Xiaohua and Unterthiner, Thomas and Dehghani, Mostafa and Minderer, Matthias and Heigold, Georg and Gelly, Sylvain and Uszkoreit, Jakob and Houlsby, Neil},
  title = {An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale},
  booktitle = {International Conference on Learning Representations}, year = {2021}
})"},
          {"su2021", R"(@article{su2021,
  author = {Su, Jianlin and Lu, Yu and Pan, Shengfeng and Murtadha, Ahmed and Wen, Bo and Liu, Yunfeng},
  title = {{RoFormer}: Enhanced Transformer with Rotary Position Embedding},
  journal = {arXiv:2104.09864}, year = {2021}
})"}};
}

void require_fitting(const TransformerKeys& keys, const FieldShape& shape) {
  const auto axes = std::ssize(shape.cells);
  if (std::ssize(keys.patch) != axes)
    throw KeyError("transformer.patch.axes", "transformer.patch",
                   fmt::format("transformer.patch has {} extents, but fields have {} axes; give one for each",
                               keys.patch.size(), axes));
  for (std::size_t a = 0; a < keys.patch.size(); ++a)
    if (shape.cells[a] % keys.patch[a] != 0)
      throw KeyError(
          "transformer.patch.divisor", "transformer.patch",
          fmt::format(
              "transformer.patch has {} cells along axis {}, which {} cells are not a multiple of; take a divisor",
              keys.patch[a], a, shape.cells[a]));
  if (keys.width / keys.heads < 2 * axes)
    throw KeyError("transformer.heads", "transformer.heads",
                   fmt::format("a head of the transformer has {} channels, and positions along {} axes need {}; take a "
                               "larger width, or fewer heads",
                               keys.width / keys.heads, axes, 2 * axes));
}

}  // namespace cambium::pretrain
