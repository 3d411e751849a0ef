#include "plugins/assimilate/twin/filter_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/assimilate/filters/insertion.hpp"

namespace cambium::assimilate {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

FilterRun::FilterRun(std::string name, const FilterKeys& keys, const Setting& setting)
    : name_(std::move(name)), keys_(keys), setting_(setting),
      members_(setting.context.comm, setting.model.space(),
               keys.ensemble() ? static_cast<std::size_t>(keys.members) : std::size_t{1}),
      inflation_(keys.inflation * keys.inflation), centres_(centres(setting.model.space())),
      begun_(setting.start == Start::climatology || keys.type == FilterKeys::Type::free_run) {
  const auto& c = setting.climatology;
  if (members_.size() > c.samples)
    throw KeyError(
        "assimilate.members", fmt::format("filters.{}.members", name_),
        fmt::format("{} members begin as samples of the climatology, which has {}: raise 'climatology.samples'",
                    members_.size(), c.samples));
  if (keys.of_climatology())
    covariance_.emplace(c, setting.network, setting.model.space(), keys.covariance_scale, keys.localisation);
  for (auto m = members_.own().first; m < members_.own().last; ++m) {
    const auto sample = (2 * m + 1) * c.samples / (2 * members_.size());
    auto state = members_.member(m);
    for (std::size_t e = 0; e < state.size(); ++e) state[e] = c.mean[e] + c.anomalies[sample * c.elements + e];
  }
}

std::vector<double> FilterRun::at_centres(const std::vector<double>& state) const {
  std::vector<double> out(centres_.size());
  centres_.apply(state, out);
  return out;
}

void FilterRun::require_spread(double forecast, double time) const {
  const double climate = *std::max_element(setting_.climatology.mean.begin(), setting_.climatology.mean.end());
  if (forecast > 1e-12 * std::max(1.0, std::fabs(climate))) return;
  throw NumericalError(fmt::format(
      "filter '{}': the {} members are all the same at t = {:g}, so that no observation can move them; raise "
      "'inflation', or take a model that is chaotic",
      name_, members_.size(), time));
}

void FilterRun::step(const Instant& instant) {
  auto& timing = setting_.context.timing;
  {
    const auto timer = timing.scope("forecast");
    for (auto m = members_.own().first; m < members_.own().last; ++m)
      setting_.model.advance(members_.member(m), instant.from, instant.to);
  }
  const auto timer = timing.scope("analysis");
  auto slice = members_.to_places();
  const auto before = members_.moments(slice);
  const auto forecast = at_centres(before.mean);
  if (setting_.keep_forecasts) forecasts_.emplace_back(forecast.begin(), forecast.end());
  series_.time.push_back(instant.to);
  series_.rmse_f.push_back(rmse(setting_.centred, forecast, instant.truth));
  series_.spread_f.push_back(keys_.ensemble() ? spread(setting_.centred, before.variance) : unknown);
  if (keys_.ensemble()) require_spread(series_.spread_f.back(), instant.to);
  series_.innovation.push_back(unknown);
  series_.innovation_square.push_back(unknown);
  if (!instant.observed.empty()) {
    if (!begun_)
      begin(instant);
    else if (keys_.ensemble())
      analyse_ensemble(instant, std::move(slice));
    else
      analyse_single(instant, before.mean);
  }
  const auto after = members_.moments(members_.to_places());
  mean_ = at_centres(after.mean);
  series_.rmse_a.push_back(rmse(setting_.centred, mean_, instant.truth));
  series_.spread_a.push_back(keys_.ensemble() ? spread(setting_.centred, after.variance) : unknown);
  series_.inflation.push_back(keys_.ensemble() ? std::sqrt(inflation_.value()) : unknown);
  if (instant.to > setting_.burn_in) errors_.add(setting_.centred, forecast, mean_, instant.truth);
}

std::vector<std::vector<float>> FilterRun::forecast(double time, double interval, std::int64_t steps) const {
  const auto timer = setting_.context.timing.scope("forecast");
  Members members = members_;
  std::vector<std::vector<float>> out;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double from = time + static_cast<double>(step) * interval;
    for (std::size_t m = members.own().first; m < members.own().last; ++m)
      setting_.model.advance(members.member(m), from, from + interval);
    const auto mean = at_centres(members.moments(members.to_places()).mean);
    out.emplace_back(mean.begin(), mean.end());
  }
  return out;
}

void FilterRun::begin(const Instant& instant) {
  begun_ = true;
  const auto p = setting_.network.size();
  StaticCovariance covariance(setting_.climatology, setting_.network, setting_.model.space(), 1.0, keys_.localisation);
  for (auto m = members_.own().first; m < members_.own().last; ++m) {
    auto observed = instant.observed;
    for (std::size_t i = 0; i < p && keys_.ensemble(); ++i)
      observed[i] += setting_.network.list[i].deviation *
                     Random4(setting_.context.seed, stream("assimilate.start"), i, m).normal(0);
    covariance.analyse(members_.member(m), observed);
    setting_.model.restore_balance(members_.member(m));
  }
}

void FilterRun::note_innovations(const ObservedEnsemble& seen) {
  const auto p = setting_.network.size();
  double mean = 0.0, square = 0.0;
  for (std::size_t i = 0; i < p; ++i) {
    const double deviation = setting_.network.list[i].deviation;
    double variance = deviation * deviation;
    for (std::size_t m = 0; m < seen.members && seen.members > 1; ++m)
      variance += std::pow(seen.anomalies[m * p + i], 2) / static_cast<double>(seen.members - 1);
    mean += seen.innovations[i] / deviation / static_cast<double>(p);
    square += seen.innovations[i] * seen.innovations[i] / variance / static_cast<double>(p);
  }
  series_.innovation.back() = mean;
  series_.innovation_square.back() = square;
}

void FilterRun::count(const Instant& instant, std::span<const double> seen) {
  if (instant.to <= setting_.burn_in) return;
  const auto p = setting_.network.size();
  std::vector<double> errors(seen.size());
  for (std::size_t n = 0; n < seen.size(); ++n)
    errors[n] = setting_.network.list[n % p].deviation *
                Random4(setting_.context.seed, stream("assimilate.ranks"), n, static_cast<std::uint64_t>(instant.cycle))
                    .normal(0);
  count_ranks(seen, instant.observed, errors, ranks_);
}

void FilterRun::analyse_ensemble(const Instant& instant, EnsembleSlice slice) {
  auto values = members_.seen_through(setting_.network);
  count(instant, values);
  const auto seen = ObservedEnsemble::of(std::move(values), instant.observed);
  note_innovations(seen);
  if (keys_.adaptive_inflation) inflation_.update(seen, setting_.network);
  analyse(slice, seen, setting_.network, setting_.model.space(), keys_.localisation, inflation_.value(),
          keys_.relaxation);
  members_.from_places(slice);
  for (auto m = members_.own().first; m < members_.own().last; ++m) setting_.model.restore_balance(members_.member(m));
}

void FilterRun::analyse_single(const Instant& instant, std::vector<double> state) {
  const auto& network = setting_.network;
  const auto& space = setting_.model.space();
  std::vector<double> seen(network.size());
  network.apply(state, seen);
  note_innovations(ObservedEnsemble::of(seen, instant.observed));
  switch (keys_.type) {
    case FilterKeys::Type::direct_insertion:
      insert(state, network, instant.observed, space);
      break;
    case FilterKeys::Type::nudging:
      nudge(state, network, instant.observed, space, keys_.gain, keys_.localisation);
      break;
    case FilterKeys::Type::optimal_interpolation:
      state = setting_.climatology.mean;
      [[fallthrough]];
    case FilterKeys::Type::var3d:
      covariance_->analyse(state, instant.observed);
      break;
    default:
      return;
  }
  if (members_.own().size() == 0) return;
  setting_.model.restore_balance(state);
  std::copy(state.begin(), state.end(), members_.member(0).begin());
}

}  // namespace cambium::assimilate
