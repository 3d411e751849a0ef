#pragma once
#include <torch/torch.h>

#include <span>
#include <vector>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// Molecules of a batch as one block-diagonal graph: no pair connects two of them.
struct MoleculeBatch {
  std::vector<MoleculeView> views;  ///< of the samples, which must outlive this
  torch::Tensor species;            ///< (atoms) int64: index in the network's list of elements
  torch::Tensor position;           ///< (atoms, 3), Å
  torch::Tensor molecule;           ///< (atoms) int64: index of the molecule in the batch
  torch::Tensor first, second;      ///< (pairs) int64: atoms closer than the cutoff, each pair and image once
  torch::Tensor shift;              ///< (pairs, 3), Å: image shift of the second atom
  torch::Tensor force;              ///< (atoms, 3); undefined if a molecule has none
  std::int64_t size() const { return std::ssize(views); }
};

/// InputError for an element that is not in the list. Floating-point tensors have the type `real`.
MoleculeBatch molecule_batch(std::span<const train::SamplePtr> samples, const std::vector<std::int32_t>& elements,
                             double cutoff, torch::Dtype real);

}  // namespace cambium::graph
