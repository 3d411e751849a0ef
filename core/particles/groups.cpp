#include "core/particles/groups.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/node.hpp"
#include "core/particles/atom_rows.hpp"

namespace cambium {
namespace {

/// A GroupSpec as a kernel reads it. Absent conditions hold for every atom.
struct Selection {
  Box box;
  GivenAxes axes;
  bool turned = false;  ///< axes.turned()
  bool any_species = true, any_tag = true, invert = false;
  View<int*> chosen;  ///< per type, 1 where selected
  View<std::int64_t* [2]> ranges;
  bool block = false, block_fractional = false;
  double low[3], high[3];  ///< in the axes in which the cell was given
  bool sphere = false;
  double center[3], radius = 0.0;  ///< centre in fractional coordinates
  int layers[3];                   ///< images on each side that the sphere may reach

  KOKKOS_INLINE_FUNCTION bool in_tags(std::int64_t tag) const {
    for (std::size_t k = 0; k < ranges.extent(0); ++k)
      if (tag >= ranges(k, 0) && tag <= ranges(k, 1)) return true;
    return false;
  }

  KOKKOS_INLINE_FUNCTION bool in_block(const double s[3]) const {
    double r[3] = {s[0], s[1], s[2]};
    if (!block_fractional) {
      double x[3];
      box.to_cartesian(s, x);
      for (int k = 0; k < 3; ++k)
        r[k] = turned ? x[0] * axes.q[k][0] + x[1] * axes.q[k][1] + x[2] * axes.q[k][2] : x[k];
    }
    for (int d = 0; d < 3; ++d)
      if (r[d] < low[d] || r[d] >= high[d]) return false;
    return true;
  }

  KOKKOS_INLINE_FUNCTION bool in_sphere(const double s[3]) const {
    double d[3];
    for (int k = 0; k < 3; ++k) d[k] = s[k] - center[k] - std::floor(s[k] - center[k] + 0.5);
    for (int a = -layers[0]; a <= layers[0]; ++a)
      for (int b = -layers[1]; b <= layers[1]; ++b)
        for (int c = -layers[2]; c <= layers[2]; ++c) {
          const double x = (d[0] + a) * box.h[0][0] + (d[1] + b) * box.h[1][0] + (d[2] + c) * box.h[2][0];
          const double y = (d[1] + b) * box.h[1][1] + (d[2] + c) * box.h[2][1];
          const double z = (d[2] + c) * box.h[2][2];
          if (x * x + y * y + z * z <= radius * radius) return true;
        }
    return false;
  }

  KOKKOS_INLINE_FUNCTION bool holds(const double r[3], int type, std::int64_t tag) const {
    double s[3];
    box.to_fractional(r, s);
    for (int k = 0; k < 3; ++k) {
      s[k] -= std::floor(s[k]);
      if (s[k] >= 1.0) s[k] = 0.0;  // rounded up from just below zero
    }
    const bool all = (any_species || chosen(type)) && (any_tag || in_tags(tag)) && (!block || in_block(s)) &&
                     (!sphere || in_sphere(s));
    return all != invert;
  }
};

void select_species(Selection& out, const std::string& name, const GroupSpec& spec, const Particles& p) {
  out.any_species = spec.species.empty();
  out.chosen = View<int*>("group: species", p.species.size());
  const auto chosen = Kokkos::create_mirror_view(out.chosen);
  for (const auto& symbol : spec.species) {
    const int type = p.type_of(symbol);
    if (type < 0) {
      std::vector<std::string> known;
      for (const auto& s : p.species) known.push_back(s.symbol);
      throw KeyError("groups.species.unknown", deck::child_path(name, "species"),
                     fmt::format("group '{}': there is no species '{}'{}", name, symbol, suggestion(symbol, known)));
    }
    chosen(type) = 1;
  }
  Kokkos::deep_copy(out.chosen, chosen);
}

/// A slab is a block that is open in two directions; both given is their common part.
void select_block(Selection& out, const std::string& name, const GroupSpec& spec) {
  if (!spec.slab && !spec.block) return;
  if (spec.slab && spec.block)
    throw KeyError("groups.slab_and_block", name,
                   fmt::format("group '{}' has both a slab and a block: put the slab's limits into the block", name));
  out.block = true;
  out.block_fractional = spec.slab ? spec.slab->fractional : spec.block->fractional;
  for (int d = 0; d < 3; ++d) {
    const bool open = spec.slab && d != static_cast<int>(spec.slab->axis);
    out.low[d] = open ? -HUGE_VAL : spec.slab ? spec.slab->low : spec.block->low[d];
    out.high[d] = open ? HUGE_VAL : spec.slab ? spec.slab->high : spec.block->high[d];
  }
}

Selection selection_of(const std::string& name, const GroupSpec& spec, const Particles& p, const GivenAxes& axes) {
  Selection out;
  out.box = p.box;
  out.axes = axes;
  out.turned = axes.turned();
  out.invert = spec.invert;
  select_species(out, name, spec, p);
  out.any_tag = spec.tags.empty();
  out.ranges = View<std::int64_t* [2]>("group: tags", spec.tags.size());
  const auto ranges = Kokkos::create_mirror_view(out.ranges);
  for (std::size_t k = 0; k < spec.tags.size(); ++k) {
    ranges(k, 0) = spec.tags[k][0];
    ranges(k, 1) = spec.tags[k][1];
  }
  Kokkos::deep_copy(out.ranges, ranges);
  select_block(out, name, spec);
  if (spec.sphere) {
    out.sphere = true;
    out.radius = spec.sphere->radius;
    const auto height = p.box.heights();
    for (int k = 0; k < 3; ++k) {
      out.center[k] = spec.sphere->center[k];
      out.layers[k] = static_cast<int>(out.radius / height[k] + 0.5);
    }
    if (!spec.sphere->fractional) p.box.to_fractional(axes.inside(spec.sphere->center.data()).data(), out.center);
  }
  return out;
}

void add_bit(const Particles& p, const Selection& selection, std::uint32_t bit) {
  const auto x = p.x;
  const auto tag = p.tag;
  const auto group = p.group;
  Kokkos::parallel_for(
      "groups: select", Range(0, p.nlocal), KOKKOS_LAMBDA(int i) {
        const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
        if (selection.holds(r, static_cast<int>(x(i, 3)), tag(i))) group(i) |= bit;
      });
}

constexpr std::uint32_t all_bit = 1;
constexpr std::size_t most_groups = 31;

constexpr const char* fractional_doc = "lengths are fractions of the cell vectors, not Å";

}  // namespace

void Slab::describe(deck::Describe<Slab>& d) {
  d("axis", &Slab::axis, "normal of the planes (with fractional: the cell vector a, b or c)")
      .options({{"x", Axis::x}, {"y", Axis::y}, {"z", Axis::z}})
      .def(Axis::z);
  d("lower", &Slab::low, "coordinate of the lower plane").formerly("low").unit("angstrom");
  d("upper", &Slab::high, "coordinate of the upper plane, itself outside").formerly("high").unit("angstrom");
  d("fractional", &Slab::fractional, fractional_doc).def(false);
  d.check([](const Slab& s) { return s.low < s.high ? "" : "a slab needs lower < upper"; });
}

void Block::describe(deck::Describe<Block>& d) {
  d("lower", &Block::low, "lower corner").formerly("low").unit("angstrom");
  d("upper", &Block::high, "upper corner, itself outside").formerly("high").unit("angstrom");
  d("fractional", &Block::fractional, fractional_doc).def(false);
  d.check([](const Block& b) {
    const bool good = b.low[0] < b.high[0] && b.low[1] < b.high[1] && b.low[2] < b.high[2];
    return good ? "" : "a block needs lower < upper in all three directions";
  });
}

void Sphere::describe(deck::Describe<Sphere>& d) {
  d("center", &Sphere::center, "centre of the sphere").unit("angstrom");
  d("radius", &Sphere::radius, "radius of the sphere; periodic images count").unit("angstrom").positive();
  d("fractional", &Sphere::fractional, "the centre is in fractions of the cell vectors, not Å").def(false);
}

void GroupSpec::describe(deck::Describe<GroupSpec>& d) {
  d("species", &GroupSpec::species, "atoms of any of these species").example("[Cu]").def({});
  d("tags", &GroupSpec::tags, "ranges of atom IDs, ends included").example("[[1, 100]]").def({});
  d("slab", &GroupSpec::slab, "atoms between two planes at the start");
  d("block", &GroupSpec::block, "atoms in a block at the start");
  d("sphere", &GroupSpec::sphere, "atoms in a sphere at the start");
  d("invert", &GroupSpec::invert, "select the atoms for which not all conditions hold").def(false);
}

Groups::Groups(std::map<std::string, GroupSpec> specs) : specs_(std::move(specs)) {
  if (specs_.size() > most_groups)
    throw KeyError("groups.too_many", "",
                   fmt::format("{} groups are given, at most {} are possible", specs_.size(), most_groups));
  if (specs_.count("all"))
    throw KeyError("groups.all", "all", "the group 'all' exists already and holds every atom: choose another name");
}

std::uint32_t Groups::bit(const std::string& name) const {
  if (name == "all") return all_bit;
  const auto found = specs_.find(name);
  if (found != specs_.end()) return all_bit << (1 + std::distance(specs_.begin(), found));
  std::vector<std::string> known = {"all"};
  for (const auto& [other, spec] : specs_) known.push_back(other);
  throw KeyError("groups.unknown", "", fmt::format("there is no group '{}'{}", name, suggestion(name, known)));
}

std::int64_t Groups::count(const Particles& p, const Comm& comm, std::uint32_t mask) {
  const auto group = p.group;
  std::int64_t n = 0;
  Kokkos::parallel_reduce(
      "groups: count", Range(0, p.nlocal), KOKKOS_LAMBDA(int i, std::int64_t& sum) { sum += (group(i) & mask) != 0; },
      n);
  return comm.sum(n);
}

void Groups::assign(Particles& p, const Comm& comm, const GivenAxes& axes) const {
  Kokkos::deep_copy(p.group, all_bit);
  for (const auto& [name, spec] : specs_) {
    add_bit(p, selection_of(name, spec, p, axes), bit(name));
    if (count(p, comm, bit(name)) == 0)
      throw KeyError(
          "groups.empty", name,
          fmt::format(
              "group '{}' holds no atom: check its species, tags and region (all conditions must hold together)",
              name));
  }
}

void keep_only(Particles& p, const GroupSpec& spec, const std::string& name, const Comm& comm, const GivenAxes& axes) {
  const Groups one({{name, spec}});
  one.assign(p, comm, axes);
  AtomRows rows(p, {});
  std::vector<int> kept;
  const auto group = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.group);
  for (int i = 0; i < p.nlocal; ++i)
    if (group(i) & one.bit(name)) kept.push_back(i);
  rows.permute(kept);
  p.nlocal = static_cast<int>(kept.size());
  const std::int64_t before = comm.exclusive_sum(static_cast<std::int64_t>(p.nlocal));
  for (int i = 0; i < p.nlocal; ++i) rows.tag()(i) = before + i + 1;
  rows.store(p, {});
  Kokkos::deep_copy(p.group, 0u);
  p.nglobal = comm.sum(static_cast<std::int64_t>(p.nlocal));
  p.place_sentinel();
}

}  // namespace cambium
