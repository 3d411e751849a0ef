#pragma once
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd::detail {

/// Readers of parts of a model file. All throw InputError with the path of the invalid node.

/// Values of `key`, whose number must be `expected`; empty if the key is missing.
std::vector<double> optional_values(const TreeCursor& variables, const std::string& key, std::size_t expected);
Layer read_layer(const TreeCursor& node);
Network read_network(const TreeCursor& node);
/// The networks of a collection, whose number must be `expected`.
std::vector<Network> read_collection(const TreeCursor& node, std::size_t expected);

/// Reads what a descriptor with type embedding has instead of an embedding network for each pair of species: the
/// species' embeddings and the network that takes them.
void read_type_embedding(const TreeCursor& node, DeepPotentialModel& m);
/// The same of se_atten, and its attention layers.
void read_species_descriptor(const TreeCursor& node, DeepPotentialModel& m);
/// Requires a mean of zero and one deviation for all slots: empty slots of se_atten have no species and contribute
/// nothing only if the mean is zero.
void require_shared_statistics(const TreeCursor& node, const DeepPotentialModel& m);

}  // namespace cambium::deepmd::detail
