#include "plugins/kinetic/fields/potential/fourier.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::kinetic {

using Complex = std::complex<double>;

/// Decimation in time by the smallest factor of n; `root` is exp(sign 2 pi i j / total).
static void transform(const Complex* in, Complex* out, int n, int stride, const std::vector<Complex>& root,
                      Complex* work) {
  if (n == 1) {
    *out = *in;
    return;
  }
  int factor = 2;
  while (n % factor) ++factor;
  const int m = n / factor, total = static_cast<int>(root.size());
  for (int r = 0; r < factor; ++r) transform(in + r * stride, work + r * m, m, stride * factor, root, out + r * m);
  for (int k = 0; k < n; ++k) {
    Complex sum = 0.0;
    for (int r = 0; r < factor; ++r)
      sum += root[static_cast<std::int64_t>(r) * k * stride % total] * work[r * m + k % m];
    out[k] = sum;
  }
}

void fourier(std::vector<Complex>& x, int sign) {
  const int n = static_cast<int>(x.size());
  std::vector<Complex> root(n), out(n), work(n);
  for (int j = 0; j < n; ++j) root[j] = std::polar(1.0, sign * 2.0 * constants::pi * j / n);
  transform(x.data(), out.data(), n, 1, root, work.data());
  x = out;
}

}  // namespace cambium::kinetic
