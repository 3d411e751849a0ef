#include "plugins/pretrain/search/stated_recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cambium::pretrain {

std::string StatedRecall::text(std::int64_t lists) const {
  return fmt::format(
      "index: {} of {} lists are searched, {:.2f} % of all entries; recall {:.4f} of the {} nearest ({} queries that "
      "did not select it; target {:g})",
      effort.probes, lists, 100.0 * compared, recall, count, queries, wanted);
}

std::vector<double> recall_of(const Entries& found, const Entries& exact, std::int64_t skipped) {
  constexpr float rounding = 1e-6f;
  std::vector<double> out;
  for (std::int64_t q = 0; q < exact.queries; ++q) {
    std::int64_t there = 0, all = 0;
    const auto begin = found.number.begin() + q * exact.count, end = begin + exact.count;
    for (std::int64_t k = skipped; k < exact.count; ++k) {
      const auto at = static_cast<std::size_t>(q * exact.count + k);
      if (exact.number[at] < 0) break;
      ++all;
      // Another row of equal similarity is accepted.
      const bool as_similar = found.number[at] >= 0 && found.similarity[at] >= exact.similarity[at] - rounding;
      there += as_similar || std::find(begin, end, exact.number[at]) != end;
    }
    out.push_back(all > 0 ? static_cast<double>(there) / static_cast<double>(all) : 1.0);
  }
  return out;
}

namespace {

struct MeanOf {
  double mean = 1.0, error = 0.0;
};

MeanOf mean_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0.0, squares = 0.0;
  for (const double x : values) sum += x;
  for (const double x : values) squares += (x - sum / n) * (x - sum / n);
  return {sum / n, n > 1.0 ? std::sqrt(squares / (n * (n - 1.0))) : 0.0};
}

FloatRows every_second(const FloatRows& rows, std::int64_t first) {
  FloatRows out(std::max<std::int64_t>(0, (rows.rows - first + 1) / 2), rows.columns);
  for (std::int64_t k = 0; k < out.rows; ++k) std::copy_n(rows.row(first + 2 * k), rows.stride, out.row(k));
  return out;
}

/// Queries and their exact nearest rows.
struct Asked {
  FloatRows queries;
  Entries exact;
};

Asked asked(const InvertedLists& index, FloatRows queries, std::int64_t count, const Comm& comm) {
  Asked out{std::move(queries), {}};
  out.exact = over_ranks(out.queries.rows, count, comm, [&](std::int64_t from, std::int64_t to) {
    return exactly_nearest(index.rows(), out.queries, from, to, count);
  });
  return out;
}

Entries found_by(const InvertedLists& index, const Asked& asked, const Effort& effort, const Comm& comm) {
  const auto count = asked.exact.count;
  return over_ranks(asked.queries.rows, count, comm, [&](std::int64_t from, std::int64_t to) {
    return index.nearest(asked.queries, from, to, count, effort);
  });
}

}  // namespace

static StatedRecall measured_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count,
                                    double wanted, std::int64_t skipped, const Comm& comm) {
  constexpr std::int64_t most = 400, kept_of_each = 4;
  const FloatRows some = spread_rows(queries, most);
  const Asked chosen_by = asked(index, every_second(some, 0), count, comm);
  Asked judged_by = some.rows > 1 ? asked(index, every_second(some, 1), count, comm) : chosen_by;
  StatedRecall out;
  out.wanted = wanted;
  out.count = count - skipped;
  out.queries = judged_by.queries.rows;
  const std::int64_t rows = index.rows().rows, lists = index.lists();
  const auto enough = [&](const Effort& effort) {
    const auto reached = mean_of(recall_of(found_by(index, chosen_by, effort, comm), chosen_by.exact, skipped));
    return reached.mean - reached.error >= wanted;
  };
  // Bytes usually order the nearest rows well; otherwise more are compared again in single precision.
  out.effort = {lists, std::min(rows, kept_of_each * count + 16)};
  while (out.effort.kept < rows && !enough(out.effort)) out.effort.kept = std::min(rows, 4 * out.effort.kept);
  std::int64_t low = 0, high = 1;
  const auto kept = out.effort.kept;
  while (high < lists && !enough({high, kept})) {
    low = high;
    high = std::min(2 * high, lists);
  }
  while (high - low > 1) {
    const auto middle = (low + high) / 2;
    (enough({middle, kept}) ? high : low) = middle;
  }
  out.effort.probes = high;
  const Entries found = found_by(index, judged_by, out.effort, comm);
  out.recall = mean_of(recall_of(found, judged_by.exact, skipped)).mean;
  out.compared =
      static_cast<double>(found.compared) / static_cast<double>(rows * std::max<std::int64_t>(1, found.queries));
  return out;
}

StatedRecall stated_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count, double wanted,
                           const Comm& comm) {
  return measured_recall(index, queries, count, wanted, 0, comm);
}

StatedRecall stated_recall_by_own_rows(const InvertedLists& index, std::int64_t count, double wanted,
                                       const Comm& comm) {
  return measured_recall(index, index.rows(), count + 1, wanted, 1, comm);
}

}  // namespace cambium::pretrain
