#include "plugins/pretrain/search/inverted_lists.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/pack.hpp"
#include "plugins/pretrain/search/centres.hpp"

namespace cambium::pretrain {

namespace {

constexpr float byte_limit = 127.0f;
constexpr std::int64_t block_rows = ByteRows::block_rows;

float largest_size(std::span<const float> values) {
  float out = 0.0f;
  for (const float x : values) out = std::max(out, std::abs(x));
  return out;
}

/// Rounds to multiples of `unit`.
void to_bytes(std::span<const float> values, float unit, std::span<std::int8_t> out) {
  for (std::size_t c = 0; c < values.size(); ++c)
    out[c] = static_cast<std::int8_t>(std::clamp(std::nearbyint(values[c] / unit), -byte_limit, byte_limit));
}

float unit_of(float largest) { return largest > 0.0f ? largest / byte_limit : 1.0f; }

void fill_bytes(InvertedLists::Parts& parts) {
  const auto columns = static_cast<std::size_t>(parts.rows.columns);
  std::vector<float> apart(columns);
  std::vector<std::int8_t> bytes(columns);
  const auto difference = [&](std::int64_t place, std::int64_t list) -> std::span<const float> {
    const float* x = parts.rows.row(parts.number[place]);
    const float* c = parts.centres.row(list);
    for (std::size_t k = 0; k < columns; ++k) apart[k] = x[k] - c[k];
    return apart;
  };
  parts.bytes = ByteRows(parts.start.back(), parts.rows.columns);
  for (std::int64_t list = 0; list < parts.centres.rows; ++list) {
    const auto l = static_cast<std::size_t>(list);
    std::int64_t last = parts.start[l];
    while (last < parts.start[l + 1] && parts.number[last] >= 0) ++last;
    float largest = 0.0f;
    for (std::int64_t p = parts.start[l]; p < last; ++p) largest = std::max(largest, largest_size(difference(p, list)));
    parts.unit.push_back(unit_of(largest));
    for (std::int64_t p = parts.start[l]; p < last; ++p) {
      to_bytes(difference(p, list), parts.unit.back(), bytes);
      parts.bytes.set_row(p, bytes);
    }
  }
}

InvertedLists::Parts sorted_into_lists(FloatRows rows, std::int64_t lists, const Comm& comm) {
  InvertedLists::Parts out;
  const std::int64_t wanted = lists > 0 ? lists : InvertedLists::usual_lists(rows.rows);
  out.centres = centres_of(rows, std::min(wanted, rows.rows), comm);
  const auto list = nearest_centres(rows, out.centres, comm);
  std::vector<std::int64_t> count(out.centres.rows, 0);
  for (const auto l : list) ++count[l];
  out.start.assign(1, 0);
  for (const auto n : count) out.start.push_back(out.start.back() + (n + block_rows - 1) / block_rows * block_rows);
  out.number.assign(out.start.back(), -1);
  auto next = out.start;
  for (std::size_t k = 0; k < list.size(); ++k) out.number[next[list[k]]++] = static_cast<std::int64_t>(k);
  out.rows = std::move(rows);
  fill_bytes(out);
  return out;
}

}  // namespace

std::int64_t InvertedLists::usual_lists(std::int64_t rows) {
  constexpr std::int64_t rows_of_a_list = 256;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rows)));
  return std::clamp<std::int64_t>(std::clamp(rows / rows_of_a_list, 2 * root, 4 * root), 1,
                                  std::max<std::int64_t>(1, rows));
}

InvertedLists::InvertedLists(FloatRows rows, std::int64_t lists, const Comm& comm)
    : InvertedLists(sorted_into_lists(std::move(rows), lists, comm)) {}

InvertedLists::InvertedLists(Parts parts) : parts_(std::move(parts)), centre_products_(parts_.centres) {}

/// A quantised query.
struct InvertedLists::Query {
  std::vector<std::int8_t> bytes;
  float unit = 1.0f;
  const float* centre = nullptr;  ///< its similarities with all centres
};

/// Puts the positions of a list's rows into `kept`; returns the number of rows scanned.
std::int64_t InvertedLists::scan(std::int64_t list, const Query& query, std::vector<std::int32_t>& dots,
                                 MostSimilar& kept) const {
  const auto l = static_cast<std::size_t>(list);
  const std::int64_t first = parts_.start[l], last = parts_.start[l + 1];
  dots.resize(std::max(dots.size(), static_cast<std::size_t>(last - first)));
  parts_.bytes.dots(first, last, query.bytes.data(), dots.data());
  const float centre = query.centre[list], unit = parts_.unit[l] * query.unit;
  // An integer threshold, to skip a full block with a few instructions.
  const auto limit_now = [&] {
    return static_cast<std::int32_t>(std::floor(std::clamp((kept.least() - centre) / unit, -2e9f, 2e9f))) - 1;
  };
  std::int32_t limit = limit_now();
  for (std::int64_t p = first; p < last; p += block_rows) {
    const std::int32_t* const of = dots.data() + (p - first);
    int passes = 0;
    for (std::int64_t k = 0; k < block_rows; ++k) passes |= of[k] > limit;
    if (!passes) continue;
    for (std::int64_t k = 0; k < block_rows; ++k)
      if (of[k] > limit && parts_.number[p + k] >= 0) kept.put(centre + unit * static_cast<float>(of[k]), p + k);
    limit = limit_now();
  }
  std::int64_t end = last;
  while (end > first && parts_.number[end - 1] < 0) --end;
  return end - first;
}

Entries InvertedLists::nearest(const FloatRows& queries, std::int64_t from, std::int64_t to, std::int64_t count,
                               const Effort& effort) const {
  constexpr std::int64_t block = 64;
  Entries out(to - from, count);
  const std::int64_t width = lists();
  std::vector<float> centre(block * width);
  std::vector<std::int32_t> dots;
  const std::int64_t room = std::clamp(effort.kept, std::min(count, rows().rows), rows().rows);
  for (std::int64_t q = from; q < to; ++q) {
    if ((q - from) % block == 0) centre_products_.with(queries.row(q), std::min(block, to - q), centre.data(), width);
    Query query{std::vector<std::int8_t>(parts_.bytes.padded_columns(), 0), 1.0f,
                centre.data() + (q - from) % block * width};
    const std::span<const float> values(queries.row(q), static_cast<std::size_t>(queries.columns));
    query.unit = unit_of(largest_size(values));
    to_bytes(values, query.unit, query.bytes);
    MostSimilar lists_near(std::min(effort.probes, width)), kept(room), best(std::min(count, rows().rows));
    for (std::int64_t l = 0; l < width; ++l)
      if (query.centre[l] > lists_near.least()) lists_near.put(query.centre[l], l);
    for (const auto& [minus, list] : lists_near.taken()) out.compared += scan(list, query, dots, kept);
    for (const auto& [minus, place] : kept.taken()) {
      const std::int64_t number = parts_.number[place];
      best.put(row_product(queries.row(q), rows().row(number), queries.stride), number);
    }
    best.take_into(out, q - from);
  }
  return out;
}

}  // namespace cambium::pretrain
