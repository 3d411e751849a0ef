#include "plugins/deepmd/data/npy_write.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::deepmd {

std::string npy_text(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  std::string extents;
  for (const auto n : shape) extents += fmt::format("{}, ", n);
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", extents);
  header.append(63 - (10 + header.size()) % 64, ' ');  // data begin at a multiple of 64 bytes
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() % 256);
  out += static_cast<char>(header.size() / 256);
  out += header;
  const std::size_t start = out.size();
  out.resize(start + values.size() * sizeof(double));
  std::memcpy(out.data() + start, values.data(), values.size() * sizeof(double));
  return out;
}

void write_system(const std::string& folder, const std::vector<std::string>& type_map, const std::vector<int>& types,
                  const std::vector<LabelledFrame>& frames) {
  const std::string set = folder + "/set.000";
  std::filesystem::create_directories(set);
  std::vector<double> coord, box, energy, force, virial;
  for (const LabelledFrame& frame : frames) {
    const GivenAxes& axes = frame.axes;
    const auto add = [](std::vector<double>& to, const auto& values) {
      to.insert(to.end(), values.begin(), values.end());
    };
    for (const auto& x : frame.x) add(coord, axes.vector(x.data()));
    add(box, axes.cell(*frame.box));
    energy.push_back(*frame.energy);
    for (const auto& f : frame.force) add(force, axes.vector(f.data()));
    add(virial, axes.tensor(frame.virial.data()));
  }
  const auto n = static_cast<std::int64_t>(frames.size()), width = 3 * static_cast<std::int64_t>(types.size());
  io::write_file_atomically(set + "/coord.npy", npy_text(coord, {n, width}));
  io::write_file_atomically(set + "/box.npy", npy_text(box, {n, 9}));
  io::write_file_atomically(set + "/energy.npy", npy_text(energy, {n}));
  io::write_file_atomically(set + "/force.npy", npy_text(force, {n, width}));
  io::write_file_atomically(set + "/virial.npy", npy_text(virial, {n, 9}));
  std::string names, numbers;
  for (const auto& symbol : type_map) names += symbol + "\n";
  for (const int t : types) numbers += fmt::format("{}\n", t);
  io::write_file_atomically(folder + "/type_map.raw", names);
  io::write_file_atomically(folder + "/type.raw", numbers);
}

}  // namespace cambium::deepmd
