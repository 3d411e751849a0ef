#include "plugins/superres/evaluate/look_at_fields.hpp"

#include <fmt/format.h>

#include "core/deck/about_key.hpp"

namespace cambium::superres {

std::optional<FieldData> look_at_fields(const FieldsNeeded& needed, Check& check) {
  check.require_written_by("data", needed.file, {{Origin::output, "fields"}, {Origin::fields_of, "reconstruct"}});
  if (check.waits(needed.file)) {
    check.not_looked_at(fmt::format("the fields: '{}' is still to be written", needed.file));
    return {};
  }
  check.reads(deck::Node::scalar(needed.file));
  if (!check.small()) {
    check.not_looked_at(fmt::format("the fields: '{}' is too large for a check", needed.file));
    return {};
  }
  return deck::about_key("superres.fields.file", "data", [&] {
    return read_fields(needed.file, needed.names, static_cast<std::size_t>(needed.frames), needed.periodic);
  });
}

}  // namespace cambium::superres
