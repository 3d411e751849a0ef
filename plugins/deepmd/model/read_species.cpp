// Reading of type embeddings, and of the data that a model file has for se_atten in addition to those of a pair
// descriptor.
#include <fmt/format.h>

#include "plugins/deepmd/model/read_parts.hpp"

namespace cambium::deepmd::detail {

namespace {

/// A single matrix with its bias.
Network linear_network(const TreeCursor& node, int in, int out) {
  Network net;
  net.layers.push_back(read_layer(node));
  const Layer& layer = net.layers.front();
  if (layer.in != in || layer.out != out || layer.b.empty() || !layer.idt.empty() ||
      layer.activation.kind != Activation::Kind::linear)
    node.complain(fmt::format("expected a linear layer with bias from {} values to {}, found {} to {}", in, out,
                              layer.in, layer.out));
  return net;
}

/// Factor and shift of a layer norm, as a layer of one input.
Network norm_network(const TreeCursor& node, int width) {
  Layer layer;
  layer.in = 1;
  layer.out = width;
  layer.activation = Activation::from_name("linear");
  layer.w = optional_values(node.at("@variables"), "w", static_cast<std::size_t>(width));
  layer.b = optional_values(node.at("@variables"), "b", static_cast<std::size_t>(width));
  if (layer.w.empty() || layer.b.empty()) node.at("@variables").complain("keys 'w' and 'b' are needed");
  return {{layer}};
}

AttentionLayers read_attention(const TreeCursor& node, int width) {
  AttentionLayers out;
  out.attn = node.integer("attn", out.attn);
  out.dotr = node.flag("attn_dotr", out.dotr);
  out.normalize = node.flag("normalize", out.normalize);
  out.smooth = node.flag("smooth_type_embedding", out.smooth);
  out.trainable_norm = node.flag("trainable_ln", out.trainable_norm);
  out.scaling_factor = node.number("scaling_factor", out.scaling_factor);
  if (node.has("temperature")) out.temperature = node.at("temperature").number();
  out.norm_epsilon = node.number("ln_eps", out.norm_epsilon);
  if (out.attn < 1 || !(out.scaling_factor > 0.0) || !(out.norm_epsilon > 0.0))
    node.complain("attn, scaling_factor and ln_eps must be positive");
  const int expected = node.at("attn_layer").integer();
  if (expected == 0) return out;
  const TreeCursor list = node.at("attention_layers").at("attention_layers");
  if (static_cast<int>(list.size()) != expected)
    list.complain(fmt::format("expected {} layers, found {}", expected, list.size()));
  for (std::size_t k = 0; k < list.size(); ++k) {
    const TreeCursor layer = list.at(k).at("attention_layer");
    if (layer.integer("num_heads", 1) != 1) layer.complain("num_heads other than 1 is not supported");
    out.networks.push_back(linear_network(layer.at("in_proj"), width, 3 * out.attn));
    out.networks.push_back(linear_network(layer.at("out_proj"), out.attn, width));
    out.networks.push_back(norm_network(list.at(k).at("attn_layer_norm"), width));
  }
  return out;
}

/// Requires the options of se_atten whose other values would change the formula.
void require_known_choices(const TreeCursor& node) {
  if (const std::string mode = node.text("tebd_input_mode", "concat"); mode != "concat")
    node.complain(fmt::format("tebd_input_mode '{}' is not supported; supported: concat", mode));
  if (node.flag("attn_mask", false)) node.complain("attn_mask is not supported, nor is it by DeePMD-kit");
  if (node.flag("use_econf_tebd", false))
    node.complain("use_econf_tebd is not supported; supported: type embeddings of the species as unit vectors");
  if (const int lmax = node.integer("lmax", 1); lmax != 1)
    node.complain(fmt::format("lmax {} is not supported; supported: 1", lmax));
}

}  // namespace

void read_type_embedding(const TreeCursor& node, DeepPotentialModel& m) {
  m.concat_output_tebd = node.flag("concat_output_tebd", true);
  m.type_embedding = read_network(node.at("type_embedding").at("embedding"));
  const int width = m.type_embedding.out(), inputs = 1 + (m.type_one_side ? 1 : 2) * width;
  if (m.type_embedding.in() != m.ntypes())
    node.at("type_embedding")
        .complain(fmt::format("expected a network from {} species, found {}", m.ntypes(), m.type_embedding.in()));
  m.embedding = read_collection(node.at("embeddings"), 1);
  if (m.embedding.front().in() != inputs)
    node.at("embeddings")
        .complain(fmt::format("expected a network from {} values, found {}", inputs, m.embedding[0].in()));
}

void read_species_descriptor(const TreeCursor& node, DeepPotentialModel& m) {
  require_known_choices(node);
  read_type_embedding(node, m);
  m.attention = read_attention(node, m.width());
}

void require_shared_statistics(const TreeCursor& node, const DeepPotentialModel& m) {
  for (const auto& mean : m.mean)
    if (mean != std::array<double, 4>{0, 0, 0, 0})
      node.at("@variables")
          .at("davg")
          .complain("se_atten with a davg other than zero is not supported; train with set_davg_zero: true");
  const auto nt = m.type_map.size();
  for (std::size_t k = 0; k < m.deviation.size(); ++k)
    if (m.deviation[k] != m.deviation[k / nt * nt])
      node.at("@variables").at("dstd").complain("differs between the neighbour slots: no meaning without slots");
}

}  // namespace cambium::deepmd::detail
