#include "plugins/md/potentials/pace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/deck/about_key.hpp"
#include "core/pair/model_species.hpp"
#include "core/plugin/check.hpp"
#include "plugins/md/pace/pace_atoms.hpp"
#include "plugins/md/potentials/host_parts.hpp"

namespace cambium::md {
namespace {

/// Evaluates the atoms of a part by type, as many at once as a pack has lanes.
void run_pace(HostPart& part, const HostArrays& in, const PaceModel& model, const std::vector<int>& model_type) {
  PaceAtoms<HostPack> atoms(model, model_type);
  const auto neighbours = [&](int i, int& n) {
    n = in.count(i);
    return in.row(i);
  };
  int row[HostPack::width];
  double energy[HostPack::width];
  const auto push = [&](int lane, int other, const double* g, const double* d) {
    const int i = row[lane];
    part.force(other, g, -1.0);
    part.force(i, g, 1.0);
    const double half[3] = {0.5 * g[0], 0.5 * g[1], 0.5 * g[2]};
    part.virial(i, half, d);
    part.virial(other, half, d);
  };
  for (int type = 0; type < model.file.types(); ++type) {
    if (std::find(model_type.begin(), model_type.end(), type) == model_type.end()) continue;
    atoms.begin(type);
    int count = 0;
    const auto flush = [&] {
      atoms(in.x.data(), row, count, neighbours, push, energy);
      for (int lane = 0; lane < count; ++lane) part.energy(row[lane], energy[lane]);
      count = 0;
    };
    for (int i = part.first; i < part.last; ++i) {
      if (model_type[static_cast<int>(in.x(i, 3))] != type) continue;
      row[count++] = i;
      if (count == HostPack::width) flush();
    }
    if (count > 0) flush();
  }
}

const char* name_of(PaceFile::Basis basis) {
  constexpr const char* names[] = {"ChebExpCos", "ChebPow", "ChebLinear", "SBessel"};
  return names[static_cast<int>(basis)];
}

}  // namespace

Pace::Pace(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.file, context)) return;
  deck::about_key("pace.file", "file", [&] { model_ = PaceModel(read_pace(params.file)); });
  cutoff_ = model_.file.cutoff();
}

void Pace::bind(std::span<const Species> species) {
  model_type_.clear();
  const auto& symbols = model_.file.symbols;
  if (!symbols.empty())
    model_type_ = model_species("pace.species.unknown", "file", "the potential " + params_.file, species, symbols);
}

void Pace::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                   ForceOutput& out, Context&) {
  on_host_parts(outside_, particles, list, request, out,
                [&](HostPart& part, const HostArrays& in) { run_pace(part, in, model_, model_type_); });
}

AtomCost Pace::atom_cost(double neighbours) const {
  double products = 0.0;
  for (const auto& one : model_.products)
    products = std::max(products, static_cast<double>(one.end_sum.size() + 2 * one.branches.size()));
  const double shapes = (model_.file.l_max + 1) * (model_.file.l_max + 1);
  return {neighbours * (6.0 * model_.file.basis_max * shapes + 60.0) + 14.0 * products};
}

std::string Pace::summary() const {
  std::size_t functions = 0;
  for (const auto& list : model_.file.functions) functions += list.size();
  std::set<std::string> kinds;
  bool repels = false;
  for (const auto& bond : model_.file.bonds) {
    kinds.insert(name_of(bond.basis));
    repels = repels || bond.core_height != 0.0;
  }
  return fmt::format("PACE {} of {}, cut-off {:g} Å, {} functions of ranks to {} and degrees to {}, {}{}", params_.file,
                     fmt::join(model_.file.symbols, ", "), cutoff_, functions, model_.file.rank_max(),
                     model_.file.l_max, fmt::join(kinds, ", "), repels ? ", core repulsion" : "");
}

std::vector<Citation> Pace::citations() const {
  return {{"Drautz2019",
           "@article{Drautz2019,\n  author = {Drautz, Ralf},\n  title = {Atomic cluster expansion for accurate and "
           "transferable interatomic potentials},\n  journal = {Physical Review B},\n  volume = {99},\n  pages = "
           "{014104},\n  year = {2019},\n  doi = {10.1103/PhysRevB.99.014104}\n}\n"},
          {"Lysogorskiy2021",
           "@article{Lysogorskiy2021,\n  author = {Lysogorskiy, Yury and van der Oord, Cas and Bochkarev, Anton and "
           "Menon, Sarath and Rinaldi, Matteo and Hammerschmidt, Thomas and Mrovec, Matous and Thompson, Aidan and "
           "Cs{\\'a}nyi, G{\\'a}bor and Ortner, Christoph and Drautz, Ralf},\n  title = {Performant implementation of "
           "the atomic cluster expansion ({PACE}) and application to copper and silicon},\n  journal = {npj "
           "Computational Materials},\n  volume = {7},\n  pages = {97},\n  year = {2021},\n  doi = "
           "{10.1038/s41524-021-00559-9}\n}\n"}};
}

}  // namespace cambium::md
