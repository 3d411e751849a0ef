#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"

namespace cambium::train {

/// Learning rate as a function of the step. Schedules compose: a sequence is a schedule of schedules.
class LearningRate {
 public:
  using Kind = LearningRate;
  static constexpr std::string_view kind = "learning_rate";
  virtual ~LearningRate() = default;
  /// `step` counts from 0; `total` is the number of steps of the schedule.
  virtual double at(std::int64_t step, std::int64_t total) const = 0;
  /// Called after each validation, the same on every rank: `measure` is the criterion of the best model (lower is
  /// better).
  virtual void judge(std::int64_t /*step*/, double /*measure*/) {}
  /// True if it depends on judge().
  virtual bool needs_validations() const { return false; }
  /// True if at() depends on `total`.
  virtual bool needs_total() const { return false; }
  /// State that a resumed run passes to take(); none by default.
  virtual std::vector<double> kept() const { return {}; }
  virtual void take(std::span<const double> /*kept*/) {}
  virtual std::vector<Citation> citations() const { return {}; }
};

class ConstantRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0;
    static void describe(deck::Describe<Params>& d);
  };
  ConstantRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t, std::int64_t) const override { return params_.start; }

 private:
  Params params_;
};

/// From start to stop along (1 - t/T)^power: rate = stop + (start - stop) (1 - t/T)^power, T = steps or the total.
class PolynomialRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, stop = 0.0, power = 1.0;
    std::optional<std::int64_t> steps;
    static void describe(deck::Describe<Params>& d);
  };
  PolynomialRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  bool needs_total() const override { return !params_.steps; }

 private:
  Params params_;
};

/// The same with power 1; may also increase (warm-up).
class LinearRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, stop = 0.0;
    std::optional<std::int64_t> steps;
    static void describe(deck::Describe<Params>& d);
  };
  LinearRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  bool needs_total() const override { return !params_.steps; }

 private:
  Params params_;
};

/// start r^floor(t / every) with r chosen so that start r^(total / every) = stop, DeePMD-kit's decay; smooth: start
/// r^(t / every).
class ExponentialRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, stop = 0.0;
    std::int64_t every = 1;
    bool smooth = false;
    static void describe(deck::Describe<Params>& d);
  };
  ExponentialRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  bool needs_total() const override { return true; }

 private:
  Params params_;
};

/// start times factor for every step in `at` that has been reached.
class StepRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, factor = 0.1;
    std::vector<std::int64_t> at;
    std::optional<std::int64_t> every;
    static void describe(deck::Describe<Params>& d);
  };
  StepRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;

 private:
  Params params_;
};

/// stop + (start - stop) (1 + cos(pi t / T)) / 2 (Loshchilov and Hutter 2017, one cycle).
class CosineRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, stop = 0.0;
    std::optional<std::int64_t> steps;
    static void describe(deck::Describe<Params>& d);
  };
  CosineRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  bool needs_total() const override { return !params_.steps; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// Warm-up-stable-decay (Hu et al. 2024), without the warm-up, which is a separate key: start until the last `decay`
/// steps (a number, or a fraction below 1 of the total), then to stop. With x from 0 to 1 over these, the rate is stop
/// + (start - stop) f, f = 1 - x (linear), (1 + cos(pi x)) / 2 (cosine) or 1 - sqrt(x) (root).
class StableRate : public LearningRate {
 public:
  enum class Shape { linear, cosine, root };
  struct Params {
    double start = 0.0, stop = 0.0, decay = 0.2;
    Shape shape = Shape::linear;
    static void describe(deck::Describe<Params>& d);
  };
  StableRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  bool needs_total() const override { return true; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// start times factor for each plateau: more than `patience` validations in a row whose measure is not below (1 -
/// threshold) times the best. `cooldown` validations after a reduction do not count. As
/// torch.optim.lr_scheduler.ReduceLROnPlateau.
class PlateauRate : public LearningRate {
 public:
  struct Params {
    double start = 0.0, factor = 0.1, threshold = 1e-4, least = 0.0;
    std::int64_t patience = 10, cooldown = 0;
    static void describe(deck::Describe<Params>& d);
  };
  PlateauRate(const Params& params, Context&) : params_(params) {}
  double at(std::int64_t step, std::int64_t total) const override;
  void judge(std::int64_t step, double measure) override;
  bool needs_validations() const override { return true; }
  std::vector<double> kept() const override;
  void take(std::span<const double> kept) override;

 private:
  Params params_;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t waited_ = 0, cooling_ = 0;  ///< validations without improvement; remaining validations of the cooldown
  std::vector<std::int64_t> reduced_;      ///< steps at which the rate was reduced
};

/// Schedules in sequence, each counting its own steps from 0.
class SequenceRate : public LearningRate {
 public:
  struct Piece {
    std::optional<std::int64_t> steps;
    deck::Choice<LearningRate> rate;
    static void describe(deck::Describe<Piece>& d);
  };
  struct Params {
    std::vector<Piece> pieces;
    static void describe(deck::Describe<Params>& d);
  };
  SequenceRate(const Params& params, Context& context);
  double at(std::int64_t step, std::int64_t total) const override;
  void judge(std::int64_t step, double measure) override;
  bool needs_validations() const override;
  bool needs_total() const override { return steps_.back() == 0 && rates_.back()->needs_total(); }
  std::vector<double> kept() const override;
  void take(std::span<const double> kept) override;
  std::vector<Citation> citations() const override;

 private:
  std::vector<std::int64_t> steps_;
  std::vector<std::unique_ptr<LearningRate>> rates_;
};

/// A linear warm-up before any schedule, which starts afterwards.
struct WarmUp {
  std::int64_t steps = 0;
  double from = 0.0;
  static void describe(deck::Describe<WarmUp>& d);
  /// At step t: (from + (1 - from) (t + 1) / steps) times the schedule's initial rate, then the schedule at t - steps.
  double at(const LearningRate& rate, std::int64_t step, std::int64_t total) const;
};

}  // namespace cambium::train
