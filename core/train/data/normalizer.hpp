#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Scales the numbers of one field so that a network sees values near 1, and back: y = (x - shift) / scale.
class Normalizer {
 public:
  /// standard: mean 0 and deviation 1; min_max: [0, 1].
  enum class Method { none, standard, min_max };
  /// whole: one shift and scale for all numbers of a sample; each: one per number.
  enum class Per { whole, each };

  Normalizer() = default;  ///< changes nothing
  /// Collective: looks at every sample once, a share on each rank; the same bits for any number of ranks. Numbers that
  /// never change keep the scale 1. InputError when the set has no such field, or samples of different sizes with
  /// Per::each.
  static Normalizer fit(Dataset& data, const std::string& field, Method method, Per per, Context& context);

  /// All numbers of a sample's field, in row-major order. T: double or float.
  template <class T>
  void apply(std::span<T> values) const;
  template <class T>
  void invert(std::span<T> values) const;

  const std::vector<double>& shift() const { return shift_; }
  const std::vector<double>& scale() const { return scale_; }

  /// As JSON text, exactly.
  std::string text() const;
  static Normalizer from(const std::string& text);

 private:
  std::vector<double> shift_{0.0}, scale_{1.0};  ///< one each, or one per number
};

}  // namespace cambium::train
