#pragma once
#include <string>
#include <vector>

namespace cambium::kim {

/// Full name of an installed portable model. `wanted`: the name, or only its code, with or without its version
/// ("MO_123629422045_005", "MO_123629422045"). InputError: not installed (similar names are listed), several versions,
/// a simulator model, which only another program runs, or a model driver.
std::string installed_model(const std::string& wanted);

/// Names of all portable models that the KIM API finds on this machine, sorted.
std::vector<std::string> installed_models();

}  // namespace cambium::kim
