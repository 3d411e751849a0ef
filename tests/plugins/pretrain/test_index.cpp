// The exact search beside plain sums, the approximate index beside the exact search, and smooth fits of few runs.
#include <cmath>
#include <set>

#include "core/parallel/random.hpp"
#include "plugins/pretrain/features/kernel_fit.hpp"
#include "plugins/pretrain/features/similar.hpp"
#include "plugins/pretrain/search/index_keys.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

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

FloatRows unit_clouds(std::int64_t rows, std::int64_t columns, int stream) {
  return FloatRows::unit(clouds(rows, columns, stream));
}

/// The plain way: all similarities in double precision, sorted.
std::vector<std::int64_t> plainly_nearest(const FloatRows& rows, const float* query, std::int64_t count) {
  std::vector<double> similar;
  for (std::int64_t k = 0; k < rows.rows; ++k) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < rows.columns; ++c)
      sum += static_cast<double>(query[c]) * static_cast<double>(rows.row(k)[c]);
    similar.push_back(sum);
  }
  return largest(similar, count);
}

double product_of(const FloatRows& rows, std::int64_t k, const float* query) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < rows.columns; ++c)
    sum += static_cast<double>(query[c]) * static_cast<double>(rows.row(k)[c]);
  return sum;
}

/// Found rows are the plain ones; places may change where single precision sees no difference.
void require_nearest(const FloatRows& rows, const FloatRows& queries, std::int64_t first, const Entries& found) {
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const float* const query = queries.row(first + q);
    const auto plain = plainly_nearest(rows, query, found.count);
    std::set<std::int64_t> once;
    for (std::int64_t k = 0; k < found.count; ++k) {
      const auto at = static_cast<std::size_t>(q * found.count + k);
      if (k >= rows.rows) {
        REQUIRE(found.number[at] == -1);
        continue;
      }
      REQUIRE(once.insert(found.number[at]).second);
      const double truth = product_of(rows, plain[k], query);
      REQUIRE(product_of(rows, found.number[at], query) == Approx(truth).margin(1e-6));
      REQUIRE(static_cast<double>(found.similarity[at]) == Approx(truth).margin(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("the exact search finds what sorting all similarities does, for few queries and for many") {
  for (const std::int64_t columns : {3, 16, 37, 128}) {
    const auto rows = unit_clouds(501, columns, 2), queries = unit_clouds(230, columns, 3);
    require_nearest(rows, queries, 0, exactly_nearest(rows, queries, 0, 230, 10));
    require_nearest(rows, queries, 7, exactly_nearest(rows, queries, 7, 9, 10));
  }
  const auto few = unit_clouds(4, 8, 2);
  require_nearest(few, few, 0, exactly_nearest(few, few, 0, 4, 6));
}

TEST_CASE("all lists with all rows kept are the exact search") {
  const Comm self(MPI_COMM_SELF);
  for (const std::int64_t columns : {3, 16, 37}) {
    const auto queries = unit_clouds(70, columns, 3);
    const InvertedLists index(unit_clouds(500, columns, 2), 0, self);
    CHECK(index.lists() == 44);
    const auto found = index.nearest(queries, 0, 70, 10, {index.lists(), 500});
    CHECK(found.compared == 70 * 500);
    require_nearest(index.rows(), queries, 0, found);
  }
  CHECK(InvertedLists::usual_lists(1000000) == 3906);
}

TEST_CASE("bytes find the nearest rows nearly as well as numbers") {
  const Comm self(MPI_COMM_SELF);
  const auto queries = unit_clouds(200, 64, 3);
  const InvertedLists index(unit_clouds(4000, 64, 2), 20, self);
  const auto exact = exactly_nearest(index.rows(), queries, 0, 200, 10);
  const auto found = index.nearest(queries, 0, 200, 10, {20, 40});
  double recall = 0.0;
  for (const double r : recall_of(found, exact)) recall += r / 200.0;
  CHECK(recall > 0.995);
}

TEST_CASE("recall is the share of what is nearest, and ties count") {
  Entries exact(2, 3), found(2, 3);
  exact.number = {4, 5, 6, 7, 8, 9};
  exact.similarity = {0.9f, 0.8f, 0.7f, 0.9f, 0.8f, 0.7f};
  found.number = {5, 6, 1, 7, 2, 9};
  found.similarity = {0.8f, 0.7f, 0.6f, 0.9f, 0.8f, 0.7f};
  CHECK(recall_of(found, exact) == std::vector<double>{2.0 / 3.0, 1.0});
  CHECK(recall_of(found, exact, 1) == std::vector<double>{1.0, 1.0});
  exact.number = {4, -1, -1, 7, 8, 9};
  found.number = {3, -1, -1, 7, 8, 9};
  CHECK(recall_of(found, exact)[0] == 0.0);
}

TEST_CASE("an index states the recall that other queries find") {
  const Comm self(MPI_COMM_SELF);
  const auto queries = unit_clouds(600, 24, 3);
  const InvertedLists index(unit_clouds(3000, 24, 2), 60, self);
  const auto stated = stated_recall(index, queries, 10, 0.95, self);
  CHECK(stated.recall > 0.93);
  CHECK(stated.queries == 200);
  CHECK(stated.compared < 0.34);
  const auto exact = exactly_nearest(index.rows(), queries, 0, 600, 10);
  const auto found = index.nearest(queries, 0, 600, 10, stated.effort);
  double recall = 0.0;
  for (const double r : recall_of(found, exact)) recall += r / 600.0;
  CHECK(recall == Approx(stated.recall).margin(0.03));
  CHECK(static_cast<double>(found.compared) / 600.0 / 3000.0 == Approx(stated.compared).margin(0.03));
  CHECK(stated_recall(index, queries, 10, 1.0, self).recall > 0.99);
  const auto own = stated_recall_by_own_rows(index, 10, 0.95, self);
  CHECK(own.recall > 0.93);
  CHECK(own.count == 10);
}

TEST_CASE("an index comes back from its file as it was") {
  const Comm self(MPI_COMM_SELF);
  const Scratch scratch;
  const auto queries = unit_clouds(50, 10, 3);
  StatedIndex index{InvertedLists(unit_clouds(300, 10, 2), 12, self), {}, {}};
  index.stated = stated_recall(index.lists, queries, 5, 0.9, self);
  for (std::int64_t k = 0; k < 300; ++k) index.marks.simulation.push_back(k / 10);
  const auto path = scratch.file("index.h5");
  {
    auto file = io::File::create(path);
    write_index(file, index);
    file.close();
  }
  const auto back = read_index(path);
  CHECK(back.marks.simulation == index.marks.simulation);
  CHECK(back.marks.time.empty());
  CHECK(back.stated.text(12) == index.stated.text(12));
  const auto one = answer(index, queries, 5, self), two = answer(back, queries, 5, self);
  CHECK(one.number == two.number);
  CHECK(one.similarity == two.similarity);
}

TEST_CASE("an index and its answers are the same on any number of ranks") {
  const Comm world, self(MPI_COMM_SELF);
  const auto rows = unit_clouds(1000, 20, 2), queries = unit_clouds(500, 20, 3);
  for (const auto type : {IndexKeys::Type::exact, IndexKeys::Type::approximate}) {
    const IndexKeys keys{type, 0.95, 0};
    const auto together = answer(rows, queries, 7, keys, world), alone = answer(rows, queries, 7, keys, self);
    CHECK(together.entries.number == alone.entries.number);
    CHECK(together.entries.similarity == alone.entries.similarity);
    if (!alone.index) continue;
    CHECK(together.index->stated.text(63) == alone.index->stated.text(63));
    CHECK(together.index->lists.parts().number == alone.index->lists.parts().number);
  }
}

TEST_CASE("a kernel fit follows smooth functions, and goes through what it knows") {
  Matrix x(12, 2), y(12, 2), asked(20, 2), truth(20, 2);
  const auto f = [](double a, double b) { return std::array{std::sin(a) + 0.5 * b, a * b}; };
  const auto fill = [&](Matrix& in, Matrix& out, int stream) {
    for (std::int64_t k = 0; k < in.rows; ++k) {
      for (std::int64_t c = 0; c < 2; ++c) in(k, c) = std::tanh(random_number(k, c, stream));
      const auto values = f(in(k, 0), in(k, 1));
      out(k, 0) = values[0];
      out(k, 1) = values[1];
    }
  };
  fill(x, y, 4);
  fill(asked, truth, 5);
  const KernelFit fit(x, y);
  const auto at_known = fit(x), elsewhere = fit(asked);
  double error = 0.0;
  for (std::size_t k = 0; k < truth.values.size(); ++k) error += std::pow(elsewhere.values[k] - truth.values[k], 2);
  CHECK(std::sqrt(error / 40.0) < 0.1);
  for (std::size_t k = 0; k < y.values.size(); ++k) CHECK(at_known.values[k] == Approx(y.values[k]).margin(0.02));
}
