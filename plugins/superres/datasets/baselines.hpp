#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::superres {

/// One snapshot of a flow: temperature and classes by (x, z).
struct PlumeImage {
  std::int64_t nx = 0, nz = 0;
  bool wraps = false;  ///< x is periodic
  std::vector<float> temperature;
  std::vector<std::uint8_t> classes;
};

/// Classifies points whose temperature deviates from the mean of their height by more than a threshold as warm or cold.
/// The means by height, and the threshold with the largest mean overlap, are those of the training images.
class ThresholdBaseline {
 public:
  explicit ThresholdBaseline(std::span<const PlumeImage> training);
  std::vector<std::uint8_t> operator()(const PlumeImage& image) const;
  const std::vector<double>& profile() const { return profile_; }
  double deviation() const { return deviation_; }

 private:
  std::vector<double> off(const PlumeImage& image) const;
  std::vector<double> profile_;  ///< mean temperature by height
  double deviation_ = 1.0, least_ = 0.0;
};

/// Pointwise logistic regression: on a point's temperature, its differences and means over boxes around it, and its
/// height. Fitted by Newton steps to at most `points` of the training images; plumes are then weighted against the
/// background by the factor with the largest mean overlap on the training images.
class LogisticBaseline {
 public:
  explicit LogisticBaseline(std::span<const PlumeImage> training, std::int64_t points = 40000);
  std::vector<std::uint8_t> operator()(const PlumeImage& image) const { return classes(image, factor_); }

 private:
  std::vector<std::uint8_t> classes(const PlumeImage& image, double factor) const;
  std::vector<double> features(const PlumeImage& image) const;
  void fit(const std::vector<double>& rows, const std::vector<std::uint8_t>& classes);

  std::vector<double> profile_, weights_;  ///< weights: of the two kinds of plumes, one after the other
  double deviation_ = 1.0, factor_ = 1.0;
};

}  // namespace cambium::superres
