#pragma once
#include "apps/cambium/plan/step_time.hpp"

namespace cambium::train {

/// One layout of a model and its requirements.
struct PlannedLayout {
  std::string name;  ///< of a preset if it is one
  StepSettings settings;
  StepPlan plan;
  StepTime time;
  bool fits = true;  ///< in the memory of a device, activations aside
};

/// Figures by which the layouts of one number of ranks are compared.
struct LayoutInputs {
  const PlannedModel& model;
  const Machine& machine;
  double operations = 0.0;  ///< per rank and step
};

PlannedLayout planned(std::string name, StepSettings settings, const LayoutInputs& by);

/// Every division of weights, gradients and states over the machine's levels that this network and optimizer allow,
/// with the reduction and the codecs of `as`: those that fit first, the fastest first among them.
std::vector<PlannedLayout> layouts_of(const StepSettings& as, const LayoutInputs& by);

}  // namespace cambium::train
