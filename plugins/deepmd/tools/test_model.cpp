#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

/// Sums of errors of one quantity.
struct Sums {
  double squares = 0.0, sizes = 0.0;
  std::size_t count = 0;

  void add(double error) {
    squares += error * error;
    sizes += std::abs(error);
    ++count;
  }
  void add(const Sums& other) { squares += other.squares, sizes += other.sizes, count += other.count; }
  double rmse() const { return count ? std::sqrt(squares / static_cast<double>(count)) : -1.0; }
  double mae() const { return count ? sizes / static_cast<double>(count) : -1.0; }
};

struct AllSums {
  std::size_t frames = 0;
  Sums energy, force, virial;

  void add(const AllSums& other) {
    frames += other.frames;
    energy.add(other.energy), force.add(other.force), virial.add(other.virial);
  }
  Errors errors() const {
    return {frames, energy.rmse(), energy.mae(), force.rmse(), force.mae(), virial.rmse(), virial.mae()};
  }
};

/// Components are compared in the axes in which the data are given: a mean of absolute errors depends on them.
void compare(const Evaluation& e, const LabelledFrame& frame, AllSums& sums) {
  const double atoms = static_cast<double>(e.force.size());
  ++sums.frames;
  if (frame.energy) sums.energy.add((e.energy - *frame.energy) / atoms);
  for (std::size_t i = 0; i < frame.force.size(); ++i) {
    const auto &f = e.force[i], &label = frame.force[i];
    const double error[3] = {f[0] - label[0], f[1] - label[1], f[2] - label[2]};
    for (const double component : frame.axes.vector(error)) sums.force.add(component);
  }
  if (frame.virial.empty()) return;
  double error[9];
  for (std::size_t k = 0; k < 9; ++k) error[k] = (e.virial[k] - frame.virial[k]) / atoms;
  for (const double component : frame.axes.tensor(error)) sums.virial.add(component);
}

AllSums test_system(const TestOptions& options, const std::string& folder) {
  const DataSystem system = DataSystem::load(folder);
  auto engine = engine_of(options, system);
  const std::vector<int> types = model_types(system, engine->model().type_map, options.model);
  const std::size_t n = options.most_frames ? std::min(options.most_frames, system.frames()) : system.frames();
  AllSums sums;
  for (std::size_t k = 0; k < n; ++k) compare(evaluate_frame(*engine, system.frame(k), types), system.frame(k), sums);
  return sums;
}

std::string number(double value) { return value < 0.0 ? "-" : fmt::format("{:.4e}", value); }

std::string line(const std::string& name, const Errors& e) {
  return fmt::format("{:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n", e.frames, number(e.energy_rmse),
                     number(e.energy_mae), number(e.force_rmse), number(e.force_mae), number(e.virial_rmse),
                     number(e.virial_mae), name);
}

}  // namespace

TestReport test_model(const TestOptions& options) {
  if (options.systems.empty()) throw InputError("no system to test the model on; name folders of deepmd/npy data");
  TestReport report;
  AllSums all;
  report.text = fmt::format("{:>6} {:^23} {:^23} {:^23}\n", "", "energy (eV/atom)", "force (eV/Å)", "virial (eV/atom)");
  report.text += fmt::format("{:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n", "frames", "RMSE", "MAE", "RMSE",
                             "MAE", "RMSE", "MAE", "system");
  for (const std::string& folder : options.systems) {
    const AllSums sums = test_system(options, folder);
    all.add(sums);
    report.systems.push_back(sums.errors());
    report.text += line(folder, report.systems.back());
  }
  report.all = all.errors();
  if (options.systems.size() > 1) report.text += line("all", report.all);
  return report;
}

}  // namespace cambium::deepmd
