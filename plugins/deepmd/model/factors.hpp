#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// A layer of a model whose matrix may be the product of two factors.
template <class L>
struct FactorPlace {
  L* layer = nullptr;
  std::size_t network = 0, index = 0;  ///< of networks_of(), and of the layer in it
};

/// Layers that may have factors, in the order of the key `factor_ranks`: with `embeddings` the layers of the embedding
/// networks of se_e2_a and se_e2_r, without type embeddings, after the first; then the hidden layers of the energy
/// networks. A layer of one input or one output has no use for factors.
template <class Model>
auto factor_places(Model& model, bool embeddings) {
  using L = std::remove_reference_t<decltype(model.fitting.front().layers.front())>;
  std::vector<FactorPlace<L>> out;
  const auto networks = networks_of(model);
  const std::size_t first_fitting = networks.size() - model.fitting.size();
  const auto pairs_only = [&](std::size_t network) {
    std::size_t at = 0;
    for (const DeepPotentialModel& part : model.descriptors()) {
      at += embeddings_of(part).size();
      if (network >= at) continue;
      return part.type_embedding.layers.empty() && (part.descriptor == DeepPotentialModel::Descriptor::se_e2_a ||
                                                    part.descriptor == DeepPotentialModel::Descriptor::se_e2_r);
    }
    return false;
  };
  for (std::size_t n = 0; n < networks.size(); ++n) {
    auto& layers = networks[n]->layers;
    if (n >= first_fitting)
      for (std::size_t l = 0; l + 1 < layers.size(); ++l) out.push_back({&layers[l], n, l});
    else if (embeddings && pairs_only(n))
      for (std::size_t l = 1; l < layers.size(); ++l) out.push_back({&layers[l], n, l});
  }
  return out;
}

/// Gives a layer factors of this rank: those of its truncated singular value decomposition, by which its matrix becomes
/// their product.
void factorise(Layer& layer, int rank);
/// The matrix as the product of the factors.
void multiply_factors(Layer& layer);

/// Sets the ranks of all factor_places(); a rank of 0 leaves a layer as it is. KeyError for a number of ranks that is
/// not that of the layers; none at all change nothing. `decompose`: the factors are those of the matrices, else zero.
void set_ranks(DeepPotentialModel& model, std::span<const std::int64_t> ranks, bool embeddings, bool decompose);

}  // namespace cambium::deepmd
