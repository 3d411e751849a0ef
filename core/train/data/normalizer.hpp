#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Normalises the values of one field to order 1, and back: y = (x - shift) / scale.
class Normalizer {
 public:
  /// standard: zero mean and unit standard deviation; min_max: [0, 1].
  enum class Method { none, standard, min_max };
  /// whole: one shift and scale for all values of a sample; each: one per value.
  enum class Per { whole, each };

  Normalizer() = default;  ///< identity
  /// Collective: reads every sample once, distributed over ranks; bitwise identical for any number of ranks. Constant
  /// values keep the scale 1. InputError if the set has no such field, or if samples differ in size with Per::each.
  static Normalizer fit(Dataset& data, const std::string& field, Method method, Per per, Context& context);

  /// All values of a sample's field, in row-major order. T: double or float.
  template <class T>
  void apply(std::span<T> values) const;
  template <class T>
  void invert(std::span<T> values) const;

  const std::vector<double>& shift() const { return shift_; }
  const std::vector<double>& scale() const { return scale_; }

  /// Exact JSON text.
  std::string text() const;
  static Normalizer from(const std::string& text);

 private:
  std::vector<double> shift_{0.0}, scale_{1.0};  ///< one each, or one per value
};

}  // namespace cambium::train
