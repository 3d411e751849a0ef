#include "plugins/submatrix/datasets/moments.hpp"

namespace cambium::submatrix {

void add_moments(const Spectrum& spectrum, const Window& window, int functions, int count, std::vector<double>& out) {
  const std::size_t first = out.size();
  out.resize(first + static_cast<std::size_t>(count), 0.0);
  const double middle = 0.5 * (window.low + window.high), half = 0.5 * (window.high - window.low);
  for (std::size_t j = 0; j < spectrum.node.size(); ++j) {
    const double x = (spectrum.node[j] - middle) / half;
    double before = 1.0, now = x;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      out[first + k] += spectrum.weight[j] * now / functions;
      const double next = 2.0 * x * now - before;
      before = now;
      now = next;
    }
  }
}

}  // namespace cambium::submatrix
