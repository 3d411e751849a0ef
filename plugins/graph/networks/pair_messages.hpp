#pragma once
#include <torch/torch.h>

namespace cambium::graph {

/// Geometry of pairs of atoms; messages are sent in both directions of a pair.
struct PairGeometry {
  torch::Tensor to, from;   ///< (2 pairs) int64: atoms
  torch::Tensor radial;     ///< (pairs, radial): sin(n pi r / cutoff) / r, n = 1, ..., times `cut`
  torch::Tensor cut;        ///< (pairs, 1): 1 at r = 0, 0 beyond the cutoff, where its first two derivatives vanish
  torch::Tensor direction;  ///< (2 pairs, 3): unit vectors towards `to`
};

/// Pairs (first, second) at positions (atoms, 3), the second one displaced by `shift` (pairs, 3).
PairGeometry pair_geometry(const torch::Tensor& position, const torch::Tensor& first, const torch::Tensor& second,
                           const torch::Tensor& shift, double cutoff, std::int64_t radial);

/// Features of atoms: rotation-invariant scalars, and vectors that rotate with the molecule.
struct AtomState {
  torch::Tensor scalar;  ///< (atoms, width)
  torch::Tensor vector;  ///< (atoms, 3, width); undefined without directions
};

/// Messages along every pair, followed by an update of every atom: messages are products of the sender's features with
/// a filter of the distance; with `directions` they also carry vectors along the pair and the sender's own (Schütt,
/// Unke, Gastegger, ICML 2021). Without, only distances enter, as in SchNet (Schütt et al., J. Chem. Phys. 148, 241722
/// (2018)).
struct InteractionImpl : torch::nn::Module {
  InteractionImpl(std::int64_t width, std::int64_t radial, bool directions);
  void forward(AtomState& atoms, const PairGeometry& pairs);

 private:
  void send(AtomState& atoms, const PairGeometry& pairs);
  void mix(AtomState& atoms);

  std::int64_t width_;
  bool directions_;
  torch::nn::Linear sender_in{nullptr}, sender_out{nullptr}, filter{nullptr};
  torch::nn::Linear mix_in{nullptr}, mix_out{nullptr}, vectors{nullptr};
};
TORCH_MODULE(Interaction);

}  // namespace cambium::graph
