#include "plugins/assimilate/filters/gaspari_cohn.hpp"

#include <cmath>

namespace cambium::assimilate {

double gaspari_cohn(double distance, double half_width) {
  if (half_width <= 0.0) return 1.0;
  const double r = std::fabs(distance) / half_width;
  if (r >= 2.0) return 0.0;
  if (r <= 1.0) return 1.0 + r * r * (-5.0 / 3.0 + r * (5.0 / 8.0 + r * (0.5 - 0.25 * r)));
  return 4.0 - 2.0 / (3.0 * r) + r * (-5.0 + r * (5.0 / 3.0 + r * (5.0 / 8.0 + r * (-0.5 + r / 12.0))));
}

}  // namespace cambium::assimilate
