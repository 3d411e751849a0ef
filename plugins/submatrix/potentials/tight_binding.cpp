#include "plugins/submatrix/potentials/tight_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/base/error.hpp"

namespace cambium::submatrix {

void TightBinding::examine(Check& check) {
  constexpr double seconds_per_atom = 0.04;  // choosing submatrices included, which a first step does twice
  check.effort(seconds_per_atom);
}

void TightBinding::bind(std::span<const Species> species) {
  if (species.size() != 1)
    throw InputError(
        fmt::format("tight_binding is for one element, C or Si; the structure has {} species", species.size()));
  model_ = tight_binding_model(species[0].symbol, params_.parameters.value_or(""));
}

/// Blocks are numbered rank by rank; ghosts get the number of the atom that they copy.
void TightBinding::number_atoms(const Particles& particles) {
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.tag);
  std::unordered_map<std::int64_t, int> number;
  for (std::size_t k = 0; k < atoms_->tag.size(); ++k) number.emplace(atoms_->tag[k], static_cast<int>(k));
  block_.resize(particles.total());
  for (int i = 0; i < particles.total(); ++i) block_[i] = number.at(tag(i));
}

void TightBinding::find_bonds(const Particles& particles, const NeighborList& list) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index);
  bonds_.assign(particles.nlocal, {});
  for (int i = 0; i < particles.nlocal; ++i) {
    auto& bonds = bonds_[i];
    for (std::int64_t e = offset(i); e < offset(i) + count(i); ++e) {
      const int j = index(e);
      const std::array<double, 3> d{x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (r < model_->cutoff) bonds.push_back({block_[j], j, d, r});
    }
    std::stable_sort(bonds.begin(), bonds.end(), [](const Bond& a, const Bond& b) { return a.row < b.row; });
  }
}

MatrixSystem TightBinding::hamiltonian() const {
  const int atoms = atoms_->count();
  auto layout = std::make_shared<const BlockLayout>(std::vector<int>(atoms, 4));
  MatrixSystem out{layout,
                   atoms_->ranges,
                   BlockColumns(layout),
                   BlockColumns(layout),
                   atoms,
                   static_cast<double>(electrons_per_atom) * atoms,
                   {},
                   {},
                   "tight binding",
                   {}};
  const int first = bonds_.empty() ? 0 : block_[0];
  double part[16], gradient[48];
  for (std::size_t i = 0; i < bonds_.size(); ++i) {
    const int column = first + static_cast<int>(i);
    // Blocks that are zero but belong to the submatrix are there too.
    std::map<int, std::array<double, 16>> rows;
    if (truncated())
      for (int row : region_[i]) rows.emplace_hint(rows.end(), row, std::array<double, 16>{});
    auto& own = rows[column];
    own[0] += model_->e_s;
    for (std::size_t a = 1; a < 4; ++a) own[5 * a] += model_->e_p;
    for (const Bond& bond : bonds_[i]) {
      hopping_block(*model_, bond.d.data(), part, gradient);
      auto& block = rows[bond.row];
      for (std::size_t k = 0; k < 16; ++k) block[k] += part[k];
    }
    out.hamiltonian.start_column(column);
    for (const auto& [row, block] : rows) out.hamiltonian.add_block(row, block.data());
  }
  out.hamiltonian.finish();
  if (truncated()) out.bonds = std::shared_ptr<const BondGraph>(std::shared_ptr<void>(), &graph_);  // does not own it
  return out;
}

/// Force on each own atom from its own column of D, and its contribution to the virial.
void TightBinding::band_forces(double* force, double* virial) const {
  const int first = bonds_.empty() ? 0 : block_[0];
  double block[16], gradient[48];
  for (std::size_t i = 0; i < bonds_.size(); ++i)
    for (const Bond& bond : bonds_[i]) {
      const double* d = last_->density.block(bond.row, first + static_cast<int>(i));
      if (!d) continue;
      hopping_block(*model_, bond.d.data(), block, gradient);
      double slope[3] = {};
      for (int k = 0; k < 3; ++k)
        for (int at = 0; at < 16; ++at) slope[k] += 4.0 * d[at] * gradient[16 * k + at];
      for (int k = 0; k < 3; ++k) {
        force[3 * i + static_cast<std::size_t>(k)] -= slope[k];
        // Each bond is seen from both ends: half of it here.
        for (int b = 0; b < 3; ++b) virial[3 * k + b] -= 0.5 * slope[k] * bond.d[b];
      }
    }
}

double TightBinding::repulsion(const Particles& particles, GhostExchange& ghosts, double* force, double* virial) const {
  View<double*> slope("tight_binding: embedding slope", static_cast<std::size_t>(particles.capacity()));
  auto host = Kokkos::create_mirror_view(slope);
  double energy = 0.0;
  for (std::size_t i = 0; i < bonds_.size(); ++i) {
    double sum = 0.0;
    for (const Bond& bond : bonds_[i]) sum += model_->repulsion(bond.r).value;
    const Radial embedded = model_->embed(sum);
    energy += embedded.value;
    host(i) = embedded.slope;
  }
  Kokkos::deep_copy(slope, host);
  ghosts.forward(slope);
  Kokkos::deep_copy(host, slope);
  for (std::size_t i = 0; i < bonds_.size(); ++i)
    for (const Bond& bond : bonds_[i]) {
      const double pull =
          (host(i) + host(static_cast<std::size_t>(bond.particle))) * model_->repulsion(bond.r).slope / bond.r;
      for (std::size_t k = 0; k < 3; ++k) {
        force[3 * i + k] -= pull * bond.d[k];
        for (std::size_t b = 0; b < 3; ++b) virial[3 * k + b] -= 0.5 * pull * bond.d[k] * bond.d[b];
      }
    }
  return energy;
}

void TightBinding::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                           const ForceRequest& request, ForceOutput& out, Context& context) {
  if (request.per_atom)
    throw InputError("tight_binding gives no energies and virials per atom; leave out what needs them");
  atoms_.emplace(particles, context.comm);
  number_atoms(particles);
  find_bonds(particles, list);
  Timing own;  // its sections would break up the one of the forces
  Context inner{context.comm, context.log, own};
  if (truncated()) choose_regions(inner);
  solve(inner);
  std::vector<double> force(3 * bonds_.size(), 0.0);
  band_forces(force.data(), out.virial);
  const double energy = repulsion(particles, ghosts, force.data(), out.virial);
  // Totals are summed over ranks by the caller.
  const double wanted = static_cast<double>(electrons_per_atom) * atoms_->count();
  out.energy += energy + (last_->energy + mu_.value_or(last_->mu) * (wanted - last_->electrons) + last_->entropy_term) /
                             context.comm.size();
  auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  for (std::size_t i = 0; i < bonds_.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) f(i, k) += force[3 * i + k];
  Kokkos::deep_copy(out.f, f);
}

std::string TightBinding::summary() const {
  // Before the structure is known, as in `cambium check`, there is no model.
  return fmt::format(
      "tight_binding {}, {}{}",
      model_ ? fmt::format("{}: sp3, cut-off {} Å", model_->symbol, model_->cutoff) : "of carbon or silicon: sp3",
      params_.eps > 0.0     ? fmt::format("submatrices of all atoms with a bond order of at least {:g}", params_.eps)
      : params_.reach > 0.0 ? fmt::format("submatrices of all atoms within {} Å", params_.reach)
                            : "all atoms diagonalised at once",
      params_.temperature > 0.0 ? fmt::format(", electrons at {} K", params_.temperature) : "");
}

std::vector<Citation> TightBinding::citations() const {
  if (!model_) return {};
  if (model_->symbol == "C")
    return {{"Xu1992",
             "@article{Xu1992, author={Xu, C. H. and Wang, C. Z. and Chan, C. T. and Ho, K. M.}, title={A transferable "
             "tight-binding potential for carbon}, journal={J. Phys.: Condens. Matter}, volume={4}, pages={6047}, "
             "year={1992}}"}};
  if (model_->cutoff < 4.0)
    return {{"Bowler1998",
             "@article{Bowler1998, author={Bowler, D. R. and Fearn, M. and Goringe, C. M. and Horsfield, A. P. and "
             "Pettifor, D. G.}, title={Hydrogen diffusion on Si(001) studied with the local density approximation and "
             "tight binding}, journal={J. Phys.: Condens. Matter}, volume={10}, pages={3719}, year={1998}}"}};
  return {{"Goodwin1989",
           "@article{Goodwin1989, author={Goodwin, L. and Skinner, A. J. and Pettifor, D. G.}, title={Generating "
           "transferable tight-binding parameters: application to silicon}, journal={Europhys. Lett.}, volume={9}, "
           "pages={701}, year={1989}}"}};
}

}  // namespace cambium::submatrix
