#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/augment/augment.hpp"

namespace cambium::pretrain {

/// What an encoder knows of its training data: extents, and how numbers are scaled.
struct Scales {
  FieldShape shape;
  std::vector<double> mean, deviation;  ///< of each channel
  struct Parameter {
    bool logarithm = false;  ///< of values above 0 that span more than a decade
    double mean = 0.0, deviation = 1.0;
    double operator()(double value) const;
  };
  std::vector<Parameter> parameters;

  /// Of at most 1024 samples, evenly spread. InputError when the samples hold no `field`.
  static Scales of(train::Dataset& data);
  std::string text() const;  ///< JSON
  static Scales from(const std::string& text);
};

/// The numbers of a sample's field of this name, which has this shape. InputError when it is another.
std::span<const float> numbers_of(const train::Sample& sample, const std::string& field, const FieldShape& shape);

}  // namespace cambium::pretrain
