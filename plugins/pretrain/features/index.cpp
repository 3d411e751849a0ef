#include "plugins/pretrain/features/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/pack.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::pretrain {

namespace {

constexpr std::int64_t float_lanes = native_width<float>;
using F = Pack<float, native_width<float>>;

float float_product(const float* a, const float* b, std::int64_t stride) {
  F even(0.0f), odd(0.0f);
  std::int64_t k = 0;
  for (; k + 2 * float_lanes <= stride; k += 2 * float_lanes) {
    even = fma(F::load(a + k), F::load(b + k), even);
    odd = fma(F::load(a + k + float_lanes), F::load(b + k + float_lanes), odd);
  }
  if (k < stride) even = fma(F::load(a + k), F::load(b + k), even);
  return sum(even + odd);
}

void make_unit(float* row, std::int64_t columns) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < columns; ++c) sum += static_cast<double>(row[c]) * static_cast<double>(row[c]);
  const double by = sum > 0.0 ? 1.0 / std::sqrt(sum) : 0.0;
  for (std::int64_t c = 0; c < columns; ++c) row[c] = static_cast<float>(row[c] * by);
}

/// Of each row the number of the nearest centre.
std::vector<std::int64_t> nearest_centres(const FloatRows& rows, const FloatRows& centres) {
  constexpr std::int64_t block = 512;
  std::vector<std::int64_t> out;
  std::vector<float> similar(static_cast<std::size_t>(block * centres.rows));
  for (std::int64_t from = 0; from < rows.rows; from += block) {
    const std::int64_t n = std::min(block, rows.rows - from);
    host_gemm<float>(false, true, static_cast<int>(n), static_cast<int>(centres.rows), static_cast<int>(rows.stride),
                     1.0f, rows.row(from), static_cast<int>(rows.stride), centres.row(0),
                     static_cast<int>(centres.stride), 0.0f, similar.data(), static_cast<int>(centres.rows));
    for (std::int64_t k = 0; k < n; ++k) {
      const float* line = similar.data() + k * centres.rows;
      out.push_back(std::max_element(line, line + centres.rows) - line);
    }
  }
  return out;
}

FloatRows some_rows(const FloatRows& rows, std::int64_t count) {
  FloatRows out(std::min(count, rows.rows), rows.columns);
  for (std::int64_t k = 0; k < out.rows; ++k)
    std::copy_n(rows.row(static_cast<std::int64_t>(static_cast<double>(k) * static_cast<double>(rows.rows) /
                                                   static_cast<double>(out.rows))),
                rows.stride, out.row(k));
  return out;
}

/// k-means on the sphere; centres that lose all rows stay.
FloatRows centres_of(const FloatRows& rows, std::int64_t lists) {
  constexpr int rounds = 8;
  constexpr std::int64_t rows_of_a_list = 40;
  const FloatRows sample = some_rows(rows, rows_of_a_list * lists);
  FloatRows centres = some_rows(rows, lists);
  for (int round = 0; round < rounds; ++round) {
    const auto nearest = nearest_centres(sample, centres);
    FloatRows sums(centres.rows, centres.columns);
    std::vector<std::int64_t> count(static_cast<std::size_t>(centres.rows), 0);
    for (std::int64_t k = 0; k < sample.rows; ++k) {
      const auto list = nearest[static_cast<std::size_t>(k)];
      ++count[static_cast<std::size_t>(list)];
      for (std::int64_t c = 0; c < rows.columns; ++c) sums.row(list)[c] += sample.row(k)[c];
    }
    for (std::int64_t l = 0; l < centres.rows; ++l)
      if (count[static_cast<std::size_t>(l)] > 0) {
        make_unit(sums.row(l), sums.columns);
        std::copy_n(sums.row(l), sums.stride, centres.row(l));
      }
  }
  return centres;
}

}  // namespace

void IndexKeys::describe(deck::Describe<IndexKeys>& d) {
  d("recall", &IndexKeys::recall, "share of the exactly nearest entries that is to be found")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.99);
  d("lists", &IndexKeys::lists, "into which entries are sorted; 0: twice the square root of their number")
      .at_least(0)
      .def(0);
}

FloatRows::FloatRows(std::int64_t r, std::int64_t c)
    : rows(r), columns(c), stride((c + float_lanes - 1) / float_lanes * float_lanes),
      values(static_cast<std::size_t>(r * stride), 0.0f) {}

FloatRows FloatRows::unit(const Matrix& of) {
  FloatRows out(of.rows, of.columns);
  for (std::int64_t k = 0; k < of.rows; ++k) {
    std::transform(of.row(k).begin(), of.row(k).end(), out.row(k), [](double x) { return static_cast<float>(x); });
    make_unit(out.row(k), out.columns);
  }
  return out;
}

static std::int64_t lists_of(std::int64_t rows, std::int64_t wanted) {
  const auto usual = static_cast<std::int64_t>(2.0 * std::sqrt(static_cast<double>(rows)));
  return std::clamp<std::int64_t>(wanted > 0 ? wanted : usual, 1, rows);
}

InvertedLists::InvertedLists(const FloatRows& rows, std::int64_t lists)
    : centres_(centres_of(rows, lists_of(rows.rows, lists))), rows_(rows.rows, rows.columns),
      numbers_(static_cast<std::size_t>(rows.rows)), start_(static_cast<std::size_t>(centres_.rows) + 1, 0) {
  const auto list = nearest_centres(rows, centres_);
  std::iota(numbers_.begin(), numbers_.end(), std::int64_t{0});
  std::stable_sort(numbers_.begin(), numbers_.end(), [&](std::int64_t a, std::int64_t b) {
    return list[static_cast<std::size_t>(a)] < list[static_cast<std::size_t>(b)];
  });
  for (const auto l : list) ++start_[static_cast<std::size_t>(l) + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  for (std::int64_t k = 0; k < rows.rows; ++k)
    std::copy_n(rows.row(numbers_[static_cast<std::size_t>(k)]), rows.stride, rows_.row(k));
}

std::vector<std::int64_t> InvertedLists::nearest_lists(const float* query, std::int64_t probes) const {
  std::vector<std::pair<float, std::int64_t>> order;
  for (std::int64_t l = 0; l < centres_.rows; ++l)
    order.emplace_back(-float_product(query, centres_.row(l), centres_.stride), l);
  const auto n = std::min(probes, centres_.rows);
  std::nth_element(order.begin(), order.begin() + (n - 1), order.end());
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(order[static_cast<std::size_t>(k)].second);
  return out;
}

std::int64_t InvertedLists::compared(const float* query, std::int64_t probes) const {
  std::int64_t out = 0;
  for (const auto l : nearest_lists(query, probes))
    out += start_[static_cast<std::size_t>(l) + 1] - start_[static_cast<std::size_t>(l)];
  return out;
}

std::vector<std::int64_t> InvertedLists::nearest(const float* query, std::int64_t count, std::int64_t probes) const {
  using Found = std::pair<float, std::int64_t>;  // minus the similarity, number: the worst one on top
  std::vector<Found> best;
  const auto room = static_cast<std::size_t>(std::min(count, rows_.rows));
  for (const auto l : nearest_lists(query, probes))
    for (std::int64_t k = start_[static_cast<std::size_t>(l)]; k < start_[static_cast<std::size_t>(l) + 1]; ++k) {
      const Found here{-float_product(query, rows_.row(k), rows_.stride), numbers_[static_cast<std::size_t>(k)]};
      if (best.size() == room && !(here < best.front())) continue;
      if (best.size() == room) std::pop_heap(best.begin(), best.end()), best.pop_back();
      best.push_back(here), std::push_heap(best.begin(), best.end());
    }
  std::sort_heap(best.begin(), best.end());
  std::vector<std::int64_t> out;
  for (const auto& [far, number] : best) out.push_back(number);
  return out;
}

namespace {

double recall_of(const InvertedLists& index, const FloatRows& queries, const std::vector<std::int64_t>& asked,
                 std::int64_t count, std::int64_t probes) {
  double found = 0.0, all = 0.0;
  for (const auto q : asked) {
    const auto exact = index.nearest(queries.row(q), count, index.lists());
    const auto mine = index.nearest(queries.row(q), count, probes);
    for (const auto number : exact) found += std::find(mine.begin(), mine.end(), number) != mine.end();
    all += static_cast<double>(exact.size());
  }
  return all > 0.0 ? found / all : 1.0;
}

}  // namespace

StatedRecall stated_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count, double recall) {
  constexpr std::int64_t most = 400;
  std::vector<std::int64_t> chosen_by, judged_by;
  const std::int64_t n = std::min(most, queries.rows);
  for (std::int64_t k = 0; k < n; ++k) (k % 2 == 0 ? chosen_by : judged_by).push_back(k * queries.rows / n);
  if (judged_by.empty()) judged_by = chosen_by;
  StatedRecall out;
  const auto enough = [&](std::int64_t probes) {
    return recall_of(index, queries, chosen_by, count, probes) >= recall;
  };
  std::int64_t low = 0, high = 1;
  while (high < index.lists() && !enough(high)) low = high, high = std::min(2 * high, index.lists());
  while (high - low > 1) (enough((low + high) / 2) ? high : low) = (low + high) / 2;
  out.probes = high;
  out.recall = recall_of(index, queries, judged_by, count, high);
  out.queries = std::ssize(judged_by);
  for (const auto q : judged_by) out.compared += static_cast<double>(index.compared(queries.row(q), high));
  out.compared /= static_cast<double>(judged_by.size());
  return out;
}

}  // namespace cambium::pretrain
