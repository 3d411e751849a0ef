#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Requirements of a stage on the file of fields named by its key `data`, as for read_fields().
struct FieldsNeeded {
  std::string file;
  std::vector<std::string> names;
  int frames = 0;
  std::optional<bool> periodic;
};

/// For `cambium check`: the fields, read unless an earlier stage has yet to write them or they are too large. A stage
/// that writes them must be one that writes fields.
std::optional<FieldData> look_at_fields(const FieldsNeeded& needed, Check& check);

}  // namespace cambium::superres
