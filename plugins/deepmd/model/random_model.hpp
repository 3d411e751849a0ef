#pragma once
#include <cstdint>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// An untrained model: the initial state of training, and the subject of speed and consistency tests. Defaults are
/// DeePMD-kit's water example.
struct RandomModel {
  std::vector<std::string> type_map = {"O", "H"};
  DeepPotentialModel::Descriptor descriptor = DeepPotentialModel::Descriptor::se_e2_a;
  double rcut = 6.0, rcut_smth = 0.5;
  std::vector<int> sel = {46, 92};
  std::vector<int> neuron = {25, 50, 100};
  int axis_neuron = 16;
  bool type_one_side = true;
  std::vector<int> type_embedding = {8};  ///< se_atten: widths, the first of them linear if it is the only one
  bool with_types = false;                ///< se_e2_a with that type embedding, always of tanh
  bool tebd_resnet_dt = false, use_tebd_bias = false;
  bool concat_output_tebd = true;
  int attn_layer = 0, attn = 16;
  bool attn_dotr = true, attn_normalize = true, attn_smooth = true;
  std::vector<int> fitting = {240, 240, 240};
  int fparam = 0, aparam = 0;  ///< numbers of frame and of atomic parameters
  std::string activation = "tanh";
  double mean = 0.05, radial_deviation = 0.13, angular_deviation = 0.08;  ///< of the environment rows, for all types
  double min_distance = 0.88;                                             ///< Å
  std::uint64_t seed = 1;
  std::vector<RandomModel> parts;  ///< of descriptor hybrid: the descriptors' keys and seeds
};

/// se_atten has a mean of zero, and one energy network serves all species if a descriptor has a type embedding. Weights
/// are normal with deviation 1/sqrt(in + out), biases standard normal (first layers) and timesteps normal around 0.1,
/// all a function of the seed only.
DeepPotentialModel random_model(const RandomModel& spec);

}  // namespace cambium::deepmd
