#include "plugins/graph/potentials/message_passing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/deck/about_key.hpp"
#include "core/pair/model_species.hpp"

namespace cambium::graph {

MessagePotential::MessagePotential(const Params& params, Context& context) : params_(params) {
  if (is_still_to_come(params.model, context)) return;
  engine_ = deck::about_key("message_passing.model", "model",
                            [&] { return std::make_unique<MessageEngine>(MessageModel::load(params.model)); });
}

void MessagePotential::examine(Check& check) {
  check.require_written_by("model", params_.model, {{Origin::network, "message_passing"}});
  constexpr double seconds_per_atom = 1e-3;
  check.effort(seconds_per_atom);
  if (engine_) check.memory("message_passing: features of an atom", engine_->bytes_per_atom());
}

void MessagePotential::bind(std::span<const Species> species) {
  species_.clear();
  if (!engine_) return;
  const MessageModel& model = engine_->model();
  species_ =
      model_species("message_passing.species.unknown", "model", "the model " + model.source, species, model.symbols);
}

void MessagePotential::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                               const ForceRequest& request, ForceOutput& out, Context&) {
  engine_->compute(particles, list, ghosts, species_, request, out);
}

AtomCost MessagePotential::atom_cost(double neighbours) const {
  if (!engine_) return {};
  const MessageModel& m = engine_->model();
  const double columns = static_cast<double>(m.said() + (m.vectors ? 3 * m.width : 0));
  // Derivatives are returned to owners in messages of three columns.
  return {m.operations(neighbours), 4.0 / 3.0 * columns * static_cast<double>(m.layers.size() - 1)};
}

std::string MessagePotential::summary() const {
  if (!engine_) return fmt::format("message_passing: {} (not there yet)", params_.model);
  const MessageModel& m = engine_->model();
  return fmt::format("message_passing: {} ({}; cut-off {:g} Å; {} layer{} of {} {}; float64)", m.source,
                     fmt::join(m.symbols, " "), m.cutoff, m.layers.size(), m.layers.size() == 1 ? "" : "s", m.width,
                     m.vectors ? "scalars and vectors" : "scalars");
}

std::vector<Citation> MessagePotential::citations() const {
  return {{"schutt2021", R"(@inproceedings{schutt2021,
  author = {Sch{\"u}tt, Kristof T. and Unke, Oliver T. and Gastegger, Michael},
  title = {Equivariant message passing for the prediction of tensorial properties and molecular spectra},
  booktitle = {Proceedings of the 38th International Conference on Machine Learning}, volume = {139},
  pages = {9377--9388}, year = {2021}
})"}};
}

}  // namespace cambium::graph
