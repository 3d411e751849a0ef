#pragma once
#include <string>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// An e3nn Linear: its instructions say which block goes where and with which factor. InputError when it does not fit.
LinearMap read_linear(const ModelArchive& archive, const std::string& name);
/// Factor before SiLU that e3nn drew from samples: in the constants of TorchScript, or beside the activation.
double read_activation(const ModelArchive& archive, const std::string& prefix);
/// Interaction, product and readout number `k`; the model has its species and harmonics already.
Interaction read_interaction(const ModelArchive& archive, const std::string& prefix, int k, const MaceModel& model);
/// The symmetric contraction of interaction `k`. `irreps` are those of its results.
Contraction read_contraction(const ModelArchive& archive, const std::string& name, const Irreps& irreps, int channels,
                             int components, int species);

}  // namespace cambium::mace
