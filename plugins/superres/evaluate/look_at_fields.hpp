#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Requirements of a stage on the file of fields that its key `data` names, as read_fields() has it.
struct FieldsNeeded {
  std::string file;
  std::vector<std::string> names;
  int frames = 0;
  std::optional<bool> periodic;
};

/// For `cambium check`: the fields, read, where no earlier stage has to write them first and they are not too large.
/// The stage that will write them must be one that writes fields.
std::optional<FieldData> look_at_fields(const FieldsNeeded& needed, Check& check);

}  // namespace cambium::superres
