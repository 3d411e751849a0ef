#include "plugins/assimilate/twin/forecast_file.hpp"

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"

namespace cambium::assimilate {

void write_frames(const std::string& path, const StateSpace& centred, const std::vector<double>& times,
                  const std::vector<std::vector<float>>& frames, const Context& context) {
  io::write_h5_atomically(path, [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context));
    io::follow_cf(file);
    io::labelled(file.write("/scales/sim_time", times), centred.time_unit, "time that is forecast");
    io::labelled(file.write("/scales/x", centred.x), "", "x").set_attribute("periodic", centred.period > 0.0 ? 1 : 0);
    io::labelled(file.write("/scales/z", centred.z), "", "z");
    for (std::size_t f = 0; f < centred.fields.size(); ++f) {
      std::vector<float> values;
      values.reserve(frames.size() * centred.places());
      for (const auto& frame : frames) {
        const auto first = frame.begin() + static_cast<std::ptrdiff_t>(f * centred.places());
        values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(centred.places()));
      }
      const std::string name = "/tasks/" + centred.fields[f].name;
      auto set = file.write(
          name, io::tensor_of(values.data(), {std::ssize(frames), std::ssize(centred.x), std::ssize(centred.z)}));
      io::labelled(set, "", centred.fields[f].doc)
          .set_attribute("DIMENSION_LABELS", std::vector<std::string>{"t", "x", "z"});
      file.attach_scales(name, {"/scales/sim_time", "/scales/x", "/scales/z"});
      io::show_at_top(file, name, centred.fields[f].name);
    }
    for (const char* axis : {"sim_time", "x", "z"}) io::show_at_top(file, std::string("/scales/") + axis, axis);
  });
}

}  // namespace cambium::assimilate
