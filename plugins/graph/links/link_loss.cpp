#include "plugins/graph/links/link_loss.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/numerics/gemm.hpp"
#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {

/// e^x for x <= 0, vectorised by the compiler in loops; 0 below -87.
inline float exponential(float x) {
  const float bounded = std::max(x, -87.0f);
  const float whole = std::floor(bounded * 1.44269504f + 0.5f);
  const float rest = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  for (const float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = p * rest + c;
  p = p * rest * rest + rest + 1.0f;
  const float power = std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
  return x < -87.0f ? 0.0f : p * power;
}
inline double exponential(double x) { return std::exp(x); }

template <class T>
T product(const T* a, const T* b, std::int64_t width) {
  T sum = 0;
  for (std::int64_t k = 0; k < width; ++k) sum += a[k] * b[k];
  return sum;
}

/// to += by * from.
template <class T>
void add(T* to, T by, const T* from, std::int64_t width) {
  for (std::int64_t k = 0; k < width; ++k) to[k] += by * from[k];
}

template <class T>
double add_bpr(const LinkGraph& graph, const LinkLossKeys& keys, const LinkBatch& batch, const T* x, std::int64_t width,
               double factor, T* slopes) {
  const auto first = graph.first_item();
  const auto inverse = static_cast<T>(1.0 / keys.temperature);
  double loss = 0.0;
  for (std::size_t k = 0; k < batch.links.size(); ++k) {
    const auto [user, item] = batch.links[k];
    const auto other = drawn_item(graph, user, batch.seed, batch.step, batch.ids[k]);
    const T *u = x + user * width, *i = x + (first + item) * width, *j = x + (first + other) * width;
    const double lead = static_cast<double>(inverse * (product(u, i, width) - product(u, j, width)));
    loss += lead > 0.0 ? std::log1p(std::exp(-lead)) : std::log1p(std::exp(lead)) - lead;
    const T by = static_cast<T>(-factor / (1.0 + std::exp(lead))) * inverse;
    T* to = slopes + user * width;
    for (std::int64_t n = 0; n < width; ++n) to[n] += by * (i[n] - j[n]);
    add(slopes + (first + item) * width, by, u, width);
    add(slopes + (first + other) * width, -by, u, width);
  }
  return loss;
}

/// Softmax over the negative items shared by all links of a step, in blocks of links.
template <class T>
class Softmax {
 public:
  Softmax(const LinkGraph& graph, const LinkLossKeys& keys, const LinkBatch& batch, const T* x, std::int64_t width)
      : batch_(batch), items_(shared_items(graph, keys, batch.seed, batch.step)), x_(x), first_(graph.first_item()),
        width_(width), inverse_(static_cast<T>(1.0 / keys.temperature)), graph_(graph) {
    if (keys.draw == LinkLossKeys::Draw::items)
      offset_ = static_cast<T>(std::log(static_cast<double>(graph.drawable()) / static_cast<double>(items_.size())));
    for (const auto item : items_) {
      const T* row = x + (first_ + item) * width;
      others_.insert(others_.end(), row, row + width);
    }
    others_slopes_.assign(others_.size(), T(0));
    if (keys.skip_known) find_places();
  }
  double add(double factor, T* slopes) {
    double loss = 0.0;
    constexpr std::size_t at_once = 256;
    for (std::size_t k = 0; k < batch_.links.size(); k += at_once)
      loss += add_some(k, std::min(batch_.links.size(), k + at_once), factor, slopes);
    for (std::size_t n = 0; n < items_.size(); ++n)
      graph::add(slopes + (first_ + items_[n]) * width_, T(1), others_slopes_.data() + n * at(width_), width_);
    return loss;
  }

 private:
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
  double add_some(std::size_t from, std::size_t to, double factor, T* slopes);
  double shares_of(std::size_t k, T own, T* row, T& own_share) const;
  void find_places();
  void skip(std::int32_t user, std::int32_t item, T* row) const;

  const LinkBatch& batch_;
  std::vector<std::int32_t> items_;
  const T* x_;
  std::int64_t first_, width_;
  T inverse_, offset_ = 0;
  const LinkGraph& graph_;
  /// Linked lists: first index of an item in items_, next index of the same item; -1: none. Empty if known items count.
  std::vector<int> first_place_, next_place_;
  std::vector<T> others_, others_slopes_, users_, scores_, by_users_;
};

template <class T>
void Softmax<T>::find_places() {
  first_place_.assign(at(graph_.items), -1);
  next_place_.resize(items_.size());
  for (std::size_t n = 0; n < items_.size(); ++n)
    next_place_[n] = std::exchange(first_place_[at(items_[n])], static_cast<int>(n));
}

/// Excludes negatives equal to the link's own item or, in a plain graph, to its user, and known ones with skip_known.
template <class T>
void Softmax<T>::skip(std::int32_t user, std::int32_t item, T* row) const {
  for (std::size_t n = 0; n < items_.size(); ++n)
    if (items_[n] == item || (!graph_.bipartite && items_[n] == user)) row[n] = 0;
  if (first_place_.empty()) return;
  for (const auto known : graph_.training.columns_of(user))
    for (int n = first_place_[at(known)]; n >= 0; n = next_place_[at(n)]) row[n] = 0;
}

/// Converts the scores of a row to softmax probabilities; returns its loss.
template <class T>
double Softmax<T>::shares_of(std::size_t k, T own, T* row, T& own_share) const {
  const auto count = items_.size();
  const auto [user, item] = batch_.links[k];
  T peak = own;
  for (std::size_t n = 0; n < count; ++n) {
    row[n] = row[n] * inverse_ + offset_;
    peak = std::max(peak, row[n]);
  }
  for (std::size_t n = 0; n < count; ++n) row[n] = exponential(row[n] - peak);
  skip(user, item, row);
  double sum = 0.0;
  for (std::size_t n = 0; n < count; n += 64) {
    T part = 0;
    for (std::size_t m = n; m < std::min(count, n + 64); ++m) part += row[m];
    sum += static_cast<double>(part);
  }
  const double mine = std::exp(static_cast<double>(own - peak)), all = sum + mine;
  const T by = static_cast<T>(1.0 / all);
  for (std::size_t n = 0; n < count; ++n) row[n] *= by;
  own_share = static_cast<T>(sum / all);
  return std::log(all) - static_cast<double>(own - peak);
}

template <class T>
double Softmax<T>::add_some(std::size_t from, std::size_t to, double factor, T* slopes) {
  const auto count = items_.size(), rows = to - from, width = at(width_);
  const int m = static_cast<int>(rows), n = static_cast<int>(count), w = static_cast<int>(width);
  users_.resize(rows * width);
  by_users_.resize(rows * width);
  scores_.resize(rows * count);
  for (std::size_t k = 0; k < rows; ++k)
    std::copy_n(x_ + batch_.links[from + k].user * width_, width, users_.data() + k * width);
  host_gemm(false, true, m, n, w, T(1), users_.data(), w, others_.data(), w, T(0), scores_.data(), n);
  double loss = 0.0;
  std::vector<T> own_shares(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    const T own =
        inverse_ * product(users_.data() + k * width, x_ + (first_ + batch_.links[from + k].item) * width_, width_);
    loss += shares_of(from + k, own, scores_.data() + k * count, own_shares[k]);
  }
  const T by = static_cast<T>(factor) * inverse_;
  host_gemm(false, false, m, w, n, by, scores_.data(), n, others_.data(), w, T(0), by_users_.data(), w);
  host_gemm(true, false, n, w, m, by, scores_.data(), n, users_.data(), w, T(1), others_slopes_.data(), w);
  for (std::size_t k = 0; k < rows; ++k) {
    const auto [user, item] = batch_.links[from + k];
    graph::add(slopes + user * width_, T(1), by_users_.data() + k * width, width_);
    graph::add(slopes + user * width_, -by * own_shares[k], x_ + (first_ + item) * width_, width_);
    graph::add(slopes + (first_ + item) * width_, -by * own_shares[k], users_.data() + k * width, width_);
  }
  return loss;
}

std::int64_t below(double x, std::int64_t end) {
  return std::min(end - 1, static_cast<std::int64_t>(x * static_cast<double>(end)));
}

}  // namespace

std::int32_t drawn_item(const LinkGraph& graph, std::int32_t user, std::uint64_t seed, std::int64_t step,
                        std::int64_t id) {
  std::int32_t item = 0;
  for (std::int64_t attempt = 0; attempt < 100; ++attempt) {
    const Random4 draw(seed, negatives_stream, static_cast<std::uint64_t>(id),
                       static_cast<std::uint64_t>(step * 100 + attempt));
    item = graph.drawn(below(draw.uniform(0), graph.drawable()));
    if (!linked(graph.training, user, item) && (graph.bipartite || item != user)) break;
  }
  return item;
}

std::int32_t judged_item(const LinkGraph& graph, std::int32_t user, std::int64_t id) {
  std::int32_t item = 0;
  for (std::uint64_t attempt = 0; attempt < 100; ++attempt) {
    const Random4 draw(1, judged_negatives_stream, static_cast<std::uint64_t>(id), attempt);
    item = graph.drawn(below(draw.uniform(0), graph.drawable()));
    const bool known = linked(graph.training, user, item) || linked(graph.validation, user, item) ||
                       linked(graph.held_out, user, item);
    if (!known && (graph.bipartite || item != user)) break;
  }
  return item;
}

std::vector<std::int32_t> shared_items(const LinkGraph& graph, const LinkLossKeys& keys, std::uint64_t seed,
                                       std::int64_t step) {
  std::vector<std::int32_t> out;
  for (std::int64_t k = 0; k < keys.negatives; ++k) {
    const double x =
        Random4(seed, negatives_stream, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(step)).uniform(1);
    if (keys.draw == LinkLossKeys::Draw::items)
      out.push_back(graph.drawn(below(x, graph.drawable())));
    else
      out.push_back(graph.training.column[below(x, graph.training.entries())]);
  }
  return out;
}

template <class T>
double add_link_loss(const LinkGraph& graph, const LinkLossKeys& keys, const LinkBatch& batch, const T* x,
                     std::int64_t width, double factor, T* slopes) {
  if (keys.type == LinkLossKeys::Type::bpr) return add_bpr(graph, keys, batch, x, width, factor, slopes);
  return Softmax<T>(graph, keys, batch, x, width).add(factor, slopes);
}

template double add_link_loss<float>(const LinkGraph&, const LinkLossKeys&, const LinkBatch&, const float*,
                                     std::int64_t, double, float*);
template double add_link_loss<double>(const LinkGraph&, const LinkLossKeys&, const LinkBatch&, const double*,
                                      std::int64_t, double, double*);

}  // namespace cambium::graph
