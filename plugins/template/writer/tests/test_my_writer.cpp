// Densities of particles whose places are known, in any cell and on any number of ranks; a resumed average goes on.
#include <array>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include "core/io/hdf5/h5.hpp"
#include "core/particles/structure.hpp"
#include "my_writer.hpp"

using namespace cambium;
using cambium::my_writer::MyWriter;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

/// Particles at these fractions along c of a tilted cell, dealt out to the ranks.
State state_of(const std::vector<double>& fractions, const Comm& comm) {
  Structure s;
  const double rows[3][3] = {{4, 0, 0}, {0.5, 5, 0}, {-0.3, 0.7, 10}};
  s.box = Box::from_vectors(rows);
  s.species = {{"Ar", 39.9}};
  s.nglobal = std::ssize(fractions);
  const auto [begin, end] = even_share(s.nglobal, comm.rank(), comm.size());
  for (auto i = begin; i < end; ++i) {
    const double at[3] = {0.3, 0.9, fractions[i]};
    std::array<double, 3> x;
    s.box.to_cartesian(at, x.data());
    s.x.push_back(x);
    s.tag.push_back(i + 1);
    s.type.push_back(0);
  }
  State state;
  state.particles = particles_of(s);
  return state;
}

}  // namespace

TEST_CASE("every particle is counted in its slab, images in those of the cell") {
  World world;
  MyWriter writer({.every = 1, .bins = 4, .axis = "c"}, world.context);
  writer.observe(state_of({0.1, 0.2, 0.3, 0.9, 1.1, -0.1, 2.6}, world.comm), 0, 0.0);
  const double slab = 200.0 / 4;
  const auto n = writer.density();
  CHECK(n[0] == Approx(3 / slab));
  CHECK(n[1] == Approx(1 / slab));
  CHECK(n[2] == Approx(1 / slab));
  CHECK(n[3] == Approx(2 / slab));
}

TEST_CASE("samples are averaged, and a resumed run averages over all of them") {
  World world;
  const MyWriter::Params params{.every = 1, .bins = 2, .axis = "c"};
  MyWriter whole(params, world.context), first(params, world.context), second(params, world.context);
  CHECK(whole.density() == std::vector<double>{0.0, 0.0});
  const State one = state_of({0.1, 0.2}, world.comm), two = state_of({0.1, 0.9}, world.comm);
  for (auto* writer : {&whole, &first}) writer->observe(one, 0, 0.0);
  auto file = io::File::in_memory("checkpoint");
  auto group = file.create_group("my_writer");
  first.save(group);
  second.load(group);
  for (auto* writer : {&whole, &second}) writer->observe(two, 1, 0.1);
  CHECK(whole.density()[0] == Approx(1.5 / 100));
  CHECK(second.density() == whole.density());
  MyWriter other({.every = 1, .bins = 3, .axis = "c"}, world.context);
  CHECK_THROWS_WITH(other.load(group),
                    "my_writer: the checkpoint has 2 bins but this deck has 3: resume with the deck that wrote it");
}
