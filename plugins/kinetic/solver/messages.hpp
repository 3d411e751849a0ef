#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::kinetic {

/// Face values on their way between neighbours: begin() starts all transfers, finish() waits for them. A rank may be
/// its own neighbour.
class Messages {
 public:
  explicit Messages(const Comm& comm) : comm_(comm) {}

  struct Link {
    int rank = -1;  ///< neighbour
    int send_tag = 0, receive_tag = 0;
    View<char*> send, receive;
  };
  std::vector<Link> links;

  void begin();
  void finish();

 private:
  const Comm& comm_;
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<char>> staged_;  ///< where MPI cannot read device memory
};

}  // namespace cambium::kinetic
