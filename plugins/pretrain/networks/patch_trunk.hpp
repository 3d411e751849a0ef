#pragma once
#include "plugins/pretrain/networks/trunk.hpp"

namespace cambium::pretrain {

/// A vision transformer (Dosovitskiy et al., arXiv 2010.11929) over two or three axes: patches as vectors, blocks of
/// attention and two linear layers, each behind a layer norm and beside a short cut, and a last norm.
///
/// Where a patch is, enters twice. Queries and keys are turned by angles that grow with the place along each axis (Su
/// et al., arXiv 2104.09864), so that attention knows distances alone; along a periodic axis by whole turns around it,
/// so that a field shifted by patches is the same set of cells, shifted. Along axes that end each place has a learnt
/// vector, too: a wall is a wall.
class PatchTrunk : public Trunk {
 public:
  explicit PatchTrunk(const TrunkShape& shape);
  torch::Tensor cells(torch::Tensor x) override;

 private:
  struct Block;
  /// (samples, channels, cells...) -> (samples, patches, numbers of a patch).
  torch::Tensor patches(const torch::Tensor& x) const;
  /// Learnt vectors of places; `grid`: patches along each axis.
  torch::Tensor placed(torch::Tensor x, const std::vector<std::int64_t>& grid) const;

  std::vector<std::int64_t> whole_;  ///< patches along each axis of a whole field
  torch::nn::Linear in_{nullptr};
  std::vector<torch::Tensor> place_;  ///< by axis: (patches, width); undefined where it is periodic
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::LayerNorm norm_{nullptr};
};

/// Angles by which queries and keys are turned: (patches, pairs of numbers). `whole`: patches along each axis of a
/// whole field; `grid`: of this one. Pair i belongs to axis i mod axes, and turns 1 + i / axes times as fast as the
/// first: once around a periodic axis, half a turn along one that ends.
torch::Tensor turning_angles(const std::vector<std::int64_t>& grid, const std::vector<std::int64_t>& whole,
                             const std::vector<std::int64_t>& periodic, std::int64_t pairs);

}  // namespace cambium::pretrain
