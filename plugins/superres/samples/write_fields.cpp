#include "plugins/superres/samples/write_fields.hpp"

#include <map>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"

namespace cambium::superres {

static std::string meaning_of(const std::string& field) {
  static const std::map<std::string, std::string> known{
      {"p", "pressure"},         {"b", "buoyancy"},         {"u", "velocity along x"},
      {"v", "velocity along y"}, {"w", "velocity along z"}, {"mask", "1 where nothing is known"}};
  const auto found = known.find(field);
  return found == known.end() ? field : found->second;
}

void name_coordinates(io::File& file, const std::string& field, const std::vector<std::string>& axes) {
  static const std::map<std::string, std::string> meanings{{"x", "x, along the plates, in heights of the layer"},
                                                           {"y", "y, along the plates, in heights of the layer"},
                                                           {"z", "z, from plate to plate, in heights of the layer"}};
  io::labelled(file.dataset("/tasks/" + field), "", meaning_of(field));
  if (!file.has_attribute("Conventions")) {
    io::follow_cf(file);
    io::labelled(file.dataset("/scales/sim_time"), "", "time in free-fall times");
    for (const auto& axis : axes) io::labelled(file.dataset("/scales/" + axis), "", meanings.at(axis));
  }
  std::vector<std::string> scales{"/scales/sim_time"};
  for (const auto& axis : axes) scales.push_back("/scales/" + axis);
  file.attach_scales("/tasks/" + field, scales);
  file.link("/tasks/" + field, "/" + field);
  for (const auto& scale : scales)
    if (const auto axis = scale.substr(8); !file.exists(axis)) file.link(scale, axis);
}

void write_fields(const std::string& path, const FieldData& data, const Context& context) {
  io::write_h5_atomically(path, [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context));
    file.write("/scales/sim_time", data.axis[0]);
    file.write("/scales/x", data.axis[1]).set_attribute("periodic", data.period > 0.0 ? 1 : 0);
    file.write("/scales/z", data.axis[2]);
    for (std::size_t f = 0; f < data.names.size(); ++f) {
      const std::vector<float> values(data.values[f].begin(), data.values[f].end());
      auto set = file.write(
          "/tasks/" + data.names[f],
          io::tensor_of(values.data(), {std::ssize(data.axis[0]), std::ssize(data.axis[1]), std::ssize(data.axis[2])}));
      set.set_attribute("DIMENSION_LABELS", std::vector<std::string>{"t", "x", "z"});
      name_coordinates(file, data.names[f]);
    }
    if (data.hidden.empty()) return;
    const std::vector<std::uint8_t> mask(data.hidden.begin(), data.hidden.end());
    file.write("/tasks/mask", io::tensor_of(mask.data(), {std::ssize(data.axis[0]), std::ssize(data.axis[1]),
                                                          std::ssize(data.axis[2])}));
    name_coordinates(file, "mask");
  });
}

}  // namespace cambium::superres
