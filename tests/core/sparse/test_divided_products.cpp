#include "core/base/error.hpp"
#include "core/sparse/predicted_load.hpp"
#include "core/sparse/row_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/divided_samples.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

namespace {

struct Case {
  std::string name;
  Csr<double> matrix;
  std::vector<std::int64_t> first;
};

/// Equal and unequal ranges, symmetric and not, one node, fewer nodes than ranks.
std::vector<Case> cases(int ranks) {
  return {
      {"equal ranges", random_matrix(61, 4, false, 1), equal_ranges(61, ranks)},
      {"symmetric", random_matrix(47, 3, true, 2), random_ranges(47, ranks, 3)},
      {"unequal ranges", random_matrix(53, 5, false, 4), random_ranges(53, ranks, 5)},
      {"no entries", csr_from_entries(9, 9, {}).matrix, equal_ranges(9, ranks)},
      {"fewer nodes than ranks", random_matrix(3, 2, false, 6), equal_ranges(3, ranks)},
      {"one node", random_matrix(1, 1, true, 7), random_ranges(1, ranks, 8)},
  };
}

template <class T>
std::unique_ptr<DividedProduct<T>> divided(const Case& c, const LayoutKeys& keys, const Comm& comm) {
  return make_product<T>(own_rows(c.matrix, c.first, comm.rank()), c.first, keys, comm);
}

template <class T>
void apply(DividedProduct<T>& product, bool transposed, std::int64_t width, Rows<const T> h, Rows<T> out) {
  if (transposed)
    product.apply_transposed(width, h, out);
  else
    product.apply(width, h, out);
}

/// Largest difference to the plain product, over the magnitude that it may have.
template <class T>
double worst_error(const LayoutKeys& keys, const Comm& comm) {
  double worst = 0.0;
  for (const Case& c : cases(comm.size())) {
    const auto product = divided<T>(c, keys, comm);
    for (std::int64_t width : {1, 2, 3, 16, 37})
      for (bool transposed : {false, true}) {
        const auto numbers = random_numbers<T>(c.matrix.rows * width, 9);
        Part<T> h(product->share(), width, numbers), out(product->share(), width);
        apply<T>(*product, transposed, width, h.view(), out.view());
        const std::vector<double> whole(numbers.begin(), numbers.end());
        worst = std::max(worst, out.error(plain_product(c.matrix, whole, width, transposed), width));
      }
  }
  return comm.max(worst);
}

}  // namespace

TEST_CASE("every layout gives the plain product, both ways, at every width") {
  const Comm comm;
  for (const LayoutKeys& keys : all_layouts(comm.size())) {
    INFO(text_of(keys));
    CHECK(worst_error<double>(keys, comm) < 1e-13);
    CHECK(worst_error<float>(keys, comm) < 1e-5);
  }
}

TEST_CASE("shares cover every number once, copies aside") {
  const Comm comm;
  const std::int64_t n = 29, width = 5;
  const auto first = random_ranges(n, comm.size(), 11);
  for (const LayoutKeys& keys : all_layouts(comm.size())) {
    INFO(text_of(keys));
    const auto product = divided<double>({"", random_matrix(n, 3, true, 10), first}, keys, comm);
    const Share share = product->share();
    std::vector<double> times(at(n * width), 0.0), rows(at(n), 0.0);
    for (std::int64_t i = share.rows.begin; i < share.rows.end; ++i)
      for (std::int64_t k = share.columns(width).begin; k < share.columns(width).end; ++k) ++times[at(i * width + k)];
    for (std::int64_t i = share.counted().begin; i < share.counted().end; ++i) rows[at(i)] += 1.0 / share.parts;
    comm.sum(times);
    comm.sum(rows);
    CHECK(std::count(times.begin(), times.end(), static_cast<double>(keys.copies)) == n * width);
    CHECK(std::all_of(rows.begin(), rows.end(), [](double x) { return std::abs(x - 1.0) < 1e-12; }));
    CHECK(product->nodes() == n);
  }
}

TEST_CASE("words are those of the formulas, exactly") {
  const Comm comm;
  for (const LayoutKeys& keys : all_layouts(comm.size()))
    for (const Case& c : cases(comm.size())) {
      INFO(text_of(keys) << ", " << c.name);
      const auto product = divided<double>(c, keys, comm);
      std::int64_t dense = 0, entries = 0;
      for (std::int64_t width : {1, 2, 16, 37})
        for (bool transposed : {false, true}) {
          Part<double> h(product->share(), width, random_numbers<double>(c.matrix.rows * width, 12)),
              out(product->share(), width);
          apply<double>(*product, transposed, width, h.view(), out.view());
          const Words expected =
              expected_words(transposed ? sparse::transposed(c.matrix) : c.matrix, c.first, keys, comm.rank(), width);
          dense += expected.dense;
          entries += expected.entries;
        }
      CHECK(comm.sum(std::int64_t(product->words().dense != dense)) == 0);
      CHECK(comm.sum(std::int64_t(product->words().entries != entries)) == 0);
      if (entries == 0) CHECK(product->words().bytes == 8 * dense);
    }
}

TEST_CASE("what a plan predicts is what a product receives") {
  const Comm comm;
  for (const LayoutKeys& keys : all_layouts(comm.size()))
    for (const Case& c : cases(comm.size()))
      for (std::int64_t width : {1, 5, 16}) {
        INFO(text_of(keys) << ", " << c.name << ", width " << width);
        const auto product = divided<double>(c, keys, comm);
        Part<double> h(product->share(), width, random_numbers<double>(c.matrix.rows * width, 12)),
            out(product->share(), width);
        product->apply(width, h.view(), out.view());
        const auto loads = predicted_loads(c.matrix, c.first, keys, width);
        const Load& own = loads[at(comm.rank())];
        const Words& words = product->words();
        const bool alike = own.received.dense == words.dense && own.received.entries == words.entries &&
                           own.received.bytes == words.bytes && own.received.messages == words.messages &&
                           own.rows == product->share().rows.size();
        CHECK(comm.sum(std::int64_t(!alike)) == 0);
        std::int64_t multiplied = 0;
        for (const Load& load : loads) multiplied += load.multiplied;
        CHECK(multiplied == c.matrix.entries() * width);
      }
}

TEST_CASE("equal ranges: the words of the published formulas") {
  const Comm comm;
  const int p = comm.size();
  const std::int64_t n = 48, f = 12;  // divisible by all that divides them here
  const Csr<double> a = random_matrix(n, 4, true, 13);
  const Case c{"", a, equal_ranges(n, p)};
  const auto received = [&](const LayoutKeys& keys) {
    const auto product = divided<double>(c, keys, comm);
    Part<double> h(product->share(), f, random_numbers<double>(n * f, 14)), out(product->share(), f);
    product->apply(f, h.view(), out.view());
    return comm.sum(product->words().dense);
  };
  CHECK(received({Scheme::rows}) == n * f * (p - 1));
  CHECK(received({Scheme::needed_rows}) <= n * f * (p - 1));
  if (p == 4) {
    // n f / c, less the own block on the ranks whose stages include it, and 2 (c - 1) / c (n c / P) f.
    CHECK(received({Scheme::rows_1_5d, 2}) == 4 * (n * f / 2 + n * f / 2) - 2 * (n * f / 2));
    CHECK(received({Scheme::grid_2d}) == 4 * n * f / 2 / 2);
  }
  if (p == 8) {
    CHECK(received({Scheme::rows_1_5d, 2}) == 8 * (n * f / 2 + n * f / 4) - 4 * (n * f / 4));
    // Two layers: n f / 8 from the column of the grid, n f / 8 from the other layer.
    CHECK(received({Scheme::grid_3d}) == 8 * (n * f / 8 + n * f / 8));
  }
}

TEST_CASE("ordered sums have the bits of one rank") {
  const Comm comm;
  for (Scheme scheme : {Scheme::rows, Scheme::needed_rows})
    for (const Case& c : cases(comm.size())) {
      INFO(name_of(scheme) << ", " << c.name);
      const auto product = divided<double>(c, {scheme, 1, lowp::WireCodec::none, true}, comm);
      for (std::int64_t width : {1, 7, 32})
        for (bool transposed : {false, true}) {
          const auto numbers = random_numbers<double>(c.matrix.rows * width, 15);
          Part<double> h(product->share(), width, numbers), out(product->share(), width);
          apply<double>(*product, transposed, width, h.view(), out.view());
          std::vector<double> whole(at(c.matrix.rows * width));
          const Csr<double> a = transposed ? sparse::transposed(c.matrix) : c.matrix;
          multiply(a, {numbers.data(), a.rows, width, width}, {whole.data(), a.rows, width, width});
          CHECK(comm.max(out.error(whole, width)) == 0.0);
        }
    }
}

TEST_CASE("coded rows: the error of the code, the bytes of the code, the same again at the same step") {
  const Comm comm;
  const std::int64_t n = 90, width = 24;
  const Case c{"", random_matrix(n, 6, false, 16), equal_ranges(n, comm.size())};
  const auto numbers = random_numbers<double>(n * width, 17);
  const auto exact = plain_product(c.matrix, numbers, width, false);
  double largest_row = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (double x : c.matrix.values_of(i)) sum += std::abs(x);
    largest_row = std::max(largest_row, sum);
  }
  for (LayoutKeys keys : all_layouts(comm.size())) {
    if (keys.ordered) continue;
    INFO(text_of(keys));
    // A step of the code in numbers up to 1, times what a row adds up.
    for (const auto& [codec, step] :
         {std::pair(lowp::WireCodec::bf16, 1.0 / 256), std::pair(lowp::WireCodec::int8, 1.0 / 127)}) {
      keys.codec = codec;
      const auto product = divided<double>(c, keys, comm);
      Part<double> h(product->share(), width, numbers), out(product->share(), width), again(product->share(), width);
      product->begin_step(5, 3);
      product->apply(width, h.view(), out.view());
      CHECK(comm.max(out.error(exact, width)) < step * largest_row);
      const std::int64_t bytes = product->words().bytes;
      product->begin_step(5, 3);
      product->apply(width, h.view(), again.view());
      CHECK(out.numbers == again.numbers);
      if (comm.size() == 1) {
        CHECK(bytes == 0);
        continue;
      }
      CHECK(comm.max(out.error(exact, width)) > 1e-6);
      if (keys.scheme == Scheme::rows) {
        std::int64_t expected = 0;
        for (int r = 0; r < comm.size(); ++r)
          if (r != comm.rank())
            expected += lowp::message_bytes(codec, ((c.first[at(r) + 1] - c.first[at(r)]) * width + 127) / 128 * 128);
        CHECK(bytes == expected);
      }
    }
  }
}

TEST_CASE("numbers of ranks that a layout cannot use are refused, naming the nearest") {
  const LayoutKeys copies2{Scheme::rows_1_5d, 2}, copies3{Scheme::rows_1_5d, 3}, plane{Scheme::grid_2d},
      cube{Scheme::grid_3d};
  CHECK_THROWS_WITH(
      require_ranks(copies2, 3),
      "layout rows_1_5d with replication: 2 needs a multiple of 2 ranks, at least 4, and 3 run; start 4, or "
      "choose layout: needed_rows, which takes any number");
  CHECK_THROWS_WITH(
      require_ranks(copies3, 11),
      "layout rows_1_5d with replication: 3 needs a multiple of 3 ranks, at least 9, and 11 run; start 9 or "
      "12, or choose layout: needed_rows, which takes any number");
  CHECK_THROWS_WITH(require_ranks(plane, 6),
                    "layout grid_2d needs a square as number of ranks, and 6 run; start 4 or 9, or choose layout: "
                    "needed_rows, which takes any number");
  CHECK_THROWS_WITH(require_ranks(cube, 9),
                    "layout grid_3d needs a cube as number of ranks, and 9 run; start 8 or 27, or choose layout: "
                    "needed_rows, which takes any number");
  for (int ranks : {1, 2, 3, 5, 7, 64}) CHECK_NOTHROW(require_ranks({Scheme::rows}, ranks));
  CHECK(fits(plane, 1));
  CHECK(fits(cube, 64));
  CHECK(fits(copies2, 6));
  CHECK_FALSE(fits(copies2, 2));
  const Comm comm;
  if (!fits(plane, comm.size()))
    CHECK_THROWS_AS(divided<double>({"", random_matrix(5, 2, true, 1), equal_ranges(5, comm.size())}, plane, comm),
                    InputError);
}

TEST_CASE("rows of others come and sums for them go back") {
  const Comm comm;
  const std::int64_t n = 41, width = 3;
  const auto first = random_ranges(n, comm.size(), 18);
  const Csr<double> a = random_matrix(n, 4, false, 19);
  const auto own = own_rows(a, first, comm.rank());
  const auto local = local_rows(own, first, comm.rank());
  RowExchange<double> exchange(first, local.wanted, lowp::WireCodec::none, comm);
  const std::int64_t begin = first[at(comm.rank())], rows = own.rows, all = local.matrix.columns;
  CHECK(exchange.own_rows() == rows);
  CHECK(exchange.wanted_rows() == all - rows);
  // Own and fetched rows in one matrix: the product with it is the product.
  const auto numbers = random_numbers<double>(n * width, 20);
  std::vector<double> h(numbers.begin() + begin * width, numbers.begin() + (begin + rows) * width);
  h.resize(at(all * width));
  const Rows<double> mine{h.data(), rows, width, width}, theirs{h.data() + rows * width, all - rows, width, width};
  exchange.begin(mine, theirs);
  exchange.finish();
  std::vector<double> out(at(rows * width));
  multiply(local.matrix, {h.data(), all, width, width}, {out.data(), rows, width, width});
  const auto expected = plain_product(a, numbers, width, false);
  for (std::int64_t k = 0; k < rows * width; ++k) CHECK(std::abs(out[at(k)] - expected[at(begin * width + k)]) < 1e-13);
  // And the adjoint of that: contributions to rows of others are added there.
  std::vector<double> back(at(all * width));
  multiply_transposed(local.matrix, {numbers.data() + begin * width, rows, width, width},
                      {back.data(), all, width, width});
  exchange.begin_back({back.data() + rows * width, all - rows, width, width}, {back.data(), rows, width, width});
  exchange.finish_back();
  const auto turned = plain_product(a, numbers, width, true);
  for (std::int64_t k = 0; k < rows * width; ++k) CHECK(std::abs(back[at(k)] - turned[at(begin * width + k)]) < 1e-13);
}
