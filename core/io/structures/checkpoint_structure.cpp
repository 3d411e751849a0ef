#include "core/io/structures/checkpoint_structure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium {

namespace {

/// Reads a dataset of `count` values.
template <class T>
std::vector<T> numbers(const io::File& file, const std::string& name, std::size_t count) {
  auto values = file.read<std::vector<T>>(name);
  if (values.size() != count)
    throw InputError(
        fmt::format("'{}': {} holds {} values, expected {}; the file is damaged or was changed, give another one",
                    file.file(), name, values.size(), count));
  return values;
}

/// The first three of every `stride` values.
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
    throw InputError(
        fmt::format("'{}' is no checkpoint of md: it has no /fields/position; give a restart.STEP.h5, an extended XYZ "
                    "or a LAMMPS data file",
                    path));
  Structure s;
  const auto vectors = numbers<double>(file, "box/vectors", 9);
  std::copy(vectors.begin(), vectors.end(), &s.box.h[0][0]);
  const auto origin = numbers<double>(file, "box/origin", 3);
  std::copy(origin.begin(), origin.end(), s.box.origin);
  // Versions that did not keep the rotation wrote none.
  const auto axes =
      file.exists("physics/axes") ? file.read<std::vector<double>>("physics/axes") : std::vector<double>();
  if (axes.size() == 9) std::copy(axes.begin(), axes.end(), &s.axes.q[0][0]);
  const auto symbols = file.read<std::vector<std::string>>("species/symbol");
  const auto masses = numbers<double>(file, "species/mass", symbols.size());
  for (std::size_t k = 0; k < symbols.size(); ++k) s.species.push_back({symbols[k], masses[k]});
  s.tag = file.read<std::vector<std::int64_t>>("fields/tag");
  if (const auto problem = problem_of_ids(s.tag); !problem.empty() || s.tag.empty())
    throw InputError(fmt::format("'{}': {}", path, s.tag.empty() ? "it holds no atoms" : problem));
  const auto position = numbers<double>(file, "fields/position", 4 * s.tag.size());
  s.x = triples(position, 4);
  s.v = triples(numbers<double>(file, "fields/velocity", 3 * s.tag.size()), 3);
  s.image = triples(numbers<int>(file, "fields/image", 3 * s.tag.size()), 3);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const double type = position[4 * i + 3];
    if (!(type >= 0.0 && type < static_cast<double>(symbols.size())))
      throw InputError(
          fmt::format("'{}': atom {} is of type {}, expected 0 to {}", path, s.tag[i], type, std::ssize(symbols) - 1));
    s.type.push_back(static_cast<int>(type));
  }
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

}  // namespace cambium
