#pragma once
#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "plugins/graph/molecules/energy_fit.hpp"

namespace cambium::graph {

/// Keys of the network `message_passing`, also stored in its model files.
struct MessageKeys {
  enum class Loss { l1, l2, huber };
  std::int64_t layers = 3, width = 64, radial = 20;
  double cutoff = 5.0;  ///< Å
  bool directions = true;
  EnergyFit::Kind reference = EnergyFit::Kind::atoms;
  Loss loss = Loss::l1;
  double force_weight = 0.0;
  Precision precision = Precision::float32;
  static void describe(deck::Describe<MessageKeys>& d);
};

}  // namespace cambium::graph
