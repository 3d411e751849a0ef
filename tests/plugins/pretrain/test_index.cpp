// The approximate index beside the exact search, and smooth fits of few runs.
#include <cmath>
#include <set>

#include "core/parallel/random.hpp"
#include "plugins/pretrain/features/index.hpp"
#include "plugins/pretrain/features/kernel_fit.hpp"
#include "plugins/pretrain/features/similar.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::pretrain;

namespace {

double random_number(std::int64_t row, std::int64_t column, int stream) {
  return Random4(static_cast<std::uint64_t>(stream), Stream::test, static_cast<std::uint64_t>(row),
                 static_cast<std::uint64_t>(column))
      .normal(0);
}

/// Rows around 30 places.
Matrix clouds(std::int64_t rows, std::int64_t columns, int stream) {
  Matrix out(rows, columns);
  for (std::int64_t k = 0; k < rows; ++k)
    for (std::int64_t c = 0; c < columns; ++c)
      out(k, c) = random_number(k % 30, c, 1) + 0.3 * random_number(k, c, stream);
  return out;
}

}  // namespace

TEST_CASE("all lists together are the exact search") {
  for (const std::int64_t columns : {3, 16, 37}) {
    const Matrix archive = clouds(500, columns, 2), queries = clouds(40, columns, 3);
    const InvertedLists index(FloatRows::unit(archive), 0);
    CHECK(index.lists() == 44);
    const auto rows = FloatRows::unit(queries);
    for_each_query(archive, queries, 0, queries.rows, [&](std::int64_t query, std::span<const double> s) {
      const auto exact = largest(s, 10);
      const auto found = index.nearest(rows.row(query), 10, index.lists());
      REQUIRE(found.size() == 10);
      for (std::size_t k = 0; k < 10; ++k)  // places may change where single precision sees no difference
        CHECK(s[static_cast<std::size_t>(found[k])] == Approx(s[static_cast<std::size_t>(exact[k])]).margin(2e-6));
    });
    CHECK(index.compared(rows.row(0), index.lists()) == 500);
  }
}

TEST_CASE("an index states the recall that other queries find") {
  const Matrix archive = clouds(3000, 24, 2), queries = clouds(600, 24, 3);
  const InvertedLists index(FloatRows::unit(archive), 60);
  const auto rows = FloatRows::unit(queries);
  const auto stated = stated_recall(index, rows, 10, 0.95);
  CHECK(stated.recall > 0.92);
  CHECK(stated.queries == 200);
  CHECK(stated.compared < 1000);
  double found = 0.0;
  for (std::int64_t q = 0; q < rows.rows; ++q) {
    const auto exact = index.nearest(rows.row(q), 10, index.lists()),
               mine = index.nearest(rows.row(q), 10, stated.probes);
    const std::set<std::int64_t> all(exact.begin(), exact.end());
    for (const auto k : mine) found += all.contains(k);
  }
  CHECK(found / 6000.0 == Approx(stated.recall).margin(0.03));
  CHECK(stated_recall(index, rows, 10, 1.0).recall > 0.99);
}

TEST_CASE("a kernel fit follows smooth functions, and goes through what it knows") {
  Matrix x(12, 2), y(12, 2), asked(20, 2), truth(20, 2);
  const auto f = [](double a, double b) { return std::array{std::sin(a) + 0.5 * b, a * b}; };
  const auto fill = [&](Matrix& in, Matrix& out, int stream) {
    for (std::int64_t k = 0; k < in.rows; ++k) {
      for (std::int64_t c = 0; c < 2; ++c) in(k, c) = std::tanh(random_number(k, c, stream));
      const auto values = f(in(k, 0), in(k, 1));
      out(k, 0) = values[0], out(k, 1) = values[1];
    }
  };
  fill(x, y, 4), fill(asked, truth, 5);
  const KernelFit fit(x, y);
  const auto at_known = fit(x), elsewhere = fit(asked);
  double error = 0.0;
  for (std::size_t k = 0; k < truth.values.size(); ++k) error += std::pow(elsewhere.values[k] - truth.values[k], 2);
  CHECK(std::sqrt(error / 40.0) < 0.1);
  for (std::size_t k = 0; k < y.values.size(); ++k) CHECK(at_known.values[k] == Approx(y.values[k]).margin(0.02));
}
