#pragma once
#include <cstdint>

#include "core/plugin/schedule.hpp"
#include "plugins/kinetic/deck/params.hpp"

namespace cambium::io {
class Group;
}

namespace cambium::kinetic {

/// Size of a step: the deck's `timestep`, or a fraction of the limit by the frequencies of its stages.
class StepSize {
 public:
  explicit StepSize(const CommonParams& common) : common_(common) {}

  /// The next one, from this time on.
  double next(double time) const;
  /// True if the deck gives the step size, so that no step is ever repeated.
  bool given() const { return common_.timestep.has_value(); }
  /// True if the stages up to the one with this frequency need a shorter step; that is in `info` then. InputError when
  /// a given step is not stable. The frequency is finite.
  bool too_long(double frequency, double time, StepInfo& info);
  /// Sets the largest frequency of a complete step, or of a fresh start, from which the next step size follows.
  void set_frequency(double frequency) { frequency_ = frequency; }
  /// Number of repeated steps.
  std::int64_t repeated() const { return repeated_; }

  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  void require_stable(double dt, double frequency, double time) const;

  CommonParams common_;
  double frequency_ = 0.0;
  std::int64_t repeated_ = 0;
};

}  // namespace cambium::kinetic
