#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/particles/state.hpp"

namespace cambium {

class Physics;
namespace io {
class Group;
}

/// Samples the state every n steps and writes the results: trajectories, distribution functions, spectra.
class Writer {
 public:
  using Kind = Writer;
  static constexpr std::string_view kind = "writer";
  virtual ~Writer() = default;
  /// Called once, before the first step: a writer for one kind of physics looks for it here (dynamic_cast) and keeps
  /// the reference. InputError when it is another one.
  virtual void attach(const Physics&) {}
  /// Steps between two calls of observe(), counted from step 0 of the stage.
  virtual std::int64_t every() const = 0;
  /// True when observe() reads energy and virial of particles (io::FrameParts::totals): the step before it computes
  /// them.
  virtual bool reads_totals() const { return false; }
  /// Collective. `time` in ps (or the field's unit of time).
  virtual void observe(const State& state, std::int64_t step, double time) = 0;
  /// True if the output shows states, such as frames or fields: the final state of a run is one of them, whatever
  /// `every()` is. False for averages and correlations, whose samples are equidistant.
  virtual bool shows_end() const { return false; }
  /// Collective, if shows_end(), once and only if the run ended by itself: observes that state unless observe() has.
  virtual void observe_end(const State& state, std::int64_t step, double time) {
    if (step % every() != 0) observe(state, step, time);
  }
  /// First step of the stage from which observe() takes samples.
  virtual std::int64_t first() const { return 0; }
  /// Collective, once at the end of the stage (also when it stopped early).
  virtual void finish(const State&) {}
  /// State that must survive a restart. save() is called on every rank and what rank 0 writes is stored; load() passes
  /// it to every rank, before resume().
  virtual void save(io::Group&) const {}
  virtual void load(const io::Group&) {}
  /// Called instead of a fresh start when the run resumes: output after `step` is dropped, the rest kept.
  virtual void resume(std::int64_t /*step*/) {}
  /// Files written, relative to the run directory.
  virtual std::vector<std::string> files() const { return {}; }
};

}  // namespace cambium
