#include "core/io/hdf5/labels.hpp"

#include <fmt/format.h>

#include <cctype>

namespace cambium::io {

Dataset labelled(Dataset array, const std::string& unit, const std::string& long_name) {
  array.set_attribute("units", unit.empty() ? "1" : unit);
  array.set_attribute("long_name", long_name);
  return array;
}

/// A byte array that is never written, so its chunks are not allocated. The name is netCDF's mark of such a dimension.
void write_dimension(Group& group, const std::string& name, std::int64_t length) {
  Dataset dimension = group.create_series(name, DType::u8, {});
  dimension.resize(length);
  dimension.set_ascii_attribute("NAME",
                                fmt::format("This is a netCDF dimension but not a netCDF variable.{:10d}", length));
}

void show_at_top(File& file, const std::string& array, const std::string& name) {
  if (!file.exists(name)) file.link(array, name);
}

void set_coordinates(Dataset array, const std::string& names) { array.set_attribute("coordinates", names); }

void follow_cf(File& file) { file.set_attribute("Conventions", "CF-1.10"); }

std::string plain_name(const std::string& text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c))
      out += static_cast<char>(c);
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

}  // namespace cambium::io
