#include "core/parallel/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>

#include "core/parallel/emulated_network.hpp"

namespace cambium {

/// Maps the array of one rank; the first to come creates it.
bool SharedMemory::open(int rank, const char* name, bool create) {
  const int file = shm_open(name, create ? O_CREAT | O_EXCL | O_RDWR : O_RDWR, 0600);
  if (file < 0) return false;
  // Room is taken now: a write to memory that the system promised and does not have ends the program.
  const bool good = !create || posix_fallocate(file, 0, bytes_) == 0;
  void* data =
      good ? mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (data == MAP_FAILED) return false;
  arrays_[rank] = static_cast<std::byte*>(data);
  return true;
}

static bool one_node(const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node);
  int size = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return comm.min(size) == comm.size();
}

std::unique_ptr<SharedMemory> SharedMemory::make(const Comm& comm, std::int64_t bytes) {
  if (emulated_network() || !one_node(comm)) return nullptr;  // on an emulated network a rank is a node of its own
  std::string key =
      fmt::format("/cambium-{}-{}", getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
  comm.broadcast(key);
  std::unique_ptr<SharedMemory> out(new SharedMemory(comm.size(), bytes));
  const auto name = [&](int rank) { return fmt::format("{}-{}", key, rank); };
  const bool made = out->open(comm.rank(), name(comm.rank()).c_str(), true);
  bool all = comm.min(made ? 1.0 : 0.0) > 0.0;
  for (int rank = 0; all && rank < comm.size(); ++rank)
    if (rank != comm.rank()) all = out->open(rank, name(rank).c_str(), false);
  all = comm.min(all ? 1.0 : 0.0) > 0.0;
  shm_unlink(name(comm.rank()).c_str());  // whatever came of it
  return all ? std::move(out) : nullptr;
}

SharedMemory::~SharedMemory() {
  for (std::byte* array : arrays_)
    if (array) munmap(array, static_cast<std::size_t>(bytes_));
}

}  // namespace cambium
