#include "plugins/deepmd/md/checkpoint_structure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/io/h5.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
std::vector<std::array<T, 3>> triples(const std::vector<T>& flat, std::size_t stride) {
  std::vector<std::array<T, 3>> out(flat.size() / stride);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) out[i][k] = flat[i * stride + k];
  return out;
}

Structure read(const std::string& path) {
  const auto file = io::File::open(path);
  if (!file.exists("fields/position") || !file.exists("box/vectors"))
    throw InputError(fmt::format("'{}' is no checkpoint of md: it has no /fields/position; give a restart.STEP.h5, an "
                                 "extended XYZ or a LAMMPS data file", path));
  Structure s;
  const auto vectors = file.read<std::vector<double>>("box/vectors");
  std::copy(vectors.begin(), vectors.end(), &s.box.h[0][0]);
  const auto origin = file.read<std::vector<double>>("box/origin");
  std::copy(origin.begin(), origin.end(), s.box.origin);
  // Versions that did not keep the rotation wrote none.
  const auto axes = file.exists("physics/axes") ? file.read<std::vector<double>>("physics/axes") : std::vector<double>();
  if (axes.size() == 9) std::copy(axes.begin(), axes.end(), &s.axes.q[0][0]);
  const auto symbols = file.read<std::vector<std::string>>("species/symbol");
  const auto masses = file.read<std::vector<double>>("species/mass");
  for (std::size_t k = 0; k < symbols.size(); ++k) s.species.push_back({symbols[k], masses[k]});
  const auto position = file.read<std::vector<double>>("fields/position");
  s.x = triples(position, 4);
  s.v = triples(file.read<std::vector<double>>("fields/velocity"), 3);
  s.image = triples(file.read<std::vector<int>>("fields/image"), 3);
  s.tag = file.read<std::vector<std::int64_t>>("fields/tag");
  for (std::size_t i = 0; i < s.x.size(); ++i) s.type.push_back(static_cast<int>(position[4 * i + 3]));
  s.nglobal = static_cast<std::int64_t>(s.x.size());
  return s;
}

}  // namespace

Structure read_checkpoint_structure(const std::string& path, const Comm& comm) {
  Structure structure;
  io::on_root(comm, [&] { structure = read(path); });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::deepmd
