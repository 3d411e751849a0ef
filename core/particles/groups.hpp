#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/comm.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

enum class Axis { x, y, z };

/// Atoms between two planes: low <= coordinate < high.
struct Slab {
  Axis axis = Axis::z;
  double low = 0.0, high = 0.0;
  bool fractional = false;
  static void describe(deck::Describe<Slab>& d);
};

/// Atoms with low <= position < high in all three directions.
struct Block {
  std::array<double, 3> low = {0, 0, 0}, high = {0, 0, 0};
  bool fractional = false;
  static void describe(deck::Describe<Block>& d);
};

/// Atoms with a periodic image at most `radius` (Å) from the centre.
struct Sphere {
  std::array<double, 3> center = {0, 0, 0};
  double radius = 0.0;
  bool fractional = false;  ///< the centre is in fractions of the cell
  static void describe(deck::Describe<Sphere>& d);
};

/// A selection of atoms: those for which everything that is given holds, or with `invert` all others. Positions are
/// taken inside the periodic cell, in Å along the axes in which the cell was given, or in fractions of the cell vectors
/// where `fractional`.
struct GroupSpec {
  std::vector<std::string> species;               ///< any of these
  std::vector<std::array<std::int64_t, 2>> tags;  ///< in any of these ranges, ends included
  std::optional<Slab> slab;
  std::optional<Block> block;
  std::optional<Sphere> sphere;
  bool invert = false;
  static void describe(deck::Describe<GroupSpec>& d);
};

/// Keeps the atoms of the selection and removes all others; the remaining ones are renumbered, in the order of ranks
/// and rows. Masks of groups become 0. Collective. Throws InputError as Groups::assign does, for a group `name`.
void keep_only(Particles& particles, const GroupSpec& spec, const std::string& name, const Comm& comm,
               const GivenAxes& axes = {});

/// The groups of a deck as bits of `particles.group`. Bit 0 is the group "all".
class Groups {
 public:
  /// Throws InputError for more than 31 groups and for one that is called "all".
  explicit Groups(std::map<std::string, GroupSpec> specs = {});

  /// Sets the masks of the owned atoms from their current positions. Collective. Throws InputError for an unknown
  /// species and for a group without atoms.
  void assign(Particles& particles, const Comm& comm, const GivenAxes& axes = {}) const;
  /// The mask of one group. Throws InputError for an unknown name.
  std::uint32_t bit(const std::string& name) const;
  /// Number of atoms of all ranks in any group of `mask`. Collective.
  static std::int64_t count(const Particles& particles, const Comm& comm, std::uint32_t mask);

 private:
  std::map<std::string, GroupSpec> specs_;
};

}  // namespace cambium
