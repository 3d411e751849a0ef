#pragma once
#include <utility>

#include "plugins/pretrain/networks/conv_trunk.hpp"

namespace cambium::pretrain {

torch::Tensor unit_rows_of(const torch::Tensor& x);

struct MugsShape {
  TrunkShape trunk;
  std::int64_t width = 64, prototypes = 64;
};

/// Two linear layers with GELU between them.
struct HeadImpl : torch::nn::Module {
  HeadImpl(std::int64_t in, std::int64_t hidden, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Linear first_{nullptr}, second_{nullptr};
};
TORCH_MODULE(Head);

/// A vector that attends to itself and to its neighbours, then a head with a skip connection: one transformer block, of
/// which only the first token is used.
struct RelationImpl : torch::nn::Module {
  explicit RelationImpl(std::int64_t width);
  /// (n, width), (n, neighbours, width) -> (n, width).
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& neighbours);

 private:
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  Head head_{nullptr};
};
TORCH_MODULE(Relation);

/// Student or teacher of Mugs: a trunk, a projector for each kind of supervision, a predictor for the student's two
/// contrastive ones, and prototypes. A predictor has a skip connection and starts with weight zero (Bachlechner et al.,
/// arXiv 2003.04887): a random one would separate the student from the teacher before either has learnt anything.
class MugsModule : public torch::nn::Module {
 public:
  explicit MugsModule(const MugsShape& shape);
  /// (samples, channels, cells...) -> (samples, channels of the last stage): mean over cells, or a linear layer over
  /// all of them.
  torch::Tensor trunk(const torch::Tensor& x) { return mean_ ? trunk_->cells(x).mean(2) : trunk_->forward(x); }
  std::string slower() const { return trunk_->slower(); }
  // Rows of length 1; those of the student also pass a predictor.
  torch::Tensor instance(const torch::Tensor& y, bool student);
  torch::Tensor local(const torch::Tensor& y, const torch::Tensor& neighbours, bool student);
  /// Rows of length 1 for comparison with prototypes.
  torch::Tensor grouped(const torch::Tensor& y) { return unit_rows_of(group_(y)); }
  /// Similarities of these rows with all prototypes.
  torch::Tensor compared(const torch::Tensor& grouped, bool learn_prototypes);

 private:
  bool mean_;
  std::shared_ptr<Trunk> trunk_;
  Head instance_{nullptr}, instance_predictor_{nullptr}, local_{nullptr}, local_predictor_{nullptr}, group_{nullptr};
  Relation relation_{nullptr};
  torch::Tensor instance_share_, local_share_;  ///< weight of each predictor for each element of the row
  torch::Tensor prototypes_;
};

}  // namespace cambium::pretrain
