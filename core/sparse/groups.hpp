#pragma once
#include "core/parallel/comm.hpp"

namespace cambium::sparse {

/// Communicator of the ranks with the same `group`, ordered by `place`. Collective.
class Group {
 public:
  Group(const Comm& comm, int group, int place) : split_(comm, group, place), comm_(split_.handle) {}
  const Comm& comm() const { return comm_; }

 private:
  struct Split {
    MPI_Comm handle = MPI_COMM_NULL;
    Split(const Comm& comm, int group, int place) { MPI_Comm_split(comm.handle(), group, place, &handle); }
    ~Split() { MPI_Comm_free(&handle); }
    Split(const Split&) = delete;
    Split& operator=(const Split&) = delete;
  };
  Split split_;
  Comm comm_;
};

}  // namespace cambium::sparse
