#include "plugins/kim/potentials/kim.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"

namespace cambium::kim {
namespace {

template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Atoms in the layout of the KIM API.
template <class Positions>
ModelAtoms atoms_of(const Particles& particles, const Positions& x, const std::vector<int>& code) {
  ModelAtoms out;
  const int n = particles.total();
  out.positions.reserve(3 * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    for (int a = 0; a < 3; ++a) out.positions.push_back(x(i, a));
    out.codes.push_back(code[static_cast<std::size_t>(x(i, 3))]);
    out.contributing.push_back(i < particles.nlocal);
  }
  return out;
}

/// Virial of forces on owned atoms and ghosts, -dE/dstrain: a rank's energy does not change when all its atoms move
/// together, so that the origin of positions is arbitrary.
void add_virial(const ModelAtoms& atoms, double virial[9]) {
  const double* origin = atoms.positions.data();
  for (std::size_t i = 0; i < atoms.codes.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        virial[3 * a + b] += atoms.forces[3 * i + a] * (atoms.positions[3 * i + b] - origin[b]);
}

/// Adds energies of atoms. Some models assign a part of a bond's energy to the ghost at its end: it is added to the
/// atom of which the ghost is a copy.
void add_energies(const ModelAtoms& atoms, const Particles& particles, GhostExchange& ghosts, ForceOutput& out) {
  const View<double* [3]> parts("kim: energies of atoms", static_cast<std::size_t>(particles.capacity()));
  auto part = Kokkos::create_mirror_view(parts);
  for (std::size_t i = 0; i < atoms.codes.size(); ++i) part(i, 0) = atoms.atom_energy[i];
  Kokkos::deep_copy(parts, part);
  ghosts.reverse_add(parts);
  Kokkos::deep_copy(part, parts);
  auto energy = on_host(out.atom_energy);
  for (int i = 0; i < particles.nlocal; ++i) energy(i) += part(i, 0);
  Kokkos::deep_copy(out.atom_energy, energy);
}

/// Adds virials of atoms and ghosts, which the caller sums.
void add_virials(const ModelAtoms& atoms, ForceOutput& out) {
  constexpr std::size_t component[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};  // of xx, yy, zz, yz, xz, xy
  auto virial = on_host(out.atom_virial);
  for (std::size_t i = 0; i < atoms.codes.size(); ++i)
    for (std::size_t c = 0; c < 9; ++c) virial(i, c) += atoms.atom_virial[6 * i + component[c]];
  Kokkos::deep_copy(out.atom_virial, virial);
}

/// Builds the neighbour lists of all rows, including ghosts.
void build_all(const Particles& particles, double cutoff, NeighborList& list) {
  Particles every = particles;  // every row has its own neighbours; arrays are shared
  every.nlocal = particles.total();
  every.nghost = 0;
  build_neighbors(every, cutoff, 0.0, list);
}

}  // namespace

Kim::Kim(const Params& params, Context&) {
  model_ = deck::about_key("kim.model", "model", [&] { return std::make_unique<KimModel>(params.model); });
}

void Kim::examine(Check& check) {
  constexpr double seconds_per_atom = 1e-4;
  check.effort(seconds_per_atom);
}

void Kim::bind(std::span<const Species> species) {
  code_.clear();
  for (const auto& one : species) {
    const auto code = model_->code(one.symbol);
    if (!code)
      throw KeyError("kim.species.unknown", "model",
                     fmt::format("species '{}' is unknown to the KIM model {}; its species: {}", one.symbol,
                                 model_->name(), fmt::join(model_->species(), ", ")));
    code_.push_back(*code);
  }
}

void Kim::refuse_what_is_not_given(const ForceRequest& request) const {
  if (!request.per_atom) return;
  if (!model_->gives_energies())
    throw InputError(
        fmt::format("the KIM model {} gives no energies of single atoms; leave out what needs them (energies "
                    "of atoms, heat current)",
                    model_->name()));
  if (!request.only_energies && !model_->gives_virials())
    throw InputError(
        fmt::format("the KIM model {} gives no virials of single atoms; leave out what needs them (stress of "
                    "atoms, heat current)",
                    model_->name()));
}

void Kim::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                  const ForceRequest& request, ForceOutput& out, Context&) {
  refuse_what_is_not_given(request);
  const bool all = model_->asks_for_neighbors_of_ghosts();
  if (all) build_all(particles, reach * model_->largest_cutoff(), all_);
  const auto& used = all ? all_ : list;
  const auto x = on_host(particles.x);
  const auto offset = on_host(used.offset);
  const auto count = on_host(used.count);
  const auto index = on_host(used.index);
  ModelAtoms atoms = atoms_of(particles, x, code_);
  atoms.neighbors = {offset.data(), count.data(), index.data(), all ? particles.total() : particles.nlocal};
  atoms.energies = request.per_atom;
  atoms.virials = request.per_atom && !request.only_energies;
  if (particles.total() > 0) model_->compute(atoms);
  auto f = on_host(out.f);
  for (std::size_t i = 0; i < atoms.codes.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) f(i, a) += atoms.forces[3 * i + a];
  Kokkos::deep_copy(out.f, f);
  out.energy += atoms.energy;
  if (request.totals || request.per_atom) add_virial(atoms, out.virial);
  if (atoms.energies) add_energies(atoms, particles, ghosts, out);
  if (atoms.virials) add_virials(atoms, out);
}

std::string Kim::summary() const {
  return fmt::format("kim: {} ({}; influence distance {:.4g} Å)", model_->name(), fmt::join(model_->species(), " "),
                     model_->influence_distance());
}

std::vector<Citation> Kim::citations() const {
  return {{"Tadmor2011KIM",
           "@article{Tadmor2011KIM, author = {Tadmor, E. B. and Elliott, R. S. and Sethna, J. P. and Miller, R. E. and "
           "Becker, C. A.}, title = {The potential of atomistic simulations and the {K}nowledgebase of {I}nteratomic "
           "{M}odels}, journal = {JOM}, volume = {63}, pages = {17}, year = {2011}, doi = "
           "{10.1007/s11837-011-0102-6}}"}};
}

}  // namespace cambium::kim
