#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph::testing {

/// A square of n x n nodes cut into triangles, and a run on it, as the output node_fields writes it: du/dt is `rate`
/// times the sum of the differences to the neighbours, and growth u (1 - u) (u - threshold), which drives u to 0 or
/// to 1.
struct MadeRun {
  int n = 6;
  double rate = 0.05, growth = 0.0, threshold = 0.4, interval = 1.0;
  int moments = 12;
  double phase = 0.0;  ///< of the first state

  std::vector<double> x, y, z, time;
  std::vector<std::int32_t> triangle;
  std::vector<double> value;  ///< (moments, nodes)

  void make() {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        x.push_back(i + 0.15 * std::sin(3.0 * i + 5.0 * j));
        y.push_back(j + 0.15 * std::cos(4.0 * i + j));
        z.push_back(0.0);
        if (i + 1 == n || j + 1 == n) continue;
        const auto a = static_cast<std::int32_t>(j * n + i);
        triangle.insert(triangle.end(), {a, a + 1, a + n + 1, a, a + n + 1, a + n});
      }
    std::vector<double> u;
    for (int k = 0; k < n * n; ++k)
      u.push_back(0.4 + 0.3 * std::sin(x[k] + phase) * std::cos(0.7 * y[k] + 2.0 * phase));
    for (int m = 0; m < moments; ++m) {
      time.push_back(interval * m);
      value.insert(value.end(), u.begin(), u.end());
      auto next = u;
      for (std::size_t k = 0; k < u.size(); ++k) next[k] += growth * u[k] * (1.0 - u[k]) * (u[k] - threshold);
      for (std::size_t t = 0; t < triangle.size(); t += 3)  // an inner edge counts twice
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) next[triangle[t + a]] += 0.5 * rate * (u[triangle[t + b]] - u[triangle[t + a]]);
      u = next;
    }
  }
  void write(const std::string& path) {
    make();
    auto file = io::File::create(path);
    file.write("x", x);
    file.write("y", y);
    file.write("z", z);
    file.write("time", time);
    file.write("triangle", io::tensor_of(triangle.data(), {std::ssize(triangle) / 3, 3}));
    file.write("c", io::tensor_of(value.data(), {moments, n * n}));
  }
};

inline Trajectory made_trajectory(const std::string& path, MadeRun run) {
  run.write(path);
  return read_trajectory(path, {"c"}, 1);
}

}  // namespace cambium::graph::testing
