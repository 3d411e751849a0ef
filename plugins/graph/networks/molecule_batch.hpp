#pragma once
#include <torch/torch.h>

#include <span>
#include <vector>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// Molecules side by side as one graph, block-diagonal: no pair joins two of them.
struct MoleculeBatch {
  std::vector<MoleculeView> views;  ///< of the samples, which outlive this
  torch::Tensor species;            ///< (atoms) int64: place in the network's list of elements
  torch::Tensor position;           ///< (atoms, 3), Å
  torch::Tensor molecule;           ///< (atoms) int64: number of the molecule in the batch
  torch::Tensor first, second;      ///< (pairs) int64: atoms nearer than the cutoff, each pair and image once
  torch::Tensor shift;              ///< (pairs, 3), Å: of the image of the second atom
  torch::Tensor force;              ///< (atoms, 3); undefined where a molecule has none
  std::int64_t size() const { return std::ssize(views); }
};

/// InputError for an element that is not in the list. Numbers are of type `real`.
MoleculeBatch molecule_batch(std::span<const train::SamplePtr> samples, const std::vector<std::int32_t>& elements,
                             double cutoff, torch::Dtype real);

}  // namespace cambium::graph
