#include "core/codec/fields/fit_linear.hpp"

#include <algorithm>
#include <cmath>

#include "core/codec/fields/least_squares.hpp"

namespace cambium::lowp {
namespace {

/// Differences to the neighbours in every source, tap by tap; the middle of the first is one, for the constant.
struct Features {
  std::span<const ScaledField> sources;
  std::vector<float> row;

  explicit Features(std::span<const ScaledField> s)
      : sources(s), row(s.size() * static_cast<std::size_t>(s[0].taps())) {}
  void of(const std::array<std::int64_t, FieldShape::dimensions>& index, std::int64_t k) {
    float* out = row.data();
    for (const auto& source : sources) {
      const float* x = source.at(index) + k;
      const float middle = *x;
      for (const auto r : source.rows())
        for (int t = 0; t < source.row_length(); ++t) *out++ = x[r + t] - middle;
    }
    row[sources[0].middle()] = 1.0f;
  }
};

}  // namespace

template <class T>
std::vector<float> equal_groups(std::span<const T> field, int groups) {
  std::vector<T> sample;
  const std::size_t every = std::max<std::size_t>(1, field.size() / 65536);
  for (std::size_t k = 0; k < field.size(); k += every)
    if (std::isfinite(field[k])) sample.push_back(field[k]);
  std::sort(sample.begin(), sample.end());
  std::vector<float> edges;
  for (int g = 1; g < groups && !sample.empty(); ++g) {
    const auto edge =
        static_cast<float>(sample[sample.size() * static_cast<std::size_t>(g) / static_cast<std::size_t>(groups)]);
    if (std::isfinite(edge) && edge > sample.front() && (edges.empty() || edge > edges.back())) edges.push_back(edge);
  }
  return edges;
}

template <class T>
EnhancerStage fit_linear_stage(std::span<const T> original, const Correction<T>& correction, const FieldShape& shape,
                               int reach, int groups, double work) {
  EnhancerStage stage;
  stage.reach = reach;
  stage.edges = equal_groups<T>(correction.field(), groups);
  const auto group = groups_of<T>(correction.field(), stage.edges);
  const auto missing = correction.missing(original);
  const auto scaled = correction.sources(reach);
  Features features(scaled);
  const auto unknowns = features.row.size();
  std::vector<NormalEquations> sums(stage.groups(), NormalEquations(unknowns));
  const double all = 0.5 * static_cast<double>(unknowns * unknowns) * static_cast<double>(shape.elements);
  // An odd stride does not fall into step with the levels of interpolation.
  const auto every = static_cast<std::int64_t>(std::ceil(all / work)) | 1;
  ScaledField::for_each_row(shape, [&](std::int64_t first, const auto& index, std::int64_t n) {
    for (std::int64_t k = (every - first % every) % every; k < n; k += every) {
      const auto element = static_cast<std::size_t>(first + k);
      features.of(index, k);
      sums[group[element]].add(features.row.data(), missing[element]);
    }
  });
  for (const auto& sum : sums) {
    auto rounded = sum.solve_in_steps();
    stage.linear.push_back({rounded.scale, std::move(rounded.steps)});
  }
  return stage;
}

#define CAMBIUM_FIT_LINEAR_OF(T)                                                                                    \
  template std::vector<float> equal_groups<T>(std::span<const T>, int);                                             \
  template EnhancerStage fit_linear_stage<T>(std::span<const T>, const Correction<T>&, const FieldShape&, int, int, \
                                             double);
CAMBIUM_FIT_LINEAR_OF(float)
CAMBIUM_FIT_LINEAR_OF(double)
#undef CAMBIUM_FIT_LINEAR_OF

}  // namespace cambium::lowp
