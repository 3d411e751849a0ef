#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::superres {

/// One moment of a flow: temperature and classes by (x, z).
struct PlumeImage {
  std::int64_t nx = 0, nz = 0;
  bool wraps = false;  ///< x is periodic
  std::vector<float> temperature;
  std::vector<std::uint8_t> classes;
};

/// Points as far off the mean temperature of their height as some value: warm, or cold. Height by height means, and the
/// value, by which the mean overlap is largest, are those of the training images.
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

/// Logistic regression of each point by itself: on its temperature, its differences and means over boxes around it, and
/// its height. Fitted by Newton's steps to at most `points` of the training images; plumes are then weighed against the
/// background by the factor for which the mean overlap of the training images is largest.
class LogisticBaseline {
 public:
  explicit LogisticBaseline(std::span<const PlumeImage> training, std::int64_t points = 40000);
  std::vector<std::uint8_t> operator()(const PlumeImage& image) const { return classes(image, factor_); }

 private:
  std::vector<std::uint8_t> classes(const PlumeImage& image, double factor) const;
  std::vector<double> features(const PlumeImage& image) const;
  void fit(const std::vector<double>& rows, const std::vector<std::uint8_t>& classes);

  std::vector<double> profile_, weights_;  ///< weights: of the two kinds of plumes in turn
  double deviation_ = 1.0, factor_ = 1.0;
};

}  // namespace cambium::superres
