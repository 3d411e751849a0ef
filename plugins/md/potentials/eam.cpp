#include "plugins/md/potentials/eam.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/check.hpp"
#include "plugins/md/potentials/eam_kernel.hpp"

namespace cambium::md {
namespace {

/// Passes of one evaluation: densities, their exchange, and forces.
template <bool one_species>
void run(const Eam::Tables& tables, View<double*> slope, const Particles& particles, const NeighborList& list,
         GhostExchange& ghosts, const ForceRequest& request, ForceOutput& out) {
  const EamRows rows(tables);
  dispatch(request, [&]<Outputs outputs>() {
    const EamDensity<KernelPack, outputs, one_species> kernel{
        rows,         particles.x.data(),    list.offset.data(), list.count.data(), list.index.data(),
        slope.data(), out.atom_energy.data()};
    run_atoms<outputs>("eam_density", particles.nlocal, kernel, out);
  });
  ghosts.forward(slope);
  compute_pairs("eam", EamPair<one_species>{rows, slope.data()}, particles, list, request, out);
}

View<double*> on_device(const std::string& label, const std::vector<double>& rows) {
  View<double*> view(label, rows.size());
  auto host = Kokkos::create_mirror_view(view);
  std::copy(rows.begin(), rows.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}

void append(std::vector<double>& rows, std::span<const double> values) {
  const auto more = hermite_rows(values);
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace

Eam::Eam(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.file, context)) return;
  deck::about_key("eam.file", "file", [&] { file_ = read_eam(params.file, params.format); });
  auto& elements = file_.elements;
  if (!params.species.empty()) {
    if (params.species.size() != elements.size())
      throw KeyError("eam.species.count", "species",
                     fmt::format("eam: `species` names {} elements, but {} has {}", params.species.size(), params.file,
                                 elements.size()));
    for (std::size_t k = 0; k < elements.size(); ++k) elements[k].symbol = params.species[k];
  }
}

void Eam::bind(std::span<const Species> species) {
  if (file_.elements.empty()) return;
  std::vector<int> element;
  for (const auto& one : species) {
    const auto found = std::find_if(file_.elements.begin(), file_.elements.end(),
                                    [&](const auto& e) { return e.symbol == one.symbol; });
    if (found == file_.elements.end()) {
      std::vector<std::string> known;
      for (const auto& e : file_.elements) known.push_back(e.symbol);
      throw KeyError("eam.species.unknown", "file",
                     fmt::format("eam: {} has no species '{}'; it has: {}; name its elements with `species`",
                                 params_.file, one.symbol, fmt::join(known, ", ")));
    }
    element.push_back(static_cast<int>(found - file_.elements.begin()));
  }
  std::vector<double> embedding, density, pair;
  for (const int a : element) {
    const auto& own = file_.elements[a];
    append(embedding, own.embedding);
    for (const int b : element) {
      append(density, own.density[own.density.size() == 1 ? 0 : b]);
      append(pair, file_.pair_of(a, b));
    }
  }
  tables_ = {static_cast<int>(element.size()),
             file_.nrho,
             file_.nr,
             1.0 / file_.drho,
             1.0 / file_.dr,
             file_.drho,
             file_.cutoff,
             on_device("eam_embedding", embedding),
             on_device("eam_density", density),
             on_device("eam_pair", pair)};
}

void Eam::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                  const ForceRequest& request, ForceOutput& out, Context&) {
  if (static_cast<int>(slope_.extent(0)) < particles.capacity())
    slope_ = View<double*>("eam_slope", particles.capacity());
  if (tables_.types == 1)
    run<true>(tables_, slope_, particles, list, ghosts, request, out);
  else
    run<false>(tables_, slope_, particles, list, ghosts, request, out);
}

std::string Eam::summary() const {
  std::vector<std::string> names;
  for (const auto& e : file_.elements) names.push_back(e.symbol);
  const char* layout = file_.format == EamFormat::funcfl  ? "funcfl"
                       : file_.format == EamFormat::setfl ? "setfl"
                                                          : "Finnis-Sinclair";
  return fmt::format("EAM {} ({}) of {}, cut-off {:g} Å, {} distances, {} densities", params_.file, layout,
                     fmt::join(names, ", "), file_.cutoff, file_.nr, file_.nrho);
}

std::vector<Citation> Eam::citations() const {
  if (file_.format == EamFormat::finnis_sinclair)
    return {{"FinnisSinclair1984",
             "@article{FinnisSinclair1984,\n  author = {Finnis, M. W. and Sinclair, J. E.},\n  title = {A simple "
             "empirical {N}-body potential for transition metals},\n  journal = {Philosophical Magazine A},\n  volume "
             "= {50},\n  pages = {45--55},\n  year = {1984},\n  doi = {10.1080/01418618408244210}\n}\n"}};
  return {{"DawBaskes1984",
           "@article{DawBaskes1984,\n  author = {Daw, Murray S. and Baskes, M. I.},\n  title = {Embedded-atom method: "
           "Derivation and application to impurities, surfaces, and other defects in metals},\n  journal = {Physical "
           "Review B},\n  volume = {29},\n  pages = {6443--6453},\n  year = {1984},\n  doi = "
           "{10.1103/PhysRevB.29.6443}\n}\n"}};
}

}  // namespace cambium::md
