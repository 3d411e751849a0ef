#include "plugins/podlstm/forecast/lim_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium::podlstm {

void ResidualKeys::describe(deck::Describe<ResidualKeys>& d) {
  using K = ResidualKeys;
  d("genome", &K::genome,
    "recurrent layers of the networks, 14 integers as in the search; default: one LSTM of 16 cells; 0 throughout: a "
    "dense layer over all times alone")
      .def({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  d("networks", &K::networks, "number of networks, trained from different weights").range(1, 1000).def(5);
  d("calendar", &K::calendar, "harmonics of the year added to the features of each time").at_least(0).def(1);
  d("epochs", &K::epochs, "maximum number of epochs; the best by validation is taken").at_least(1).def(100);
  d("batch", &K::batch, "windows of a batch").at_least(1).def(64);
  d("rate", &K::rate, "learning rate of AdamW").positive().def(3e-4);
  d("weight_decay", &K::weight_decay, "decoupled weight decay").non_negative().def(1e-2);
}

MemberOptions ResidualKeys::member(const LimOptions& lim) const {
  MemberOptions o;
  o.network = {genome, Cell::lstm, Head::dense};
  o.inputs = Inputs::residual;
  o.calendar = calendar;
  o.harmonics = lim.harmonics;
  o.period = lim.period;
  o.epochs = epochs;
  o.batch = batch;
  o.rate = rate;
  o.weight_decay = weight_decay;
  o.inverse_model = lim;
  return o;
}

namespace {

std::uint64_t seed_of(std::int64_t network, const Context& context) {
  return context.seed + 1000003ULL * static_cast<std::uint64_t>(network + 1);
}

/// Interpolation: a + share * (b - a).
Matrix between(const Matrix& a, const Matrix& b, double share) {
  Matrix out = a;
  for (std::size_t i = 0; i < out.a.size(); ++i) out.a[i] += share * (b.a[i] - a.a[i]);
  return out;
}

}  // namespace

std::string LimForecast::name() const {
  return epochs_ > 0 && share_ > 0.0 ? fmt::format("LIM + {} networks", keys_.networks) : model_.name();
}

void LimForecast::fit(const FitData& data) {
  model_.fit(data);
  networks_.clear();
  if (epochs_ < 1 || !(share_ > 0.0)) return;
  MemberOptions options = keys_.member(lim_);
  options.epochs = epochs_;
  for (std::int64_t i = 0; i < keys_.networks; ++i) {
    networks_.emplace_back(options, seed_of(i, context_), context_);
    networks_.back().fit(data);
  }
}

Matrix LimForecast::predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const {
  std::vector<Matrix> differences;
  return predict(s, starts, shape, differences);
}

Matrix LimForecast::predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape,
                            std::vector<Matrix>& differences) const {
  Matrix line = model_.predict(s, starts, shape);
  differences.clear();
  if (networks_.empty()) {
    differences.emplace_back(line.rows, line.cols);
    return line;
  }
  Matrix mean(line.rows, line.cols);
  for (const auto& network : networks_) {
    differences.push_back(between(line, network.predict(s, starts, shape), share_));
    for (std::size_t i = 0; i < mean.a.size(); ++i)
      mean.a[i] += differences.back().a[i] / static_cast<double>(networks_.size());
  }
  for (auto& difference : differences)
    for (std::size_t i = 0; i < mean.a.size(); ++i) difference.a[i] -= mean.a[i];
  return mean;
}

ResidualChoice choose_residual(const ResidualKeys& keys, const LimOptions& lim, const Stretch& s,
                               const std::vector<Split>& splits, const WindowShape& shape, Context& context) {
  const Matrix truth = targets(s.a, validation_windows(splits), shape);
  LinearInverseModel model(lim);
  ResidualChoice best;
  const Matrix line = best.forecast = forecast_left_out(model, s, splits, shape);
  best.r2 = score(truth, line, s.a.cols).r2;
  std::vector<Member> members;  // of this rank, with the first row of their split
  std::vector<std::pair<const Split*, std::int64_t>> on;
  std::int64_t first = 0, number = 0;
  for (const auto& split : splits) {
    for (std::int64_t i = 0; i < keys.networks; ++i, ++number) {
      if (number % context.comm.size() != context.comm.rank()) continue;
      members.emplace_back(keys.member(lim), seed_of(i, context), context);
      members.back().start({s, shape, split});
      on.emplace_back(&split, first);
    }
    first += std::ssize(split.validation);
  }
  for (int epoch = 1; epoch <= keys.epochs; ++epoch) {
    Matrix mean(line.rows, line.cols);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i].train_epoch();
      const Matrix part = members[i].predict(s, on[i].first->validation, shape);
      for (std::size_t e = 0; e < part.a.size(); ++e)
        mean.a[static_cast<std::size_t>(on[i].second * mean.cols) + e] +=
            part.a[e] / static_cast<double>(keys.networks);
    }
    context.comm.sum(mean.a);
    for (int k = 1; k <= 10; ++k) {
      Matrix forecast = between(line, mean, 0.1 * k);
      if (const double r2 = score(truth, forecast, s.a.cols).r2; r2 > best.r2)
        best = {epoch, 0.1 * k, r2, std::move(forecast)};
    }
  }
  return best;
}

}  // namespace cambium::podlstm
