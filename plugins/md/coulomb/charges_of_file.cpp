#include "plugins/md/coulomb/charges_of_file.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz_frames.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium::md {

static std::vector<double> read_charges(const std::string& path) {
  if (!path.ends_with("xyz")) return io::read_lammps_charges(path);
  io::ExtxyzReader reader(path, {.motion = true, .forces = false, .force = {}});
  const auto frame = reader.at(-1);
  if (frame.charge.empty())
    throw InputError(fmt::format("coulomb: {} has no column of charges, but {}; name a numeric column charge:R:1", path,
                                 frame.columns.text()));
  auto tags = frame.id;
  if (tags.empty()) return frame.charge;
  if (const auto done = renumber(tags); !done.problem.empty())
    throw InputError(fmt::format("coulomb: {}: {}", path, done.problem));
  std::vector<double> out(frame.charge.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[static_cast<std::size_t>(tags[i]) - 1] = frame.charge[i];
  return out;
}

std::vector<double> charges_of_file(const std::string& path, const Comm& comm) {
  std::vector<double> charges;
  io::on_root(comm, [&] { charges = read_charges(path); });
  std::int64_t count = comm.sum(std::ssize(charges));
  charges.resize(static_cast<std::size_t>(count));
  comm.broadcast(charges);
  return charges;
}

}  // namespace cambium::md
