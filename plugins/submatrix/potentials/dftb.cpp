#include "plugins/submatrix/potentials/dftb.hpp"

#include <fmt/format.h>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"

namespace cambium::submatrix {

void Dftb::examine(Check& check) {
  constexpr double seconds_per_atom = 0.02;
  check.effort(seconds_per_atom);
}

void Dftb::bind(std::span<const Species> species) {
  parameters_.emplace(params_.slater_koster, params_.shells, params_.repulsion, species);
  if (params_.spin) spin_constants(*params_.spin, parameters_->elements());
  if (params_.dispersion) dispersion_pairs(*params_.dispersion, parameters_->elements());
}

void Dftb::compute(const Particles& particles, const NeighborList&, GhostExchange&, const ForceRequest& request,
                   ForceOutput& out, Context& context) {
  using constants::angstrom_per_bohr;
  if (request.per_atom) throw InputError("dftb gives no energies and virials per atom; leave out what needs them");
  const DftbAtoms atoms = gather_atoms(particles, params_.periodic, context.comm);
  Timing own;  // its sections would break up the one of the forces
  Context inner{context.comm, context.log, own};
  inner.seed = context.seed;
  last_ = ground_state(atoms, *parameters_, params_, inner);
  // Totals are summed over ranks by the caller.
  out.energy += last_->mermin * ev_per_hartree / context.comm.size();
  for (int k = 0; k < 9; ++k) out.virial[k] += last_->virial[k] * ev_per_hartree / context.comm.size();
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.tag);
  auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  for (int i = 0; i < particles.nlocal; ++i) {
    const std::size_t a = atoms.place_of(tag(i));
    for (std::size_t k = 0; k < 3; ++k) f(i, k) += last_->forces[3 * a + k] * ev_per_hartree / angstrom_per_bohr;
  }
  Kokkos::deep_copy(out.f, f);
}

std::string Dftb::summary() const {
  std::string elements;
  if (parameters_)
    for (const auto& e : parameters_->elements())
      elements += fmt::format("{}{}: {}", elements.empty() ? "" : ", ", e.symbol,
                              std::string("spd").substr(0, static_cast<std::size_t>(e.highest) + 1));
  const char* order = !params_.self_consistent              ? "DFTB"
                      : params_.hubbard_derivatives.empty() ? "DFTB2 with self-consistent charges"
                                                            : "DFTB3 with self-consistent charges";
  return fmt::format(
      "{}{}{}, {}{}{}, {}", order, params_.spin ? ", spin-polarised" : "",
      params_.dispersion ? ", with dispersion" : "", params_.slater_koster.directory,
      elements.empty() ? "" : " (" + elements + ")", params_.periodic ? "" : ", one molecule",
      params_.solver == DftbKeys::Solver::dense
          ? fmt::format("{} k-points", params_.k_points.points().size())
          : fmt::format("{} with eps {:g} hartree",
                        params_.solver == DftbKeys::Solver::submatrix ? "submatrices" : "purification", params_.eps));
}

}  // namespace cambium::submatrix
