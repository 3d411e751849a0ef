#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/particles/node_fields.hpp"
#include "core/particles/state.hpp"
#include "core/plugin/potential.hpp"
#include "core/plugin/result.hpp"
#include "core/plugin/schedule.hpp"

namespace cambium {

namespace io {
class Group;
}

/// A column of the thermo output.
struct Observable {
  std::string name;  ///< "temperature"
  std::string unit;  ///< "K"
  std::string doc;
  bool printed = true;  ///< false: only in the files
};

/// Equations of motion. The driver owns the loop, the output, the clock and the signals; a physics owns the step.
class Physics {
 public:
  using Kind = Physics;
  static constexpr std::string_view kind = "physics";
  virtual ~Physics() = default;

  /// Declares fields; called before initialise() or restore().
  virtual void declare(State&, Context&) = 0;
  /// A fresh state at step 0, forces included.
  virtual void initialise(State&, Context&) = 0;
  /// After the fields marked `restart` were read back: rebuilds derived data. `same_ranks` is false if the checkpoint
  /// came from another number of ranks (rows are then spread evenly and must be redistributed).
  virtual void restore(State&, Context&, const io::Group& saved, bool same_ranks) = 0;
  /// Collective, before a checkpoint is written: bring the state into the form that restore() will find.
  virtual void prepare_checkpoint(State&, Context&) {}
  /// Scalars that restore() needs (thermostat energies, box); called on every rank, stored from rank 0.
  virtual void save(io::Group&) const {}
  /// Makes room for `rows` owned rows of the particle fields, before they are read back.
  virtual void resize(State&, std::int64_t /*rows*/) {}

  virtual void schedule(Schedule&) = 0;
  /// Length of the next step, in `time_unit()`.
  virtual double timestep(const State&) const = 0;
  virtual std::string time_unit() const { return "ps"; }

  virtual std::vector<Observable> observables() const = 0;
  /// Collective: computes quantities of the current state that are available only on steps that request them
  /// (StepInfo::observe), such as energy and virial. Called before measure() and the writers if the last step did not
  /// request them.
  virtual void complete(State&, Context&) {}
  /// Collective: fills one value per observable for the current state.
  virtual void measure(const State&, Context&, std::span<double> values) = 0;
  /// Collective: its fields on the cells of a grid, values on rank 0 only, for the output `vtkhdf`; none if it has no
  /// grid.
  virtual std::optional<GridFields> grid_fields(const State&, const Comm&) const { return {}; }
  /// The same of a physics on a graph or on an unstructured mesh.
  virtual std::optional<NodeFields> node_fields(const State&, const Comm&) const { return {}; }
  /// True when the work is done before the last step (a minimisation has converged). Same answer on every rank.
  virtual bool finished() const { return false; }
  /// True if finished() eventually holds (an end time), so that a deck may omit 'steps'.
  virtual bool ends() const { return false; }
  /// Fraction of the work that is done, for the progress line of a run without 'steps'.
  virtual double progress(const State&) const { return 0.0; }
  /// Item that one step works on, for the rate of the end-of-run table: {192, "atom"} prints atom-steps/s.
  struct Work {
    std::int64_t items;
    std::string name;
  };
  virtual Work work(const State&) const = 0;
  /// Results of the run: energy drift, time averages, rebuilds. Collective.
  virtual std::vector<Result> results() const { return {}; }
  /// Tables and sentences for the stage summary, after the results. Collective.
  virtual std::vector<std::string> report() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
  /// One-line description for the banner of the run.
  virtual std::string summary() const { return {}; }
};

}  // namespace cambium
