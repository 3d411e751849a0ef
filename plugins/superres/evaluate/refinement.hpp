#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/equations/equation.hpp"

namespace cambium::superres {

/// Fields that obey the equations of the data better than the trained network's first answer: in each window the latent
/// vectors, beginning with those that the encoder finds, and a copy of the decoder's weights descend along the gradient
/// of these equations' mean square residual at points that are drawn anew in each step, held to the coarse samples. No
/// finer data are needed, and the network itself stays as it was trained.
struct Refinement {
  std::vector<std::string> models;  ///< of the stage, by name
  std::int64_t steps = 300, points = 1024;
  double rate = 0.2, weights_rate = 0.003, gamma = 5.0;
  static void describe(deck::Describe<Refinement>& d);
};

/// A network that can.
class Refinable {
 public:
  virtual ~Refinable() = default;
  /// For all answers from here on, along these equations in p, b, u, w: those of the data, which need not be those that
  /// the network was trained with. Null: as trained.
  virtual void refine(const Refinement* how, const std::vector<Equation>& equations = {}) = 0;
};

/// A network that knows the fields on two plates, and so answers between its outermost samples and these.
class KnowsPlates {
 public:
  virtual ~KnowsPlates() = default;
  /// Heights of the plates; empty where the model was not given any.
  virtual std::optional<std::array<double, 2>> plates() const = 0;
};

}  // namespace cambium::superres
