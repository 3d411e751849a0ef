// Rows coded within bounds: the bound of every number, damaged streams, and the same rows on any number of ranks.
#include <cmath>
#include <functional>
#include <limits>

#include "core/codec/rows/rows.hpp"
#include "core/train/tables/row_coding.hpp"
#include "core/train/tables/tables.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/train/tables/plain_tables.hpp"

using namespace cambium;
using namespace cambium::train;
using testing::MadeStep;

namespace {

const std::vector<TableInfo> coded_infos{{"a", 37, 5, 0.3}, {"b", 4, 3, 1.0}, {"c", 501, 8, 0.1}};

template <class T>
std::vector<T> made_rows(std::int64_t rows, std::int64_t width, int different, double reach) {
  std::vector<T> out;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < width; ++k) {
      const Random4 random(3, Stream::test, static_cast<std::uint64_t>((r * r + 5 * r) % different),
                           static_cast<std::uint64_t>(k));
      out.push_back(static_cast<T>(reach * random.normal(0)));
    }
  return out;
}

template <class T>
void there_and_back(bool repeated) {
  const std::vector<double> bounds{1e-2, 0.3, 1e-9, 1e-4};
  std::vector<std::vector<T>> exact{
      made_rows<T>(200, 7, 31, 0.4), made_rows<T>(5, 3, 9, 10.0), made_rows<T>(9, 4, 4, 1e3), {}};
  exact[0][10] = std::numeric_limits<T>::infinity();
  exact[0][30] = std::numeric_limits<T>::max();
  auto coded = exact, back = exact;
  std::vector<lowp::RowGroup<T>> from, to;
  const std::int64_t width[] = {7, 3, 4, 2};
  for (std::size_t t = 0; t < exact.size(); ++t) {
    std::fill(back[t].begin(), back[t].end(), T(-77));
    from.push_back({coded[t], width[t], bounds[t], repeated});
    to.push_back({back[t], width[t], 1.0, false});
  }
  lowp::ByteWriter out;
  lowp::encode_rows<T>(from, out);
  lowp::ByteReader in(out.bytes());
  lowp::decode_rows<T>(in, to);
  CHECK(in.rest().empty());
  CHECK(back == coded);
  double plain = 0.0;
  for (std::size_t t = 0; t < exact.size(); ++t) {
    plain += static_cast<double>(sizeof(T) * exact[t].size());
    for (std::size_t k = 0; k < exact[t].size(); ++k)
      CHECK((exact[t][k] == back[t][k] ||
             std::abs(static_cast<long double>(exact[t][k]) - static_cast<long double>(back[t][k])) <=
                 static_cast<long double>(bounds[t])));
  }
  CHECK(plain / static_cast<double>(out.bytes().size()) > (repeated ? 4.0 : 2.5));
  for (std::size_t length = 0; length < out.bytes().size(); length += 7) {
    lowp::ByteReader cut(std::span(out.bytes()).first(length));
    CHECK_THROWS_AS(lowp::decode_rows<T>(cut, to), lowp::DamagedStream);
  }
}

/// The sums that all slices of four steps see, with rows changed by made gradients between them.
std::vector<float> seen_of(Tables& tables, const Comm& comm) {
  std::vector<float> out;
  const int slices = MadeStep::slices / comm.size(), first = comm.rank() * slices;
  for (std::uint64_t n = 0; n < 4; ++n) {
    const MadeStep made{n, coded_infos};
    std::vector<std::vector<Bags>> asked;
    std::vector<std::int64_t> numbers;
    for (int s = first; s < first + slices; ++s) {
      asked.emplace_back();
      for (int t = 0; t < 3; ++t) asked.back().push_back(made.bags(s, t));
      numbers.push_back(s);
    }
    tables.fetch(asked, numbers);
    std::vector<double> sums(static_cast<std::size_t>(MadeStep::slices) * 1000, 0.0);
    for (int k = 0; k < slices; ++k) {
      if (made.samples(first + k) == 0) continue;
      auto* to = sums.data() + static_cast<std::ptrdiff_t>(first + k) * 1000;
      for (int t = 0; t < 3; ++t) {
        const TensorRef pooled = tables.rows(k).pooled(t), gradient = tables.rows(k).gradient(t);
        for (std::int64_t e = 0; e < pooled.elements(); ++e) {
          *to++ = static_cast<const float*>(pooled.data)[e];
          static_cast<float*>(gradient.data)[e] += static_cast<float>(made.gradient(first + k, t, e));
        }
      }
      tables.rows(k).ready();
    }
    tables.send_back();
    tables.step(0.25, 0.1);
    comm.sum(sums);
    for (const double x : sums) out.push_back(static_cast<float>(x));
  }
  return out;
}

std::vector<float> seen_with(const TableKeys& keys, MPI_Comm ranks) {
  Comm comm(ranks);
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  const auto tables = make_tables(coded_infos, keys, DType::f32, context);
  tables->start(5);
  return seen_of(*tables, comm);
}

}  // namespace

TEST_CASE("coded rows are within their bound, and come back as the encoder left them") {
  for (const bool repeated : {false, true}) {
    there_and_back<float>(repeated);
    there_and_back<double>(repeated);
  }
}

TEST_CASE("steps see the same coded rows on any number of ranks", "[ranks]") {
  for (const auto divide : {TableKeys::Divide::rows, TableKeys::Divide::whole})
    for (const auto by : {RowCodeKeys::By::same, RowCodeKeys::By::homogenisation}) {
      TableKeys keys;
      keys.divide = divide;
      keys.code = RowCodeKeys{1e-3, by, 4.0, 3};
      const auto seen = seen_with(keys, MPI_COMM_WORLD);
      CHECK(seen == seen_with(keys, MPI_COMM_SELF));
      keys.code.reset();
      CHECK(seen != seen_with(keys, MPI_COMM_WORLD));
    }
}

TEST_CASE("coded gradients are within a share of the largest, fewer bytes, and the same on any number of ranks",
          "[ranks]") {
  for (const auto divide : {TableKeys::Divide::rows, TableKeys::Divide::whole}) {
    TableKeys keys;
    keys.divide = divide;
    keys.optimizer = TableKeys::Rule::sgd;
    keys.code = RowCodeKeys{1e-9, RowCodeKeys::By::same, 1.0, 1};
    const auto exact = seen_with(keys, MPI_COMM_WORLD);
    keys.code->gradients = 0.05;
    const auto coded = seen_with(keys, MPI_COMM_WORLD);
    CHECK(coded == seen_with(keys, MPI_COMM_SELF));
    // Gradients are below one half: after a step of 0.25 times 0.1 a row that n samples of a bag name is off by at most
    // n times 0.05 x 0.5 x 0.025, and so is each of the three that a bag adds.
    const auto second = static_cast<std::size_t>(MadeStep::slices) * 1000;
    double most = 0.0;
    for (std::size_t k = 0; k < 2 * second; ++k)
      most = std::max(most, std::abs(static_cast<double>(exact[k]) - static_cast<double>(coded[k])));
    CHECK(most > 1e-5);
    CHECK(most < 3 * 40 * 0.05 * 0.5 * 0.025);
    for (std::size_t k = 0; k < second; ++k) CHECK(exact[k] == coded[k]);  // of the first step rows alone are seen
  }
}

TEST_CASE("tables have bounds of their own by name, and those that are no table's are refused", "[ranks]") {
  Comm comm(MPI_COMM_WORLD);
  std::vector<TableInfo> infos = coded_infos;
  RowCodeKeys keys{1e-3, RowCodeKeys::By::same, 1.0, 1};
  keys.bounds = {{"b", 0.25}};
  TablePlaces places(infos, TableKeys::Divide::rows, comm.size());
  RowStore<float> store(infos, places, TableKeys::Rule::sgd, comm.rank());
  RowCoding<float> coding(infos, keys);
  coding.begin_step(store, places, comm);
  CHECK(coding.bound(0) == 1e-3);
  CHECK(coding.bound(1) == 0.25);
  CHECK(coding.bound(2) == 1e-3);
  keys.bounds = {{"z", 0.25}};
  CHECK(message([&] { RowCoding<float>(infos, keys); }) ==
        "tables: codec: bounds: no table is named 'z'; the network has a, b, c");
  keys.bounds = {{"a", 0.0}};
  CHECK(message([&] { RowCoding<float>(infos, keys); }) ==
        "tables: codec: bounds: a has the bound 0; give a positive number");
}

TEST_CASE("a first step's sums differ by no more than the bound of each row", "[ranks]") {
  TableKeys keys;
  keys.divide = TableKeys::Divide::rows;
  const auto exact = seen_with(keys, MPI_COMM_WORLD);
  keys.code = RowCodeKeys{1e-3, RowCodeKeys::By::same, 1.0, 1};
  const auto coded = seen_with(keys, MPI_COMM_WORLD);
  double most = 0.0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(MadeStep::slices) * 1000; ++k)
    most = std::max(most, std::abs(static_cast<double>(exact[k]) - static_cast<double>(coded[k])));
  CHECK(most > 1e-4);
  CHECK(most < 3e-3 + 1e-6);  // bags have up to three rows
}
