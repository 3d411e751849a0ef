#include "core/train/reduce/mesh.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::train {

Mesh::Mesh(const Comm& world) : Mesh(world, {{"world", world.size()}}) {}

Mesh::Mesh(const Comm& world, std::vector<Level> levels) : world_(world), levels_(std::move(levels)) {
  int product = 1;
  std::string text;
  for (const auto& level : levels_) {
    product *= level.ranks;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", level.name, level.ranks);
  }
  if (product != world.size())
    throw InputError(fmt::format("the levels {} make {} ranks, but {} run; change the levels or start {} ranks", text,
                                 product, world.size(), product));
  int stride = 1;
  for (const auto& level : levels_) {
    const int coordinate = world.rank() / stride % level.ranks;
    const int others = world.rank() - coordinate * stride;  // the rank at coordinate 0 identifies the communicator
    MPI_Comm split = MPI_COMM_NULL;
    MPI_Comm_split(world.handle(), others, coordinate, &split);
    comms_.push_back(std::make_unique<Comm>(split));
    MPI_Comm_free(&split);
    stride *= level.ranks;
  }
}

}  // namespace cambium::train
