#pragma once
#include <optional>

#include "core/io/structures/structure_input.hpp"
#include "core/parallel/farm/number_farm.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "core/plugin/task.hpp"
#include "plugins/deepmd/tasks/sampling.hpp"
#include "plugins/deepmd/tasks/select.hpp"

namespace cambium::deepmd {

/// The stage `label`: samples configurations, evaluates a potential on them and writes training and validation data in
/// deepmd/npy format. Ranks take trajectories and configurations on demand (core/parallel/farm). Finished results
/// survive a kill in journals, which are deleted when the stage ends and are refused if a file of a potential has
/// changed.
class Label : public Task {
 public:
  struct Params {
    StructureInput structure;
    deck::Choice<Potential> potential;
    Perturbed perturbed;
    std::vector<Trajectories> dynamics;
    std::optional<deck::Choice<Potential>> explore_with;
    std::optional<Select> select;
    double validation = 0.1;
    static void describe(deck::Describe<Params>& d);
  };
  Label(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// A perturbed configuration, or a trajectory.
  struct Item {
    int perturbed = -1;
    const Trajectories* spec = nullptr;
    double temperature = 0.0, strain = 0.0;
    std::int64_t number = 0, frames = 1;
  };
  std::vector<Item> items() const;
  void report_plan(Context& context) const;
  static double evaluations_of(const Item& item);
  struct Potentials;
  std::unique_ptr<Potential> made(const deck::Choice<Potential>& choice,
                                  const std::optional<std::vector<Species>>& species, Context& context) const;
  void prepare(Potentials& work, Context& context) const;
  std::optional<std::vector<double>> sample(Potentials& work, Context& context) const;
  std::vector<Configuration> configurations_of(const Item& item, Potentials& work, const tasks::Breathe& breathe) const;
  std::optional<std::vector<LabelledFrame>> label(const std::vector<Configuration>& chosen, Potentials& work,
                                                  Context& context) const;
  std::optional<std::vector<double>> by_need(const tasks::NumberPieces& pieces, const char* what, std::size_t hash,
                                             Potentials& work, Context& context) const;
  void write(const std::vector<std::size_t>& kept, std::vector<LabelledFrame> frames, const Configuration& start,
             Context& context);

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::deepmd
