#include "bench/pretrain/made_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/parallel/random.hpp"
#include "plugins/pretrain/archive/streams.hpp"

namespace cambium::pretrain {

namespace {

constexpr int structure = 1000;  ///< stream of the structure common to all rows

/// Adds normally distributed values, addressed by stream and row.
void add_normal(std::span<float> to, double scale, int stream, std::uint64_t row) {
  for (std::size_t c = 0; c < to.size(); c += 4) {
    const Random4 four(static_cast<std::uint64_t>(stream), made_up_stream, row, c / 4);
    for (std::size_t k = c; k < std::min(c + 4, to.size()); ++k)
      to[k] += static_cast<float>(scale * four.normal(static_cast<int>(k - c)));
  }
}

double uniform(int stream, std::uint64_t row, int k) {
  return Random4(static_cast<std::uint64_t>(stream), made_up_stream, row, 1u << 20).uniform(k);
}

/// Waves over the parameters, the run's own, and those in time.
struct Run {
  std::vector<float> middle;
  std::vector<std::vector<float>> wave;
};

Run run_of(std::uint64_t number, std::int64_t columns) {
  constexpr int features = 24, waves = 6;
  Run out;
  out.middle.assign(columns, 0.0f);
  for (std::uint64_t f = 0; f < features; ++f) {
    double phase = 6.28 * uniform(structure + 1, f, 3);
    for (int p = 0; p < 3; ++p) phase += 6.0 * (uniform(structure + 1, f, p) - 0.5) * uniform(structure + 2, number, p);
    add_normal(out.middle, std::cos(phase), structure + 3, f);
  }
  for (std::uint64_t w = 0; w < waves; ++w) {
    out.wave.emplace_back(static_cast<std::size_t>(columns), 0.0f);
    add_normal(out.wave.back(), 1.5 / (1.0 + 0.5 * static_cast<double>(w)), structure + 4, number * waves + w);
  }
  return out;
}

void add_moment(std::span<float> to, const Run& run, double time, int stream, std::uint64_t row) {
  std::copy(run.middle.begin(), run.middle.end(), to.begin());
  for (std::size_t w = 0; w < run.wave.size(); ++w) {
    const auto by =
        static_cast<float>(std::sin(6.28 * (0.7 + static_cast<double>(w)) * time + 2.0 * static_cast<double>(w)));
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += by * run.wave[w][c];
  }
  add_normal(to, 0.3, stream, row);
}

}  // namespace

FloatRows made_vectors(const std::string& kind, std::int64_t rows, std::int64_t columns, int stream) {
  constexpr std::int64_t moments = 1000, places = 10000;
  FloatRows out(rows, columns);
  const std::int64_t runs = std::max<std::int64_t>(1, rows / moments);
  Run run;
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::span<float> row(out.row(k), static_cast<std::size_t>(columns));
    const auto number = static_cast<std::uint64_t>(k);
    if (kind == "runs") {
      if (k == 0 || k * runs / rows != (k - 1) * runs / rows)
        run = run_of(static_cast<std::uint64_t>(k * runs / rows), columns);
      add_moment(row, run, uniform(stream, number, 0), stream, number);
    } else {
      const bool clouds = kind == "clouds";
      if (clouds) add_normal(row, 1.0, structure, static_cast<std::uint64_t>(uniform(stream, number, 0) * places));
      add_normal(row, clouds ? 0.6 : 1.0, stream, number);
    }
    out.make_unit(k);
  }
  return out;
}

}  // namespace cambium::pretrain
