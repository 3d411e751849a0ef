#include "plugins/md/potentials/nep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/pair/lanes.hpp"
#include "core/plugin/check.hpp"
#include "plugins/md/nep/nep_atom.hpp"

namespace cambium::md {
namespace {

using HostPack = Pack<double, width_of<HostExec, double>>;

/// Calls f with an atom of few enough harmonics.
template <class F>
void with_atom(const NepFile& model, const std::vector<int>& types, F&& f) {
  if (model.l_max <= 4)
    f(NepAtom<HostPack, 4>(model, types));
  else
    f(NepAtom<HostPack, 8>(model, types));
}

/// The arrays of a step where the host reads and writes them: the same memory where there is no device.
struct HostArrays {
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Particles().x)) x;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().offset)) offset;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().count)) count;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().index)) index;

  HostArrays(const Particles& particles, const NeighborList& list)
      : x(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x)),
        offset(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset)),
        count(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count)),
        index(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index)) {}
  const int* row(int i) const { return index.data() + offset(i); }
};

/// Where the atoms of a part give their forces and virials.
struct Part {
  int first, last;  ///< atoms
  int end;          ///< of the rows to which it alone adds: those of its atoms, in the last part those of ghosts, too
  std::vector<OutsideForces::Given>& outside;
  double *f, *atom_energy, *atom_virial;  ///< the last two null where they are not asked for
  PairSums sums = {};

  void force(int row, const double* g, double sign) {
    if (row < first || row >= end) {
      outside.push_back({row, {sign * g[0], sign * g[1], sign * g[2]}});
      return;
    }
    for (int k = 0; k < 3; ++k) f[3 * static_cast<std::int64_t>(row) + k] += sign * g[k];
  }

  /// For an atom whose energy has the gradient g by a neighbour at distance d.
  void virial(int row, const double* g, const double* d) {
    constexpr int a[6] = {0, 1, 2, 0, 0, 1}, b[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; ++k) sums.v[1 + k] -= g[a[k]] * d[b[k]];
    if (!atom_virial) return;
    for (int k = 0; k < 9; ++k) add_to(atom_virial + 9 * static_cast<std::int64_t>(row) + k, -g[k / 3] * d[k % 3]);
  }
};

template <class Atom>
void run_part(Part& part, Atom& atom, const HostArrays& in, double cutoff) {
  for (int i = part.first; i < part.last; ++i) {
    double own[3] = {0.0, 0.0, 0.0};
    const double energy =
        atom(in.x.data(), i, in.row(i), in.count(i), cutoff, [&](int row, const double* g, const double* d) {
          for (int k = 0; k < 3; ++k) own[k] += g[k];
          part.force(row, g, -1.0);
          part.virial(row, g, d);
        });
    part.force(i, own, 1.0);
    part.sums.v[0] += energy;
    if (part.atom_energy) part.atom_energy[i] += energy;
  }
}

}  // namespace

Nep::Nep(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.file, context)) return;
  deck::about_key("nep.file", "file", [&] { model_ = read_nep(params.file); });
  cutoff_ = *std::max_element(model_.rc_radial.begin(), model_.rc_radial.end());
  for (const auto& pair : model_.repulsion) cutoff_ = std::max(cutoff_, pair.outer);
}

void Nep::bind(std::span<const Species> species) {
  model_type_.clear();
  if (model_.symbols.empty()) return;
  for (const auto& one : species) {
    const auto found = std::find(model_.symbols.begin(), model_.symbols.end(), one.symbol);
    if (found == model_.symbols.end())
      throw KeyError("nep.species.unknown", "file",
                     fmt::format("nep: species '{}' is not known to {}; it knows: {}", one.symbol, params_.file,
                                 fmt::join(model_.symbols, ", ")));
    model_type_.push_back(static_cast<int>(found - model_.symbols.begin()));
  }
}

void Nep::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                  ForceOutput& out, Context&) {
  const HostArrays in(particles, list);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  const auto energies = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto virials = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  constexpr int block = 16;  // atoms
  outside_.begin(particles.nlocal, block);
  std::vector<PairSums> sums(outside_.parts());
  on_threads(outside_.parts(), [&](int k) {
    Part part{outside_.first(k),
              outside_.first(k + 1),
              k == outside_.parts() - 1 ? particles.total() : outside_.first(k + 1),
              outside_.of(k),
              f.data(),
              request.per_atom ? energies.data() : nullptr,
              request.per_atom ? virials.data() : nullptr};
    with_atom(model_, model_type_, [&](auto&& atom) { run_part(part, atom, in, cutoff_); });
    sums[k] = part.sums;
  });
  outside_.add_to(f.data());
  for (const auto& s : sums) {
    out.energy += s.v[0];
    add_symmetric(out.virial, s.v + 1);
  }
  Kokkos::deep_copy(out.f, f);
  if (!request.per_atom) return;
  Kokkos::deep_copy(out.atom_energy, energies);
  Kokkos::deep_copy(out.atom_virial, virials);
}

std::vector<double> Nep::descriptors(const Particles& particles, const NeighborList& list) const {
  const HostArrays in(particles, list);
  std::vector<double> all;
  with_atom(model_, model_type_, [&](auto&& atom) {
    for (int i = 0; i < particles.nlocal; ++i) {
      atom.descriptor(in.x.data(), i, in.row(i), in.count(i), cutoff_);
      for (int d = 0; d < model_.dim(); ++d) all.push_back(atom.q()[d] * model_.scale[d]);
    }
  });
  return all;
}

AtomCost Nep::atom_cost(double neighbours) const {
  const double shapes = 4.0 * (model_.l_max + 1) * (model_.l_max + 1) * model_.angular_functions;
  const double functions = 4.0 * model_.radial_functions * model_.radial_basis;
  return {neighbours * (functions + 0.3 * shapes) + 4.0 * model_.neurons * model_.dim()};
}

std::string Nep::summary() const {
  return fmt::format("NEP{} {} of {}, cut-offs {:g} and {:g} Å, {} descriptors, {} neurons{}", model_.version,
                     params_.file, fmt::join(model_.symbols, ", "),
                     *std::max_element(model_.rc_radial.begin(), model_.rc_radial.end()),
                     *std::max_element(model_.rc_angular.begin(), model_.rc_angular.end()), model_.dim(),
                     model_.neurons, model_.repulsion.empty() ? "" : ", ZBL repulsion");
}

std::vector<Citation> Nep::citations() const {
  return {{"Fan2021",
           "@article{Fan2021,\n  author = {Fan, Zheyong and Zeng, Zezhu and Zhang, Cunzhi and Wang, Yanzhou and Song, "
           "Keke and Dong, Haikuan and Chen, Yue and Ala-Nissila, Tapio},\n  title = {Neuroevolution machine learning "
           "potentials: Combining high accuracy and low cost in atomistic simulations and application to heat "
           "transport},\n  journal = {Physical Review B},\n  volume = {104},\n  pages = {104309},\n  year = {2021},\n"
           "  doi = {10.1103/PhysRevB.104.104309}\n}\n"}};
}

}  // namespace cambium::md
