#include <yaml-cpp/yaml.h>

#include "core/base/build_info.hpp"
#include "core/io/provenance.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

TEST_CASE("where a file comes from can be read from it") {
  Scratch scratch("provenance");
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  context.seed = 0x8000000000000001ull;
  context.command_line = "cambium run \"a b.yaml\"";
  context.resolved_deck = "run:\n  name: copper  # ünïcode\nstages: []\n";
  const auto p = io::provenance_of(context);
  CHECK(p.version == build_info().version);
  CHECK(p.hdf5.starts_with(io::hdf5_version()));
  CHECK(p.date.size() == 20);
  for (const auto* text : {&p.git_hash, &p.compiler, &p.kokkos, &p.mpi, &p.blas, &p.host}) CHECK_FALSE(text->empty());
  {
    auto file = io::File::create(scratch.file("a.h5"));
    io::write_provenance(file, p);
    file.close();
  }
  const auto back = io::read_provenance(io::File::open(scratch.file("a.h5")));
  CHECK(back.seed == context.seed);
  CHECK(back.deck == context.resolved_deck);
  CHECK(back.mpi == p.mpi);
  CHECK(back.date == p.date);
  const YAML::Node yaml = YAML::Load(io::provenance_yaml(p));
  CHECK(yaml["deck"].as<std::string>() == context.resolved_deck);
  CHECK(yaml["command_line"].as<std::string>() == context.command_line);
  CHECK(yaml["build_flags"].as<std::string>() == p.build_flags);
  CHECK(yaml["seed"].as<std::uint64_t>() == context.seed);
}
