#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/equations/equation.hpp"

namespace cambium::superres {

/// Test-time refinement of a trained network's output towards the equations of the data: in each window the latent
/// vectors, starting from those of the encoder, and a copy of the decoder's weights are optimised by gradient descent
/// on the mean square residual of these equations at points resampled in each step, constrained to the coarse samples.
/// No finer data are needed, and the network itself is not changed.
struct Refinement {
  std::vector<std::string> models;  ///< of the stage, by name
  std::int64_t steps = 300, points = 1024;
  double rate = 0.2, weights_rate = 0.003, gamma = 5.0;
  static void describe(deck::Describe<Refinement>& d);
};

/// A network that supports refinement.
class Refinable {
 public:
  virtual ~Refinable() = default;
  /// Sets the refinement of all following outputs, for these equations in p, b, u, w: those of the data, which may
  /// differ from those of the training. Null: as trained.
  virtual void refine(const Refinement* how, const std::vector<Equation>& equations = {}) = 0;
};

/// A network that knows the fields on two plates, and thus can extrapolate from its outermost samples to these.
class KnowsPlates {
 public:
  virtual ~KnowsPlates() = default;
  /// Heights of the plates; empty if the model was trained without any.
  virtual std::optional<std::array<double, 2>> plates() const = 0;
};

}  // namespace cambium::superres
