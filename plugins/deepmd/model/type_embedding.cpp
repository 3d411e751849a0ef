#include "plugins/deepmd/model/type_embedding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/network_jet.hpp"

namespace cambium::deepmd {

std::vector<int> shared_slots(int total, int types) {
  std::vector<int> out(types, total / types);
  out.front() += total % types;
  return out;
}

bool has_type_embedding(const DeepPotentialModel& m) {
  return std::any_of(m.descriptors().begin(), m.descriptors().end(),
                     [](const DeepPotentialModel& part) { return !part.type_embedding.layers.empty(); });
}

bool is_known_by_species(const DeepPotentialModel& m) {
  return has_type_embedding(m) &&
         std::none_of(m.descriptors().begin(), m.descriptors().end(), [](const DeepPotentialModel& part) {
           return part.descriptor == DeepPotentialModel::Descriptor::se_atten;
         });
}

std::vector<std::vector<double>> species_embeddings(const DeepPotentialModel& m) {
  std::vector<std::vector<double>> out;
  for (std::size_t t = 0; t < m.type_map.size(); ++t) {
    std::vector<double> unit(m.type_map.size(), 0.0);
    unit[t] = 1.0;
    out.push_back(evaluate(m.type_embedding, unit));
  }
  return out;
}

void require_separable(const DeepPotentialModel& m) {
  const auto refuse = [&](const char* what, const Layer& layer) {
    throw InputError(
        fmt::format("{}: the first layer of the {}, of width {}, adds its {} inputs to its output, among them a type "
                    "embedding: this is not supported; choose another width",
                    m.source, what, layer.out, layer.in));
  };
  bool columns = false;
  for (const DeepPotentialModel& part : m.descriptors()) {
    if (part.type_embedding.layers.empty()) continue;
    columns = columns || part.concat_output_tebd;
    const Layer& first = part.embedding.front().layers.front();
    if (first.copies() > 0) refuse("embedding network", first);
  }
  for (const Network& net : m.fitting)
    if (columns && net.layers.front().copies() > 0) refuse("energy network", net.layers.front());
}

namespace {

/// Folds fixed values of the inputs from `first` on into the layer's bias.
Layer with_fixed_inputs(const Layer& layer, std::size_t first, const std::vector<double>& values) {
  const auto width = static_cast<std::size_t>(layer.out);
  Layer out = layer;
  out.b.resize(width, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t c = 0; c < width; ++c) out.b[c] += values[k] * layer.w[(first + k) * width + c];
  const auto from = out.w.begin() + static_cast<std::ptrdiff_t>(first * width);
  out.w.erase(from, from + static_cast<std::ptrdiff_t>(values.size() * width));
  out.in -= static_cast<int>(values.size());
  out.residual = out.residual && layer.copies() > 0;  // at the new size it might copy its input
  return out;
}

void separate_embedding(DeepPotentialModel& m) {
  const auto species = species_embeddings(m);
  const Network shared = m.embedding.front();
  const int nt = m.ntypes();
  std::vector<Network> networks;
  for (int k = 0; k < (m.type_one_side ? nt : nt * nt); ++k) {
    const auto neighbour = static_cast<std::size_t>(m.type_one_side ? k : k / nt);
    std::vector<double> values = species[neighbour];
    if (!m.type_one_side) {
      const auto& centre = species[static_cast<std::size_t>(k % nt)];
      values.insert(values.end(), centre.begin(), centre.end());
    }
    networks.push_back(shared);
    networks.back().layers.front() = with_fixed_inputs(shared.layers.front(), 1, values);
  }
  m.embedding = std::move(networks);
  m.type_embedding.layers.clear();
}

}  // namespace

DeepPotentialModel by_species(const DeepPotentialModel& model) {
  DeepPotentialModel out = model;
  if (!has_type_embedding(model)) return out;
  require_separable(model);
  out.fitting.clear();
  for (int t = 0; t < model.ntypes() && !model.fitting.empty(); ++t) {
    Network net = model.fitting_of(t);
    std::size_t column = 0;
    for (const DeepPotentialModel& part : model.descriptors()) {
      const auto types = static_cast<std::size_t>(part.type_columns());
      column += static_cast<std::size_t>(part.descriptor_size()) - types;
      if (types > 0)
        net.layers.front() =
            with_fixed_inputs(net.layers.front(), column, species_embeddings(part)[static_cast<std::size_t>(t)]);
    }
    out.fitting.push_back(std::move(net));
  }
  for (DeepPotentialModel& part : out.descriptors())
    if (!part.type_embedding.layers.empty()) separate_embedding(part);
  return out;
}

}  // namespace cambium::deepmd
