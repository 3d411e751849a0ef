#include "plugins/pretrain/tasks/same_parameters.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"

namespace cambium::pretrain {

void require_names(const train::Dataset& archive, const std::map<std::string, std::vector<double>>& wanted,
                   const char* key) {
  const auto* fields = dynamic_cast<const FieldArchive*>(&archive);
  if (!fields) return;
  std::vector<std::string> names;
  for (const auto& [name, values] : wanted) names.push_back(name);
  const auto& known = fields->parameter_names();
  if (known.empty() || names == known) return;
  throw KeyError("archive.parameters", key,
                 fmt::format("{} names {}, but the parameters of the archive's runs are {}; give both the same names",
                             key, join(names), join(known)));
}

}  // namespace cambium::pretrain
