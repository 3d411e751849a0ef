// A value of a padded array does not depend on where the array is cut, and nothing behind it is touched.
#include <cmath>
#include <vector>

#include "core/base/pack_math.hpp"
#include "core/numerics/padded_packs.hpp"
#include "tests/catch.hpp"

using namespace cambium;

template <class T>
static void every_length() {
  std::vector<T> x(100), whole(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(3.0 * std::sin(static_cast<double>(7 * k + 1)));
  const auto fill = [&](std::int64_t first, std::int64_t n, std::vector<T>& y) {
    by_packs<T>(n, [&](std::int64_t k, int count) {
      store_some<T>(tanh(load_some(&x[first + k], count)), &y[first + k], count);
    });
  };
  fill(0, std::ssize(x), whole);
  for (std::size_t k = 0; k < x.size(); ++k) CHECK(std::abs(whole[k] - std::tanh(x[k])) < 1e-6);
  for (std::int64_t first : {0, 1, 5})
    for (std::int64_t n = 0; n <= 40; ++n) {
      std::vector<T> part(x.size(), T(9));
      fill(first, n, part);
      int wrong = 0;
      for (std::int64_t k = 0; k < std::ssize(x); ++k) {
        const auto i = static_cast<std::size_t>(k);
        wrong += part[i] != (k >= first && k < first + n ? whole[i] : T(9));
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("padded packs give every number one value, wherever an array begins and ends") {
  every_length<float>();
  every_length<double>();
}
