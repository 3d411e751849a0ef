#pragma once
#include <optional>

#include "core/io/structures/structure_input.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/submatrix/dftb/ground_state.hpp"

namespace cambium::submatrix {

/// The stage `dftb`: energies, charges, levels and forces of one structure (single point).
class DftbTask : public Task {
 public:
  struct Params : DftbKeys {
    StructureInput structure;
    static void describe(deck::Describe<Params>& d) {
      d("structure", &Params::structure, "atoms and cell");
      describe_in(d);
      d.check([](const Params& p) { return p.conflict(); });
    }
  };
  DftbTask(const Params& params, Context&) : params_(params) {}

  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return {static_cast<std::int64_t>(state_ ? state_->excess.size() : 0), "atom", 1}; }
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override { return {"atoms.csv"}; }
  std::vector<Citation> citations() const override;

 private:
  void write(const DftbAtoms& atoms, const Particles& particles, Context& context) const;

  Params params_;
  GivenAxes axes_;
  std::vector<std::string> symbol_;  ///< of each atom
  double volume_ = 0.0;              ///< Å^3
  std::optional<DftbState> state_;
};

}  // namespace cambium::submatrix
