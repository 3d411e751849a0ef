#pragma once
#include <vector>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Distributes `total` neighbour slots evenly over `types` types: for se_atten only their sum matters.
std::vector<int> shared_slots(int total, int types);

/// True if a descriptor uses type embeddings; one energy network then serves all species.
bool has_type_embedding(const DeepPotentialModel& model);

/// True if type embeddings are those of se_e2_a, which DeePMD-kit's files and tables hold only by_species().
bool is_known_by_species(const DeepPotentialModel& model);

/// Embedding of every species, type_embedding.out() values each.
std::vector<std::vector<double>> species_embeddings(const DeepPotentialModel& descriptor);

/// InputError if a first layer that takes a species' embedding also adds its input to its output: such a layer cannot
/// be specialised to one species.
void require_separable(const DeepPotentialModel& model);

/// The same model without type embeddings. For given species their embedding is a constant, so the shared embedding
/// network becomes one with a scalar input for each pair of species, which differ in the bias of the first layer, and
/// so do the energy networks, one for each species. Models without type embedding are copied; a part of a hybrid has no
/// energy network.
DeepPotentialModel by_species(const DeepPotentialModel& model);

}  // namespace cambium::deepmd
