#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Keys of one descriptor; see DeepPotentialModel.
struct DescriptorParams {
  using Descriptor = DeepPotentialModel::Descriptor;
  Descriptor descriptor = Descriptor::se_e2_a;
  double rcut = 6.0, rcut_smth = 0.5;
  std::optional<std::vector<int>> sel;
  std::vector<int> neuron = {25, 50, 100};
  int axis_neuron = 16;
  std::optional<bool> type_one_side;
  int tebd_dim = 8;
  std::vector<int> type_embedding;
  bool tebd_resnet_dt = false, use_tebd_bias = false;
  bool concat_output_tebd = true;
  int attn_layer = 0, attn = 128;
  bool attn_dotr = true, normalize = true, smooth_type_embedding = true;
  double scaling_factor = 1.0;
  std::optional<double> temperature;
  bool operator==(const DescriptorParams&) const = default;

  bool one_side() const { return type_one_side.value_or(!together()); }
  bool together() const { return descriptor == Descriptor::se_atten; }  ///< slots of all species in common
  std::string problem() const;                                          ///< empty where there is none
  static void describe(deck::Describe<DescriptorParams>& d);
};

/// Sets the sizes of one descriptor and of its networks, whose weights are zero; m.type_map is given. se_e3 has an
/// embedding network for each pair of neighbours' species, se_atten and se_e2_a with type_embedding one for all.
void build_descriptor(const DescriptorParams& params, DeepPotentialModel& m);
/// An energy network with these hidden widths, with trainable factors on its layers if `timestep`.
Network empty_energy_network(int inputs, const std::vector<int>& widths, bool timestep);

/// Keys of type embeddings, most of which belong to se_atten.
template <class P>
void describe_species(deck::Describe<P>& d) {
  d("tebd_dim", static_cast<int P::*>(&P::tebd_dim), "width of the type embedding, a trainable table (se_atten)")
      .range(1, 1000)
      .def(8);
  d("type_embedding", static_cast<std::vector<int> P::*>(&P::type_embedding),
    "widths of a network (tanh) of the type embedding: se_e2_a with it has one embedding and one energy network for "
    "all "
    "species; se_atten: the last one instead of tebd_dim; absent: none, or a table (se_atten)")
      .def({});
  d("tebd_resnet_dt", static_cast<bool P::*>(&P::tebd_resnet_dt),
    "trainable factors on layers of the network type_embedding that add their input (DeePMD-kit's resnet_dt there)")
      .def(false);
  d("use_tebd_bias", static_cast<bool P::*>(&P::use_tebd_bias),
    "biases in the type embedding, as DeePMD-kit before version 3 always has them")
      .def(false);
  d("concat_output_tebd", static_cast<bool P::*>(&P::concat_output_tebd),
    "type embedding of the atom itself as further input of the energy network (se_atten)")
      .def(true);
  d("attn_layer", static_cast<int P::*>(&P::attn_layer),
    "number of attention layers among an atom's neighbours (se_atten; DeePMD-kit's default is 2)")
      .range(0, 20)
      .def(0);
  d("attn", static_cast<int P::*>(&P::attn), "width of queries, keys and values of an attention layer")
      .range(1, 10000)
      .def(128);
  d("attn_dotr", static_cast<bool P::*>(&P::attn_dotr),
    "attention weights times the cosine of the angle between two neighbours")
      .def(true);
  d("normalize", static_cast<bool P::*>(&P::normalize), "queries, keys and values of length 1").def(true);
  d("smooth_type_embedding", static_cast<bool P::*>(&P::smooth_type_embedding),
    "attention weights that vanish at the cut-off; false (DeePMD-kit's default): the energy jumps where a neighbour "
    "crosses it")
      .def(true);
  d("scaling_factor", static_cast<double P::*>(&P::scaling_factor),
    "attention scores are divided by sqrt(attn scaling_factor)")
      .positive()
      .def(1.0);
  d("temperature", static_cast<std::optional<double> P::*>(&P::temperature),
    "factor of the attention scores instead of 1/sqrt(attn scaling_factor); absent: none")
      .example("0.1");
}

/// Keys of a network's own descriptor, and of each descriptor of a hybrid.
template <class P>
void describe_descriptor(deck::Describe<P>& d) {
  using Descriptor = DescriptorParams::Descriptor;
  d("descriptor", static_cast<Descriptor P::*>(&P::descriptor),
    "se_e2_a: distances and angles; se_e2_r: distances only; se_e3: angles between two neighbours (DeePMD-kit's "
    "se_at); se_atten: distances and angles, one embedding network for all species (DPA-1)")
      .options({{"se_e2_a", Descriptor::se_e2_a},
                {"se_e2_r", Descriptor::se_e2_r},
                {"se_e3", Descriptor::se_e3},
                {"se_atten", Descriptor::se_atten}})
      .def(Descriptor::se_e2_a);
  d("rcut", static_cast<double P::*>(&P::rcut), "cut-off radius (Å)").unit("angstrom").positive().def(6.0);
  d("rcut_smth", static_cast<double P::*>(&P::rcut_smth),
    "inner radius (Å) at which the smooth switching of a neighbour's weight begins")
      .unit("angstrom")
      .non_negative()
      .def(0.5);
  d("sel", static_cast<std::optional<std::vector<int>> P::*>(&P::sel),
    "neighbour slots by species (se_atten: or one for all), a constant of the model and no limit here (in DeePMD-kit "
    "it is one); absent: a tenth more than the data need")
      .example("[46, 92]");
  d("neuron", static_cast<std::vector<int> P::*>(&P::neuron), "widths of the embedding network").def({25, 50, 100});
  d("axis_neuron", static_cast<int P::*>(&P::axis_neuron),
    "columns of the embedding that make the descriptor (se_e2_a, se_atten)")
      .at_least(1)
      .def(16);
  d("type_one_side", static_cast<std::optional<bool> P::*>(&P::type_one_side),
    "embedding by the neighbour's species only (not se_e3); absent: true, for se_atten false")
      .example("true");
  describe_species(d);
}

}  // namespace cambium::deepmd
