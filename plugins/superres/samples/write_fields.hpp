#pragma once
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Attaches coordinates as dimension scales to the field `/tasks/<field>` and links both at the top level of the file,
/// where xarray looks: `xarray.open_dataset("fields.h5")` has the fields by (sim_time, x, z), or by the `axes`.
void name_coordinates(io::File& file, const std::string& field, const std::vector<std::string>& axes = {"x", "z"});

/// Writes fields atomically in the layout of the output 'fields': /tasks/<name> by (t, x, z), /scales/{sim_time, x, z};
/// the attribute `periodic` of x is 1 or, between walls, 0. Rank 0.
void write_fields(const std::string& path, const FieldData& data, const Context& context);

}  // namespace cambium::superres
