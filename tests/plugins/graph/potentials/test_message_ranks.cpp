// What senders say crosses ranks once a layer: dynamics on many ranks are those on one.
#include <fmt/format.h>

#include "tests/plugins/graph/potentials/random_messages.hpp"
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

void check_model(const RandomMessages& model, const std::string& cells) {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("model.h5");
  if (comm.root()) model.write(file);
  comm.barrier();
  INFO(cells);
  check_ranks(
      fmt::format("structure: {{lattice: {{type: diamond, a: 4.4, cells: {}, species: [O], displacement: 0.2}}}}\n"
                  "potential: {{type: message_passing, model: {}}}\ninitial_temperature: 300\ntimestep: 0.0002\n",
                  cells, file),
      4, 1e-10);
}

}  // namespace

TEST_CASE("message_passing potential: features of neighbours are exchanged between ranks in every layer") {
  check_model(RandomMessages(2), "[4, 1, 1]");
  check_model(RandomMessages(3), "[3, 2, 2]");
  check_model(RandomMessages(2, false), "[4, 2, 1]");
}
