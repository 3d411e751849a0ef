// The same bits on any number of ranks and after a restart, also one on another number of ranks.
#include "tests/plugins/cosmo/cosmo_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

const std::string keys = "{box: 100, particles: 12, mesh: 24, start: 0.1, end: 0.6, time_steps: 9}";

std::vector<double> own_rows(Case& whole, const Comm& comm, View<double**> ParticleMesh::*what, std::int64_t rows) {
  const auto all = numbers(whole.physics().matter().*what);
  const auto first = 3 * comm.exclusive_sum(rows);
  return {all.begin() + first, all.begin() + first + 3 * rows};
}

void compare(Case& part, Case& whole) {
  const auto rows = static_cast<std::int64_t>(part.physics().matter().position.extent(0));
  CHECK(part.comm().sum(rows) == 12 * 12 * 12);
  for (const auto what : {&ParticleMesh::position, &ParticleMesh::momentum, &ParticleMesh::force})
    CHECK(numbers(part.physics().matter().*what) == own_rows(whole, part.comm(), what, rows));
  for (const auto& observable : part.physics().observables()) CHECK(part(observable.name) == whole(observable.name));
  const auto a = part.physics().spectra(), b = whole.physics().spectra();
  CHECK(a.power == b.power);
  CHECK(a.linear == b.linear);
  CHECK(a.lpt == b.lpt);
  CHECK(part.physics().report() == whole.physics().report());
}

}  // namespace

TEST_CASE("any number of ranks gives the same bits") {
  Case part(keys, MPI_COMM_WORLD), whole(keys, MPI_COMM_SELF);
  compare(part, whole);
  part.finish();
  whole.finish();
  CHECK(part.state().step == 9);
  CHECK(part("deviation") > 0.1);
  CHECK(part.physics().report().size() > 2);
  compare(part, whole);
}

TEST_CASE("a restart gives the same bits, on as many ranks or on one") {
  Case straight(keys, MPI_COMM_WORLD), resumed(keys, MPI_COMM_WORLD, false), alone(keys, MPI_COMM_SELF, false);
  const SharedScratch scratch(straight.comm());
  const std::string path = scratch.file("restart.h5");
  for (int k = 0; k < 4; ++k) straight.advance();
  straight.write(path);
  resumed.resume(path);
  alone.resume(path);
  CHECK(resumed.state().step == 4);
  CHECK(numbers(straight.physics().matter().force) == numbers(resumed.physics().matter().force));
  straight.finish();
  resumed.finish();
  alone.finish();
  CHECK(straight.state().time == resumed.state().time);
  CHECK(numbers(straight.physics().matter().position) == numbers(resumed.physics().matter().position));
  CHECK(numbers(straight.physics().matter().momentum) == numbers(resumed.physics().matter().momentum));
  compare(straight, alone);
  straight.comm().barrier();
}

TEST_CASE("a run that had ended says its table again") {
  Case ended(keys, MPI_COMM_WORLD), again(keys, MPI_COMM_WORLD, false);
  const SharedScratch scratch(ended.comm());
  ended.finish();
  ended.write(scratch.file("end.h5"));
  again.resume(scratch.file("end.h5"));
  CHECK(again.physics().finished());
  CHECK(again.physics().report() == ended.physics().report());
}
