#include <cmath>
#include <limits>
#include <vector>

#include "core/base/pack_math.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// Largest error of the pack's tanh in units in the last place of the exact value.
template <class T, int W>
double worst_error(T from, T to, int samples) {
  double worst = 0.0;
  std::vector<T> in(W), out(W);
  for (int s = 0; s < samples; s += W) {
    for (int k = 0; k < W; ++k) in[k] = from + (to - from) * static_cast<T>(s + k) / static_cast<T>(samples);
    tanh(Pack<T, W>::load(in.data())).store(out.data());
    for (int k = 0; k < W; ++k) {
      const long double exact = std::tanh(static_cast<long double>(in[k]));
      const T rounded = std::abs(static_cast<T>(exact));
      const long double unit = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
      worst = std::max(worst, static_cast<double>(std::abs(out[k] - exact) / unit));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("tanh of packs is exact to three units in the last place") {
  constexpr int d = native_width<double>, f = native_width<float>;
  for (double range : {1e-3, 0.3, 1.0, 4.0, 25.0}) {
    const double error = worst_error<double, d>(-range, range, 400000);
    INFO("range " << range << " double error " << error);
    CHECK(error < 3.0);
    const double single = worst_error<float, f>(-float(range), float(range), 400000);
    INFO("range " << range << " float error " << single);
    CHECK(single < 3.0);
  }
}

TEST_CASE("tanh of packs keeps signs, zeros and limits") {
  constexpr int w = native_width<double>;
  double x[w] = {}, y[w];
  x[0] = -0.0;
  if (w > 3) {
    x[1] = 1e6;
    x[2] = -1e6;
    x[3] = 1e-300;
  }
  tanh(Pack<double, w>::load(x)).store(y);
  CHECK((y[0] == 0.0 && std::signbit(y[0])));
  if (w > 3) {
    CHECK(y[1] == 1.0);
    CHECK(y[2] == -1.0);
    CHECK(y[3] == 1e-300);
  }
}
