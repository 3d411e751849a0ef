#include "plugins/md/potentials/sum.hpp"

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::md {

Sum::Sum(const Params& params, Context& context) {
  if (params.terms.empty())
    throw KeyError("sum.terms.empty", "terms", "sum: `terms` is empty; list the potentials to add");
  for (const auto& term : params.terms) terms_.push_back(context.registry->make(term, context));
}

void Sum::examine(Check& check) {
  for (std::size_t k = 0; k < terms_.size(); ++k)
    if (auto* checked = dynamic_cast<Checked*>(terms_[k].get()))
      deck::about_key("", deck::child_path("terms", k), [&] { checked->examine(check); });
}

void Sum::bind(std::span<const Species> species) {
  for (std::size_t k = 0; k < terms_.size(); ++k)
    deck::about_key("", deck::child_path("terms", k), [&] { terms_[k]->bind(species); });
}

double Sum::cutoff() const {
  double largest = 0.0;
  for (const auto& term : terms_) largest = std::max(largest, term->cutoff());
  return largest;
}

bool Sum::writes_ghost_forces() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->writes_ghost_forces(); });
}

bool Sum::needs_periodic_cell() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->needs_periodic_cell(); });
}

void Sum::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                  const ForceRequest& request, ForceOutput& out, Context& context) {
  for (std::size_t k = 0; k < terms_.size(); ++k)
    deck::about_key("", deck::child_path("terms", k),
                    [&] { terms_[k]->compute(particles, list, ghosts, request, out, context); });
}

std::string Sum::summary() const {
  std::string text;
  for (const auto& term : terms_) text += (text.empty() ? "" : "; plus ") + term->summary();
  return text;
}

std::vector<Citation> Sum::citations() const {
  std::vector<Citation> all;
  for (const auto& term : terms_)
    for (const auto& citation : term->citations()) all.push_back(citation);
  return all;
}

Committee* Sum::committee() {
  for (const auto& term : terms_)
    if (Committee* found = term->committee()) return found;
  return nullptr;
}

}  // namespace cambium::md
