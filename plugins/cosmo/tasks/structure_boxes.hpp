#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/cosmo/boxes/box_file.hpp"
#include "plugins/cosmo/gravity/cosmology.hpp"

namespace cambium::cosmo {

/// Stage `structure_boxes`: dark matter at one time for many cosmologies, each with its own phases, in one file for
/// training. Boxes are assigned to ranks round-robin; every box is the same on any number of ranks. A stopped stage
/// resumes with the missing boxes.
class StructureBoxes : public Task {
 public:
  struct Params {
    Cosmology cosmology;
    std::map<std::string, std::array<double, 2>> vary;
    std::optional<std::string> cosmologies;
    std::vector<std::string> targets;
    std::int64_t boxes = 0;
    double box = 0.0, start = 0.1, end = 1.0;
    int particles = 32, time_steps = 20;
    std::string file = "boxes.h5";
    static void describe(deck::Describe<Params>& d);
  };
  StructureBoxes(const Params& params, Context& context);
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {made_, "simulation"}; }
  std::vector<std::string> files() const override { return {params_.file}; }
  std::vector<Citation> citations() const override;

 private:
  struct Made {
    std::vector<float> counts;
    std::vector<double> power;
  };
  /// Parameters of a box in the order of `varied`.
  const std::vector<double>& numbers_of(std::int64_t box) const;
  /// Numbers of boxes, and parameters with their ranges; warns where the start is too late.
  void report_plan(Context& context) const;
  /// Fills told_.
  void choose_targets();
  std::vector<Varied> told_numbers() const;
  std::vector<double> told_of(std::int64_t box) const;
  Cosmology cosmology_of(std::int64_t box) const;
  Made make(std::int64_t box) const;
  void read_cosmologies();

  Params params_;
  std::uint64_t seed_;
  std::vector<Varied> varied_;
  std::vector<std::size_t> told_;                ///< indices of those that the file stores as parameters and targets
  std::vector<std::vector<double>> parameters_;  ///< (boxes, varied)
  std::int64_t made_ = 0;
};

}  // namespace cambium::cosmo
