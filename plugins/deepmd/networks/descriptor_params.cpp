#include "plugins/deepmd/networks/descriptor_params.hpp"

#include <tuple>

namespace cambium::deepmd {

void DescriptorParams::describe(deck::Describe<DescriptorParams>& d) {
  describe_descriptor(d);
  d.check([](const DescriptorParams& p) { return p.problem(); });
}

std::string DescriptorParams::problem() const {
  if (rcut_smth >= rcut) return "rcut_smth must be less than rcut";
  if (neuron.empty()) return "neuron needs at least one layer";
  for (int n : neuron)
    if (n < 3 || n > 1000) return "the widths of neuron must be between 3 and 1000";
  if ((together() || descriptor == Descriptor::se_e2_a) && axis_neuron > neuron.back())
    return "axis_neuron is more than the last width of neuron";
  for (int n : type_embedding)
    if (n < 1 || n > 1000) return "the widths of type_embedding must be between 1 and 1000";
  const DescriptorParams plain;
  const auto own = [](const DescriptorParams& p) {
    return std::tie(p.tebd_dim, p.concat_output_tebd, p.attn_layer, p.attn, p.attn_dotr, p.normalize,
                    p.smooth_type_embedding, p.scaling_factor, p.temperature);
  };
  if (!together() && own(*this) != own(plain))
    return "tebd_dim, concat_output_tebd and the keys of attention belong to descriptor: se_atten";
  if (!together() && descriptor != Descriptor::se_e2_a && !type_embedding.empty())
    return "type_embedding belongs to descriptor: se_e2_a or se_atten";
  if (type_embedding.empty() && (tebd_resnet_dt || (use_tebd_bias && !together())))
    return "tebd_resnet_dt and use_tebd_bias belong to a type_embedding";
  return "";
}

namespace {

Layer empty_layer(int in, int out, const char* activation, bool timestep) {
  Layer layer;
  layer.in = in;
  layer.out = out;
  layer.activation = Activation::from_name(activation);
  layer.residual = true;
  layer.w.assign(static_cast<std::size_t>(in) * static_cast<std::size_t>(out), 0.0);
  layer.b.assign(out, 0.0);
  if (timestep && layer.copies()) layer.idt.assign(out, 0.0);
  return layer;
}

Network empty_network(int in, const std::vector<int>& widths, bool timestep, const char* activation = "tanh") {
  Network net;
  for (int width : widths) {
    net.layers.push_back(empty_layer(in, width, activation, timestep));
    in = width;
  }
  return net;
}

/// As in DeePMD-kit, an embedding table is a single linear layer.
void build_type_embedding(const DescriptorParams& p, DeepPotentialModel& m) {
  const bool table = p.type_embedding.empty();
  m.type_embedding = empty_network(m.ntypes(), table ? std::vector{p.tebd_dim} : p.type_embedding, p.tebd_resnet_dt,
                                   table ? "linear" : "tanh");
  if (!p.use_tebd_bias)
    for (Layer& layer : m.type_embedding.layers) layer.b.clear();
  m.concat_output_tebd = p.concat_output_tebd;
  const int width = p.neuron.back();
  m.attention.attn = p.attn;
  m.attention.dotr = p.attn_dotr;
  m.attention.normalize = p.normalize;
  m.attention.smooth = p.smooth_type_embedding;
  m.attention.scaling_factor = p.scaling_factor;
  m.attention.temperature = p.temperature;
  for (int k = 0; k < p.attn_layer; ++k)
    for (const auto& [in, out] : {std::pair{width, 3 * p.attn}, {p.attn, width}, {1, width}}) {
      Layer layer = empty_layer(in, out, "linear", false);
      layer.residual = false;
      m.attention.networks.push_back({{layer}});
    }
  m.embedding = {empty_network(1 + (m.type_one_side ? 1 : 2) * m.type_embedding.out(), p.neuron, false)};
}

}  // namespace

Network empty_energy_network(int inputs, const std::vector<int>& widths, bool timestep) {
  Network net = empty_network(inputs, widths, timestep);
  net.layers.push_back(empty_layer(widths.empty() ? inputs : widths.back(), 1, "linear", false));
  net.layers.back().residual = false;
  return net;
}

void build_descriptor(const DescriptorParams& p, DeepPotentialModel& m) {
  const std::size_t nt = m.type_map.size();
  const bool angles = p.descriptor == DescriptorParams::Descriptor::se_e3;
  m.descriptor = p.descriptor;
  m.rcut = p.rcut;
  m.rcut_smth = p.rcut_smth;
  m.axis_neuron = p.together() || p.descriptor == DescriptorParams::Descriptor::se_e2_a ? p.axis_neuron : 0;
  m.type_one_side = p.one_side() && !angles;
  m.pair_excluded.assign(nt * nt, 0);
  m.sel.assign(nt, 0);
  if (p.together() || !p.type_embedding.empty()) return build_type_embedding(p, m);
  m.embedding.assign(m.type_one_side ? nt : nt * nt, {});
  for (std::size_t k = 0; k < m.embedding.size(); ++k)
    if (!angles || k % nt <= k / nt) m.embedding[k] = empty_network(1, p.neuron, false);
}

}  // namespace cambium::deepmd
