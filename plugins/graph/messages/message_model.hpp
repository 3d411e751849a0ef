#pragma once
#include <string>
#include <vector>

#include "core/numerics/dense_layer.hpp"

namespace cambium::graph {

/// A linear layer in double precision.
struct MessageLinear {
  std::int64_t in = 0, out = 0;
  std::vector<double> weights;  ///< [in][out]
  std::vector<double> bias;     ///< empty: zeros
  DenseLayer<double> layer() const { return {in, out, weights.data(), bias.empty() ? nullptr : bias.data()}; }
};

/// One exchange of messages along the edges and the mixing of features in each atom.
struct MessageLayer {
  MessageLinear sender_in, sender_out;  ///< of the sender's scalars
  MessageLinear filter;                 ///< of functions of the distance
  MessageLinear mix_in, mix_out;
  MessageLinear vectors;  ///< two maps of vector features, concatenated; empty without vectors
};

/// A trained network `message_passing` (PaiNN: Schütt, Unke, Gastegger, ICML 2021), without Torch. Energies in eV,
/// lengths in Å.
struct MessageModel {
  std::string source;                ///< file
  std::vector<std::string> symbols;  ///< of its elements
  std::vector<double> free_energy;   ///< energy of a free atom of each element, without the network's contribution
  double scale = 1.0;                ///< of the network's energy per atom
  double cutoff = 0.0;
  std::int64_t width = 0, radial = 0;
  bool vectors = true;            ///< messages carry vectors
  std::vector<double> embedding;  ///< [element][width]
  std::vector<MessageLayer> layers;
  MessageLinear readout_in, readout_out;

  /// Width of a message: one part for the scalars, and two for vectors.
  std::int64_t said() const { return (vectors ? 3 : 1) * width; }
  /// Floating-point operations for the energy and forces of an atom.
  double operations(double neighbours) const;

  /// InputError for a file that is not such a model, whose energies have further inputs or no energy unit, or whose
  /// array shapes do not match its keys.
  static MessageModel load(const std::string& path);
};

}  // namespace cambium::graph
