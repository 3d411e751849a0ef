#pragma once
#include <vector>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// `total` neighbour slots in equal shares to `types` types: of se_atten only their sum has a meaning.
std::vector<int> shared_slots(int total, int types);

/// True where a descriptor takes type embeddings; one energy network then serves all species.
bool has_type_embedding(const DeepPotentialModel& model);

/// Embedding of every species, of type_embedding.out() numbers.
std::vector<std::vector<double>> species_embeddings(const DeepPotentialModel& descriptor);

/// InputError where a first layer that takes a species' embedding also adds its input to its output: such a layer has
/// no form for one species.
void require_separable(const DeepPotentialModel& model);

/// The same model without type embeddings. For given species the embedding of these is a constant, so se_atten's
/// embedding network is one of a single number for each pair of species, which differ in the bias of the first layer,
/// and so are the energy networks, one for each species. What has no type embedding is copied; a part of a
/// hybrid has no energy network.
DeepPotentialModel by_species(const DeepPotentialModel& model);

}  // namespace cambium::deepmd
