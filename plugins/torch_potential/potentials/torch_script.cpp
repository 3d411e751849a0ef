#include "plugins/torch_potential/potentials/torch_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/pair/edge_forces.hpp"
#include "core/pair/model_species.hpp"

namespace cambium::torch_potential {

namespace fs = std::filesystem;
using Family = ArchiveFacts::Family;

namespace {

/// CODATA 2018, with the thermochemical calorie.
double in_ev(const std::string& unit) {
  if (unit == "hartree") return 27.211386245988;
  if (unit == "kcal/mol") return 0.043364104241800934;
  return unit == "kJ/mol" ? 0.010364269656262175 : 1.0;
}

double in_angstrom(const std::string& unit) {
  if (unit == "bohr") return 0.529177210903;
  return unit == "nm" ? 10.0 : 1.0;
}

/// True if a file is in the folder of the run, which contains the folder of the current stage.
bool in_run(const std::string& path, const Context& context) {
  std::error_code error;
  const fs::path stage = fs::weakly_canonical(fs::absolute(context.run_directory), error);
  const fs::path file = fs::weakly_canonical(fs::absolute(path), error);
  if (!stage.has_parent_path() || context.run_directory == ".") return false;
  return file.string().starts_with(stage.parent_path().string() + "/");
}

}  // namespace

TorchScript::TorchScript(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.model, context)) return;
  if (!params.trust && !in_run(params.model, context))
    throw KeyError("torch_script.trust", "trust",
                   fmt::format("the archive {} is a program, which this potential would run; set trust: true if you "
                               "know where it comes from",
                               params.model));
  archive_ = deck::about_key("torch_script.model", "model", [&] {
    return std::make_unique<Archive>(params.model, params.device, context.comm.rank());
  });
  read_facts(context);
  folded_ = context.comm.size() == 1;
  if (!folded_ && archive_->facts().family == Family::unknown)
    throw KeyError("torch_script.ranks", "model",
                   fmt::format("the archive {} does not name its kind (MACE, NequIP, Allegro), so at which atom of an "
                               "edge it adds messages is not known; run it on one rank",
                               params.model));
  finder_.emplace(range_, layers_);
}

void TorchScript::read_facts(Context& context) {
  const ArchiveFacts& facts = archive_->facts();
  const bool mace = facts.family == Family::mace || facts.family == Family::mace_lammps;
  const auto lacks = [&](const char* id, const char* key, const char* what) {
    return KeyError(id, key,
                    fmt::format("the archive {} does not specify {}; add the key {}", params_.model, what, key));
  };
  species_ = params_.species.value_or(facts.species);
  if (species_.empty()) throw lacks("torch_script.species", "species", "which elements its types are");
  if (params_.species && !facts.species.empty() && params_.species->size() != facts.species.size())
    throw KeyError("torch_script.species.number", "species",
                   fmt::format("{} symbols for the {} types of the archive ({})", species_.size(), facts.species.size(),
                               fmt::join(facts.species, " ")));
  if (!params_.energy_unit && !mace) throw lacks("torch_script.energy_unit", "energy_unit", "its unit of energy");
  if (!params_.length_unit && !mace) throw lacks("torch_script.length_unit", "length_unit", "its unit of length");
  energy_ = in_ev(params_.energy_unit.value_or("eV"));
  length_ = in_angstrom(params_.length_unit.value_or("angstrom"));
  if (!params_.cutoff && !facts.cutoff) throw lacks("torch_script.cutoff", "cutoff", "its cut-off");
  range_ = params_.cutoff ? *params_.cutoff : *facts.cutoff * length_;
  if (!params_.layers && !facts.layers)
    throw lacks("torch_script.layers", "layers", "how many layers of message passing it has (1: strictly local)");
  layers_ = params_.layers ? *params_.layers : *facts.layers;
  constexpr double usual_least = 2.5, usual_most = 12.0;
  if (range_ < usual_least || range_ > usual_most)
    context.log.warn(
        fmt::format("{}: its cut-off is {:.3g} Å, which is unusual: is length_unit right?", params_.model, range_));
}

void TorchScript::examine(Check& check) {
  constexpr double seconds_per_atom = 1e-2;
  check.effort(seconds_per_atom);
  if (!archive_) check.not_looked_at(fmt::format("the archive {}, which an earlier stage makes", params_.model));
}

void TorchScript::bind(std::span<const Species> species) {
  type_.clear();
  if (archive_)
    type_ = model_species("torch_script.species.unknown", "model", "the archive " + params_.model, species, species_);
}

void TorchScript::add(const Edges& edges, const ArchiveAnswer& answer, const ForceRequest& request,
                      ForceOutput& out) const {
  EdgeForces results(request, out);
  for (std::size_t i = 0; i < answer.energy.size(); ++i) results.add_energy(edges.row[i], answer.energy[i] * energy_);
  for (std::size_t e = 0; e < edges.graph.centre.size(); ++e) {
    const int i = edges.row[static_cast<std::size_t>(edges.graph.centre[e])];
    const int j = edges.row[static_cast<std::size_t>(edges.graph.neighbour[e])];
    double gradient[3];
    for (std::size_t a = 0; a < 3; ++a) gradient[a] = answer.gradient[3 * e + a] * (energy_ / length_);
    results.add_edge(j, i, gradient, edges.graph.vector.data() + 3 * e);
  }
  results.finish();
}

void TorchScript::require_sound(const ArchiveGraph& graph, Context& context) {
  compared_ = true;
  ArchiveDoubt doubt;
  if (!graph.types.empty()) doubt = archive_->compare(graph, static_cast<std::int64_t>(species_.size()));
  const double energy = context.comm.max(std::abs(doubt.energy) * energy_ / std::max<double>(1.0, graph.types.size()));
  const double force = context.comm.max(doubt.force * energy_ / length_);
  const double scale = context.comm.max(doubt.scale * energy_ / length_);
  constexpr double per_atom = 1e-2, relative = 1e-3;
  if (energy > per_atom)
    throw InputError(
        fmt::format("{}: the sum of its atoms' energies differs from its total energy by {:.3g} eV an atom",
                    params_.model, energy));
  if (force > relative * std::max(1.0, scale))
    throw InputError(
        fmt::format("{}: its forces differ from the derivative of its energies by {:.3g} eV/Å; a model whose "
                    "forces have no energy cannot be used here",
                    params_.model, force));
}

void TorchScript::warn_of_units(const Particles& particles, const ForceOutput& out, Context& context) {
  measured_ = true;
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  double sum = 0.0;
  for (int i = 0; i < particles.nlocal; ++i) sum += f(i, 0) * f(i, 0) + f(i, 1) * f(i, 1) + f(i, 2) * f(i, 2);
  const double mean = std::sqrt(context.comm.sum(sum) / std::max<double>(1.0, static_cast<double>(particles.nglobal)));
  constexpr double usual = 10.0;  // eV/Å: a hot liquid has 1 to 4
  if (mean > usual)
    context.log.warn(
        fmt::format("{}: forces are {:.3g} eV/Å (root mean square), which is much: are energy_unit and "
                    "length_unit right? Hartree for eV makes them 27.2 times too large, bohr for Å moves atoms "
                    "to 0.529 of their distances",
                    params_.model, mean));
}

void TorchScript::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                          const ForceRequest& request, ForceOutput& out, Context& context) {
  const Edges edges = folded_ ? finder_->find_folded(particles, list, type_) : finder_->find(particles, list, type_);
  ArchiveGraph graph = edges.graph;
  for (double& component : graph.vector) component /= length_;
  if (!compared_) require_sound(graph, context);
  if (particles.nlocal > 0) {
    const auto answer = archive_->evaluate(graph, static_cast<std::int64_t>(species_.size()));
    add(edges, answer, request, out);
  }
  (void)ghosts;
  if (request.totals && !measured_) warn_of_units(particles, out, context);
}

std::string TorchScript::summary() const {
  if (!archive_) return fmt::format("torch_script: {} (an earlier stage makes it)", params_.model);
  const ArchiveFacts& facts = archive_->facts();
  return fmt::format("torch_script: {} ({}; {}; cut-off {:.4g} Å; {}; {}; {})", params_.model, name_of(facts.family),
                     fmt::join(species_, " "), range_,
                     layers_ == 1 ? "strictly local" : fmt::format("{} layers of message passing", layers_),
                     facts.float32 ? "float32" : "float64", archive_->place());
}

std::vector<Citation> TorchScript::citations() const {
  if (!archive_) return {};
  switch (archive_->facts().family) {
    case Family::mace:
    case Family::mace_lammps:
      return {
          {"Batatia2022MACE",
           "@inproceedings{Batatia2022MACE, author = {Batatia, Ilyes and Kov{\\'a}cs, D{\\'a}vid P{\\'e}ter and Simm, "
           "Gregor N. C. and Ortner, Christoph and Cs{\\'a}nyi, G{\\'a}bor}, title = {{MACE}: Higher Order Equivariant "
           "Message Passing Neural Networks for Fast and Accurate Force Fields}, booktitle = {Advances in Neural "
           "Information Processing Systems}, volume = {35}, year = {2022}}"}};
    case Family::nequip:
      return {
          {"Batzner2022NequIP",
           "@article{Batzner2022NequIP, author = {Batzner, Simon and others}, title = {{E(3)}-equivariant graph neural "
           "networks for data-efficient and accurate interatomic potentials}, journal = {Nature Communications}, "
           "volume "
           "= {13}, pages = {2453}, year = {2022}, doi = {10.1038/s41467-022-29939-5}}"}};
    case Family::allegro:
      return {{"Musaelian2023Allegro",
               "@article{Musaelian2023Allegro, author = {Musaelian, Albert and others}, title = {Learning local "
               "equivariant "
               "representations for large-scale atomistic dynamics}, journal = {Nature Communications}, volume = {14}, "
               "pages "
               "= {579}, year = {2023}, doi = {10.1038/s41467-023-36329-y}}"}};
    default:
      return {};
  }
}

}  // namespace cambium::torch_potential
