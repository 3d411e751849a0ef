// Features of neighbours that cross ranks: models of several interactions give on many ranks what they give on one.
#include <fmt/format.h>

#include "tests/plugins/mace/random_mace.hpp"
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

void check_model(const RandomMace& model, const std::string& cells) {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("random.model");
  if (comm.root()) model.write(file);
  comm.barrier();
  INFO(cells);
  check_ranks(
      fmt::format("structure: {{lattice: {{type: diamond, a: 4.4, cells: {}, species: [O], displacement: 0.2}}}}\n"
                  "potential: {{type: mace, model: {}}}\ninitial_temperature: 300\ntimestep: 0.0002\n",
                  cells, file),
      4, 1e-10);
}

}  // namespace

TEST_CASE("mace: interactions exchange features of neighbours between ranks") {
  check_model(RandomMace(2), "[4, 1, 1]");
  check_model(RandomMace(2), "[3, 2, 2]");
  check_model(RandomMace(3, 2, false), "[4, 2, 1]");
}
