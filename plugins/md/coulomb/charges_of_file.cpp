#include "plugins/md/coulomb/charges_of_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz_frames.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium::md {

/// Charges in coulomb, statcoulomb or picocoulomb, which would leave atoms without any. A file of zeros is taken.
static void refuse_other_units(const std::vector<double>& charges, const std::string& path) {
  double largest = 0.0;
  for (const double q : charges) largest = std::max(largest, std::abs(q));
  if (largest == 0.0 || largest >= 1e-6) return;
  throw InputError(fmt::format(
      "coulomb: the largest charge of {} is {:.3g} elementary charges, so it has other units: give elementary "
      "charges, or, in LAMMPS data, name the units in the first line (units = si, cgs or micro)",
      path, largest));
}

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
  io::on_root(comm, [&] {
    charges = read_charges(path);
    refuse_other_units(charges, path);
  });
  std::int64_t count = comm.sum(std::ssize(charges));
  charges.resize(static_cast<std::size_t>(count));
  comm.broadcast(charges);
  return charges;
}

}  // namespace cambium::md
