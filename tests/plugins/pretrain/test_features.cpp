// Ways to compare fields that need no training, and fits to labels.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel/random.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/features/cca.hpp"
#include "plugins/pretrain/features/labels.hpp"
#include "plugins/pretrain/features/methods.hpp"
#include "plugins/pretrain/features/pca.hpp"
#include "plugins/pretrain/features/physics.hpp"
#include "plugins/pretrain/features/similar.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::pretrain;
using cambium::train::testing::World;

namespace {

double normal(std::int64_t row, std::int64_t column, std::uint64_t which) {
  return Random4(which, Stream::test, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column)).normal(0);
}

Matrix random(std::int64_t rows, std::int64_t columns, std::uint64_t which) {
  Matrix out(rows, columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out(r, c) = normal(r, c, which);
  return out;
}

}  // namespace

TEST_CASE("the search gives every cosine, and the largest in order") {
  const Matrix archive = random(300, 7, 1), queries = random(20, 7, 2);
  std::int64_t asked = 0;
  for_each_query(archive, queries, 3, 17, [&](std::int64_t query, std::span<const double> similar) {
    REQUIRE(query == 3 + asked++);
    for (std::int64_t k = 0; k < archive.rows; k += 29) {
      double ab = 0.0, aa = 0.0, bb = 0.0;
      for (std::int64_t c = 0; c < 7; ++c) {
        ab += archive(k, c) * queries(query, c);
        aa += archive(k, c) * archive(k, c);
        bb += queries(query, c) * queries(query, c);
      }
      CHECK(similar[k] == Approx(ab / std::sqrt(aa * bb)).margin(1e-14));
    }
    const auto found = largest(similar, 5);
    REQUIRE(found.size() == 5);
    CHECK(similar[found[0]] == *std::max_element(similar.begin(), similar.end()));
    for (std::size_t k = 1; k < 5; ++k) CHECK(similar[found[k - 1]] >= similar[found[k]]);
  });
  CHECK(asked == 14);
  const double equal[] = {1.0, 2.0, 2.0};
  CHECK(largest(equal, 9) == std::vector<std::int64_t>{1, 2, 0});
}

TEST_CASE("principal components find the directions of most variance, from rows and from columns") {
  for (const std::int64_t columns : {6, 80}) {
    Matrix x(40, columns);
    for (std::int64_t r = 0; r < 40; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        x(r, c) = 3.0 + 5.0 * normal(r, 0, 3) * (c == 1) + 2.0 * normal(r, 1, 3) * (c == 4);
    const PrincipalComponents pca(x, 10);
    REQUIRE(pca.count() == 2);
    const Matrix y = pca(x);
    double first = 0.0, second = 0.0, cross = 0.0;
    for (std::int64_t r = 0; r < 40; ++r) {
      first += y(r, 0) * y(r, 0);
      second += y(r, 1) * y(r, 1);
      cross += y(r, 0) * y(r, 1);
    }
    CHECK(first > second);
    CHECK(std::abs(cross) < 1e-9 * first);
    double all = 0.0;
    const auto mean = column_means(x);
    for (const double v : minus(x, mean).values) all += v * v;
    CHECK(first + second == Approx(all));
  }
}

TEST_CASE("canonical correlations find what two views share under what they do not") {
  const Matrix shared = random(600, 4, 5), mix_a = random(4, 12, 6), mix_b = random(4, 9, 7);
  Matrix a = product(shared, mix_a), b = product(shared, mix_b);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < a.columns; ++c) a(r, c) += 4.0 * normal(r, 100, 8) * (c % 2) + 0.1 * normal(r, c, 9);
    for (std::int64_t c = 0; c < b.columns; ++c)
      b(r, c) += 4.0 * normal(r, 101, 8) * (c % 3 == 0) + 0.1 * normal(r, c, 10);
  }
  std::vector<std::int64_t> known, asked;
  for (std::int64_t r = 0; r < 600; ++r) (r < 500 ? known : asked).push_back(r);
  const CanonicalCorrelations cca(rows_of(a, known), rows_of(b, known));
  CHECK(share_of_partners(cca.of_second(rows_of(b, asked)), cca.of_first(rows_of(a, asked))) > 0.9);
}

TEST_CASE("relevant components tell runs apart by what does not change within them") {
  // Runs differ by a little in forty numbers; six others change by much within each.
  const std::int64_t runs = 12, moments = 6, quiet = 40, loud = 6;
  Table archive, asked;
  archive.field = Matrix(runs * moments, quiet + loud);
  asked.field = Matrix(runs, quiet + loud);
  for (Table* t : {&archive, &asked}) t->shape = {1, {23, 2}, {0, 0}};
  const auto field = [&](std::int64_t run, std::int64_t moment, std::span<double> to) {
    for (std::int64_t k = 0; k < quiet + loud; ++k)
      to[k] = k < quiet ? 0.3 * normal(run, k, 8) + 0.01 * normal(run * moments + moment, k, 9)
                        : 3.0 * normal(run * 7 + moment, k, 10);
  };
  for (std::int64_t run = 0; run < runs; ++run) {
    for (std::int64_t m = 0; m < moments; ++m) {
      field(run, m, archive.field.row(run * moments + m));
      archive.simulation.push_back(run);
      archive.moment.push_back(m);
    }
    field(run, moments, asked.field.row(run));
    asked.simulation.push_back(run);
    asked.moment.push_back(moments);
  }
  const auto methods = methods_for(archive, asked, {}, {});
  const auto right = [&](const std::string& name) {
    const auto found = std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
    REQUIRE(found != methods.end());
    std::int64_t count = 0;
    for_each_query(found->archive, found->queries, 0, runs, [&](std::int64_t query, std::span<const double> similar) {
      count += archive.simulation[largest(similar, 1)[0]] == query;
    });
    return count;
  };
  CHECK(right("relevant") == runs);
  CHECK(right("pixels - mean") <= runs / 2);
}

TEST_CASE("a physicist's numbers do not change with a shift along a periodic axis, and know wave numbers and fluxes") {
  const FieldShape shape{2, {16, 8}, {1, 0}};
  Matrix fields(2, shape.numbers());
  for (std::int64_t i = 0; i < 16; ++i)
    for (std::int64_t j = 0; j < 8; ++j)
      for (int row = 0; row < 2; ++row) {
        const double wave = std::cos(2.0 * std::numbers::pi * 3.0 * static_cast<double>(i + 5 * row) / 16.0);
        fields(row, i * 8 + j) = 0.1 * static_cast<double>(j) + wave;
        fields(row, (16 + i) * 8 + j) = 2.0 * wave;
      }
  const Matrix found = physics_features(fields, shape);
  for (std::int64_t c = 0; c < found.columns; ++c) CHECK(found(0, c) == Approx(found(1, c)).margin(1e-6));
  CHECK(found(0, 0) == Approx(0.35));
  CHECK(found(0, 2 + 1) == Approx(1.0));  // mean of wave 2 wave
  const std::int64_t spectrum = 2 + 3;    // behind means and products: wave numbers 0 to 8 of the first channel
  CHECK(found(0, spectrum + 3) == Approx(std::log10(0.25)));
  CHECK(found(0, spectrum + 2) < -10.0);
}

TEST_CASE("neighbours and linear fits tell classes apart, with all labels and with few") {
  Matrix known(300, 5), asked(60, 5);
  std::vector<std::int64_t> classes, truth;
  for (std::int64_t r = 0; r < 360; ++r) {
    const std::int64_t c = r % 3;
    Matrix& to = r < 300 ? known : asked;
    const std::int64_t row = r < 300 ? r : r - 300;
    (r < 300 ? classes : truth).push_back(c);
    for (std::int64_t k = 0; k < 5; ++k) to(row, k) = 0.3 * normal(r, k, 11) + (k == c ? 2.0 : 0.0) + 1.0;
  }
  CHECK(share_right(nearest_classes(known, classes, asked, 7), truth) > 0.95);
  CHECK(share_right(linear_classes(known, classes, asked, 1e-3), truth) > 0.95);
  const auto few = few_of_each(classes, 4, 1, 0);
  REQUIRE(few.size() == 12);
  CHECK(few != few_of_each(classes, 4, 1, 1));
  std::vector<std::int64_t> some;
  for (const auto k : few) some.push_back(classes[k]);
  CHECK(std::count(some.begin(), some.end(), 2) == 4);
  CHECK(share_right(nearest_classes(rows_of(known, few), some, asked, 1), truth) > 0.9);
  // More numbers than rows: the other normal equations, the same fit.
  Matrix wide(12, 40);
  for (std::int64_t r = 0; r < 12; ++r)
    for (std::int64_t c = 0; c < 40; ++c) wide(r, c) = known(few[r], c % 5);
  CHECK(share_right(linear_classes(wide, some, wide, 1e-3), some) == 1.0);
  REQUIRE_THROWS_WITH(few_of_each(classes, 101, 1, 0),
                      "labels_per_class is 101, but class 0 has 100 samples; take fewer");
}

TEST_CASE("a ridge that nobody gave is chosen by rows that are left out") {
  // Three numbers tell classes apart, two hundred are noise as large.
  Matrix known(45, 203), asked(600, 203);
  std::vector<std::int64_t> classes, truth;
  for (std::int64_t r = 0; r < 645; ++r) {
    Matrix& to = r < 45 ? known : asked;
    const std::int64_t row = r < 45 ? r : r - 45, c = r % 3;
    (r < 45 ? classes : truth).push_back(c);
    for (std::int64_t k = 0; k < 203; ++k) to(row, k) = normal(r, k, 21) + (k == c ? 4.0 : 0.0);
  }
  const double found = share_right(linear_classes(known, classes, asked, std::nullopt), truth);
  double best = 0.0, least = 1.0;
  for (const double ridge : {1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0}) {
    const double share = share_right(linear_classes(known, classes, asked, ridge), truth);
    best = std::max(best, share);
    least = std::min(least, share);
  }
  CHECK(best > least);
  CHECK(found > best - 0.03);
}

TEST_CASE("an archive of one run, or of fields that do not differ, is compared by what there is") {
  World world;
  FieldArchive::Params keys;
  keys.made_up = MadeUpFields{.simulations = 3, .moments = 4, .cells = {4, 4}};
  FieldArchive data(keys, world.context);
  data.open(world.context);
  const Table several = read_table(data);
  Table one = several, same = several;
  std::fill(one.simulation.begin(), one.simulation.end(), 0);
  for (std::int64_t k = 0; k < one.rows(); ++k) one.moment[k] = k;
  std::fill(same.field.values.begin(), same.field.values.end(), 2.0);
  const auto names = [](const std::vector<Method>& methods) {
    std::vector<std::string> out;
    for (const auto& method : methods) out.push_back(method.name);
    return out;
  };
  const std::vector<std::string> without{"pixels", "pixels - mean", "PCA", "physicist"};
  CHECK(names(methods_for(one, one, {}, {})) == without);
  CHECK(names(methods_for(same, same, {}, {})) == without);
  CHECK(names(methods_for(several, several, {}, {})).size() == 5);
}
