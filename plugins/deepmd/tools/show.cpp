#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/io/model_seal.hpp"
#include "plugins/deepmd/model/table.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

std::size_t parameters(const std::vector<Network>& nets) {
  std::size_t n = 0;
  for (const Network& net : nets)
    for (const Layer& layer : net.layers) n += layer.w.size() + layer.b.size() + layer.idt.size();
  return n;
}

std::string describe(const std::vector<Network>& nets) {
  for (const Network& net : nets) {
    if (net.layers.empty()) continue;
    std::vector<int> widths = {net.in()};
    bool timestep = false;
    for (const Layer& layer : net.layers) {
      widths.push_back(layer.out);
      timestep = timestep || !layer.idt.empty();
    }
    return fmt::format("{} network(s) {}, {}{}, {} parameters", nets.size(), fmt::join(widths, "-"),
                       net.layers.front().activation.name(), timestep ? ", timestep" : "", parameters(nets));
  }
  return "none";
}

std::string excluded(const DeepPotentialModel& m) {
  std::vector<std::string> out;
  for (int i = 0; i < m.ntypes(); ++i)
    for (int j = i; j < m.ntypes(); ++j)
      if (m.pair_excluded[i * m.ntypes() + j]) out.push_back(m.type_map[i] + "-" + m.type_map[j]);
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string parameters_line(const char* name, const ParameterInput& input) {
  if (input.size == 0) return {};
  const std::string fallback =
      input.fallback.empty() ? "" : fmt::format(", by default {}", fmt::join(input.fallback, ", "));
  return fmt::format("{:<16}{} value(s), mean {}{}\n", name, input.size, fmt::join(input.mean, ", "), fallback);
}

std::string descriptor_lines(const DeepPotentialModel& m) {
  using Descriptor = DeepPotentialModel::Descriptor;
  std::string out;
  auto line = [&](const char* name, const std::string& value) { out += fmt::format("{:<16}{}\n", name, value); };
  line("descriptor", fmt::format("{}, {}", m.name_of(m.descriptor),
                                 m.descriptor == Descriptor::se_e3 ? "embedding by pair of neighbours"
                                 : m.type_one_side                 ? "embedding by neighbour"
                                                                   : "embedding by centre and neighbour"));
  line("cut-off", fmt::format("{:g} Å, smooth from {:g} Å", m.rcut, m.rcut_smth));
  line("sel", fmt::format("{} (a constant of the model, not a limit here; DeePMD-kit drops neighbours beyond)",
                          fmt::join(m.descriptor == Descriptor::se_atten ? std::vector{m.neighbours()} : m.sel, ", ")));
  if (m.axis_neuron > 0) line("axis", std::to_string(m.axis_neuron));
  if (m.env_protection > 0.0) line("protection", fmt::format("{:g} Å added to distances", m.env_protection));
  if (!m.type_embedding.layers.empty())
    line("type embedding",
         fmt::format("{}{}", describe({m.type_embedding}), m.concat_output_tebd ? ", also after the descriptor" : ""));
  line("embedding", describe(m.embedding));
  if (m.attention.layers() > 0)
    line("attention", fmt::format("{} layer(s) of width {}, {} parameters", m.attention.layers(), m.attention.attn,
                                  parameters(m.attention.networks)));
  if (!m.tables.empty()) line("compressed", upload_tables<double>(m, m.tables).report.summary());
  return out;
}

}  // namespace

std::string show_model(const std::string& path) {
  const ModelTree tree = load_model_tree(path);
  const DeepPotentialModel m = DeepPotentialModel::from_tree(tree, path);
  std::string out;
  auto line = [&](const char* name, const std::string& value) { out += fmt::format("{:<16}{}\n", name, value); };
  const TreeCursor root(tree, path);
  line("model", path);
  line("written by", fmt::format("{} {} ({})", root.text("software", "unknown"), root.text("version", ""),
                                 root.text("backend", "unknown")));
  line("checksum", io::require_sound_model(path) ? "agrees with what was written" : "none");
  line("species", fmt::format("{}", fmt::join(m.type_map, ", ")));
  for (const DeepPotentialModel& part : m.descriptors()) out += descriptor_lines(part);
  if (root.has("max_nbor_size"))
    line("", fmt::format("training data: at most {}", fmt::join(root.at("max_nbor_size").integers(), ", ")));
  line("fitting", describe(m.fitting));
  line("descriptor size", std::to_string(m.descriptor_size()));
  line("precision", m.precision);
  out += parameters_line("fparam", m.fparam) + parameters_line("aparam", m.aparam);
  if (!excluded(m).empty()) line("hidden pairs", excluded(m));
  for (int t = 0; t < m.ntypes(); ++t) {
    const auto k = static_cast<std::size_t>(t);
    line(t == 0 ? "energy bias" : "",
         fmt::format("{:<3}{:.8g} eV", m.type_map[k], m.fitting_bias[k] + m.output_bias[k]));
  }
  line("closest pair",
       m.min_distance > 0.0 ? fmt::format("{:g} Å in the training data", m.min_distance) : "not recorded");
  return out;
}

}  // namespace cambium::deepmd
