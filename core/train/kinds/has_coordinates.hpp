#pragma once
#include <string>
#include <vector>

namespace cambium::train {

/// Coordinates of the samples or along another axis: times, latitudes, depths. Dimension or auxiliary coordinate.
struct Coordinate {
  std::string name;
  std::string units;      ///< in CF notation: "days since 1990-01-01"; empty if dimensionless
  std::string calendar;   ///< for times; empty for the standard one
  std::string long_name;  ///< empty if not given
  std::string field;      ///< field that it belongs to
  int axis = 0;           ///< 0: samples; 1: the first axis of a sample
  bool beside = false;    ///< auxiliary: another coordinate names the axis ("coordinates" of CF)
  std::vector<double> values;
};

/// Interface of a data set that has coordinates of its samples, in addition to Dataset.
class HasCoordinates {
 public:
  virtual ~HasCoordinates() = default;
  /// After open(), on one rank. A coordinate of samples has one value for each sample of the set, in order.
  virtual std::vector<Coordinate> coordinates() = 0;
};

}  // namespace cambium::train
