#pragma once
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::submatrix {

struct MixingKeys {
  enum class Kind { simple, anderson, broyden };
  Kind type = Kind::anderson;
  double parameter = 0.2;
  int generations = 8;
  static void describe(deck::Describe<MixingKeys>& d);
};

/// Next guess of a fixed point x = F(x): simple mixing, D. G. Anderson, J. ACM 12, 547 (1965), or the modified method
/// of Broyden, D. D. Johnson, Phys. Rev. B 38, 12807 (1988).
class Mixer {
 public:
  explicit Mixer(const MixingKeys& keys) : keys_(keys) {}
  /// `x`: what was tried, `residual`: F(x) - x.
  std::vector<double> next(const std::vector<double>& x, const std::vector<double>& residual);

 private:
  std::vector<double> anderson(const std::vector<double>& x, const std::vector<double>& residual) const;
  std::vector<double> broyden(const std::vector<double>& x, const std::vector<double>& residual) const;

  MixingKeys keys_;
  std::vector<std::vector<double>> x_, residual_;  ///< of the last generations
};

}  // namespace cambium::submatrix
