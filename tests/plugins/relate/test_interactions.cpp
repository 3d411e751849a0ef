// Products of pairs of vectors and their derivatives beside plain loops.
#include <cmath>
#include <vector>

#include "core/base/pack.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/networks/interactions.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

template <class T>
struct Made {
  int vectors, width, samples;
  std::vector<T> z, by;
  Made(int v, int w, int s) : vectors(v), width(w), samples(s) {
    for (int k = 0; k < samples * vectors * width; ++k)
      z.push_back(static_cast<T>(Random4(1, Stream::test, static_cast<std::uint64_t>(k), 0).normal(0)));
    for (int k = 0; k < samples * pairs(); ++k)
      by.push_back(static_cast<T>(Random4(2, Stream::test, static_cast<std::uint64_t>(k), 0).normal(0)));
  }
  int pairs() const { return vectors * (vectors - 1) / 2; }
  std::size_t at(int s, int v, int k) const { return static_cast<std::size_t>((s * vectors + v) * width + k); }
};

template <class T>
void compare(int vectors, int width, int samples) {
  const Made<T> made(vectors, width, samples);
  std::vector<double> products(made.by.size()), by_z(made.z.size(), 1.0);
  for (int s = 0; s < samples; ++s)
    for (int i = 1, p = s * made.pairs(); i < vectors; ++i)
      for (int j = 0; j < i; ++j, ++p)
        for (int k = 0; k < width; ++k) {
          const auto at = static_cast<std::size_t>(p);
          const double a = made.z[made.at(s, i, k)], b = made.z[made.at(s, j, k)], g = made.by[at];
          products[at] += a * b;
          by_z[made.at(s, i, k)] += g * b;
          by_z[made.at(s, j, k)] += g * a;
        }
  Interactions<T> kernel(vectors, width);
  std::vector<typename Interactions<T>::Source> z;
  std::vector<typename Interactions<T>::Target> to;
  std::vector<T> found(products.size()), gradient(by_z.size(), T(1));
  for (int v = 0; v < vectors; ++v) {
    z.push_back({made.z.data() + made.at(0, v, 0), vectors * width});
    to.push_back({gradient.data() + made.at(0, v, 0), vectors * width});
  }
  kernel.forward(z, samples, found.data(), made.pairs());
  kernel.backward(made.by.data(), made.pairs(), to);
  double worst = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) worst = std::max(worst, std::abs(found[k] - products[k]));
  for (std::size_t k = 0; k < gradient.size(); ++k) worst = std::max(worst, std::abs(gradient[k] - by_z[k]));
  CHECK(worst < (sizeof(T) == 8 ? 1e-13 : 1e-4) * (width + vectors));
}

}  // namespace

TEST_CASE("products of pairs and their derivatives are those of plain loops, for any sizes") {
  for (const int samples : {1, 7, native_width<float>, 3 * native_width<float> + 5})
    for (const int vectors : {1, 2, 4, 5, 11, 27})
      for (const int width : {1, 3, 4, 16, 21}) {
        compare<double>(vectors, width, samples);
        compare<float>(vectors, width, samples);
      }
}

TEST_CASE("a smaller batch after a larger one") {
  Interactions<double> kernel(3, 2);
  const Made<double> made(3, 2, 40);
  for (const int samples : {40, 3}) {
    std::vector<Interactions<double>::Source> z;
    for (int v = 0; v < 3; ++v) z.push_back({made.z.data() + made.at(0, v, 0), 6});
    std::vector<double> found(3 * samples);
    kernel.forward(z, samples, found.data(), 3);
    const auto dot = [&](int s, int i, int j) {
      return made.z[made.at(s, i, 0)] * made.z[made.at(s, j, 0)] + made.z[made.at(s, i, 1)] * made.z[made.at(s, j, 1)];
    };
    for (int s = 0; s < samples; ++s) {
      CHECK(found[3 * s] == Approx(dot(s, 1, 0)));
      CHECK(found[3 * s + 1] == Approx(dot(s, 2, 0)));
      CHECK(found[3 * s + 2] == Approx(dot(s, 2, 1)));
    }
  }
}
