#include "core/io/structures/lammps_data_writer.hpp"

#include <fmt/format.h>

#include <iterator>

#include "core/io/gather.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/tensor_of_view.hpp"

namespace cambium::io {

static std::string header_of(const Particles& p) {
  const auto& b = p.box;
  std::string text =
      fmt::format("atoms written by Cambium\n\n{} atoms\n{} atom types\n\n", p.nglobal, p.species.size());
  const char* axis[] = {"x", "y", "z"};
  for (int k = 0; k < 3; ++k)
    text += fmt::format("{:.17g} {:.17g} {}lo {}hi\n", b.origin[k], b.origin[k] + b.h[k][k], axis[k], axis[k]);
  if (b.is_triclinic()) text += fmt::format("{:.17g} {:.17g} {:.17g} xy xz yz\n", b.h[1][0], b.h[2][0], b.h[2][1]);
  text += "\nMasses\n\n";
  for (std::size_t k = 0; k < p.species.size(); ++k)
    text += fmt::format("{} {:.10g}  # {}\n", k + 1, p.species[k].mass, p.species[k].symbol);
  return text;
}

void write_lammps_data(const std::string& path, const Particles& p, const Comm& comm) {
  std::vector<std::int64_t> tags;
  gather_rows(comm, cambium::tensor_of(p.tag, p.nlocal), [&](std::int64_t, const TensorRef& piece) {
    const auto* values = static_cast<const std::int64_t*>(piece.data);
    tags.insert(tags.end(), values, values + piece.shape[0]);
  });
  auto section = [&](const char* title, const TensorRef& rows, bool types) {
    std::string text = fmt::format("\n{}\n\n", title);
    gather_rows(comm, rows, [&](std::int64_t first, const TensorRef& piece) {
      const auto* row = static_cast<const double*>(piece.data);
      for (std::int64_t k = 0; k < piece.shape[0]; ++k, row += piece.shape[1]) {
        fmt::format_to(std::back_inserter(text), "{} ", tags[first + k]);
        if (types) fmt::format_to(std::back_inserter(text), "{} ", static_cast<int>(row[3]) + 1);
        fmt::format_to(std::back_inserter(text), "{:.17g} {:.17g} {:.17g}\n", row[0], row[1], row[2]);
      }
    });
    return text;
  };
  std::string text = header_of(p);
  text += section("Atoms # atomic", cambium::tensor_of(p.x, p.nlocal), true);
  text += section("Velocities", cambium::tensor_of(p.v, p.nlocal), false);
  on_root(comm, [&] { write_file_atomically(path, text); });
}

}  // namespace cambium::io
