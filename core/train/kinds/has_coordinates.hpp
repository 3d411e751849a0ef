#pragma once
#include <string>
#include <vector>

namespace cambium::train {

/// Where samples, or the numbers along an axis of them, lie: times, latitudes, depths. Of an axis or beside one.
struct Coordinate {
  std::string name;
  std::string units;      ///< as the CF conventions write them: "days since 1990-01-01"; empty for a number
  std::string calendar;   ///< of times; empty for the standard one
  std::string long_name;  ///< empty where the data have none
  std::string field;      ///< of which field
  int axis = 0;           ///< 0: samples; 1: the first axis of a sample
  bool beside = false;    ///< another coordinate names the axis ("coordinates" of CF)
  std::vector<double> values;
};

/// A data set that knows coordinates of its samples; an interface beside Dataset.
class HasCoordinates {
 public:
  virtual ~HasCoordinates() = default;
  /// After open(), on one rank. Of samples one value for each sample of the set, in order.
  virtual std::vector<Coordinate> coordinates() = 0;
};

}  // namespace cambium::train
