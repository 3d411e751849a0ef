#include "apps/lammps/potential_bridge.hpp"

#include <algorithm>
#include <cstdio>

#include "apps/lammps/host_atoms.hpp"
#include "core/base/error.hpp"
#include "core/plugin/committee.hpp"
#include "core/plugin/potential.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/plugin_list.hpp"

namespace cambium::lammps {

namespace {

template <class V>
void zero(V& view, std::size_t rows) {
  if (view.extent(0) < rows) view = V(std::string("bridge: per atom"), rows + rows / 8);
  Kokkos::deep_copy(view, 0.0);
}

}  // namespace

struct PotentialBridge::Parts {
  explicit Parts(MPI_Comm handle) : comm(handle), log(stdout, comm.root()) {
    register_plugins(registry);
    context.registry = &registry;
  }
  Comm comm;
  Registry registry;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  std::unique_ptr<Potential> potential;
  HostAtoms atoms;
  NeighborList list;
  ForceOutput output;
};

PotentialBridge::PotentialBridge(const std::string& type, const std::string& keys, MPI_Comm comm)
    : parts_(std::make_unique<Parts>(comm)) {
  const deck::Node node = deck::parse(keys, "pair_coeff");
  const auto named = node["type"];
  type_ = named.defined() ? named.text() : type;
  const auto own = node.without([](std::string_view key) { return key == "type"; });
  parts_->potential = parts_->registry.make<Potential>(type_, own, parts_->context);
}

PotentialBridge::~PotentialBridge() = default;

std::string PotentialBridge::key_of_file(const std::string& type) {
  Registry registry;
  register_plugins(registry);
  const auto* entry = registry.find(Potential::kind, type);
  return entry && entry->schema.find("file") ? "file" : "model";
}

void PotentialBridge::bind(const std::vector<std::string>& symbols, const std::vector<double>& masses) {
  auto& species = parts_->atoms.particles.species;
  auto& species_of = parts_->atoms.species_of;
  species.clear();
  species_of.assign(symbols.size() + 1, -1);
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    if (symbols[t].empty()) continue;
    const auto known =
        std::find_if(species.begin(), species.end(), [&](const Species& s) { return s.symbol == symbols[t]; });
    species_of[t + 1] = static_cast<int>(known - species.begin());
    if (known == species.end()) species.push_back({symbols[t], masses[t]});
  }
  parts_->potential->bind(species);
}

double PotentialBridge::cutoff() const { return parts_->potential->cutoff(); }
bool PotentialBridge::writes_ghost_forces() const { return parts_->potential->writes_ghost_forces(); }
void PotentialBridge::refuse_open_boundaries(bool periodic) const {
  cambium::refuse_open_boundaries(*parts_->potential, periodic);
}
std::string PotentialBridge::summary() const { return parts_->potential->summary(); }

std::string PotentialBridge::citations() const {
  std::string text;
  for (const auto& work : parts_->potential->citations()) text.append(work.bibtex).append("\n");
  return text;
}

bool PotentialBridge::is_committee() const { return parts_->potential->committee() != nullptr; }

std::optional<HostDeviation> PotentialBridge::deviation() const {
  const Committee* committee = parts_->potential->committee();
  if (!committee) return std::nullopt;
  const Deviation& d = committee->deviation();
  return HostDeviation{d.virial_max, d.virial_min, d.virial_rms, d.force_max, d.force_min, d.force_mean};
}

void PotentialBridge::compute(const HostArrays& arrays, const HostExchange& exchange, HostResults& results) {
  HostAtoms& atoms = parts_->atoms;
  NeighborList& list = parts_->list;
  ForceOutput& out = parts_->output;
  Particles& p = atoms.particles;
  atoms.use(&exchange);
  if (arrays.reordered) {
    atoms.renew(arrays);
    build_neighbors(p, cutoff(), arrays.skin, list);
    if (arrays.left_out) atoms.leave_out(arrays.left_out, list);
  } else {
    atoms.refresh(arrays);
  }
  const auto rows = static_cast<std::size_t>(p.total()) + 1;
  const View<double* [3]> in_place = atoms.in_place(results.force, arrays.room);
  const bool apart = in_place.extent(0) == 0;
  out.f = apart ? p.f : in_place;
  if (apart) Kokkos::deep_copy(out.f, 0.0);
  out.energy = 0.0;
  std::fill(std::begin(out.virial), std::end(out.virial), 0.0);
  if (results.per_atom) {
    zero(out.atom_energy, rows);
    zero(out.atom_virial, rows);
  }
  parts_->potential->compute(p, list, atoms, ForceRequest{arrays.totals || results.per_atom, results.per_atom}, out,
                             parts_->context);
  if (apart) atoms.add_forces(out.f, writes_ghost_forces() ? p.total() : p.nlocal, results.force);
  results.energy = out.energy;
  std::copy(std::begin(out.virial), std::end(out.virial), std::begin(results.virial));
  if (!results.per_atom) return;
  results.atom_energy.assign(atoms.host_rows(), 0.0);
  results.atom_virial.assign(static_cast<std::size_t>(atoms.host_rows()) * 9, 0.0);
  const auto energy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto virial = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  for (int k = 0; k < p.total(); ++k) {
    const auto row = static_cast<std::size_t>(atoms.host_row(k));
    if (k < p.nlocal) results.atom_energy[row] = energy(k);
    for (int c = 0; c < 9; ++c) results.atom_virial[row * 9 + static_cast<std::size_t>(c)] = virial(k, c);
  }
}

}  // namespace cambium::lammps
