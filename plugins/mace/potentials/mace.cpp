#include "plugins/mace/potentials/mace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/deck/about_key.hpp"
#include "core/pair/model_species.hpp"

namespace cambium::mace {

Mace::Mace(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.model, context)) return;
  engine_ = deck::about_key("mace.model", "model",
                            [&] { return make_engine(MaceModel::load(params.model), params.precision); });
}

void Mace::examine(Check& check) {
  constexpr double seconds_per_atom = 1e-2;
  check.effort(seconds_per_atom);
  if (engine_) check.memory("mace: features of an atom", engine_->bytes_per_atom());
}

void Mace::bind(std::span<const Species> species) {
  species_.clear();
  if (!engine_) return;
  const MaceModel& model = engine_->model();
  species_ = model_species("mace.species.unknown", "model", "the MACE model " + model.source, species, model.symbols);
}

void Mace::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                   const ForceRequest& request, ForceOutput& out, Context&) {
  engine_->compute(particles, list, ghosts, species_, request, out);
}

AtomCost Mace::atom_cost(double neighbours) const {
  if (!engine_) return {};
  double columns = 0.0;
  const auto& interactions = engine_->model().interactions;
  for (std::size_t k = 1; k < interactions.size(); ++k) columns += 4.0 / 3.0 * interactions[k].up.outputs;
  return {engine_->model().operations(neighbours), columns};
}

std::string Mace::summary() const {
  if (!engine_) return fmt::format("mace: {} (not there yet)", params_.model);
  const MaceModel& m = engine_->model();
  return fmt::format("mace: {} ({}; cut-off {:g} Å; {} interaction{}, degree {} harmonics, {} channels; {})", m.source,
                     fmt::join(m.symbols, " "), m.cutoff, m.interactions.size(), m.interactions.size() == 1 ? "" : "s",
                     m.lmax, m.interactions[0].channels,
                     params_.precision == Precision::float32 ? "float32" : "float64");
}

std::vector<Citation> Mace::citations() const {
  return {
      {"Batatia2022MACE",
       "@inproceedings{Batatia2022MACE,\n  author = {Batatia, Ilyes and Kov{\\'a}cs, D{\\'a}vid P. and Simm, Gregor "
       "N. C. and Ortner, Christoph and Cs{\\'a}nyi, G{\\'a}bor},\n  title = {{MACE}: Higher Order Equivariant "
       "Message Passing Neural Networks for Fast and Accurate Force Fields},\n  booktitle = {Advances in Neural "
       "Information Processing Systems},\n  volume = {35},\n  year = {2022}\n}\n"}};
}

}  // namespace cambium::mace
