#pragma once
#include <string>

#include "plugins/mace/model/mace_model.hpp"
#include "plugins/mace/model/model_parts.hpp"

namespace cambium::mace {

/// An e3nn Linear: its instructions map blocks to blocks with a factor. InputError if it is inconsistent.
LinearMap read_linear(const ModelParts& archive, const std::string& name);
/// Interaction, product and readout of index `k`; species and harmonics of the model have already been read.
Interaction read_interaction(const ModelParts& archive, const std::string& prefix, int k, const MaceModel& model);
/// The symmetric contraction of interaction `k`. `irreps` are those of its results.
Contraction read_contraction(const ModelParts& archive, const std::string& name, const Irreps& irreps, int channels,
                             int components, int species);

}  // namespace cambium::mace
