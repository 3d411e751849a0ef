#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/has_conditions.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/stated_flow.hpp"

namespace cambium::superres {

/// Conditions of samples from a flow: `rayleigh`, `prandtl`, and `no_slip`, 1 or 0; only those that are known.
std::vector<train::Condition> conditions_of(const StatedFlow& flow);
/// Conditions common to files of fields.
std::vector<train::Condition> conditions_of_files(const std::vector<std::string>& paths);

/// Adds conditions to a network's state (JSON), and reads them from it; none in models that do not have them.
std::string with_conditions(const std::string& state, const std::vector<train::Condition>& conditions);
std::vector<train::Condition> conditions_in(const std::string& state);

/// Difference between the flow to which a model is applied and those on which it was trained: a phrase such as "was
/// trained on flows with the Rayleigh number 1e6, and 'fields.h5' has the Rayleigh number 1e8". Empty if none is known;
/// parameters that are a field of the model's samples are not compared. `where` names the flow in the phrase.
std::string other_flow(const train::ArtifactInfo& info, const StatedFlow& flow, const std::string& where);

/// A model about to be applied to a flow.
struct Applied {
  std::string model;     ///< its file
  std::string where;     ///< the flow in messages: "'fields.h5'", "this run"
  std::string key;       ///< that names the model
  bool allowed = false;  ///< allow_other_parameters
};
/// If the flow is not one of the model's training: a warning if `allowed`, else a KeyError about `key`.
void require_trained_on(const train::ArtifactInfo& info, const StatedFlow& flow, const Applied& applied,
                        Context& context);

}  // namespace cambium::superres
