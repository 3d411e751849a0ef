#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "plugins/deepmd/model/type_embedding.hpp"

namespace cambium::deepmd {

using Json = nlohmann::ordered_json;

namespace {

/// Collects the arrays while the tree is built.
class TreeWriter {
 public:
  TreeWriter(const DeepPotentialModel& model, ModelTree& tree) : m_(model), tree_(tree) {}

  Json model() {
    const std::int64_t nt = m_.ntypes();
    Json descriptor_tree = m_.parts.empty() ? descriptor(m_) : hybrid(), fitting_tree = fitting();
    return Json{{"@class", "Model"},
                {"@version", 2},
                {"type", "standard"},
                {"type_map", m_.type_map},
                {"descriptor", std::move(descriptor_tree)},
                {"fitting", std::move(fitting_tree)},
                {"atom_exclude_types", listed(m_.atom_excluded)},
                {"pair_exclude_types", listed_pairs()},
                {"preset_out_bias", nullptr},
                {"rcond", nullptr},
                {"@variables",
                 {{"out_bias", array({1, nt, 1}, m_.output_bias)},
                  {"out_std", array({1, nt, 1}, std::vector<double>(nt, 1.0))}}}};
  }

 private:
  Json array(std::vector<std::int64_t> shape, const std::vector<double>& values, const std::string& type = "float64") {
    return tree_.add(Array{type, std::move(shape), values});
  }

  Json optional_array(const std::vector<double>& values) {
    return values.empty() ? Json() : array({static_cast<std::int64_t>(values.size())}, values);
  }

  static Json listed(const std::vector<char>& flags) {
    Json out = Json::array();
    for (std::size_t k = 0; k < flags.size(); ++k)
      if (flags[k]) out.push_back(k);
    return out;
  }

  Json listed_pairs() const {
    Json out = Json::array();
    const int nt = m_.ntypes();
    for (int i = 0; i < nt; ++i)
      for (int j = i; j < nt; ++j)
        if (m_.pair_excluded[i * nt + j]) out.push_back({i, j});
    return out;
  }

  Json layer(const Layer& l) {
    return Json{{"@class", "Layer"},
                {"@version", 1},
                {"bias", !l.b.empty()},
                {"use_timestep", !l.idt.empty()},
                {"activation_function", l.activation.name()},
                {"resnet", l.residual},
                {"precision", m_.precision},
                {"@variables",
                 {{"w", array({l.in, l.out}, l.w, m_.precision)},
                  {"b", l.b.empty() ? Json() : array({l.out}, l.b, m_.precision)},
                  {"idt", l.idt.empty() ? Json() : array({l.out}, l.idt, m_.precision)}}}};
  }

  Json network(const Network& net, bool embedding) {
    if (net.layers.empty()) return nullptr;
    Json layers = Json::array();
    for (const Layer& l : net.layers) layers.push_back(layer(l));
    Json out{{"@class", embedding ? "EmbeddingNetwork" : "FittingNetwork"},
             {"@version", embedding ? 2 : 1},
             {"in_dim", net.in()},
             {"neuron", neurons(net, embedding)},
             {"activation_function", net.layers.front().activation.name()},
             {"resnet_dt", resnet_dt(net)},
             {"precision", m_.precision},
             {"layers", std::move(layers)}};
    if (embedding) {
      out["bias"] = true;
    } else {
      out["bias_out"] = true;
      out["out_dim"] = net.out();
    }
    return out;
  }

  Json collection(const std::vector<Network>& nets, bool embedding, int ndim) {
    Json list = Json::array();
    for (const Network& net : nets) list.push_back(network(net, embedding));
    return Json{{"@class", "NetworkCollection"},
                {"@version", 1},
                {"ndim", ndim},
                {"ntypes", m_.ntypes()},
                {"network_type", embedding ? "embedding_network" : "fitting_network"},
                {"networks", std::move(list)}};
  }

  static Json neurons(const Network& net, bool embedding) {
    Json out = Json::array();
    for (const Layer& l : net.layers) out.push_back(l.out);
    if (!embedding) out.erase(out.size() - 1);
    return out;
  }
  static bool resnet_dt(const Network& net) {
    for (const Layer& l : net.layers)
      if (!l.idt.empty()) return true;
    return false;
  }
  static const Network& first(const std::vector<Network>& nets) {
    for (const Network& net : nets)
      if (!net.layers.empty()) return net;
    return nets.front();
  }

  /// One row per neighbour slot, as DeePMD-kit stores the statistics.
  Json slots(const DeepPotentialModel& d, const std::vector<std::array<double, 4>>& rows) {
    const int nt = d.ntypes(), width = d.components();
    std::vector<double> values;
    for (int ti = 0; ti < nt; ++ti)
      for (int tj = 0; tj < nt; ++tj)
        for (int s = 0; s < d.sel[tj]; ++s) {
          const auto& row = rows[ti * nt + tj];
          values.insert(values.end(), row.begin(), row.begin() + width);
        }
    return array({nt, d.neighbours(), width}, values);
  }

  /// Rows of [channel][power of x - x0]; see read_tables() for the values that describe them.
  Json tables(const DeepPotentialModel& d) {
    Json data = Json::array(), infos = Json::array();
    for (const NetworkTable& table : d.tables) {
      std::vector<double> rows;
      for (const TablePart* part : {&table.fine, &table.coarse})
        for (std::size_t k = 0; k < part->a.size(); ++k)
          rows.push_back(part->a[k] / std::pow(part->width, static_cast<double>(k % TablePart::coefficients)));
      data.push_back(array({table.fine.count + table.coarse.count, 6 * d.width()}, rows));
      infos.push_back(array(
          {6}, {table.fine.from, table.coarse.from, table.coarse.to(), table.fine.width, table.coarse.width, -1.0}));
    }
    return Json{{"@variables", {{"compress_data", std::move(data)}, {"compress_info", std::move(infos)}}}};
  }

  /// The species' embedding network, by DeePMD-kit's class TypeEmbedNet.
  Json type_embedding(const DeepPotentialModel& d) {
    const Network& net = d.type_embedding;
    Json tree = network(net, true);
    const bool bias = !net.layers.front().b.empty();
    tree["bias"] = bias;
    return Json{{"@class", "TypeEmbedNet"},
                {"@version", 2},
                {"ntypes", m_.ntypes()},
                {"neuron", neurons(net, true)},
                {"resnet_dt", resnet_dt(net)},
                {"precision", m_.precision},
                {"activation_function", net.layers.front().activation.name()},
                {"trainable", true},
                {"padding", true},
                {"use_econf_tebd", false},
                {"use_tebd_bias", bias},
                {"type_map", m_.type_map},
                {"embedding", std::move(tree)}};
  }

  Json norm(const Layer& l, const AttentionLayers& a) {
    return Json{{"@class", "LayerNorm"},
                {"@version", 1},
                {"eps", a.norm_epsilon},
                {"trainable", a.trainable_norm},
                {"precision", m_.precision},
                {"@variables", {{"w", array({l.out}, l.w, m_.precision)}, {"b", array({l.out}, l.b, m_.precision)}}}};
  }

  static Json temperature(const AttentionLayers& a) { return a.temperature ? Json(*a.temperature) : Json(); }

  /// Keys common to DeePMD-kit's classes of attention, of an attention layer, and of its gated part.
  Json attention_keys(const DeepPotentialModel& d) const {
    const AttentionLayers& a = d.attention;
    return Json{{"nnei", d.neighbours()},   {"embed_dim", d.width()},
                {"hidden_dim", a.attn},     {"dotr", a.dotr},
                {"do_mask", false},         {"scaling_factor", a.scaling_factor},
                {"normalize", a.normalize}, {"temperature", temperature(a)},
                {"precision", m_.precision}};
  }

  Json attention(const DeepPotentialModel& d) {
    Json list = Json::array();
    for (std::size_t k = 0; k < d.attention.networks.size(); k += 3) {
      const auto part = [&](std::size_t n) -> const Layer& { return d.attention.networks[k + n].layers.front(); };
      Json products = attention_keys(d), own = attention_keys(d);
      products.update(Json{{"num_heads", 1}, {"bias", true}, {"smooth", d.attention.smooth}});
      products["in_proj"] = layer(part(0));
      products["out_proj"] = layer(part(1));
      own.update(Json{{"trainable_ln", d.attention.trainable_norm}, {"ln_eps", d.attention.norm_epsilon}});
      own["attention_layer"] = std::move(products);
      own["attn_layer_norm"] = norm(part(2), d.attention);
      list.push_back(std::move(own));
    }
    Json out{{"@class", "NeighborGatedAttention"}, {"@version", 1}, {"layer_num", d.attention.layers()}};
    out.update(attention_keys(d));
    out.update(Json{{"trainable_ln", d.attention.trainable_norm}, {"ln_eps", d.attention.norm_epsilon}});
    out["attention_layers"] = std::move(list);
    return out;
  }

  /// se_atten, which DeePMD-kit calls dpa1 in files.
  Json species_descriptor(const DeepPotentialModel& d) {
    const AttentionLayers& a = d.attention;
    const Network& net = d.embedding.front();
    Json networks = collection(d.embedding, true, 0), types = type_embedding(d), layers = attention(d);
    return Json{{"@class", "Descriptor"},
                {"type", "dpa1"},
                {"@version", 2},
                {"rcut", d.rcut},
                {"rcut_smth", d.rcut_smth},
                {"sel", std::vector<int>{d.neighbours()}},
                {"ntypes", m_.ntypes()},
                {"neuron", neurons(net, true)},
                {"axis_neuron", d.axis_neuron},
                {"tebd_dim", d.type_embedding.out()},
                {"tebd_input_mode", "concat"},
                {"set_davg_zero", true},
                {"attn", a.attn},
                {"attn_layer", a.layers()},
                {"attn_dotr", a.dotr},
                {"attn_mask", false},
                {"activation_function", net.layers.front().activation.name()},
                {"resnet_dt", resnet_dt(net)},
                {"scaling_factor", a.scaling_factor},
                {"normalize", a.normalize},
                {"temperature", temperature(a)},
                {"trainable_ln", a.trainable_norm},
                {"ln_eps", a.norm_epsilon},
                {"smooth_type_embedding", a.smooth},
                {"type_one_side", d.type_one_side},
                {"concat_output_tebd", d.concat_output_tebd},
                {"use_econf_tebd", false},
                {"use_tebd_bias", types["use_tebd_bias"]},
                {"type_map", m_.type_map},
                {"precision", m_.precision},
                {"embeddings", std::move(networks)},
                {"attention_layers", std::move(layers)},
                {"env_mat", {{"rcut", d.rcut}, {"rcut_smth", d.rcut_smth}}},
                {"type_embedding", std::move(types)},
                {"exclude_types", Json::array()},
                {"env_protection", d.env_protection},
                {"trainable", true},
                {"spin", nullptr},
                {"@variables", {{"davg", slots(d, d.mean)}, {"dstd", slots(d, d.deviation)}}}};
  }

  Json hybrid() {
    Json list = Json::array();
    for (const DeepPotentialModel& part : m_.parts) list.push_back(descriptor(part));
    return Json{{"@class", "Descriptor"}, {"type", "hybrid"}, {"@version", 1}, {"list", std::move(list)}};
  }

  Json descriptor(const DeepPotentialModel& d) {
    using Descriptor = DeepPotentialModel::Descriptor;
    if (d.descriptor == Descriptor::se_atten) return species_descriptor(d);
    const bool full = d.descriptor == Descriptor::se_e2_a, angles = d.descriptor == Descriptor::se_e3;
    const Network& net = first(d.embedding);
    const bool types = !d.type_embedding.layers.empty();
    Json networks = collection(d.embedding, true, types ? 0 : d.type_one_side ? 1 : 2);
    Json out{{"@class", "Descriptor"},
             {"type", full     ? "se_e2_a"
                      : angles ? "se_e3"
                               : "se_r"},
             {"@version", full || angles ? 2 : 1},
             {"rcut", d.rcut},
             {"rcut_smth", d.rcut_smth},
             {"sel", d.sel},
             {"neuron", neurons(net, true)}};
    if (full) out["axis_neuron"] = d.axis_neuron;
    out.update(Json{{"resnet_dt", resnet_dt(net)}, {"trainable", true}});
    if (!angles) out["type_one_side"] = d.type_one_side;
    out.update(Json{{"exclude_types", Json::array()},
                    {"env_protection", d.env_protection},
                    {"set_davg_zero", false},
                    {"activation_function", net.layers.front().activation.name()},
                    {"precision", m_.precision}});
    if (!angles) out["spin"] = nullptr;
    out["env_mat"] = Json{{"rcut", d.rcut}, {"rcut_smth", d.rcut_smth}};
    out["embeddings"] = std::move(networks);
    if (types) out["type_embedding"] = type_embedding(d);
    out["@variables"] = Json{{"davg", slots(d, d.mean)}, {"dstd", slots(d, d.deviation)}};
    if (full || angles) out["type_map"] = m_.type_map;
    if (!d.tables.empty()) {
      out["@version"] = 3;
      out["compress"] = tables(d);
    }
    return out;
  }

  Json vacuum_energies() const {
    Json out = Json::array();
    for (char flag : m_.subtract_vacuum) out.push_back(flag ? Json(0.0) : Json());
    for (char flag : m_.subtract_vacuum)
      if (flag) return out;
    return Json::array();
  }

  Json fitting() {
    const Network& net = first(m_.fitting);
    const bool mixed = m_.fitting.size() == 1 && m_.ntypes() > 1;
    Json networks = collection(m_.fitting, false, mixed ? 0 : 1);
    Json out{{"@class", "Fitting"},
             {"type", "ener"},
             {"@version", 2},
             {"var_name", "energy"},
             {"ntypes", m_.ntypes()},
             {"dim_descrpt", m_.descriptor_size()},
             {"dim_out", 1},
             {"neuron", neurons(net, false)},
             {"resnet_dt", resnet_dt(net)},
             {"numb_fparam", m_.fparam.size},
             {"numb_aparam", m_.aparam.size},
             {"rcond", nullptr},
             {"activation_function", net.layers.front().activation.name()},
             {"precision", m_.precision},
             {"mixed_types", mixed},
             {"exclude_types", listed(m_.fitting_excluded)},
             {"nets", std::move(networks)},
             {"type_map", m_.type_map},
             {"tot_ener_zero", false},
             {"trainable", std::vector<bool>(net.layers.size(), true)},
             {"atom_ener", vacuum_energies()},
             {"layer_name", nullptr},
             {"spin", nullptr},
             {"use_aparam_as_mask", false}};
    if (!m_.fparam.fallback.empty()) out["default_fparam"] = m_.fparam.fallback;
    out["@variables"] = Json{{"bias_atom_e", array({m_.ntypes(), 1}, m_.fitting_bias)},
                             {"fparam_avg", optional_array(m_.fparam.mean)},
                             {"fparam_inv_std", optional_array(m_.fparam.inverse_deviation)},
                             {"aparam_avg", optional_array(m_.aparam.mean)},
                             {"aparam_inv_std", optional_array(m_.aparam.inverse_deviation)}};
    return out;
  }

  const DeepPotentialModel& m_;
  ModelTree& tree_;
};

}  // namespace

ModelTree DeepPotentialModel::to_tree() const {
  ModelTree tree;
  tree.root = Json{{"software", "cambium"},
                   {"version", "1"},
                   {"time", fmt::format("{:%Y-%m-%d %H:%M:%S}+00:00", fmt::gmtime(std::time(nullptr)))},
                   {"backend", "Cambium"},
                   {"model_def_script", {{"type_map", type_map}}},
                   {"@variables", Json::object()}};
  if (is_known_by_species(*this)) {
    const DeepPotentialModel plain = by_species(*this);
    tree.root["model"] = TreeWriter(plain, tree).model();
    tree.root["shared_model"] = TreeWriter(*this, tree).model();
  } else {
    tree.root["model"] = TreeWriter(*this, tree).model();
  }
  if (min_distance > 0.0) tree.root["min_nbor_dist"] = min_distance;
  return tree;
}

}  // namespace cambium::deepmd
