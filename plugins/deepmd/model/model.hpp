#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/deepmd/model/activation.hpp"
#include "plugins/deepmd/model/model_tree.hpp"
#include "plugins/deepmd/model/table_part.hpp"

namespace cambium::deepmd {

/// y = act(x w + b) * idt, plus x where `residual` and out == in, plus [x, x] where `residual` and out == 2 in.
struct Layer {
  int in = 0, out = 0;
  std::vector<double> w;    ///< in x out, row-major
  std::vector<double> b;    ///< out values, or empty
  std::vector<double> idt;  ///< out values, or empty
  Activation activation;
  bool residual = false;

  int copies() const { return !residual ? 0 : out == in ? 1 : out == 2 * in ? 2 : 0; }  ///< of x added to y
};

struct Network {
  std::vector<Layer> layers;
  int in() const { return layers.empty() ? 0 : layers.front().in; }
  int out() const { return layers.empty() ? 0 : layers.back().out; }
};

/// Extra inputs of the fitting network: (value - mean) * inverse_deviation is appended to the descriptor.
struct ParameterInput {
  int size = 0;
  std::vector<double> mean, inverse_deviation;
  std::vector<double> fallback;  ///< used if the deck gives none; may be empty
};

/// The attention layers of se_atten, by DeePMD-kit's names (Zhang et al., npj Comput. Mater. 10, 94 (2024); arXiv
/// 2208.08236).
struct AttentionLayers {
  int attn = 128;                     ///< width of queries, keys and values
  bool dotr = true;                   ///< weights are multiplied by the cosine of the angle between two neighbours
  bool normalize = true;              ///< queries, keys and values have length 1
  bool smooth = true;                 ///< weights vanish at the cut-off (smooth_type_embedding)
  bool trainable_norm = true;         ///< trainable_ln
  double scaling_factor = 1.0;        ///< products are divided by sqrt(attn scaling_factor),
  std::optional<double> temperature;  ///< or multiplied by this
  double norm_epsilon = 1e-5;         ///< ln_eps
  /// Three for each layer: queries, keys and values together; the output; factor and shift of the layer norm as a layer
  /// with one input.
  std::vector<Network> networks;

  int layers() const { return static_cast<int>(networks.size()) / 3; }
  double scaling() const;  ///< of the products of queries and keys
};

/// A Deep Potential of Zhang et al. (PRL 120, 143001 (2018); NeurIPS 2018): a descriptor and an energy network per
/// atom. Descriptors are se_e2_a (distances and angles), se_e2_r (distances), se_e3 (angles between pairs of
/// neighbours; Wang et al., Nucl. Fusion 62, 126013 (2022)), se_atten (se_e2_a with one embedding network, which also
/// takes the species' embeddings, and attention among neighbours: DPA-1) and hybrid (several, concatenated). Units Å,
/// eV.
struct DeepPotentialModel {
  enum class Descriptor { se_e2_a, se_e2_r, se_e3, se_atten, hybrid };

  std::string source;  ///< file name, for messages
  Descriptor descriptor = Descriptor::se_e2_a;
  /// Descriptors of a hybrid, in the order of their columns, each with type_map, the members below down to the tables,
  /// and pair_excluded; for the hybrid itself rcut is the largest and sel the maximum over the parts.
  std::vector<DeepPotentialModel> parts;
  std::vector<std::string> type_map;  ///< species symbols by model type
  double rcut = 0.0, rcut_smth = 0.0;
  double env_protection = 0.0;  ///< Å, added to r in the environment matrix
  /// By neighbour type. A parameter of the model, not a limit: see neighbours(). For se_atten only the sum matters.
  std::vector<int> sel;
  int axis_neuron = 0;
  bool type_one_side = true;                           ///< embedding depends on the neighbour's type only; not se_e3's
  std::string precision = "float64";                   ///< of the stored networks
  std::vector<std::array<double, 4>> mean, deviation;  ///< of the environment matrix, [centre * ntypes + neighbour]
  std::vector<Network> embedding;  ///< see embedding_index(); empty networks belong to excluded pairs
  /// Of a species as unit vector; one embedding network then serves all pairs. se_atten, optional in se_e2_a; without
  /// layers: none.
  Network type_embedding;
  bool concat_output_tebd = true;      ///< the centre's type embedding is appended to the descriptor
  AttentionLayers attention;           ///< se_atten
  std::vector<NetworkTable> tables;    ///< as stored in a compressed model's file, by embedding network; may be empty
  std::vector<Network> fitting;        ///< by centre type, or one for all
  std::vector<double> fitting_bias;    ///< eV by type; part of the fitting energy
  std::vector<double> output_bias;     ///< eV by type; added to every atom
  std::vector<char> subtract_vacuum;   ///< by type: the fitting network's value for a zero descriptor is subtracted
  std::vector<char> fitting_excluded;  ///< by type: the fitting energy is zero
  std::vector<char> atom_excluded;     ///< by type: the total atomic energy is zero
  std::vector<char> pair_excluded;     ///< [centre * ntypes + neighbour]: neighbours that are ignored
  ParameterInput fparam, aparam;       ///< per frame, per atom
  double min_distance = 0.0;           ///< Å, closest pair of the training data; 0 if not in the file

  int ntypes() const { return static_cast<int>(type_map.size()); }
  int neighbours() const;  ///< sum of sel: normalisation constant of the descriptor
  int width() const;       ///< channels of the embedding
  /// Components of a row of the environment matrix.
  int components() const { return descriptor == Descriptor::se_e2_r ? 1 : 4; }
  int descriptor_size() const;
  /// Columns of the descriptor after those of the neighbours.
  int type_columns() const { return concat_output_tebd ? type_embedding.out() : 0; }
  /// Index for a pair: centre and neighbour; se_e3: two neighbours, in either order.
  int embedding_index(int centre, int neighbour) const {
    if (!type_embedding.layers.empty()) return 0;
    if (descriptor == Descriptor::se_e3) return std::min(centre, neighbour) + std::max(centre, neighbour) * ntypes();
    return type_one_side ? neighbour : centre + neighbour * ntypes();
  }
  /// The parts of a hybrid, or the model itself.
  std::span<const DeepPotentialModel> descriptors() const {
    return parts.empty() ? std::span(this, 1) : std::span(parts);
  }
  std::span<DeepPotentialModel> descriptors() { return parts.empty() ? std::span(this, 1) : std::span(parts); }
  void gather_parts();  ///< sets the hybrid's common rcut, sel and precision
  /// se_e2_a, se_e2_r, se_e3, se_atten or hybrid.
  static const char* name_of(Descriptor descriptor);
  const Network& fitting_of(int centre) const { return fitting[fitting.size() == 1 ? 0 : centre]; }

  /// Reads and checks a model file; InputError names file and key.
  static DeepPotentialModel load(const std::string& path);
  static DeepPotentialModel from_tree(const ModelTree& tree, const std::string& file);
  /// The tree that DeePMD-kit's own readers and load() accept. DeePMD-kit's files have no type embedding beside
  /// se_e2_a: `model` is then by_species(), and `shared_model`, which load() prefers, the model itself.
  ModelTree to_tree() const;
};

/// Networks of all descriptors, one after the other: the species' embedding, the embedding networks except those that
/// no pair uses, and those of attention.
template <class Model>
auto embeddings_of(Model& model) {
  std::vector<decltype(&model.embedding.front())> out;
  for (auto& part : model.descriptors()) {
    if (!part.type_embedding.layers.empty()) out.push_back(&part.type_embedding);
    for (auto& net : part.embedding)
      if (!net.layers.empty()) out.push_back(&net);
    for (auto& net : part.attention.networks) out.push_back(&net);
  }
  return out;
}

/// embeddings_of(), then the energy networks.
template <class Model>
auto networks_of(Model& model) {
  auto out = embeddings_of(model);
  for (auto& net : model.fitting) out.push_back(&net);
  return out;
}

}  // namespace cambium::deepmd
