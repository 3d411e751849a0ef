#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "plugins/deepmd/model/read_parts.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"

namespace cambium::deepmd {

int DeepPotentialModel::neighbours() const { return std::accumulate(sel.begin(), sel.end(), 0); }

int DeepPotentialModel::width() const {
  for (const Network& net : embedding)
    if (net.out()) return net.out();
  return 0;
}

int DeepPotentialModel::descriptor_size() const {
  if (descriptor == Descriptor::hybrid)
    return std::accumulate(parts.begin(), parts.end(), 0,
                           [](int sum, const DeepPotentialModel& part) { return sum + part.descriptor_size(); });
  const bool angular = descriptor == Descriptor::se_e2_a || descriptor == Descriptor::se_atten;
  return (angular ? width() * axis_neuron : width()) + type_columns();
}

double AttentionLayers::scaling() const { return temperature.value_or(1.0 / std::sqrt(attn * scaling_factor)); }

const char* DeepPotentialModel::name_of(Descriptor descriptor) {
  switch (descriptor) {
    case Descriptor::se_e2_r:
      return "se_e2_r";
    case Descriptor::se_e3:
      return "se_e3";
    case Descriptor::se_atten:
      return "se_atten";
    case Descriptor::hybrid:
      return "hybrid";
    default:
      return "se_e2_a";
  }
}

void DeepPotentialModel::gather_parts() {
  rcut = rcut_smth = 0.0;
  sel.assign(type_map.size(), 0);
  for (const DeepPotentialModel& part : parts) {
    if (part.rcut > rcut) rcut_smth = part.rcut_smth;
    rcut = std::max(rcut, part.rcut);
    for (std::size_t t = 0; t < sel.size(); ++t) sel[t] = std::max(sel[t], part.sel[t]);
  }
  precision = parts.front().precision;
}

namespace {

using Descriptor = DeepPotentialModel::Descriptor;

constexpr int most_parameters = 1'000'000, most_of_one_type = 1'000'000;  // larger values mean a damaged file

Descriptor descriptor_kind(const TreeCursor& node) {
  const std::string type = node.at("type").text();
  if (type == "se_e2_a" || type == "se_a") return Descriptor::se_e2_a;
  if (type == "se_e2_r" || type == "se_r") return Descriptor::se_e2_r;
  if (type == "se_e3" || type == "se_t" || type == "se_at") return Descriptor::se_e3;
  if (type == "se_atten" || type == "dpa1") return Descriptor::se_atten;
  if (type == "hybrid") return Descriptor::hybrid;
  node.complain(fmt::format(
      "descriptor '{}' is not supported; supported: se_e2_a, se_e2_r, se_e3, se_atten and hybrid of these", type));
}

}  // namespace

namespace detail {

std::vector<double> optional_values(const TreeCursor& variables, const std::string& key, std::size_t expected) {
  if (!variables.has(key)) return {};
  const Array& array = variables.at(key).array();
  if (array.values.size() != expected)
    variables.at(key).complain(fmt::format("expected {} values, found {}", expected, array.values.size()));
  return array.values;
}

Layer read_layer(const TreeCursor& node) {
  const TreeCursor variables = node.at("@variables");
  const Array& w = variables.at("w").array();
  if (w.shape.size() != 2) variables.at("w").complain(fmt::format("expected a matrix, found shape {}", w.shape));
  Layer layer;
  layer.in = static_cast<int>(w.shape[0]);
  layer.out = static_cast<int>(w.shape[1]);
  layer.w = w.values;
  layer.b = optional_values(variables, "b", static_cast<std::size_t>(layer.out));
  layer.idt = optional_values(variables, "idt", static_cast<std::size_t>(layer.out));
  layer.residual = node.flag("resnet", false);
  try {
    layer.activation = Activation::from_name(node.text("activation_function", "linear"));
  } catch (const InputError& error) {
    node.complain(error.what());
  }
  return layer;
}

Network read_network(const TreeCursor& node) {
  Network net;
  if (node.is_null()) return net;
  const TreeCursor layers = node.at("layers");
  for (std::size_t k = 0; k < layers.size(); ++k) {
    net.layers.push_back(read_layer(layers.at(k)));
    const Layer& layer = net.layers.back();
    if (k > 0 && net.layers[k - 1].out != layer.in)
      layers.at(k).complain(
          fmt::format("takes {} values, but the layer before it gives {}", layer.in, net.layers[k - 1].out));
  }
  if (net.layers.empty()) node.complain("a network without layers");
  return net;
}

std::vector<Network> read_collection(const TreeCursor& node, std::size_t expected) {
  const TreeCursor networks = node.at("networks");
  if (networks.size() != expected)
    networks.complain(fmt::format("expected {} networks, found {}", expected, networks.size()));
  std::vector<Network> out;
  for (std::size_t k = 0; k < expected; ++k) out.push_back(read_network(networks.at(k)));
  return out;
}

}  // namespace detail

namespace {

using namespace detail;

/// [[i, j], ...] as a symmetric table; [i, ...] as a list of flags.
std::vector<char> excluded_pairs(const TreeCursor& node, const std::string& key, int ntypes) {
  std::vector<char> out(ntypes * ntypes, 0);
  if (!node.has(key)) return out;
  const TreeCursor pairs = node.at(key);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const std::vector<int> pair = pairs.at(k).integers();
    if (pair.size() != 2 || std::min(pair[0], pair[1]) < 0 || std::max(pair[0], pair[1]) >= ntypes)
      pairs.at(k).complain(fmt::format("expected two types in 0..{}", ntypes - 1));
    out[pair[0] * ntypes + pair[1]] = 1;
    out[pair[1] * ntypes + pair[0]] = 1;
  }
  return out;
}

std::vector<char> excluded_types(const TreeCursor& node, const std::string& key, int ntypes) {
  std::vector<char> out(ntypes, 0);
  if (!node.has(key)) return out;
  for (int type : node.at(key).integers()) {
    if (type < 0 || type >= ntypes) node.at(key).complain(fmt::format("type {} is not in 0..{}", type, ntypes - 1));
    out[type] = 1;
  }
  return out;
}

/// davg and dstd are stored per slot, but all slots of one neighbour type hold the same four values.
std::vector<std::array<double, 4>> slot_statistics(const TreeCursor& node, const DeepPotentialModel& m) {
  const Array& array = node.array();
  const int nt = m.ntypes(), slots = m.neighbours(), width = m.components();
  const std::vector<std::int64_t> expected = {nt, slots, width};
  if (array.shape != expected)
    node.complain(fmt::format("expected shape {} (types, sum of sel, components), found {}", expected, array.shape));
  std::vector<std::array<double, 4>> out;
  for (int ti = 0; ti < nt; ++ti)
    for (int tj = 0, slot = 0; tj < nt; slot += m.sel[tj++]) {
      const double* first = &array.values[(ti * slots + slot) * width];
      std::array<double, 4> row = {0, 0, 0, 0};
      if (m.sel[tj] > 0) std::copy(first, first + width, row.begin());
      for (int k = 0; k < m.sel[tj] * width; ++k)
        if (first[k] != row[k % width])
          node.complain(fmt::format("differs between the neighbour slots of type {}: no meaning without slots", tj));
      out.push_back(row);
    }
  return out;
}

/// One part of a stored table: rows of [channel][power of x - x0], in intervals of size `width`.
TablePart table_part(const Array& rows, std::int64_t first, std::int64_t count, double from, double width,
                     int channels) {
  TablePart part{from, width, static_cast<int>(count), channels, {}, 0.0, 0.0};
  constexpr std::int64_t powers = TablePart::coefficients;
  const std::int64_t n = count * channels * powers;
  for (std::int64_t k = 0; k < n; ++k)
    part.a.push_back(rows.values[first * channels * powers + k] * std::pow(width, static_cast<double>(k % powers)));
  return part;
}

/// The tables of a compressed model: compress_data (intervals x 6 channels) and compress_info (lower, upper, max, width
/// below upper, width above) of every embedding network.
std::vector<NetworkTable> read_tables(const TreeCursor& node, const DeepPotentialModel& m) {
  const TreeCursor data = node.at("@variables").at("compress_data"), infos = node.at("@variables").at("compress_info");
  if (data.size() != m.embedding.size() || infos.size() != m.embedding.size())
    node.complain(fmt::format("expected {} tables, found {}", m.embedding.size(), data.size()));
  std::vector<NetworkTable> out(m.embedding.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (m.embedding[k].layers.empty()) continue;  // an excluded pair
    const Array &rows = data.at(k).array(), &info = infos.at(k).array();
    if (info.values.size() < 5 || rows.shape.size() != 2)
      data.at(k).complain("not a table with its five or more values");
    const double lower = info.values[0], upper = info.values[1], top = info.values[2];
    const std::int64_t fine = std::llround((upper - lower) / info.values[3]);
    const std::int64_t coarse = std::llround((top - upper) / info.values[4]);
    if (fine < 1 || coarse < 1 || fine > rows.shape[0] || coarse > rows.shape[0] - fine ||
        rows.shape[1] != 6 * m.width())
      data.at(k).complain(
          fmt::format("expected at least {} x {} values, found {}", fine + coarse, 6 * m.width(), rows.shape));
    out[k].fine = table_part(rows, 0, fine, lower, (upper - lower) / static_cast<double>(fine), m.width());
    out[k].coarse = table_part(rows, fine, coarse, upper, (top - upper) / static_cast<double>(coarse), m.width());
  }
  return out;
}

/// A descriptor's exclude_types zero the normalised rows of real neighbours but not of empty slots. This equals
/// ignoring the neighbours only if an empty slot contributes the same as an excluded one: davg = 0.
void read_excluded_descriptor_pairs(const TreeCursor& node, DeepPotentialModel& m) {
  const std::vector<char> pairs = excluded_pairs(node, "exclude_types", m.ntypes());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (!pairs[k]) continue;
    if (m.descriptor != Descriptor::se_e3 && m.mean[k] != std::array<double, 4>{0, 0, 0, 0})
      node.at("exclude_types")
          .complain(
              "with a davg other than zero the energy would jump whenever an excluded pair crosses the cut-off; use "
              "the model's pair_exclude_types, or train with set_davg_zero: true");
    m.pair_excluded[k] = 1;
  }
}

/// Angles are products of the rows' directions, whose mean is zero by symmetry.
void require_angles(const TreeCursor& node, const DeepPotentialModel& m) {
  for (int n : m.sel)
    if (n == 0) node.at("sel").complain("0 neighbours of one type, by which se_e3 divides");
  for (const auto& mean : m.mean)
    if (mean[1] != 0.0 || mean[2] != 0.0 || mean[3] != 0.0)
      node.at("@variables").at("davg").complain("se_e3 with a mean direction other than zero is not supported");
  for (int b = 0; b < m.ntypes(); ++b)
    for (int a = 0; a <= b; ++a)
      if (const int k = m.embedding_index(a, b); m.embedding[k].layers.empty())
        node.at("embeddings").at("networks").complain(fmt::format("entry {} is missing", k));
}

std::vector<int> read_sel(const TreeCursor& node, const DeepPotentialModel& m) {
  std::vector<int> sel = node.integers();
  const bool shared = m.descriptor == Descriptor::se_atten;
  if (!shared && static_cast<int>(sel.size()) != m.ntypes())
    node.complain(fmt::format("expected one value per type ({}), found {}", m.ntypes(), sel.size()));
  for (int n : sel)
    if (n < 0 || n > most_of_one_type)
      node.complain(fmt::format("{} neighbours of one type, expected 0 to {}", n, most_of_one_type));
  return shared ? shared_slots(std::accumulate(sel.begin(), sel.end(), 0), m.ntypes()) : sel;
}

/// A single descriptor, not a hybrid.
void read_descriptor(const TreeCursor& node, DeepPotentialModel& m) {
  m.descriptor = descriptor_kind(node);
  const bool angles = m.descriptor == Descriptor::se_e3, species = m.descriptor == Descriptor::se_atten;
  m.rcut = node.at("rcut").number();
  m.rcut_smth = node.at("rcut_smth").number();
  if (!(m.rcut > m.rcut_smth && m.rcut_smth >= 0.0))
    node.complain(fmt::format("expected 0 <= rcut_smth < rcut, found {} and {}", m.rcut_smth, m.rcut));
  m.sel = read_sel(node.at("sel"), m);
  m.type_one_side = !angles && node.flag("type_one_side", false);
  m.env_protection = node.number("env_protection", 0.0);
  m.precision = node.text("precision", "float64");
  if (node.has("env_mat") && node.at("env_mat").flag("use_exp_switch", false))
    node.at("env_mat").complain("use_exp_switch is not supported; supported: the polynomial switch of se_e2_a");
  const std::size_t nt = m.type_map.size();
  const bool shared = species || (m.descriptor == Descriptor::se_e2_a && node.has("type_embedding"));
  if (species)
    read_species_descriptor(node, m);
  else if (shared)
    read_type_embedding(node, m);
  else
    m.embedding = read_collection(node.at("embeddings"), m.type_one_side ? nt : nt * nt);
  for (const Network& net : m.embedding)
    if (!shared && !net.layers.empty() && (net.in() != 1 || net.out() != m.width()))
      node.at("embeddings").complain("embedding networks must take one value and all give the same number of values");
  if (species || m.descriptor == Descriptor::se_e2_a) {
    m.axis_neuron = node.at("axis_neuron").integer();
    if (m.axis_neuron < 1 || m.axis_neuron > m.width())
      node.at("axis_neuron")
          .complain(fmt::format("expected 1..{} (the embedding's width), found {}", m.width(), m.axis_neuron));
  }
  m.mean = slot_statistics(node.at("@variables").at("davg"), m);
  m.deviation = slot_statistics(node.at("@variables").at("dstd"), m);
  read_excluded_descriptor_pairs(node, m);
  if (angles)
    require_angles(node, m);
  else if (species)
    require_shared_statistics(node, m);
  else if (node.has("compress") && !shared)
    m.tables = read_tables(node.at("compress"), m);
}

/// Reads the descriptors of a hybrid; its common values are the maxima over them.
void read_parts(const TreeCursor& node, DeepPotentialModel& m) {
  const TreeCursor list = node.at("list");
  if (list.size() == 0) list.complain("is empty");
  m.descriptor = Descriptor::hybrid;
  for (std::size_t k = 0; k < list.size(); ++k) {
    DeepPotentialModel part;
    part.source = m.source;
    part.type_map = m.type_map;
    part.pair_excluded = m.pair_excluded;
    if (descriptor_kind(list.at(k)) == Descriptor::hybrid) list.at(k).complain("a hybrid within a hybrid");
    read_descriptor(list.at(k), part);
    m.parts.push_back(std::move(part));
  }
  m.gather_parts();
}

ParameterInput read_parameter_input(const TreeCursor& node, const std::string& name) {
  ParameterInput out;
  out.size = node.integer("numb_" + name, 0);
  if (out.size < 0 || out.size > most_parameters)
    node.complain(fmt::format("numb_{} is {}, expected 0 to {}", name, out.size, most_parameters));
  if (out.size == 0) return out;
  const TreeCursor variables = node.at("@variables");
  out.mean = optional_values(variables, name + "_avg", static_cast<std::size_t>(out.size));
  out.inverse_deviation = optional_values(variables, name + "_inv_std", static_cast<std::size_t>(out.size));
  if (out.mean.empty()) out.mean.assign(out.size, 0.0);
  if (out.inverse_deviation.empty()) out.inverse_deviation.assign(out.size, 1.0);
  if (node.has("default_" + name)) {
    const TreeCursor given = node.at("default_" + name);
    for (std::size_t k = 0; k < given.size(); ++k) out.fallback.push_back(given.at(k).number());
  }
  return out;
}

void read_vacuum(const TreeCursor& node, DeepPotentialModel& m) {
  m.subtract_vacuum.assign(m.type_map.size(), 0);
  if (!node.has("atom_ener")) return;
  const TreeCursor energies = node.at("atom_ener");
  bool any = false;
  for (const auto& energy : energies.json()) any = any || !energy.is_null();
  if (!any) return;
  for (const DeepPotentialModel& part : m.descriptors())
    if (part.descriptor == Descriptor::se_atten && part.type_columns() > 0)
      energies.complain("is not supported where type embeddings follow the descriptor (concat_output_tebd)");
  for (std::size_t t = 0; t < m.type_map.size(); ++t)
    m.subtract_vacuum[t] = m.fitting.size() == 1 || t >= energies.size() || !energies.json()[t].is_null();
}

void read_fitting(const TreeCursor& node, DeepPotentialModel& m) {
  const std::string type = node.text("type", "ener");
  if (type != "ener")
    node.complain(fmt::format("fitting network of type '{}' is not supported; supported: ener", type));
  if (node.integer("dim_case_embd", 0) > 0) node.complain("dim_case_embd > 0 is not supported (a multi-task model)");
  m.fparam = read_parameter_input(node, "fparam");
  m.aparam = read_parameter_input(node, "aparam");
  if (m.aparam.size > 0 && node.flag("use_aparam_as_mask", false)) node.complain("use_aparam_as_mask is not supported");
  const bool mixed = node.flag("mixed_types", false);
  m.fitting = read_collection(node.at("nets"), mixed ? 1 : m.type_map.size());
  const int expected = m.descriptor_size() + m.fparam.size + m.aparam.size;
  for (std::size_t k = 0; k < m.fitting.size(); ++k)
    if (m.fitting[k].layers.empty())
      node.at("nets").at("networks").complain(fmt::format("entry {} is missing", k));
    else if (const Layer& last = m.fitting[k].layers.back(); last.activation.kind != Activation::Kind::linear)
      node.at("nets")
          .at("networks")
          .at(k)
          .complain(fmt::format("the last layer must be linear, found activation '{}'", last.activation.name()));
  for (const Network& net : m.fitting)
    if (net.in() != expected || net.out() != 1)
      node.at("nets").complain(
          fmt::format("expected networks from {} values (descriptor {}, fparam {}, aparam {}) to 1, found {} to {}",
                      expected, m.descriptor_size(), m.fparam.size, m.aparam.size, net.in(), net.out()));
  m.fitting_bias.assign(m.type_map.size(), 0.0);
  if (node.has("@variables")) {
    const auto bias = optional_values(node.at("@variables"), "bias_atom_e", m.type_map.size());
    if (!bias.empty()) m.fitting_bias = bias;
  }
  m.fitting_excluded = excluded_types(node, "exclude_types", m.ntypes());
  read_vacuum(node, m);
}

}  // namespace

DeepPotentialModel DeepPotentialModel::from_tree(const ModelTree& tree, const std::string& file) {
  const TreeCursor root(tree, file);
  if (!tree.root.is_object() || !root.has("model")) root.complain("not a DeePMD-kit model: key 'model' is missing");
  const TreeCursor node = root.at(root.has("shared_model") ? "shared_model" : "model");
  if (const std::string type = node.text("type", "standard"); type != "standard")
    node.complain(fmt::format("model of type '{}' is not supported; supported: standard", type));
  DeepPotentialModel m;
  m.source = file;
  m.type_map = node.at("type_map").texts();
  if (m.type_map.empty()) node.at("type_map").complain("is empty");
  m.pair_excluded = excluded_pairs(node, "pair_exclude_types", m.ntypes());
  m.atom_excluded = excluded_types(node, "atom_exclude_types", m.ntypes());
  if (descriptor_kind(node.at("descriptor")) == Descriptor::hybrid)
    read_parts(node.at("descriptor"), m);
  else
    read_descriptor(node.at("descriptor"), m);
  read_fitting(node.at("fitting"), m);
  require_separable(m);
  m.output_bias.assign(m.type_map.size(), 0.0);
  if (node.has("@variables")) {
    const auto bias = optional_values(node.at("@variables"), "out_bias", m.type_map.size());
    if (!bias.empty()) m.output_bias = bias;
  }
  m.min_distance = root.number("min_nbor_dist", 0.0);
  if (root.has("@variables") && root.at("@variables").has("min_nbor_dist"))
    m.min_distance = root.at("@variables").at("min_nbor_dist").array().values.at(0);
  return m;
}

DeepPotentialModel DeepPotentialModel::load(const std::string& path) {
  DeepPotentialModel model;
  io::reading(path, [&] { model = from_tree(load_model_tree(path), path); });
  return model;
}

}  // namespace cambium::deepmd
