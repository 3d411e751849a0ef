#include "core/io/structures/extxyz_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/io/structures/cluster_cell.hpp"
#include "core/io/structures/extxyz_frames.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"
#include "core/particles/elements.hpp"
#include "core/particles/right_handed.hpp"

namespace cambium::io {
namespace {

using Role = ExtxyzRole;

/// Å/ps of 1 Å/fs.
constexpr double per_fs = 1000.0;
/// QUIP's unit of mass, in which energies are eV and velocities Å/fs: eV fs^2/Å^2 per g/mol.
constexpr double quip_mass = 1e6 * constants::mvv2e;

/// Makes a structure of a frame.
class FrameToStructure {
 public:
  FrameToStructure(const TextLines& file, ExtxyzFrame frame, const std::string& velocity_unit)
      : file_(file), frame_(std::move(frame)), unit_(velocity_unit) {}

  Structure make(bool velocities) {
    if (!is_cluster()) read_cell();
    for (const auto& symbol : frame_.species) s_.species.push_back({symbol, 0.0});
    s_.nglobal = frame_.atoms();
    s_.type = std::move(frame_.type);
    take_masses();
    if (velocities) take_velocities();
    if (!is_cluster()) take_images();
    s_.x = std::move(frame_.position);
    if (is_cluster()) put_in_vacuum(s_);
    take_ids();
    for (auto* rows : {&s_.x, &s_.v})
      if (s_.axes.turned())
        for (auto& row : *rows) row = s_.axes.inside(row.data());
    name_unread();
    if (frame_.held > 0)
      s_.warnings.push_back(
          fmt::format("move_mask of {} atom{} is not read: all atoms move; hold a group of atoms in the deck",
                      frame_.held, frame_.held == 1 ? "" : "s"));
    return std::move(s_);
  }

 private:
  const std::string& name_of(Role role) const { return frame_.columns[role].name; }

  /// Fails at the line of an atom.
  [[noreturn]] void fail_at(std::size_t atom, const std::string& text) const {
    file_.fail_at(frame_.line + 2 + static_cast<std::int64_t>(atom), text);
  }
  [[noreturn]] void fail(const std::string& text) const { file_.fail_at(frame_.line + 1, text); }

  /// As ASE writes molecules.
  bool is_cluster() const {
    return !frame_.lattice && frame_.pbc && frame_.periodic == std::array{false, false, false};
  }

  void read_cell() {
    if (frame_.pbc && frame_.periodic != std::array{true, true, true})
      fail(
          fmt::format("pbc=\"{}\": only cells that are periodic in all three directions are simulated; put free "
                      "surfaces between vacuum in a periodic cell{}",
                      *frame_.pbc,
                      frame_.periodic == std::array{false, false, false}
                          ? ", or leave Lattice out: molecules without a cell are put in one"
                          : ""));
    if (!frame_.lattice)
      fail("no Lattice=\"ax ay az bx by bz cx cy cz\" in the comment line: the periodic cell (Å) is needed");
    double rows[3][3], rotation[3][3];
    for (int k = 0; k < 9; ++k) rows[k / 3][k % 3] = (*frame_.lattice)[k];
    turned_round_ = make_right_handed(rows);
    if (turned_round_) s_.remarks.push_back("the cell is left-handed: its vectors are turned round");
    try {
      s_.box = Box::from_vectors(rows, rotation);
    } catch (const InputError& error) {
      fail(error.what());
    }
    s_.axes = GivenAxes(rotation);
    const auto* origin = frame_.comment.find(file_, "Origin");
    if (!origin && !turned_round_) return;
    std::vector<double> values(3, 0.0);
    if (origin) values = ExtxyzComment::numbers(file_, *origin);
    if (values.size() != 3) fail(fmt::format("Origin holds {} values, not 3", values.size()));
    for (int k = 0; turned_round_ && k < 9; ++k) values[k % 3] -= rows[k / 3][k % 3];  // the corner across
    const auto corner = s_.axes.inside(values.data());
    std::copy(corner.begin(), corner.end(), s_.box.origin);
  }

  /// A species' mass as the column gives it: one for all of its atoms.
  void take_masses() {
    for (std::size_t i = 0; i < frame_.mass.size(); ++i) {
      Species& species = s_.species[s_.type[i]];
      const double mass = frame_.mass[i];
      if (!(mass > 0.0))
        fail_at(i, fmt::format("the mass of an atom of {} is {} g/mol, but has to be above 0", species.symbol, mass));
      if (species.mass == 0.0) species.mass = mass;
      if (species.mass != mass)
        fail_at(i, fmt::format("{} has atoms of {} and of {} g/mol: name the isotopes differently, as in H and D",
                               species.symbol, species.mass, mass));
    }
    quip_ = !frame_.mass.empty() && same_letters(name_of(Role::mass), "mass") &&
            std::all_of(s_.species.begin(), s_.species.end(), [](const Species& s) {
              const double times = s.mass / std::max(standard_mass(s.symbol), 1e-300);
              return std::abs(times - quip_mass) < 0.05 * quip_mass;
            });
    if (!quip_) return;
    for (Species& s : s_.species) s.mass /= quip_mass;
    s_.remarks.push_back("the column mass is in QUIP's unit, eV fs^2/Å^2 (103.64 times g/mol)");
  }

  double mass_of(const Species& species) const {
    return species.mass > 0.0 ? species.mass : standard_mass(species.symbol);
  }

  /// Å/ps of the column's unit.
  double unit_of_velocities() const {
    const std::string& name = name_of(Role::velocity);
    if (!unit_.empty()) return conversion(unit_, "angstrom/ps");
    if (same_letters(name, "velo")) return quip_ ? per_fs : 1.0;
    const bool of_lammps = frame_.comment.find(file_, "Timestep") != nullptr;
    if (same_letters(name, "vel") && !of_lammps) return per_fs;
    fail(
        fmt::format("the column {} does not specify its unit: {}; give it in the deck, structure: {{velocity_unit: "
                    "angstrom/fs}} or {{velocity_unit: angstrom/ps}}, or call it velo, in Å/ps",
                    name,
                    of_lammps ? "LAMMPS' dump extxyz writes vel in the unit of its own style"
                              : "programs write it in Å/ps, Å/fs and ASE's unit"));
  }

  void take_velocities() {
    const bool have = frame_.columns.has(Role::velocity), momenta = frame_.columns.has(Role::momentum);
    const bool plain = have && same_letters(name_of(Role::velocity), "velo");
    if (momenta && (!have || (!plain && unit_.empty()))) {
      momenta_to_velocities();
      return;
    }
    if (!have) return;
    const double factor = unit_of_velocities();
    s_.v = std::move(frame_.velocity);
    if (factor != 1.0)
      for (auto& v : s_.v)
        for (double& x : v) x *= factor;
    if (!plain || factor != 1.0)
      s_.remarks.push_back(
          fmt::format("the column {} was read in {}", name_of(Role::velocity), !unit_.empty() ? unit_ : "Å/fs"));
    if (!momenta && unit_.empty()) doubt_temperature(factor);
  }

  /// Å/ps of ASE's momenta, sqrt(eV g/mol).
  void momenta_to_velocities() {
    std::vector<double> factor(s_.species.size(), 0.0);
    s_.v = std::move(frame_.momentum);
    for (std::size_t i = 0; i < s_.v.size(); ++i) {
      const Species& species = s_.species[s_.type[i]];
      double& f = factor[s_.type[i]];
      if (f == 0.0) {
        if (mass_of(species) <= 0.0)
          fail_at(i, fmt::format("momenta of {0}, whose mass is not known: add the column masses:R:1, or write "
                                 "velocities (velo:R:3, in Å/ps)",
                                 species.symbol));
        f = 1.0 / (std::sqrt(constants::mvv2e) * mass_of(species));
      }
      for (double& x : s_.v[i]) x *= f;
    }
  }

  /// A thousand times too small or too large, velocities are a millionth or a million times as hot as they should be.
  void doubt_temperature(double factor) {
    const double t = temperature_of(s_);
    const bool per_ps = factor == 1.0;
    if (!(per_ps ? t > 1e-6 && t < 0.02 : t > 3e5)) return;
    s_.warnings.push_back(
        fmt::format("the column {} was read in {}, which makes {:.3g} K, while it makes {:.3g} K in {}: {}; where that "
                    "is meant, set velocity_unit: {}",
                    name_of(Role::velocity), per_ps ? "Å/ps" : "Å/fs", t, per_ps ? 1e6 * t : 1e-6 * t,
                    per_ps ? "Å/fs" : "Å/ps", per_ps ? "QUIP writes velo in Å/fs" : "some programs write vel in Å/ps",
                    per_ps ? "angstrom/fs" : "angstrom/ps"));
  }

  void take_images() {
    if (!frame_.unwrapped.empty()) {
      for (std::size_t i = 0; i < frame_.unwrapped.size(); ++i) {
        double inside[3], outside[3];
        s_.box.to_fractional(s_.axes.inside(frame_.position[i].data()).data(), inside);
        s_.box.to_fractional(s_.axes.inside(frame_.unwrapped[i].data()).data(), outside);
        s_.image.push_back({crossings(i, outside[0] - inside[0]), crossings(i, outside[1] - inside[1]),
                            crossings(i, outside[2] - inside[2])});
      }
    } else {
      for (std::size_t i = 0; i < frame_.travel.size(); ++i) {
        const auto& t = frame_.travel[i];
        const double sign = turned_round_ ? -1.0 : 1.0;
        s_.image.push_back({crossings(i, sign * t[0]), crossings(i, sign * t[1]), crossings(i, sign * t[2])});
      }
    }
  }

  int crossings(std::size_t atom, double cells) const {
    if (!(std::abs(cells) < 1e9))
      fail_at(atom, fmt::format("the atom has crossed the cell {:g} times, expected less than 1e9", cells));
    return static_cast<int>(std::lround(cells));
  }

  void take_ids() {
    s_.tag = std::move(frame_.id);
    if (s_.tag.empty())
      for (std::int64_t n = 0; n < s_.nglobal; ++n) s_.tag.push_back(n + 1);
    const auto done = renumber(s_.tag);
    if (!done.problem.empty()) file_.fail(done.problem);
    if (!done.remark.empty()) s_.remarks.push_back(done.remark);
  }

  /// Columns about the atoms that the structure does not include. Forces are computed again, and momenta are equivalent
  /// to velocities.
  void name_unread() {
    std::vector<std::string> out;
    for (const auto& name : frame_.columns.names()) {
      const auto is = [&](Role role) { return frame_.columns.has(role) && name_of(role) == name; };
      const auto& forces = extxyz_force_names();
      bool read = std::any_of(forces.begin(), forces.end(), [&](const auto& f) { return same_letters(f, name); });
      for (int k = 0; k < static_cast<int>(Role::count); ++k)
        read = read || (is(static_cast<Role>(k)) && static_cast<Role>(k) != Role::charge);
      if (!read) out.push_back(name);
    }
    if (frame_.more_columns) out.push_back("those after the fourth");
    if (!out.empty()) s_.remarks.push_back(fmt::format("column{} not read: {}", out.size() == 1 ? "" : "s", join(out)));
  }

  const TextLines& file_;
  ExtxyzFrame frame_;
  const std::string& unit_;
  Structure s_;
  bool turned_round_ = false;  ///< the vectors of the cell
  bool quip_ = false;          ///< masses, and so velocities, are in QUIP's units
};

Structure structure_of_xyz(const std::string& path, std::int64_t frame, const std::string& velocity_unit,
                           bool velocities) {
  ExtxyzReader reader(path, {.motion = true, .forces = false, .force = {}});
  auto read = reader.at(frame);
  Structure out = FrameToStructure(reader.file(), std::move(read), velocity_unit).make(velocities);
  for (auto* lines : {&out.remarks, &out.warnings})
    for (auto& line : *lines) line = fmt::format("{}: {}", path, line);
  return out;
}

}  // namespace

Structure read_extxyz(const std::string& path, std::int64_t frame, const Comm& comm, const std::string& velocity_unit,
                      bool velocities) {
  Structure structure;
  on_root(comm, [&] { structure = structure_of_xyz(path, frame, velocity_unit, velocities); });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::io
