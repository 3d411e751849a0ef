#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/archive/augment.hpp"

namespace cambium::pretrain {

/// Properties of an encoder's training data: extents and scaling.
struct Scales {
  FieldShape shape;
  std::vector<double> mean, deviation;  ///< of each channel
  struct Parameter {
    bool logarithm = false;  ///< of positive values that span more than a decade
    double mean = 0.0, deviation = 1.0;
    double operator()(double value) const;
  };
  std::vector<Parameter> parameters;
  std::vector<std::string> channel_names, parameter_names;  ///< empty if they are not known

  /// From at most 1024 samples, evenly spaced. InputError if the samples have no `field`.
  static Scales of(train::Dataset& data);
  std::string text() const;  ///< JSON
  static Scales from(const std::string& text);
  /// InputError if an opened data set has other channels than these, or in another order: the network knows them by
  /// their index only. `model` names its file.
  void require_channels(const train::Dataset& data, const std::string& model) const;
  /// The same for parameters, if there are as many names.
  void require_parameters(const std::vector<std::string>& names, const std::string& model) const;
};

/// Values of a sample's field with this name and shape. InputError for another shape.
std::span<const float> numbers_of(const train::Sample& sample, const std::string& field, const FieldShape& shape);

}  // namespace cambium::pretrain
