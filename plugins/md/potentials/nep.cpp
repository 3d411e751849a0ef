#include "plugins/md/potentials/nep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/deck/about_key.hpp"
#include "core/pair/model_species.hpp"
#include "core/plugin/check.hpp"
#include "plugins/md/nep/nep_atom.hpp"
#include "plugins/md/potentials/host_parts.hpp"

namespace cambium::md {
namespace {

/// Calls f with an atom type of the smallest sufficient degree of harmonics.
template <class F>
void with_atom(const NepFile& model, const std::vector<int>& types, F&& f) {
  if (model.l_max <= 4)
    f(NepAtom<HostPack, 4>(model, types));
  else
    f(NepAtom<HostPack, 8>(model, types));
}

template <class Atom>
void run_nep(HostPart& part, Atom& atom, const HostArrays& in, double cutoff) {
  for (int i = part.first; i < part.last; ++i) {
    double own[3] = {0.0, 0.0, 0.0};
    const double energy =
        atom(in.x.data(), i, in.row(i), in.count(i), cutoff, [&](int row, const double* g, const double* d) {
          for (int k = 0; k < 3; ++k) own[k] += g[k];
          part.force(row, g, -1.0);
          part.virial(row, g, d);
        });
    part.force(i, own, 1.0);
    part.energy(i, energy);
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
  const auto& symbols = model_.symbols;
  if (!symbols.empty())
    model_type_ = model_species("nep.species.unknown", "file", "the potential " + params_.file, species, symbols);
}

void Nep::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                  ForceOutput& out, Context&) {
  on_host_parts(outside_, particles, list, request, out, [&](HostPart& part, const HostArrays& in) {
    with_atom(model_, model_type_, [&](auto&& atom) { run_nep(part, atom, in, cutoff_); });
  });
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
