#pragma once
#include <string>

#include "plugins/mace/model/mace_model.hpp"
#include "plugins/mace/model/model_parts.hpp"

namespace cambium::mace {

/// An e3nn Linear: its instructions say which block goes where and with which factor. InputError when it does not fit.
LinearMap read_linear(const ModelParts& archive, const std::string& name);
/// Interaction, product and readout number `k`; the model has its species and harmonics already.
Interaction read_interaction(const ModelParts& archive, const std::string& prefix, int k, const MaceModel& model);
/// The symmetric contraction of interaction `k`. `irreps` are those of its results.
Contraction read_contraction(const ModelParts& archive, const std::string& name, const Irreps& irreps, int channels,
                             int components, int species);

}  // namespace cambium::mace
