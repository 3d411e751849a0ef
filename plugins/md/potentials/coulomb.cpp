#include "plugins/md/potentials/coulomb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/sums.hpp"
#include "core/plugin/check.hpp"
#include "plugins/md/coulomb/charges_of_file.hpp"
#include "plugins/md/coulomb/coulomb_pair.hpp"
#include "plugins/md/coulomb/wave_sum.hpp"

namespace cambium::md {

using constants::pi;

static void require_fitting_keys(const Coulomb::Params& p) {
  if (!(p.accuracy < 0.1 && p.accuracy >= 1e-14))
    throw KeyError("coulomb.accuracy.range", "accuracy",
                   fmt::format("coulomb: `accuracy` is {:g}; give a value from 1e-14 to 0.1", p.accuracy));
  if (p.order < 4 || p.order > 12 || p.order % 2)
    throw KeyError("coulomb.order.range", "order",
                   fmt::format("coulomb: `order` is {}; give 4, 6, 8, 10 or 12", p.order));
  for (const int n : p.mesh.value_or(std::array{12, 12, 12}))
    if (n < p.order || n % 2)
      throw KeyError("coulomb.mesh.range", "mesh",
                     fmt::format("coulomb: `mesh` has {} points along an axis; give an even number of at least {}, the "
                                 "order of the splines",
                                 n, p.order));
  const bool dsf = p.method == Coulomb::Method::dsf;
  if (p.mesh && p.method != Coulomb::Method::mesh)
    throw KeyError("coulomb.mesh.method", "mesh", "coulomb: `mesh` belongs to `method: mesh`; leave one of them out");
  if (p.k_max && p.method != Coulomb::Method::ewald)
    throw KeyError("coulomb.k_max.method", "k_max",
                   "coulomb: `k_max` belongs to `method: ewald`; leave it out, or give that method");
  if (p.charges.empty() == p.charges_from.empty())
    throw KeyError(
        "coulomb.charges.none_or_both", "charges",
        fmt::format("coulomb: {} `charges` (by species) and `charges_from` (a file) {}; give one of them",
                    p.charges.empty() ? "neither of" : "both", p.charges.empty() ? "is given" : "are given"));
  const double reach = p.alpha.value_or(0.0) * p.cutoff.value_or(0.0);
  if (!dsf && reach > 8.0)
    throw KeyError("coulomb.alpha.range", "alpha",
                   fmt::format("coulomb: `alpha` times `cutoff` is {:g}, but erfc(8) is 1e-29 already; give a smaller "
                               "`alpha` or `cutoff`",
                               reach));
}

static View<double*> charges_on_device(const std::string& label, const std::vector<double>& values) {
  View<double*> out(label, values.size());
  const auto host = Kokkos::create_mirror_view(out);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(out, host);
  return out;
}

Coulomb::Coulomb(const Params& params, Context& context) : params_(params) {
  require_fitting_keys(params);
  const double chosen = params.method == Method::dsf ? 12.0 : 3.0 * std::sqrt(-std::log(params.accuracy));
  cutoff_ = params.cutoff.value_or(chosen);
  read_charges(context);
}

void Coulomb::read_charges(Context& context) {
  if (params_.charges_from.empty() || is_still_to_come(params_.charges_from, context)) return;
  deck::about_key("coulomb.charges_from.file", "charges_from", [&] {
    by_tag_ = charges_on_device("coulomb: charges by tag", charges_of_file(params_.charges_from, context.comm));
  });
}

void Coulomb::bind(std::span<const Species> species) {
  if (!params_.charges_from.empty()) return;
  std::vector<double> charges;
  for (const auto& s : species) {
    const auto found = params_.charges.find(s.symbol);
    if (found == params_.charges.end())
      throw KeyError("coulomb.charges.missing", "charges",
                     fmt::format("coulomb: `charges` has no {0}; add `{0}: ...` in elementary charges, 0 for a neutral "
                                 "atom",
                                 s.symbol));
    charges.push_back(found->second);
  }
  by_type_ = charges_on_device("coulomb: charges by type", charges);
}

void Coulomb::require_charges(const Particles& particles) const {
  const auto known = static_cast<std::int64_t>(by_tag_.extent(0));
  if (params_.charges_from.empty() || known == particles.nglobal) return;
  throw KeyError("coulomb.charges_from.count", "charges_from",
                 fmt::format("coulomb: {} has charges of {} atoms, but the structure has {}; give the file of this "
                             "structure",
                             params_.charges_from, known, particles.nglobal));
}

void Coulomb::place_charges(const Particles& particles) {
  if (static_cast<int>(charge_.extent(0)) < particles.capacity())
    charge_ = View<double*>("coulomb: charges", particles.capacity());
  const auto charge = charge_, by_type = by_type_, by_tag = by_tag_;
  const auto x = particles.x;
  const auto tag = particles.tag;
  const bool tags = !params_.charges_from.empty();
  const int last = particles.sentinel();
  Kokkos::parallel_for(
      "coulomb: charges", Range(0, last + 1), KOKKOS_LAMBDA(int i) {
        charge(i) = i == last ? 0.0 : tags ? by_tag(tag(i) - 1) : by_type(static_cast<int>(x(i, 3)));
      });
}

/// Sum of charges, sum of their squares, and number of charged atoms, over all ranks.
static Sums<3> sums_of(const View<const double*>& charge, int atoms) {
  Sums<3> sums;
  Kokkos::parallel_reduce(
      "coulomb: sums", Range(0, atoms),
      KOKKOS_LAMBDA(int i, Sums<3>& s) {
        s.v[0] += charge(i);
        s.v[1] += charge(i) * charge(i);
        s.v[2] += charge(i) != 0.0 ? 1.0 : 0.0;
      },
      Kokkos::Sum<Sums<3>>(sums));
  return sums;
}

std::array<double, 3> Coulomb::sums(const Particles& particles, const Comm& comm) const {
  const auto own = sums_of(charge_, particles.nlocal);
  std::array<double, 3> all{own.v[0], own.v[1], own.v[2]};
  comm.sum(all);
  return all;
}

void Coulomb::require_neutral(double total, double squares) const {
  if (params_.background || std::abs(total) <= 1e-6 * std::max(1.0, squares)) return;
  throw KeyError(
      "coulomb.charged_cell", params_.charges_from.empty() ? "charges" : "charges_from",
      fmt::format("coulomb: the charges of the cell add up to {:.6g} e, but a periodic cell must be neutral; "
                  "correct them, or give `background: true` for a uniform neutralising background",
                  total));
}

void Coulomb::choose_mesh_size(const ChargedCell& cell, double error) {
  now_.mesh = params_.mesh ? *params_.mesh : choose_mesh(cell, now_.alpha, params_.order, error);
  if (now_.mesh[0] > 0) return;
  throw KeyError("coulomb.mesh.size", "accuracy",
                 fmt::format("coulomb: `accuracy: {:g}` needs more than 1024 mesh points along an edge; give a longer "
                             "`cutoff`, a higher `order` or a larger `accuracy`",
                             params_.accuracy));
}

void Coulomb::choose(const ChargedCell& cell) {
  const double error = params_.accuracy / std::sqrt(2.0);
  now_ = {};
  if (params_.method == Method::dsf) {
    now_.alpha = params_.alpha.value_or(0.2);
    return;
  }
  now_.alpha = params_.alpha ? *params_.alpha : choose_alpha(cell, cutoff_, error);
  if (params_.method == Method::ewald)
    now_.k_max = params_.k_max ? *params_.k_max : choose_k_max(cell, now_.alpha, error);
  else
    choose_mesh_size(cell, error);
}

/// Constant and slope of the shifted-force form, by which energy and force vanish at the cut-off.
static std::array<double, 2> shifts(double alpha, double cutoff) {
  const double tail = std::erfc(alpha * cutoff);
  const double slope =
      tail / (cutoff * cutoff) + 2.0 * alpha / std::sqrt(pi) * std::exp(-alpha * alpha * cutoff * cutoff) / cutoff;
  return {-tail / cutoff - slope * cutoff, slope};
}

void Coulomb::add_real_space(const Particles& particles, const NeighborList& list, const ForceRequest& request,
                             ForceOutput& out) const {
  CoulombPair pair{charge_.data(), now_.alpha, cutoff_ * cutoff_, 0.0, 0.0};
  if (params_.method == Method::dsf) {
    const auto [constant, slope] = shifts(now_.alpha, cutoff_);
    pair.constant = constant;
    pair.slope = slope;
  }
  compute_pairs("coulomb", pair, particles, list, request, out);
}

/// Adds q (per_square q + per_charge) for every owned atom, and `volume_virial` of the second part to the virial's
/// diagonal.
void Coulomb::add_self_energy(const Particles& particles, double per_square, double per_charge, double volume_virial,
                              const ForceRequest& request, ForceOutput& out) const {
  if (!request.totals && !request.per_atom) return;
  const auto charge = charge_;
  const auto atom_energy = out.atom_energy;
  const auto atom_virial = out.atom_virial;
  const bool per_atom = request.per_atom;
  Sums<2> sums;
  Kokkos::parallel_reduce(
      "coulomb: self", Range(0, particles.nlocal),
      KOKKOS_LAMBDA(int i, Sums<2>& s) {
        const double background = charge(i) * per_charge, energy = charge(i) * charge(i) * per_square + background;
        s.v[0] += energy;
        s.v[1] += volume_virial * background;
        if (!per_atom) return;
        atom_energy(i) += energy;
        for (int k = 0; k < 3; ++k) atom_virial(i, 4 * k) += volume_virial * background;
      },
      Kokkos::Sum<Sums<2>>(sums));
  out.energy += sums.v[0];
  for (int k = 0; k < 3; ++k) out.virial[4 * k] += sums.v[1];
}

void Coulomb::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                      ForceOutput& out, Context& context) {
  require_charges(particles);
  place_charges(particles);
  const auto [total, squares, count] = sums(particles, context.comm);
  require_neutral(total, squares);
  if (count == 0.0) return;
  const Box& box = particles.box;
  ChargedCell cell{count, squares, box.volume(), {}};
  for (int d = 0; d < 3; ++d) cell.edges[d] = std::hypot(box.h[d][0], box.h[d][1], box.h[d][2]);
  choose(cell);
  add_real_space(particles, list, request, out);
  if (params_.method == Method::dsf) {
    const double self = 0.5 * shifts(now_.alpha, cutoff_)[0] - now_.alpha / std::sqrt(pi);
    add_self_energy(particles, constants::coulomb * self, 0.0, 0.0, request, out);
    return;
  }
  const double background = -0.5 * constants::coulomb * pi * total / (box.volume() * now_.alpha * now_.alpha);
  add_self_energy(particles, -constants::coulomb * now_.alpha / std::sqrt(pi), background, 1.0, request, out);
  const auto timer = context.timing.scope("long range");
  if (params_.method == Method::ewald) {
    add_wave_sum(particles, charge_, now_.alpha, now_.k_max, request, out, context.comm);
  } else {
    mesh_.prepare(box, now_.alpha, now_.mesh, params_.order, context.comm);
    mesh_.compute(particles, charge_, request, out, context.comm);
  }
}

std::string Coulomb::summary() const {
  if (params_.method == Method::dsf)
    return fmt::format("Coulomb, damped shifted force, cut-off {:g} Å, alpha {:g}/Å", cutoff_,
                       params_.alpha.value_or(0.2));
  const bool ewald = params_.method == Method::ewald;
  std::string text = fmt::format("Coulomb, {}, cut-off {:g} Å, accuracy {:g}",
                                 ewald ? "Ewald sum" : "smooth particle-mesh Ewald", cutoff_, params_.accuracy);
  if (now_.alpha == 0.0) return text;
  text += fmt::format(", alpha {:.4g}/Å", now_.alpha);
  if (ewald) return text + fmt::format(", wave numbers to {:.4g}/Å", now_.k_max);
  return text + fmt::format(", mesh {} x {} x {}, order {}", now_.mesh[0], now_.mesh[1], now_.mesh[2], params_.order);
}

std::vector<Citation> Coulomb::citations() const {
  if (params_.method == Method::dsf)
    return {{"FennellGezelter2006",
             "@article{FennellGezelter2006,\n  author = {Fennell, Christopher J. and Gezelter, J. Daniel},\n  title = "
             "{Is the {Ewald} summation still necessary? {Pairwise} alternatives to the accepted standard for "
             "long-range electrostatics},\n  journal = {The Journal of Chemical Physics},\n  volume = {124},\n  pages "
             "= {234104},\n  year = {2006},\n  doi = {10.1063/1.2206581}\n}\n"}};
  if (params_.method == Method::ewald)
    return {{"Ewald1921",
             "@article{Ewald1921,\n  author = {Ewald, P. P.},\n  title = {Die {Berechnung} optischer und "
             "elektrostatischer {Gitterpotentiale}},\n  journal = {Annalen der Physik},\n  volume = {369},\n  pages = "
             "{253--287},\n  year = {1921},\n  doi = {10.1002/andp.19213690304}\n}\n"}};
  return {{"Essmann1995",
           "@article{Essmann1995,\n  author = {Essmann, Ulrich and Perera, Lalith and Berkowitz, Max L. and Darden, "
           "Tom and Lee, Hsing and Pedersen, Lee G.},\n  title = {A smooth particle mesh {Ewald} method},\n  journal = "
           "{The Journal of Chemical Physics},\n  volume = {103},\n  pages = {8577--8593},\n  year = {1995},\n  doi = "
           "{10.1063/1.470117}\n}\n"}};
}

}  // namespace cambium::md
