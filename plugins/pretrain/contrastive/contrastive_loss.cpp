#include "plugins/pretrain/contrastive/contrastive_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"
#include "plugins/pretrain/contrastive/whole_batch.hpp"

namespace cambium::train {

using Scheme = ContrastiveScheme;

/// One of the two views: its samples are the anchors, those of the other view the candidates.
struct ContrastiveLoss::Anchors {
  // of this rank's samples
  std::vector<double> temperature;  ///< used in this step
  std::vector<AnchorSums> sums;
  std::vector<AnchorState> state;
  AnchorWeights all;  ///< of all ranks' samples
};

template <class T>
struct ContrastiveLoss::Batch {
  RankRows rows;
  std::int64_t width = 0;
  std::span<const T> own[2];
  std::vector<T> all[2];
  std::optional<WholeBatch<T>> whole;  ///< on one rank
  std::vector<T> similarity[2];        ///< (own samples, all samples): of this view with the other one; on several
  std::vector<double> pair;            ///< s_jj of all samples
  Anchors views[2];
  std::int64_t samples() const { return rows.count[rank]; }
  std::span<const T> line(int view, std::int64_t k) const {
    return std::span(similarity[view]).subspan(k * rows.all, static_cast<std::size_t>(rows.all));
  }
  int rank = 0;
};

namespace {

template <class T>
std::vector<double> products(std::span<const T> a, std::span<const T> b, std::int64_t rows, std::int64_t width) {
  std::vector<double> out(rows, 0.0);
  for (std::int64_t j = 0; j < rows; ++j)
    for (std::int64_t c = j * width; c < (j + 1) * width; ++c)
      out[j] += static_cast<double>(a[c]) * static_cast<double>(b[c]);
  return out;
}

/// log(1 + sum over the others of e^d): the InfoNCE loss of an anchor.
double log_sum(const AnchorSums& sums) { return sums.shift + std::log(std::exp(-sums.shift) + sums.sum); }

}  // namespace

ContrastiveLoss::ContrastiveLoss(const ContrastiveKeys& keys, std::int64_t samples, const Comm& comm)
    : keys_(keys), samples_(samples), comm_(comm), rows_(AnchorState::columns(keys.scheme), comm) {}

/// Similarities of this rank's samples with all, and the sums of each anchor.
template <class T>
void ContrastiveLoss::look(Batch<T>& batch, double temperature, ContrastiveResult<T>& out) const {
  const auto own = static_cast<int>(batch.samples()), all = static_cast<int>(batch.rows.all);
  const auto width = static_cast<int>(batch.width);
  if (keys_.scheme != Scheme::v2)
    for (auto& view : batch.views) view.temperature.assign(own, temperature);
  if (batch.whole) {
    auto sums = batch.whole->look(batch.pair, batch.views[0].temperature, batch.views[1].temperature);
    for (std::size_t v = 0; v < 2; ++v) batch.views[v].sums = std::move(sums[v]);
  }
  for (int v = 0; v < 2 && !batch.whole; ++v) {
    auto& similarity = batch.similarity[v];
    similarity.resize(static_cast<std::size_t>(own) * static_cast<std::size_t>(all));
    if (own > 0)
      host_gemm<T>(false, true, own, all, width, T(1), batch.own[v].data(), width, batch.all[1 - v].data(), width, T(0),
                   similarity.data(), all);
    auto& view = batch.views[v];
    for (int k = 0; k < own; ++k) {
      const auto self = static_cast<std::size_t>(batch.rows.first + k), at = static_cast<std::size_t>(k);
      similarity[at * static_cast<std::size_t>(all) + self] = absent<T>;
      view.sums.push_back(anchor_sums(batch.line(v, k), batch.pair[self], view.temperature[at]));
    }
  }
  for (const auto& view : batch.views)
    for (const auto& sums : view.sums) out.infonce += 0.5 * log_sum(sums);
}

/// Updates the rows of this rank's samples with the batch means.
void ContrastiveLoss::update(std::span<const std::int64_t> ids, std::int64_t others, std::span<Anchors> views) {
  const double inner = inner_rate();
  for (auto& view : views)
    for (std::size_t k = 0; k < ids.size(); ++k) {
      auto& state = view.state[k];
      const auto& sums = view.sums[k];
      update_estimate(keys_, inner, sums.shift, sums.sum / static_cast<double>(others), state);
      if (keys_.scheme != Scheme::v2) continue;
      const double weight = state.bound + std::log((state.u + keys_.epsilon) * static_cast<double>(others));
      step_temperature(keys_, std::exp(sums.shift - weight) * sums.weighted, epoch(), state);
    }
  const auto columns = static_cast<std::size_t>(rows_.columns());
  std::vector<double> rows(ids.size() * columns);
  for (std::size_t k = 0; k < ids.size(); ++k)
    for (int v = 0; v < 2; ++v) views[v].state[k].write(keys_.scheme, std::span(rows).subspan(k * columns, columns), v);
  rows_.store(rows, traffic_);
}

/// All-gathers the values from which a rank computes the derivatives of other ranks' anchors by its own samples.
template <class T>
void ContrastiveLoss::exchange(Batch<T>& batch, double temperature) {
  const std::size_t own = batch.views[0].sums.size();
  const std::size_t width = keys_.scheme == Scheme::v2 ? 6 : 2;
  std::vector<double> numbers;
  for (std::size_t k = 0; k < own; ++k)
    for (const auto& view : batch.views) {
      numbers.push_back(keys_.keeps_estimates() ? view.state[k].u : log_sum(view.sums[k]));
      if (width == 6) numbers.insert(numbers.end(), {view.state[k].bound, view.temperature[k]});
    }
  const auto all = gathered<double>(numbers, static_cast<std::int64_t>(width), batch.rows, "scalars", comm_, traffic_);
  const auto others = static_cast<double>(batch.rows.all - 1);
  for (std::size_t v = 0; v < 2; ++v)
    for (std::size_t j = 0; j < static_cast<std::size_t>(batch.rows.all); ++j) {
      const double* from = all.data() + j * width + v * (width / 2);
      const double t = width == 6 ? from[2] : temperature, bound = width == 6 ? from[1] : 0.0;
      auto& view = batch.views[v].all;
      view.inverse_temperature.push_back(1.0 / t);
      view.weight.push_back(keys_.keeps_estimates() ? bound + std::log((from[0] + keys_.epsilon) * others) : from[0]);
      const bool divided = keys_.scheme == Scheme::infonce || keys_.scheme == Scheme::v0;
      view.scale.push_back(0.5 * (divided ? 1.0 / t : 1.0));
    }
}

/// The objective, and its derivative by the common temperature.
template <class T>
void ContrastiveLoss::add_values(const Batch<T>& batch, double temperature, ContrastiveResult<T>& out) const {
  const double rho = keys_.scheme == Scheme::v2 || keys_.scheme == Scheme::v3 ? keys_.rho_or_default() : 0.0;
  for (const auto& view : batch.views)
    for (std::size_t k = 0; k < view.sums.size(); ++k) {
      const auto self = static_cast<std::size_t>(batch.rows.first) + k;
      const double d_mean = std::exp(view.sums[k].shift - view.all.weight[self]) * view.sums[k].weighted;
      const double t = view.temperature[k];
      out.mean_temperature += 0.5 * t;
      if (keys_.scheme == Scheme::infonce) {
        out.objective += 0.5 * log_sum(view.sums[k]);
        out.temperature -= 0.5 * d_mean / temperature;
        continue;
      }
      const auto& state = view.state[k];
      const double log_u = std::log(state.u + keys_.epsilon) + state.bound;
      out.objective += 0.5 * (keys_.scheme == Scheme::v0 ? log_u : t * (log_u + rho));
      if (keys_.scheme == Scheme::v0) out.temperature -= 0.5 * d_mean / temperature;
      if (keys_.scheme == Scheme::v1 || keys_.scheme == Scheme::v3) out.temperature += 0.5 * (log_u + rho - d_mean);
    }
}

/// Derivative by the similarity of the k-th own sample with its positive: minus the sum of all attractive terms.
template <class T>
double ContrastiveLoss::self_derivative(const Batch<T>& batch, std::size_t k) const {
  const auto self = static_cast<std::size_t>(batch.rows.first) + k;
  double out = 0.0;
  for (const auto& view : batch.views)
    out -= view.all.scale[self] * std::exp(view.sums[k].shift - view.all.weight[self]) * view.sums[k].sum;
  return out;
}

/// As an anchor, a sample is attracted by its positive and repelled by all others; as one of the others, it is repelled
/// by every anchor.
template <class T>
void ContrastiveLoss::differentiate(const Batch<T>& batch, ContrastiveResult<T>& out) const {
  const auto own = static_cast<int>(batch.samples()), all = static_cast<int>(batch.rows.all);
  const auto width = static_cast<int>(batch.width);
  if (batch.whole) {
    std::vector<double> self;
    for (std::size_t k = 0; k < static_cast<std::size_t>(own); ++k) self.push_back(self_derivative(batch, k));
    batch.whole->differentiate(batch.pair, batch.views[0].all, batch.views[1].all, self, out.first, out.second);
    return;
  }
  std::vector<T> coefficients(static_cast<std::size_t>(own) * static_cast<std::size_t>(all));
  for (int v = 0; v < 2; ++v) {
    const auto &mine = batch.views[v], &theirs = batch.views[1 - v];
    const auto seen = exponents_of<T>(theirs.all, batch.pair);
    std::fill(coefficients.begin(), coefficients.end(), T(0));
    for (int k = 0; k < own; ++k) {
      const auto self = static_cast<std::size_t>(batch.rows.first + k), at = static_cast<std::size_t>(k);
      const auto row = batch.line(v, k);
      const auto line = std::span(coefficients).subspan(at * row.size(), row.size());
      add_anchor(row, batch.pair[self], mine.temperature[at], mine.all.weight[self], mine.all.scale[self], line);
      add_seen(row, seen, line);
      line[self] = static_cast<T>(self_derivative(batch, at));
    }
    auto& gradient = v == 0 ? out.first : out.second;
    if (own > 0)
      host_gemm<T>(false, false, own, width, all, T(1), coefficients.data(), all, batch.all[1 - v].data(), width, T(0),
                   gradient.data(), width);
  }
}

template <class T>
ContrastiveResult<T> ContrastiveLoss::compute(const TwoViews<T>& views, double temperature) {
  Batch<T> batch;
  batch.rank = comm_.rank();
  batch.width = views.width;
  batch.rows = rank_rows(views.samples(), comm_);
  ContrastiveResult<T> out;
  out.batch = batch.rows.all;
  out.first.assign(views.first.size(), T(0));
  out.second.assign(views.second.size(), T(0));
  if (batch.rows.all < 2) return out;
  batch.own[0] = views.first;
  batch.own[1] = views.second;
  for (int v = 0; v < 2; ++v)
    batch.all[v] = gathered(batch.own[v], views.width, batch.rows, "features", comm_, traffic_);
  if (comm_.size() == 1) batch.whole.emplace(views.first, views.second, batch.rows.all, views.width);
  batch.pair = products<T>(batch.all[0], batch.all[1], batch.rows.all, views.width);
  if (keys_.keeps_estimates()) {
    const auto columns = static_cast<std::size_t>(rows_.columns());
    const auto known = rows_.fetch(views.ids, traffic_);
    for (std::size_t k = 0; k < views.ids.size(); ++k)
      for (int v = 0; v < 2; ++v) {
        auto state = AnchorState::read(keys_.scheme, std::span(known).subspan(k * columns, columns), v);
        if (state.temperature <= 0.0) state.temperature = keys_.first_temperature();
        if (keys_.scheme == Scheme::v2) batch.views[v].temperature.push_back(state.temperature);
        batch.views[v].state.push_back(state);
      }
  }
  look(batch, temperature, out);
  if (keys_.keeps_estimates()) update(views.ids, batch.rows.all - 1, batch.views);
  exchange(batch, temperature);
  add_values(batch, temperature, out);
  differentiate(batch, out);
  seen_ += batch.rows.all;
  return out;
}

KeptNumbers ContrastiveLoss::kept() const {
  return {{"estimates", rows_.whole()}, {"seen", {static_cast<double>(seen_), static_cast<double>(rows_.columns())}}};
}

void ContrastiveLoss::take(const KeptNumbers& kept) {
  const auto seen = kept.find("seen"), rows = kept.find("estimates");
  if (seen == kept.end() || seen->second.size() != 2)
    throw InputError("the checkpoint holds no estimates of a contrastive loss; resume with the model that wrote it");
  if (static_cast<int>(seen->second[1]) != rows_.columns())
    throw InputError(fmt::format(
        "the checkpoint holds {} values per sample, the loss of the deck {}; resume with the same loss.scheme",
        seen->second[1], rows_.columns()));
  seen_ = static_cast<std::int64_t>(seen->second[0]);
  if (rows != kept.end()) rows_.set_whole(rows->second);
}

template ContrastiveResult<double> ContrastiveLoss::compute(const TwoViews<double>&, double);
template ContrastiveResult<float> ContrastiveLoss::compute(const TwoViews<float>&, double);

}  // namespace cambium::train
