#include "plugins/pretrain/networks/patch_trunk.hpp"

#include <string>

#include "core/base/constants.hpp"
#include "core/train/networks/torch/attended.hpp"

namespace cambium::pretrain {

using torch::Tensor;
using torch::nn::LayerNorm;
using torch::nn::LayerNormOptions;
using torch::nn::Linear;

namespace {

using constants::pi;

/// Rotates the pairs (k, k + half) of each head's elements.
Tensor turned(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const auto halves = x.chunk(2, -1);
  return torch::cat({halves[0] * cosine - halves[1] * sine, halves[0] * sine + halves[1] * cosine}, -1);
}

}  // namespace

Tensor turning_angles(const std::vector<std::int64_t>& grid, const std::vector<std::int64_t>& whole,
                      const std::vector<std::int64_t>& periodic, std::int64_t pairs) {
  const auto axes = static_cast<std::int64_t>(grid.size());
  std::int64_t count = 1;
  for (const auto n : grid) count *= n;
  Tensor out = torch::zeros({count, pairs}, torch::kFloat64);
  auto angles = out.accessor<double, 2>();
  for (std::int64_t patch = 0; patch < count; ++patch) {
    std::vector<std::int64_t> place(grid.size());
    std::int64_t rest = patch;
    for (std::int64_t a = axes - 1; a >= 0; --a) {
      const auto axis = static_cast<std::size_t>(a);
      place[axis] = rest % grid[axis];
      rest /= grid[axis];
    }
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto axis = static_cast<std::size_t>(i % axes);
      const double turn = (periodic[axis] != 0 ? 2.0 : 1.0) * pi / static_cast<double>(whole[axis]);
      angles[patch][i] = turn * static_cast<double>((1 + i / axes) * place[axis]);
    }
  }
  return out;
}

struct PatchTrunk::Block : torch::nn::Module {
  Block(const TransformerKeys& keys) : heads(keys.heads), type(keys.attention) {
    const std::int64_t width = keys.width;
    norm = register_module("norm", LayerNorm(LayerNormOptions({width})));
    mixed = register_module("query_key_value", Linear(width, 3 * width));
    out = register_module("out", Linear(width, width));
    norm_beside = register_module("norm_beside", LayerNorm(LayerNormOptions({width})));
    first = register_module("first", Linear(width, 2 * width));
    second = register_module("second", Linear(2 * width, width));
  }
  /// (samples, patches, width), and cosines and sines of the angles.
  Tensor forward(Tensor x, const Tensor& cosine, const Tensor& sine) {
    const std::int64_t n = x.size(0), patches = x.size(1), width = x.size(2);
    const Tensor all = mixed(norm(x)).reshape({n, patches, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const Tensor seen = train::attended(turned(all[0], cosine, sine), turned(all[1], cosine, sine), all[2], type);
    x = x + out(seen.permute({0, 2, 1, 3}).reshape({n, patches, width}));
    return x + second(torch::gelu(first(norm_beside(x))));
  }
  std::int64_t heads;
  train::AttentionParams::Type type;
  LayerNorm norm{nullptr}, norm_beside{nullptr};
  Linear mixed{nullptr}, out{nullptr}, first{nullptr}, second{nullptr};
};

PatchTrunk::PatchTrunk(const TrunkShape& shape) : Trunk(shape) {
  const auto& keys = *shape.transformer;
  std::int64_t numbers = shape.channels, count = 1;
  for (std::size_t a = 0; a < shape.cells.size(); ++a) {
    whole_.push_back(shape.cells[a] / keys.patch[a]);
    numbers *= keys.patch[a];
    count *= whole_.back();
  }
  in_ = register_module("in", Linear(numbers, keys.width));
  for (std::size_t a = 0; a < whole_.size(); ++a) {
    place_.emplace_back();
    if (shape.periodic[a] == 0)
      place_[a] = register_parameter("place" + std::to_string(a), torch::zeros({whole_[a], keys.width}));
  }
  for (std::int64_t b = 0; b < keys.blocks; ++b)
    blocks_.push_back(register_module("block" + std::to_string(b), std::make_shared<Block>(keys)));
  norm_ = register_module("norm", LayerNorm(LayerNormOptions({keys.width})));
  add_out(count);
}

Tensor PatchTrunk::patches(const Tensor& x) const {
  const auto& patch = shape_.transformer->patch;
  const auto axes = static_cast<std::int64_t>(patch.size());
  std::vector<std::int64_t> split{x.size(0), x.size(1)}, order{0};
  std::int64_t count = 1;
  for (std::int64_t a = 0; a < axes; ++a) {
    const std::int64_t cells = patch[a];
    split.insert(split.end(), {x.size(2 + a) / cells, cells});
    count *= x.size(2 + a) / cells;
  }
  for (std::int64_t a = 0; a < axes; ++a) order.push_back(2 + 2 * a);
  order.push_back(1);
  for (std::int64_t a = 0; a < axes; ++a) order.push_back(3 + 2 * a);
  return x.reshape(split).permute(order).reshape({x.size(0), count, -1});
}

Tensor PatchTrunk::placed(Tensor x, const std::vector<std::int64_t>& grid) const {
  std::vector<std::int64_t> sizes{x.size(0)};
  sizes.insert(sizes.end(), grid.begin(), grid.end());
  sizes.push_back(x.size(2));
  x = x.reshape(sizes);
  for (std::size_t a = 0; a < grid.size(); ++a) {
    if (!place_[a].defined()) continue;
    std::vector<std::int64_t> along(grid.size() + 2, 1);
    along[1 + a] = grid[a];
    along.back() = x.size(-1);
    // The position of a crop is unknown: it gets the embeddings of the middle.
    x = x + place_[a].narrow(0, (whole_[a] - grid[a]) / 2, grid[a]).reshape(along);
  }
  return x.reshape({x.size(0), -1, x.size(-1)});
}

Tensor PatchTrunk::cells(Tensor x) {
  const auto& keys = *shape_.transformer;
  std::vector<std::int64_t> grid;
  for (std::size_t a = 0; a < keys.patch.size(); ++a)
    grid.push_back(x.size(2 + static_cast<std::int64_t>(a)) / keys.patch[a]);
  x = placed(in_(patches(x)), grid);
  const Tensor angles = turning_angles(grid, whole_, shape_.periodic, keys.width / keys.heads / 2);
  const Tensor cosine = angles.cos().to(x.scalar_type()), sine = angles.sin().to(x.scalar_type());
  for (const auto& block : blocks_) x = block->forward(x, cosine, sine);
  return norm_(x).transpose(1, 2);
}

}  // namespace cambium::pretrain
