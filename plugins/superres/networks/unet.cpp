#include "plugins/superres/networks/unet.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/superres/networks/answers.hpp"

namespace cambium::superres {
namespace {

std::int64_t nodes_of(const std::array<std::int64_t, 3>& grid) { return grid[0] * grid[1] * grid[2]; }

std::int64_t groups(std::int64_t channels) {
  for (std::int64_t g : {8, 4, 2})
    if (channels % g == 0 && channels / g >= 4) return g;
  return 1;
}

/// Halves every axis that is longer than the shortest one, or all when they are equal.
std::array<std::int64_t, 3> halved(const std::array<std::int64_t, 3>& grid) {
  const auto [low, high] = std::minmax_element(grid.begin(), grid.end());
  auto out = grid;
  for (auto& n : out)
    if (n > *low || *low == *high) n = std::max<std::int64_t>(1, (n + 1) / 2);
  return out;
}

}  // namespace

ResBlock::ResBlock(const Shape& shape, train::RankLayers& layers) : wraps_(shape.wraps), final_relu_(shape.final_relu) {
  const auto [in, neck, out, nodes, wraps, last_relu] = shape;
  const std::vector<std::int64_t> point{1, 1, 1}, cube{3, 3, 3}, padding{1, wraps ? 0 : 1, 1};
  first_ = register_module("first", layers.same(in, neck, point, nodes));
  middle_ = register_module("middle", layers.make({neck, neck, cube, padding, nodes}));
  last_ = register_module("last", layers.same(neck, out, point, nodes));
  beside_ = register_module("beside", layers.same(in, out, point, nodes));
  norm1_ = register_module("norm1", torch::nn::GroupNorm(groups(neck), neck));
  norm2_ = register_module("norm2", torch::nn::GroupNorm(groups(neck), neck));
  norm3_ = register_module("norm3", torch::nn::GroupNorm(groups(out), out));
}

torch::Tensor ResBlock::forward(const torch::Tensor& x) {
  auto y = normed(first_->forward(x), norm1_, true);
  if (wraps_) y = torch::cat({y.slice(3, y.size(3) - 1), y, y.slice(3, 0, 1)}, 3);
  y = normed(middle_->forward(y), norm2_, true);
  return normed(last_->forward(y), norm3_, final_relu_, beside_->forward(x));
}

Unet::Unet(const UnetShape& shape, train::RankLayers& layers) : shape_(shape) { build(layers); }

Unet::Unet(const UnetShape& shape) : shape_(shape) {
  train::RankLayers whole({});
  build(whole);
}

void Unet::build(train::RankLayers& layers) {
  const UnetShape& shape = shape_;
  const auto largest = static_cast<double>(*std::max_element(shape.grid.begin(), shape.grid.end()));
  const int levels = shape.levels > 0 ? shape.levels : std::max(1, static_cast<int>(std::lround(std::log2(largest))));
  grids_ = {shape.grid};
  for (int l = 0; l < levels; ++l) grids_.push_back(halved(grids_.back()));
  auto width = [&](int level) {
    return std::min(shape.features << level, shape.most_features);
  };  // of the input of a level
  const auto block = [&](const std::string& name, std::int64_t in, std::int64_t neck, std::int64_t out,
                         const Sizes& grid, bool final_relu = true) {
    names_.push_back(name);
    const ResBlock::Shape its{in, neck, out, nodes_of(grid), shape.wraps, final_relu};
    return register_module(name, std::make_shared<ResBlock>(its, layers));
  };

  const std::int64_t features = width(0);  // also at most most_features
  in_ = block("in", shape.inputs, features, features, shape.grid);
  for (int l = 0; l < levels; ++l)
    down_.push_back(block("down" + std::to_string(l), width(l), std::max<std::int64_t>(1, width(l + 1) / 2),
                          width(l + 1), grids_[l]));
  mid_ = block("mid", width(levels), width(levels - 1), width(levels - 1), grids_[levels - 1]);
  for (int l = levels - 1; l > 0; --l)
    up_.push_back(block("up" + std::to_string(l), width(l) + width(l), width(l - 1), width(l - 1), grids_[l]));
  const bool refines = *std::max_element(shape.refined.begin(), shape.refined.end()) > 0;
  out_ = block("out", 2 * features, refines ? features : shape.outputs, refines ? features : shape.outputs, shape.grid,
               refines);
  if (!refines) return;
  Sizes size = shape.grid;
  do {
    for (int a = 0; a < 3; ++a) size[a] = std::min(2 * size[a], shape.refined[a]);
    finer_.push_back(size);
    const bool last = size == shape.refined;
    expand_.push_back(block("expand" + std::to_string(finer_.size()), features, features,
                            last ? shape.outputs : features, size, !last));
  } while (size != shape.refined);
}

torch::Tensor Unet::forward(torch::Tensor x, const std::function<void(int)>& enter) {
  int next = 0;
  const auto through = [&](const std::shared_ptr<ResBlock>& block, const torch::Tensor& in) {
    if (enter) enter(next++);
    return block->forward(in);
  };
  std::vector<torch::Tensor> kept{x = through(in_, x)};
  for (std::size_t l = 0; l < down_.size(); ++l)
    kept.push_back(x = pooled(through(down_[l], x), grids_[l], grids_[l + 1]));
  const std::size_t levels = down_.size();
  x = through(mid_, enlarged(x, grids_[levels - 1]));
  for (std::size_t k = 0; k < up_.size(); ++k) {
    const std::size_t level = levels - 1 - k;
    x = enlarged(through(up_[k], torch::cat({x, kept[level]}, 1)), grids_[level - 1]);
  }
  x = through(out_, torch::cat({x, kept[0]}, 1));
  for (std::size_t k = 0; k < expand_.size(); ++k) x = through(expand_[k], enlarged(x, finer_[k]));
  return x;
}

}  // namespace cambium::superres
