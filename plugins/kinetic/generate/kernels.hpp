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

/// Writes the kernels of one basis. Names used in the text: T a pack of values, S a scalar; f, out modes of a cell; t,
/// tl, tu, G modes of a face; W, H centre and half width of a cell in each velocity dimension (times 2/dx where that
/// dimension also streams); E, B, X symmetric matrices that multiply by a function of x, upper triangle row by row.
///
/// Scales, chosen so that constants drop out: a trace is sqrt(2) times the value on the face; streaming takes
/// velocities times half the length c of the stage, acceleration takes fields times a quarter of it, so that what a
/// kernel adds is c times the right-hand side.
class Writer {
 public:
  explicit Writer(const Basis& basis) : basis_(basis) {}

  Kernel matrix() const;
  Kernel moments() const;
  Kernel trace(int dimension) const;
  Kernel stream(int conf_dimension) const;
  Kernel inflow(int conf_dimension) const;
  Kernel push(int velocity_dimension) const;
  Kernel flux(int velocity_dimension) const;
  Kernel lift(int velocity_dimension) const;

  /// Pairs (d, e) of velocity dimensions for which v_e B enters the acceleration along d.
  std::vector<std::pair<int, int>> pairs() const;
  int matrix_entry(int a, int b) const;
  int matrix_size() const;

 private:
  using Names = std::vector<std::string>;  ///< of values, one per mode, "" where absent

  /// The mode that differs from `mode` by its degree n along a dimension, or -1.
  int with(int mode, int dimension, int n) const;
  /// Terms of sum_n sqrt(2n+1) s^n f_n, the trace of a face mode at s = 1 or -1.
  std::vector<Term> trace_terms(int dimension, int face_mode, int s, const std::string& array) const;
  /// Terms of v times y at a velocity mode: `centre` and `half` name v's parts (half[k] times the coupling of degrees k
  /// and k + 1), `y` its factor by mode.
  std::vector<Term> times_velocity(int e, int mode, const std::string& centre, const Names& half, const Names& y) const;
  int slot(int group, int a) const;
  /// Declares xi_e y in units of the coupling of degrees 0 and 1, for the groups wanted: names [pair][slot].
  std::vector<Names> couplings(Code& code, int d, const std::string& prefix, const Names& y,
                               const std::vector<bool>& wanted) const;
  void write_matrix(Code& code, int d) const;
  void multiply(Code& code, const std::string& matrix, int offset, const std::vector<std::string>& targets,
                const std::vector<std::string>& columns) const;
  /// Adds the acceleration along d times y, of group g, to targets, one per conf mode; `xi` holds the couplings of y.
  void accelerate(Code& code, int d, const std::vector<std::string>& targets, int g, const Names& y,
                  const std::vector<Names>& xi) const;
  void write_flux(Code& code, int d, const std::vector<std::string>& tl, const std::vector<std::string>& tu) const;

  const Basis& basis_;
};

}  // namespace kinetic_generate
