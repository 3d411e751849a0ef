// Rows in lanes and back, whatever the number of rows, their length and their distance.
#include <vector>

#include "core/numerics/lanes.hpp"
#include "tests/catch.hpp"

using namespace cambium;

template <class T>
static void there_and_back() {
  constexpr int w = native_width<T>;
  for (const int n : {0, 1, w - 1, w, w + 1, 2 * w + 3})
    for (int count = 1; count <= w; ++count) {
      const int stride = n + 2;
      std::vector<T> rows(w * stride), lanes(static_cast<std::size_t>(w * (n + 1)), T(-1));
      for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<T>(k + 1);
      to_lanes(rows.data(), stride, count, n, lanes.data());
      int wrong = 0;
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < w; ++l)
          wrong += lanes[k * w + l] != (l < count ? static_cast<T>(l * stride + k + 1) : T(0));
      for (int l = 0; l < w; ++l) wrong += lanes[n * w + l] != T(-1);
      auto twice = rows, once = std::vector<T>(rows.size(), T(-1));
      from_lanes(lanes.data(), count, n, true, twice.data(), stride);
      from_lanes(lanes.data(), count, n, false, once.data(), stride);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const int row = static_cast<int>(k) / stride, column = static_cast<int>(k) % stride;
        const bool inside = row < count && column < n;
        wrong += twice[k] != (inside ? 2 * rows[k] : rows[k]);
        wrong += once[k] != (inside ? rows[k] : T(-1));
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("rows go into lanes and back") {
  there_and_back<float>();
  there_and_back<double>();
}
