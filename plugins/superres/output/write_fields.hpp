#pragma once
#include "core/parallel/context.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Fields in the layout of the output 'fields', complete or not at all: /tasks/<name> by (t, x, z), /scales/{sim_time, x, z}.
/// Rank 0.
void write_fields(const std::string& path, const FieldData& data, const Context& context);

}  // namespace cambium::superres
