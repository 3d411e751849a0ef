#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/molecules/energy_fit.hpp"

namespace cambium::graph {

/// The stage `molecule_energies`: compares trained energy models with fits that need no network, fitted to the same
/// training molecules and evaluated on the same test molecules, in one table.
class MoleculeEnergies : public Task {
 public:
  struct Params {
    deck::Choice<train::Dataset> training, test;
    std::vector<std::string> models;
    std::optional<std::vector<EnergyFit::Kind>> baselines;  ///< absent: all that suit the molecules
    std::int64_t batch = 64;
    static void describe(deck::Describe<Params>& d);
  };
  MoleculeEnergies(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  /// "mae_coulomb = 9.1 kcal/mol", ...
  std::vector<Result> results() const override;
  std::vector<std::string> files() const override { return {"scores.csv", "energies.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// A method's energies of the test molecules.
  struct Row {
    std::string name, note;
    std::vector<double> energy;
    double mae = 0.0, rmse = 0.0, largest = 0.0;
  };
  struct Judged;
  /// Baselines of the deck, or all that suit the training molecules, with a note about the others. KeyError for one of
  /// the deck that does not suit them.
  std::vector<EnergyFit::Kind> baselines(const Judged& judged, Log* log) const;
  std::vector<Row> baseline_rows(const Judged& judged, Log& log);
  std::vector<Row> model_rows(const Judged& judged, Context& context);
  void score(Row& row, const Judged& judged) const;
  void write(const Judged& judged, Context& context) const;

  Params params_;
  std::string unit_;
  std::vector<Row> rows_;
  Work work_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
