#include "core/train/tables/fetch_rows.hpp"

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::train {

static UsesTables& user_of(Network& network) {
  UsesTables* user = network.traits().tables;
  if (!user) throw InternalError("tables of a network that uses none");
  return *user;
}

void look_up_rows(Network& network, Tables* tables, std::span<const SamplePtr> samples, const Comm& comm) {
  if (!tables) return;
  UsesTables& user = user_of(network);
  std::vector<Bags> bags;
  io::on_every_rank(comm, [&] { bags = user.bags(samples); });
  tables->look_up(std::move(bags));
  user.use_rows(&tables->looked_up());
}

void fetch_rows(Network& network, Tables* tables, std::span<const std::span<const SamplePtr>> slices,
                std::span<const std::int64_t> numbers, const Comm& comm) {
  if (!tables) return;
  UsesTables& user = user_of(network);
  std::vector<std::vector<Bags>> bags;
  io::on_every_rank(comm, [&] {
    for (const auto& samples : slices) bags.push_back(user.bags(samples));
  });
  tables->fetch(std::move(bags), {numbers.begin(), numbers.end()});
}

}  // namespace cambium::train
