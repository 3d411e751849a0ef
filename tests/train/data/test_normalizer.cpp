#include <cmath>
#include <cstring>

#include "core/train/data/normalizer.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;

TEST_CASE("a field is scaled to mean 0 and standard deviation 1, or to [0, 1], and back") {
  World world;
  SharedScratch scratch(world.comm);
  const std::string name = scratch.file("a.h5");
  if (world.comm.root()) {
    auto file = io::File::create(name);
    std::vector<double> x;  // columns: k, 100 + 3 k, 7
    for (int k = 0; k < 101; ++k) x.insert(x.end(), {double(k), 100.0 + 3 * k, 7.0});
    file.write("x", io::tensor_of(x.data(), {101, 3}));
    file.close();
  }
  world.comm.barrier();
  Hdf5Dataset data({{name}, {{"x", "", {}}}, {}, false}, world.context);
  data.open(world.context);
  const double deviation = std::sqrt((101.0 * 101.0 - 1.0) / 12.0);

  SECTION("each number by itself") {
    const auto n = Normalizer::fit(data, "x", Normalizer::Method::standard, Normalizer::Per::each, world.context);
    REQUIRE(n.shift().size() == 3);
    CHECK(n.shift()[0] == Approx(50.0).epsilon(1e-14));
    CHECK(n.shift()[1] == Approx(250.0).epsilon(1e-14));
    CHECK(n.scale()[0] == Approx(deviation).epsilon(1e-14));
    CHECK(n.scale()[1] == Approx(3 * deviation).epsilon(1e-14));
    CHECK(n.scale()[2] == 1.0);
    std::vector<double> values{50 + deviation, 250 - 3 * deviation, 7};
    n.apply(std::span(values));
    CHECK(values[0] == Approx(1.0));
    CHECK(values[1] == Approx(-1.0));
    CHECK(std::abs(values[2]) < 1e-13);
    Normalizer::from(n.text()).invert(std::span(values));
    CHECK(values[0] == Approx(50 + deviation).epsilon(1e-14));
    CHECK(Normalizer::from(n.text()).shift() == n.shift());
    CHECK(Normalizer::from(n.text()).scale() == n.scale());
  }
  SECTION("all numbers together, to [0, 1]") {
    const auto n = Normalizer::fit(data, "x", Normalizer::Method::min_max, Normalizer::Per::whole, world.context);
    CHECK(n.shift() == std::vector<double>{0.0});
    CHECK(n.scale() == std::vector<double>{400.0});
    std::vector<float> values{400.0f, 0.0f, 100.0f};
    n.apply(std::span(values));
    CHECK(values == std::vector<float>{1.0f, 0.0f, 0.25f});
  }
  SECTION("the same bits for any number of ranks") {
    const auto n = Normalizer::fit(data, "x", Normalizer::Method::standard, Normalizer::Per::whole, world.context);
    Comm self(MPI_COMM_SELF);
    Context alone{self, world.log, world.timing, nullptr, 1, ".", "", "", nullptr, false, false};
    const auto one = Normalizer::fit(data, "x", Normalizer::Method::standard, Normalizer::Per::whole, alone);
    CHECK(n.shift() == one.shift());
    CHECK(n.scale() == one.scale());
  }
  SECTION("a field that is not there") {
    CHECK(message([&] {
            Normalizer::fit(data, "y", Normalizer::Method::standard, Normalizer::Per::whole, world.context);
          }) == "the samples have no field 'y'; they have: x");
  }
}
