#pragma once
#include <string>
#include <vector>

#include "basis.hpp"
#include "code.hpp"

namespace kinetic_generate {

/// A kernel of a configuration, as text, with its cost.
struct Kernel {
  std::string name;
  Code code;
};

/// Writes the kernels of one basis. Names used in the text: f, out modes of a cell; t, tl, tu, G modes of a face; W, H
/// centre and half width of a cell in each velocity dimension (times 2/dx where that dimension also streams); A, E, B
/// symmetric matrices that multiply by a function of x, upper triangle row by row.
class Writer {
 public:
  explicit Writer(const Basis& basis) : basis_(basis) {}

  Kernel matrix() const;
  Kernel volume() const;
  Kernel volume_magnetic() const;
  Kernel trace(int dimension) const;
  Kernel stream(int conf_dimension) const;
  Kernel inflow(int conf_dimension) const;
  Kernel flux(int velocity_dimension) const;
  Kernel flux_magnetic(int velocity_dimension) const;
  Kernel lift(int velocity_dimension) const;
  Kernel moments() const;

  /// Pairs (d, e) of velocity dimensions for which v_e B enters the acceleration along d.
  std::vector<std::pair<int, int>> pairs() const;
  int matrix_entry(int a, int b) const;
  int matrix_size() const;

 private:
  /// v_e f within group g, for conf mode a: terms of W and H times `values` (one per mode, "" where absent).
  std::vector<Term> times_velocity(int e, int g, int a, const std::vector<std::string>& values) const;
  std::vector<std::string> names(const std::string& array, const std::vector<int>& modes) const;

  const Basis& basis_;
};

}  // namespace kinetic_generate
