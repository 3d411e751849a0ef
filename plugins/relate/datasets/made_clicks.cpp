#include <fmt/format.h>

#include <cmath>

#include "plugins/relate/datasets/click_file.hpp"
#include "plugins/relate/datasets/streams.hpp"

namespace cambium::relate {

RecordSet make_clicks(const MadeClicks& keys) {
  constexpr int directions = 3;
  const auto seed = static_cast<std::uint64_t>(keys.seed);
  const auto draw = [&](std::uint64_t what, std::int64_t id, std::int64_t k) {
    return Random4(seed, made_clicks_stream, static_cast<std::uint64_t>(id),
                   what << 32 | static_cast<std::uint64_t>(k));
  };
  RecordSet out;
  out.source = "synthetic clicks";
  out.answer = "clicked";
  for (std::int64_t c = 0; c < keys.columns; ++c) out.columns.push_back({fmt::format("C{}", c + 1), keys.rows});
  for (std::int64_t k = 0; k < keys.numbers; ++k) out.numbers.push_back(fmt::format("number {}", k + 1));
  auto ids = std::make_shared<std::vector<std::int32_t>>();
  for (std::int64_t n = 0; n < keys.records; ++n) {
    const std::int64_t record = keys.first + n;
    double score = -0.5, sum[directions] = {}, squares = 0.0;
    for (std::int64_t c = 0; c < keys.columns; ++c) {
      // Few rows are frequent, most are rare.
      const double u = draw(1, record, c).uniform(0);
      const auto row = static_cast<std::int64_t>(u * u * static_cast<double>(keys.rows));
      ids->push_back(static_cast<std::int32_t>(row));
      const std::int64_t address = c * keys.rows + row;
      score += 0.3 * draw(2, address, 0).normal(0);
      for (int j = 0; j < directions; ++j) {
        const double x = 0.5 * draw(3, address, j).normal(0);
        sum[j] += x;
        squares += x * x;
      }
    }
    for (std::int64_t k = 0; k < keys.numbers; ++k) {
      const double x = draw(4, record, k).normal(0);
      out.number.push_back(x);
      score += 0.3 * x * draw(5, k, 0).normal(0);
    }
    double pairs = -squares;
    for (const double x : sum) pairs += x * x;
    score += 0.5 * pairs;
    out.answers.push_back(draw(6, record, 0).uniform(0) < 1.0 / (1.0 + std::exp(-score)) ? 1.0 : 0.0);
    out.place.push_back(record);
  }
  out.stored.push_back(ids);
  for (std::size_t k = 0; k < ids->size(); ++k) out.bag.push_back(std::span<const std::int32_t>(*ids).subspan(k, 1));
  return out;
}

}  // namespace cambium::relate
