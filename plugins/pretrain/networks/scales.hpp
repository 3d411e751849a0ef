#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/archive/augment.hpp"

namespace cambium::pretrain {

/// Properties of an encoder's training data: extents, and how numbers are scaled.
struct Scales {
  FieldShape shape;
  std::vector<double> mean, deviation;  ///< of each channel
  struct Parameter {
    bool logarithm = false;  ///< of values above 0 that span more than a decade
    double mean = 0.0, deviation = 1.0;
    double operator()(double value) const;
  };
  std::vector<Parameter> parameters;
  std::vector<std::string> channel_names, parameter_names;  ///< empty where they are not known

  /// For at most 1024 samples, evenly spread. InputError when the samples hold no `field`.
  static Scales of(train::Dataset& data);
  std::string text() const;  ///< JSON
  static Scales from(const std::string& text);
  /// InputError where an opened data set has other channels than these, or in another order: numbers know them by their
  /// place alone. `model` names its file.
  void require_channels(const train::Dataset& data, const std::string& model) const;
  /// The same of parameters of as many names.
  void require_parameters(const std::vector<std::string>& names, const std::string& model) const;
};

/// The numbers of a sample's field of this name, which has this shape. InputError when it is another.
std::span<const float> numbers_of(const train::Sample& sample, const std::string& field, const FieldShape& shape);

}  // namespace cambium::pretrain
