#pragma once
#include <utility>
#include <vector>

#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// Traces of a purification iterate X and of its powers.
struct Traces {
  double x, square, cube, fourth;
};

/// Polynomials of a purification: selects the next one, detects the end, and maps levels. Each maps [0, 1] to itself,
/// is monotonic, and has fixed points at 0 and 1.
class PurificationSteps {
 public:
  struct Levels {
    double low, high, mean;  ///< bounds of all levels and their mean, hartree
  };
  /// Left factor of the polynomial: none, X, or X^2.
  enum class Left { none, x, square };
  /// The next iterate: Left times (one + x X + square X^2).
  struct Next {
    Left left = Left::none;
    double one = 0.0, x = 0.0, square = 0.0;
  };

  PurificationSteps() = default;
  /// `occupied` of `functions` states.
  PurificationSteps(Polynomial polynomial, const Levels& levels, double occupied, double functions);

  /// X0 = shift - slope H.
  double shift() const { return shift_; }
  double slope() const { return slope_; }
  /// True if the error |X X - X|_F of an iterate, whose blocks below `threshold` were dropped, is due to truncation:
  /// with exact products the last step would have made it smaller, see `linear_`.
  bool ended(double error, double threshold);
  Next next(const Traces& traces);

  /// The level that the polynomials so far map to x, hartree.
  double level(double x) const;
  /// Interval without levels, hartree, as far as truncation permits; both ends are the level of 1/2 if nothing is
  /// known.
  std::pair<double, double> gap() const;

 private:
  double map(double x) const;

  Polynomial polynomial_ = Polynomial::trs4;
  double occupied_ = 0.0, shift_ = 0.0, slope_ = 1.0;
  std::vector<Next> steps_;
  std::vector<double> errors_;
  /// For each step a: with exact products it turns an error e into at most a e + 6 e^2.
  std::vector<double> linear_;
  double gap_low_ = 0.0, gap_high_ = 0.0;
  bool gap_known_ = false;
};

/// InputError for a number of electrons that does not fill states with two each; InternalError for a temperature, a
/// given mu and the local form, which purification does not support.
void check_purification(const DensityOptions& options);

}  // namespace cambium::submatrix
