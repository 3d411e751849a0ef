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

/// One exchange of messages along the edges and the mixing of features in every atom.
struct MessageLayer {
  MessageLinear sender_in, sender_out;  ///< of the sender's scalars
  MessageLinear filter;                 ///< of functions of the distance
  MessageLinear mix_in, mix_out;
  MessageLinear vectors;  ///< two maps of vector features side by side; empty without vectors
};

/// A trained network `message_passing` (PaiNN: Schütt, Unke, Gastegger, ICML 2021), without Torch. Energies in eV,
/// lengths in Å.
struct MessageModel {
  std::string source;                ///< file
  std::vector<std::string> symbols;  ///< of its elements
  std::vector<double> free_energy;   ///< of an atom of each element without what the network adds
  double scale = 1.0;                ///< of the network's share of an atom
  double cutoff = 0.0;
  std::int64_t width = 0, radial = 0;
  bool vectors = true;            ///< messages carry vectors
  std::vector<double> embedding;  ///< [element][width]
  std::vector<MessageLayer> layers;
  MessageLinear readout_in, readout_out;

  /// Width of what a sender says: one part for the scalars, and two for vectors.
  std::int64_t said() const { return (vectors ? 3 : 1) * width; }
  /// Multiplications and additions of an atom's energy and forces.
  double operations(double neighbours) const;

  /// InputError for a file that is no such model, whose energies depend on more than its atoms, whose energies have no
  /// unit of energy, or whose arrays do not have the shapes of its keys.
  static MessageModel load(const std::string& path);
};

}  // namespace cambium::graph
