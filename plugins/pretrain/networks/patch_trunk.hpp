#pragma once
#include "plugins/pretrain/networks/trunk.hpp"

namespace cambium::pretrain {

/// A vision transformer (Dosovitskiy et al., arXiv 2010.11929) over two or three axes: patch embeddings, blocks of
/// attention and a two-layer MLP, each with a pre-layer norm and a skip connection, and a final norm.
///
/// Patch positions enter twice. Rotary embeddings rotate queries and keys by angles proportional to the position along
/// each axis (Su et al., arXiv 2104.09864), so that attention depends on distances only; along a periodic axis by full
/// turns, so that the outputs of a field shifted by patches are shifted, too. Along axes with ends, each position also
/// has a learnt embedding, because walls break the translation symmetry.
class PatchTrunk : public Trunk {
 public:
  explicit PatchTrunk(const TrunkShape& shape);
  torch::Tensor cells(torch::Tensor x) override;

 private:
  struct Block;
  /// (samples, channels, cells...) -> (samples, patches, values of a patch).
  torch::Tensor patches(const torch::Tensor& x) const;
  /// Adds learnt position embeddings; `grid`: patches along each axis.
  torch::Tensor placed(torch::Tensor x, const std::vector<std::int64_t>& grid) const;

  std::vector<std::int64_t> whole_;  ///< patches along each axis of a full field
  torch::nn::Linear in_{nullptr};
  std::vector<torch::Tensor> place_;  ///< by axis: (patches, width); undefined if periodic
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::LayerNorm norm_{nullptr};
};

/// Angles of the rotary embedding: (patches, pairs of elements). `whole`: patches along each axis of a full field;
/// `grid`: of this one. Pair i belongs to axis i mod axes, and rotates 1 + i / axes times as fast as the first: a full
/// turn along a periodic axis, half a turn along one with ends.
torch::Tensor turning_angles(const std::vector<std::int64_t>& grid, const std::vector<std::int64_t>& whole,
                             const std::vector<std::int64_t>& periodic, std::int64_t pairs);

}  // namespace cambium::pretrain
