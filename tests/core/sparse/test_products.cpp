#include <cstring>

#include "core/base/error.hpp"
#include "core/numerics/bfloat16.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/made_matrices.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

namespace {

const std::vector<std::int64_t> widths{1,  2,  3,  4,  5,  7,  8,  9,  12,  16,  17,
                                       31, 32, 33, 40, 47, 64, 65, 72, 100, 128, 130};

/// Largest error in units of the sum of magnitudes: sums in T, for bfloat16 also the rounding of the result.
template <class T>
constexpr double allowed = std::is_same_v<T, double>  ? 1e-13
                           : std::is_same_v<T, float> ? 1e-5
                                                      : 5e-3;

template <class T>
T mark() {
  return static_cast<T>(777.0F);
}

template <class T>
bool gap_untouched(const Filled<T>& rows) {
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t k = rows.width; k < rows.stride; ++k)
      if (rows.number_at(i, k) != real(mark<T>())) return false;
  return true;
}

template <class T>
bool same_bits(const Filled<T>& a, const Filled<T>& b) {
  return a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0;
}

/// Rows first..last - 1 as a matrix of their own.
template <class T>
Csr<T> some_rows(const Csr<T>& a, std::int64_t first, std::int64_t last) {
  Csr<T> out;
  out.rows = last - first;
  out.columns = a.columns;
  for (std::int64_t i = first; i < last; ++i) {
    out.column.insert(out.column.end(), a.columns_of(i).begin(), a.columns_of(i).end());
    out.value.insert(out.value.end(), a.values_of(i).begin(), a.values_of(i).end());
    out.start.push_back(static_cast<std::int64_t>(out.column.size()));
  }
  return out;
}

/// All three products of one matrix and width.
template <class T>
void check_products(const Csr<double>& exact, std::int64_t width, std::int64_t gap, bool add) {
  const Csr<T> a = converted<T>(exact), back = transposed(a);
  Filled<T> h(a.columns, width, gap, mark<T>(), 5), g(a.rows, width, gap, mark<T>(), 6),
      out(a.rows, width, gap, mark<T>(), 7), down(a.columns, width, gap, mark<T>(), 8);
  const Filled<T> before = out, before_down = down;
  INFO(a.rows << " x " << a.columns << ", " << a.entries() << " entries, width " << width << ", gap " << gap);
  multiply(a, h.all(), out.all(), add);
  CHECK(product_error(a, h, out, add ? &before : nullptr) <= allowed<T>);
  CHECK(gap_untouched(out));
  multiply_transposed(a, g.all(), down.all(), add);
  CHECK(product_error(back, g, down, add ? &before_down : nullptr) <= allowed<T>);
  CHECK(gap_untouched(down));
  Filled<T> formed = before_down;
  multiply(back, g.all(), formed.all(), add);
  CHECK(same_bits(formed, down));

  Filled<T> dots(1, a.entries(), 0, mark<T>());
  sampled_products<T>(a, g.all(), h.all(), dots.values);
  double worst = 0.0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto e = a.start[i]; e < a.start[static_cast<std::size_t>(i) + 1]; ++e) {
      double sum = 0.0, size = 1e-300;
      for (std::int64_t k = 0; k < width; ++k) {
        const double term = g.number_at(i, k) * h.number_at(a.column[e], k);
        sum += term;
        size += std::abs(term);
      }
      worst = std::max(worst, std::abs(sum - dots.number_at(0, e)) / size);
    }
  CHECK(worst <= allowed<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("products equal plain sums for every shape and width", "", double, float, Bf16) {
  for (auto width : widths)
    for (bool add : {false, true}) {
      check_products<TestType>(random_matrix(37, 29, 4.0, 11), width, width % 3, add);
      check_products<TestType>(random_matrix(20, 90, 30.0, 12), width, 0, add);
    }
  for (std::int64_t width : {1, 8, 40}) {
    check_products<TestType>(csr_from_entries(1, 1, std::vector<Entry>{{0, 0, 2.0}}).matrix, width, 0,
                             false);                                               // one node
    check_products<TestType>(csr_from_entries(1, 1, {}).matrix, width, 1, false);  // isolated
    check_products<TestType>(csr_from_entries(6, 6, {}).matrix, width, 1, false);  // no edges
    check_products<TestType>(csr_from_entries(6, 0, {}).matrix, width, 0, false);  // no columns
    check_products<TestType>(csr_from_entries(0, 6, {}).matrix, width, 0, false);  // no rows
    check_products<TestType>(csr_from_entries(0, 0, {}).matrix, width, 0, false);
    check_products<TestType>(block_diagonal(12, 0, 3), width, 0, false);
  }
}

TEST_CASE("no width is no work") {
  const auto a = random_matrix(5, 5, 2.0, 1);
  Filled<double> none(5, 0, 0, 0.0);
  multiply(a, none.all(), none.all());
  multiply_transposed(a, none.all(), none.all());
  std::vector<double> dots(a.value.size(), 3.0);
  sampled_products<double>(a, none.all(), none.all(), dots);
  CHECK(dots == std::vector<double>(dots.size(), 0.0));
}

TEMPLATE_TEST_CASE("products of large matrices, which are walked slice by slice, are the same sums", "", double, float,
                   Bf16) {
  check_products<TestType>(random_matrix(3000, 3500, 6.0, 21), 130, 0, true);
  check_products<TestType>(random_matrix(3500, 3000, 2.0, 22), 128, 0, false);
}

TEMPLATE_TEST_CASE("bits do not depend on how the matrix is cut into rows", "", double, float, Bf16) {
  const auto a = converted<TestType>(random_matrix(2500, 2500, 7.0, 31));
  for (std::int64_t width : {7, 16, 128}) {
    Filled<TestType> h(a.columns, width, 0, mark<TestType>(), 1), whole(a.rows, width, 0, mark<TestType>()),
        cut = whole;
    multiply(a, h.all(), whole.all());
    const std::vector<std::int64_t> borders{0, 1, 18, 700, 701, 1999, 2500};
    for (std::size_t b = 1; b < borders.size(); ++b) {
      const std::int64_t first = borders[b - 1], rows = borders[b] - first;
      multiply(some_rows(a, first, first + rows), h.all(),
               {cut.values.data() + first * cut.stride, rows, width, cut.stride});
    }
    CHECK(same_bits(whole, cut));
  }
}

TEMPLATE_TEST_CASE("bits do not depend on the walk through the matrix", "", double, float, Bf16) {
  for (std::int64_t width : {5, 16, 40, 128}) {
    const auto a = converted<TestType>(random_matrix(300, 310, 9.0, 32));
    Filled<TestType> h(a.columns, width, 0, mark<TestType>(), 1), usual(a.rows, width, 0, mark<TestType>(), 2),
        before = usual;
    multiply(a, h.all(), usual.all(), true);
    for (bool slices : {false, true})
      for (bool ahead : {false, true})
        for (bool past : {false, true}) {
          Filled<TestType> out = before;
          multiply(a, h.all(), out.all(), true, {slices, ahead, past});
          CHECK(same_bits(usual, out));
        }
  }
}

TEST_CASE("duplicates are multiplied once, as their sum") {
  auto entries = random_entries(30, 30, 3.0, 41);
  const auto once = entries.size();
  for (std::size_t k = 0; k < once; k += 2) entries.push_back(entries[k]);
  const auto gathered = csr_from_entries(30, 30, entries);
  CHECK(gathered.duplicates >= static_cast<std::int64_t>(once / 2));
  Filled<double> h(30, 16, 0, 0.0, 1), out(30, 16, 0, 0.0), plain(30, 16, 0, 0.0);
  multiply(gathered.matrix, h.all(), out.all());
  for (const Entry& e : entries)
    for (std::int64_t k = 0; k < 16; ++k) plain.at(e.row, k) += e.value * h.at(e.column, k);
  for (std::size_t k = 0; k < plain.values.size(); ++k) CHECK(std::abs(plain.values[k] - out.values[k]) < 1e-13);
}

TEST_CASE("the comparison sees one entry that is left out") {
  const auto a = random_matrix(26, 29, 5.0, 51);
  REQUIRE(a.length(a.rows - 1) > 0);
  Filled<double> h(a.columns, 16, 0, 0.0, 1), out(a.rows, 16, 0, 0.0);
  multiply(a, h.all(), out.all());
  CHECK(product_error(a, h, out, nullptr) <= 1e-13);
  CHECK(product_error(a, h, out, nullptr, true) > 1e-3);
}

TEST_CASE("shapes that do not fit are a defect of the caller") {
  const auto a = random_matrix(4, 5, 2.0, 1);
  Filled<double> h(5, 3, 0, 0.0), out(4, 3, 0, 0.0);
  CHECK_THROWS_AS(multiply(a, out.all(), out.all()), InternalError);
  CHECK_THROWS_AS(multiply_transposed(a, h.all(), out.all()), InternalError);
  std::vector<double> few(1);
  CHECK_THROWS_AS(sampled_products<double>(a, out.all(), h.all(), few), InternalError);
}
