#pragma once
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd::detail {

/// Parts of a model file. All throw InputError with the path of what is wrong.

/// The values of `key`, which must be `expected` many; none where the key is missing.
std::vector<double> optional_values(const TreeCursor& variables, const std::string& key, std::size_t expected);
Layer read_layer(const TreeCursor& node);
Network read_network(const TreeCursor& node);
/// The networks of a collection, whose number must be `expected`.
std::vector<Network> read_collection(const TreeCursor& node, std::size_t expected);

/// What se_atten has in the place of an embedding network for each pair of species: the species' embeddings, the
/// network that takes them, and the attention layers.
void read_type_embedding(const TreeCursor& node, DeepPotentialModel& m);
/// Empty slots of se_atten have no species: only with a mean of zero do they contribute nothing. And all its slots have
/// the same deviation.
void require_shared_statistics(const TreeCursor& node, const DeepPotentialModel& m);

}  // namespace cambium::deepmd::detail
