#include "plugins/pretrain/search/exact_search.hpp"

#include <algorithm>
#include <limits>

#include "core/base/pack.hpp"
#include "plugins/pretrain/search/row_products.hpp"

namespace cambium::pretrain {

namespace {

constexpr std::int64_t rows_at_once = 64;
constexpr std::int64_t row_lanes = native_width<float>;
using F = Pack<float, native_width<float>>;

/// Best rows of each query, and their thresholds, padded to full registers.
struct Answers {
  std::vector<MostSimilar> best;
  std::vector<float> least;
  Answers(std::int64_t queries, std::int64_t count)
      : best(static_cast<std::size_t>(queries), MostSimilar(count)),
        least(static_cast<std::size_t>((queries + row_lanes - 1) / row_lanes * row_lanes),
              std::numeric_limits<float>::infinity()) {
    std::fill_n(least.begin(), queries, -2.0f);
  }
  void put(std::size_t query, float similarity, std::int64_t number) {
    best[query].put(similarity, number);
    least[query] = best[query].least();
  }
};

/// `line`: similarities of one row with all queries, padded to full registers. Rows come in ascending index, so that
/// one equal to the threshold does not enter.
void take_line(const float* line, std::int64_t number, Answers& answers) {
  const auto n = std::ssize(answers.least);
  for (std::int64_t q = 0; q < n; q += row_lanes) {
    if (!any(F::load(line + q) > F::load(answers.least.data() + q))) continue;
    for (std::int64_t k = q; k < std::min(q + row_lanes, std::ssize(answers.best)); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (line[k] > answers.least[at]) answers.put(at, line[k], number);
    }
  }
}

void stream_past_many(const FloatRows& rows, const FloatRows& queries, std::int64_t from, std::int64_t n,
                      Answers& answers) {
  const RowProducts products(queries, from, from + n);
  const std::int64_t width = std::ssize(answers.least);
  std::vector<float> similar(rows_at_once * width, 0.0f);
  for (std::int64_t first = 0; first < rows.rows; first += rows_at_once) {
    const std::int64_t m = std::min(rows_at_once, rows.rows - first);
    products.with(rows.row(first), m, similar.data(), width);
    for (std::int64_t r = 0; r < m; ++r) take_line(similar.data() + r * width, first + r, answers);
  }
}

void stream_past_few(const FloatRows& rows, const FloatRows& queries, std::int64_t from, std::int64_t n,
                     Answers& answers) {
  for (std::int64_t first = 0; first < rows.rows; first += rows_at_once)
    for (std::int64_t q = 0; q < n; ++q) {
      const float* const query = queries.row(from + q);
      const auto at = static_cast<std::size_t>(q);
      for (std::int64_t r = first; r < std::min(first + rows_at_once, rows.rows); ++r) {
        const float similar = row_product(query, rows.row(r), rows.stride);
        if (similar > answers.least[at]) answers.put(at, similar, r);
      }
    }
}

}  // namespace

Entries exactly_nearest(const FloatRows& rows, const FloatRows& queries, std::int64_t from, std::int64_t to,
                        std::int64_t count) {
  constexpr std::int64_t few = 6;
  Entries out(to - from, count);
  out.compared = (to - from) * rows.rows;
  for (std::int64_t first = from; first < to; first += exact_block) {
    const std::int64_t n = std::min(exact_block, to - first);
    Answers answers(n, std::min(count, rows.rows));
    (n <= few ? stream_past_few : stream_past_many)(rows, queries, first, n, answers);
    for (std::int64_t q = 0; q < n; ++q) answers.best[q].take_into(out, first - from + q);
  }
  return out;
}

Entries over_ranks(std::int64_t queries, std::int64_t count, const Comm& comm,
                   const std::function<Entries(std::int64_t, std::int64_t)>& answer) {
  Entries out(queries, count);
  std::vector<double> all(2 * out.number.size() + 1, 0.0);
  for (std::int64_t from = comm.rank() * exact_block; from < queries; from += comm.size() * exact_block) {
    const Entries mine = answer(from, std::min(queries, from + exact_block));
    for (std::size_t k = 0; k < mine.number.size(); ++k) {
      const std::size_t to = 2 * (static_cast<std::size_t>(from * count) + k);
      all[to] = static_cast<double>(mine.number[k]);
      all[to + 1] = static_cast<double>(mine.similarity[k]);
    }
    all.back() += static_cast<double>(mine.compared);
  }
  comm.sum(all);
  for (std::size_t k = 0; k < out.number.size(); ++k) {
    out.number[k] = static_cast<std::int64_t>(all[2 * k]);
    out.similarity[k] = static_cast<float>(all[2 * k + 1]);
  }
  out.compared = static_cast<std::int64_t>(all.back());
  return out;
}

}  // namespace cambium::pretrain
