// What is compared does not depend on the unit that fields or parameters are written in, and equals count as chance has
// it.
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/features/labels.hpp"
#include "plugins/pretrain/features/methods.hpp"
#include "plugins/pretrain/features/scaled_parameters.hpp"
#include "plugins/pretrain/features/similar.hpp"
#include "plugins/pretrain/networks/scales.hpp"
#include "plugins/pretrain/tasks/judgement.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::pretrain;
using cambium::train::testing::World;

namespace {

/// Rows of made-up runs, the first quantity times `first` and the others times `second`.
Table rows_in(double first, double second, std::int64_t seed) {
  World world;
  FieldArchive::Params keys;
  keys.made_up = MadeUpFields{.simulations = 5, .moments = 4, .cells = {8, 8}, .noise = 0.3, .seed = seed};
  FieldArchive data(keys, world.context);
  data.open(world.context);
  Table out = read_table(data);
  const auto cells = static_cast<std::size_t>(out.field.columns / out.shape.channels);
  for (std::int64_t k = 0; k < out.rows(); ++k)
    for (std::size_t c = 0; c < out.field.row(k).size(); ++c) out.field.row(k)[c] *= c < cells ? first : second;
  return out;
}

}  // namespace

TEST_CASE("ways to compare do not depend on units") {
  const auto plain = methods_for(rows_in(1.0, 1.0, 1), rows_in(1.0, 1.0, 2), {}, {});
  for (const auto& [first, second] : {std::pair{1e-20, 1e-20}, {1e20, 1e20}, {1e3, 1e-18}}) {
    const auto other = methods_for(rows_in(first, second, 1), rows_in(first, second, 2), {}, {});
    REQUIRE(other.size() == plain.size());
    for (std::size_t m = 0; m < plain.size(); ++m)
      for (const std::int64_t query : {0, 7, 19})
        for (const std::int64_t entry : {0, 3, 11}) {
          INFO(plain[m].name << " units " << first << " " << second);
          CHECK(cosine(other[m].queries.row(query), other[m].archive.row(entry)) ==
                Approx(cosine(plain[m].queries.row(query), plain[m].archive.row(entry))).margin(1e-6));
        }
  }
}

TEST_CASE("parameters in a small unit are no constants") {
  Matrix could(3, 1), known(2, 1);
  could.values = {1e-15, 2e-15, 4e-15};
  known.values = {1e-15, 3e-15};
  for (const auto& scaled : {comparable(could, known), comparable_by_known(could, known)})
    CHECK(scaled.first(2, 0) - scaled.first(0, 0) > 1.0);
  Matrix decades(3, 1);
  decades.values = {1e3, 1e5, 1e7};
  CHECK(comparable_by_known(could, decades).second(1, 0) == Approx(0.0).margin(1e-9));  // as logarithms
}

TEST_CASE("an encoder's scales follow the field's unit, and a quantity that never changes does not blow up what does") {
  World world;
  const Scratch scratch;
  std::vector<float> small(2 * 3 * 4 * 4), constant(small.size(), 300.1f);
  for (std::size_t k = 0; k < small.size(); ++k) small[k] = 1e-20f * static_cast<float>(k % 7);
  const auto scales_of = [&](const std::vector<float>& values) {
    io::File::create(scratch.file("f.h5")).write("frames", io::tensor_of(values.data(), {2, 3, 4, 4}));
    FieldArchive::Params keys;
    keys.files = {scratch.file("f.h5")};
    keys.array = "frames";
    FieldArchive data(keys, world.context);
    data.open(world.context);
    return Scales::of(data);
  };
  const auto tiny = scales_of(small);
  CHECK(tiny.deviation[0] > 1.9e-20);
  CHECK(tiny.deviation[0] < 2.1e-20);
  const auto still = scales_of(constant);
  CHECK(still.mean[0] == Approx(300.1).epsilon(1e-6));
  CHECK(still.deviation[0] == Approx(300.1).epsilon(1e-6));
  CHECK(scales_of(std::vector<float>(small.size(), 0.0f)).deviation[0] == 1.0);
}

TEST_CASE("entries as similar as the right one stand before it as often as behind") {
  const auto place = [](std::vector<double> similar, std::vector<bool> right) {
    return place_of_right(similar, right);
  };
  CHECK(place({0.9, 0.5, 0.1}, {true, false, false}).first == 1.0);
  CHECK(place({0.9, 0.5, 0.1}, {false, false, true}).mean == 3.0);
  // Vectors that are all equal: one of twenty is right.
  std::vector<bool> one(20, false);
  one[3] = true;
  const auto chance = place(std::vector<double>(20, 1.0), one);
  CHECK(chance.first == Approx(0.05));
  CHECK(chance.among_ten == Approx(0.5));
  CHECK(chance.mean == Approx(10.5));
  // Two right ones among four equals, behind one that is more similar.
  const auto some = place({0.8, 0.5, 0.5, 0.5, 0.5, 0.2}, {false, true, false, true, false, true});
  CHECK(some.first == 0.0);
  CHECK(some.among_ten == 1.0);
  CHECK(some.mean == Approx(2.0 + 2.0 / 3.0));
  CHECK(place({0.5, 0.5}, {true, true}).first == 1.0);
}

TEST_CASE("rows that stand in another table are found, and so is the most frequent class") {
  const Table archive = rows_in(1.0, 1.0, 1), other = rows_in(1.0, 1.0, 2);
  CHECK(rows_found_again(archive.field, archive.field) == 20);
  CHECK(rows_found_again(other.field, archive.field) == 0);
  CHECK(rows_found_again(rows_of(archive.field, std::vector<std::int64_t>{3, 3}), archive.field) == 2);
  const std::int64_t classes[] = {2, 0, 2, 1};
  CHECK(most_frequent(classes, 3) == std::vector<std::int64_t>{2, 2, 2});
}

TEST_CASE("a deck's periodic axes replace what files of fields say") {
  World world;
  const Scratch scratch;
  {
    auto file = io::File::create(scratch.file("a.h5"));
    file.write("/scales/sim_time", std::vector<double>{0.0});
    const std::vector<float> values(8, 1.0f);
    file.write("/tasks/b", io::tensor_of(values.data(), {1, 4, 2}));
  }
  FieldArchive::Params keys;
  keys.files = {scratch.file("a.h5")};
  keys.fields = {"b"};
  for (const auto& periodic : {std::vector<std::int64_t>{}, {0, 1}}) {
    keys.periodic = periodic;
    FieldArchive data(keys, world.context);
    data.open(world.context);
    CHECK(read_table(data).shape.periodic == (periodic.empty() ? std::vector<std::int64_t>{0, 0} : periodic));
  }
}
