#pragma once
#include <string>
#include <vector>

#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// True state over time, as values of all fields at the centres of all cells.
class Truth {
 public:
  virtual ~Truth() = default;
  virtual double begin() const = 0;
  /// Later times only, in order.
  virtual std::vector<double> at(double time) = 0;
};

/// A run of the model from a state at time 0.
class ModelTruth : public Truth {
 public:
  ModelTruth(ForecastModel& model, std::vector<double> state);
  double begin() const override { return 0.0; }
  std::vector<double> at(double time) override;

 private:
  ForecastModel& model_;
  std::vector<double> state_;
  double time_ = 0.0;
};

/// Frames of a file with all fields of the model. KeyError when the file has no frame at a requested time.
class FileTruth : public Truth {
 public:
  FileTruth(const ForecastModel& model, const std::string& path);
  double begin() const override { return record_.times.front(); }
  std::vector<double> at(double time) override;

 private:
  std::string path_;
  FieldRecord record_;
  std::vector<std::size_t> field_;  ///< of the record, for each field of the space
  std::size_t places_;
};

}  // namespace cambium::assimilate
