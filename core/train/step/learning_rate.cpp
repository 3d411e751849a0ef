#include "core/train/step/learning_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::train {

template <class P>
static void start_key(deck::Describe<P>& d) {
  d("start", &P::start, "learning rate of the first step").non_negative().example("1e-3");
}
template <class P>
static void stop_key(deck::Describe<P>& d, double fallback) {
  d("stop", &P::stop, "learning rate reached after the last step").non_negative().def(fallback);
}
template <class P>
static void steps_key(deck::Describe<P>& d) {
  d("steps", &P::steps, "number of steps of the schedule; default: the full run").at_least(1);
}

void ConstantRate::Params::describe(deck::Describe<Params>& d) { start_key(d); }

void LinearRate::Params::describe(deck::Describe<Params>& d) { start_key(d), stop_key(d, 0.0), steps_key(d); }

void CosineRate::Params::describe(deck::Describe<Params>& d) { start_key(d), stop_key(d, 0.0), steps_key(d); }

void PolynomialRate::Params::describe(deck::Describe<Params>& d) {
  start_key(d);
  stop_key(d, 0.0);
  steps_key(d);
  d("power", &Params::power, "exponent of the remaining fraction of the run (polynomial decay)").positive().def(2.0);
}

void ExponentialRate::Params::describe(deck::Describe<Params>& d) {
  d("start", &Params::start, "learning rate of the first step").positive().example("1e-3");
  d("stop", &Params::stop, "learning rate reached after the last step").positive().example("1e-6");
  d("every", &Params::every, "number of steps of constant learning rate").at_least(1).def(1);
  d("smooth", &Params::smooth, "decay at every step instead of in stairs").def(false);
}

void StepRate::Params::describe(deck::Describe<Params>& d) {
  start_key(d);
  d("factor", &Params::factor, "factor that the learning rate is multiplied by").positive().def(0.1);
  d("at", &Params::at, "steps at which the learning rate is multiplied, counted after the warm-up").def({});
  d("every", &Params::every, "interval in steps at which the learning rate is multiplied, as an alternative to 'at'")
      .at_least(1);
  d.check([](const Params& p) -> std::string {
    return p.at.empty() == p.every.has_value() ? "" : "give one of: at (a list of steps), every (a number of steps)";
  });
}

void StableRate::Params::describe(deck::Describe<Params>& d) {
  start_key(d);
  stop_key(d, 0.0);
  d("decay", &Params::decay,
    "number of last steps over which the learning rate falls; below 1, a fraction of all steps")
      .positive()
      .def(0.2);
  d("shape", &Params::shape, "how the learning rate falls; root: by one minus the root of the fraction")
      .options({{"linear", Shape::linear}, {"cosine", Shape::cosine}, {"root", Shape::root}})
      .def(Shape::linear);
}

double StableRate::at(std::int64_t step, std::int64_t total) const {
  const auto& p = params_;
  const auto all = static_cast<double>(total), t = static_cast<double>(step);
  const double last = p.decay < 1.0 ? p.decay * all : std::min(p.decay, all);
  const double x = std::clamp((t - (all - last)) / last, 0.0, 1.0);
  const double left = p.shape == Shape::linear   ? 1.0 - x
                      : p.shape == Shape::cosine ? 0.5 * (1.0 + std::cos(constants::pi * x))
                                                 : 1.0 - std::sqrt(x);
  return p.stop + (p.start - p.stop) * left;
}

std::vector<Citation> StableRate::citations() const {
  return {{"hu2024minicpm", R"(@article{hu2024minicpm,
  author = {Hu, Shengding and Tu, Yuge and Han, Xu and He, Chaoqun and Cui, Ganqu and Long, Xiang and Zheng, Zhi and Fang, Yewei and Huang, Yuxiang and Zhao, Weilin and others},
  title = {{MiniCPM}: Unveiling the Potential of Small Language Models with Scalable Training Strategies},
  journal = {arXiv:2404.06395},
  year = {2024}
})"}};
}

void PlateauRate::Params::describe(deck::Describe<Params>& d) {
  start_key(d);
  d("factor", &Params::factor, "factor that the learning rate is multiplied by")
      .greater_than(0.0)
      .less_than(1.0)
      .def(0.1);
  d("patience", &Params::patience, "number of validations without improvement before the learning rate is reduced")
      .at_least(0)
      .def(10);
  d("threshold", &Params::threshold, "relative improvement below which a validation counts as none")
      .range(0.0, 1.0)
      .def(1e-4);
  d("cooldown", &Params::cooldown, "number of validations after a reduction that are not counted").at_least(0).def(0);
  d("min", &Params::least, "lower bound of the learning rate").non_negative().def(0.0);
}

double PlateauRate::at(std::int64_t step, std::int64_t) const {
  const auto times = std::count_if(reduced_.begin(), reduced_.end(), [&](auto from) { return from <= step; });
  const double rate = params_.start * std::pow(params_.factor, static_cast<double>(times));
  return std::max(rate, std::min(params_.start, params_.least));
}

void PlateauRate::judge(std::int64_t step, double measure) {
  const bool first = std::isinf(best_);
  const bool better = first ? measure < best_ : measure < best_ - params_.threshold * std::abs(best_);
  if (better) best_ = measure;
  waited_ = better ? 0 : waited_ + 1;
  if (cooling_ > 0) --cooling_, waited_ = 0;
  if (waited_ <= params_.patience) return;
  reduced_.push_back(step);
  cooling_ = params_.cooldown;
  waited_ = 0;
}

std::vector<double> PlateauRate::kept() const {
  std::vector<double> out{best_, static_cast<double>(waited_), static_cast<double>(cooling_)};
  for (const auto step : reduced_) out.push_back(static_cast<double>(step));
  return out;
}

void PlateauRate::take(std::span<const double> kept) {
  constexpr std::size_t before = 3;
  if (kept.size() < before) return;
  best_ = kept[0];
  waited_ = static_cast<std::int64_t>(kept[1]);
  cooling_ = static_cast<std::int64_t>(kept[2]);
  reduced_.clear();
  for (const double step : kept.subspan(before)) reduced_.push_back(static_cast<std::int64_t>(step));
}

void SequenceRate::Piece::describe(deck::Describe<Piece>& d) {
  d("steps", &Piece::steps, "number of steps of this schedule; the last takes the rest").at_least(1);
  d("rate", &Piece::rate, "learning rate schedule of these steps");
}

void SequenceRate::Params::describe(deck::Describe<Params>& d) {
  d("schedules", &Params::pieces, "schedules in order").formerly("pieces");
  d.check([](const Params& p) -> std::string {
    if (p.pieces.empty()) return "a sequence needs schedules: [{steps: 100, rate: {...}}, ...]";
    for (std::size_t k = 0; k + 1 < p.pieces.size(); ++k)
      if (!p.pieces[k].steps)
        return fmt::format("schedules[{}] has no steps; only the last schedule may take the rest", k);
    return {};
  });
}

void WarmUp::describe(deck::Describe<WarmUp>& d) {
  d("steps", &WarmUp::steps, "number of warm-up steps over which the learning rate rises to its start value")
      .at_least(1);
  d("start_factor", &WarmUp::from, "initial fraction of the start value, from which the warm-up rises")
      .formerly("from")
      .range(0.0, 1.0)
      .def(0.0);
}

/// Progress of the schedule, from 0 to 1.
static double progress(std::int64_t step, std::int64_t total) {
  return std::min(1.0, static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(total, 1)));
}

double LinearRate::at(std::int64_t step, std::int64_t total) const {
  return std::lerp(params_.start, params_.stop, progress(step, params_.steps.value_or(total)));
}

double PolynomialRate::at(std::int64_t step, std::int64_t total) const {
  const double left = 1.0 - progress(step, params_.steps.value_or(total));
  return params_.stop + (params_.start - params_.stop) * std::pow(left, params_.power);
}

double CosineRate::at(std::int64_t step, std::int64_t total) const {
  const double t = progress(step, params_.steps.value_or(total));
  return params_.stop + 0.5 * (params_.start - params_.stop) * (1.0 + std::cos(constants::pi * t));
}

std::vector<Citation> CosineRate::citations() const {
  return {{"loshchilov2017sgdr", R"(@inproceedings{loshchilov2017sgdr,
  author = {Loshchilov, Ilya and Hutter, Frank},
  title = {{SGDR}: Stochastic Gradient Descent with Warm Restarts},
  booktitle = {5th International Conference on Learning Representations},
  year = {2017}
})"}};
}

double ExponentialRate::at(std::int64_t step, std::int64_t total) const {
  const double stair = params_.smooth ? static_cast<double>(step) / static_cast<double>(params_.every)
                                      : static_cast<double>(step / params_.every);
  const double stairs = static_cast<double>(std::max<std::int64_t>(total, 1)) / static_cast<double>(params_.every);
  return params_.start * std::pow(params_.stop / params_.start, stair / stairs);
}

double StepRate::at(std::int64_t step, std::int64_t) const {
  const std::int64_t times =
      params_.every ? step / *params_.every
                    : std::count_if(params_.at.begin(), params_.at.end(), [&](auto s) { return s <= step; });
  return params_.start * std::pow(params_.factor, static_cast<double>(times));
}

SequenceRate::SequenceRate(const Params& params, Context& context) {
  for (const auto& piece : params.pieces) {
    steps_.push_back(piece.steps.value_or(0));
    rates_.push_back(context.registry->make<LearningRate>(piece.rate, context));
  }
}

double SequenceRate::at(std::int64_t step, std::int64_t total) const {
  for (std::size_t k = 0; k + 1 < rates_.size(); ++k) {
    if (step < steps_[k]) return rates_[k]->at(step, steps_[k]);
    step -= steps_[k];
    total -= steps_[k];
  }
  return rates_.back()->at(step, steps_.back() > 0 ? steps_.back() : total);
}

void SequenceRate::judge(std::int64_t step, double measure) {
  std::size_t k = 0;
  for (; k + 1 < rates_.size() && step >= steps_[k]; ++k) step -= steps_[k];
  rates_[k]->judge(step, measure);
}

bool SequenceRate::needs_validations() const {
  return std::any_of(rates_.begin(), rates_.end(), [](const auto& rate) { return rate->needs_validations(); });
}

/// For each schedule the number of its values, then the values.
std::vector<double> SequenceRate::kept() const {
  std::vector<double> out;
  for (const auto& rate : rates_) {
    const auto own = rate->kept();
    out.push_back(static_cast<double>(own.size()));
    out.insert(out.end(), own.begin(), own.end());
  }
  return needs_validations() ? out : std::vector<double>{};
}

void SequenceRate::take(std::span<const double> kept) {
  for (const auto& rate : rates_) {
    if (kept.empty()) return;
    const auto own = std::min(static_cast<std::size_t>(kept[0]), kept.size() - 1);
    rate->take(kept.subspan(1, own));
    kept = kept.subspan(1 + own);
  }
}

std::vector<Citation> SequenceRate::citations() const {
  std::vector<Citation> out;
  for (const auto& rate : rates_)
    for (const auto& citation : rate->citations()) out.push_back(citation);
  return out;
}

double WarmUp::at(const LearningRate& rate, std::int64_t step, std::int64_t total) const {
  if (step >= steps) return rate.at(step - steps, total - steps);
  const double share = static_cast<double>(step + 1) / static_cast<double>(steps);
  return (from + (1.0 - from) * share) * rate.at(0, total - steps);
}

}  // namespace cambium::train
