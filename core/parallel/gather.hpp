#pragma once
#include <mpi.h>

#include <climits>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Offsets and counts of each rank's values among those of all ranks.
struct GatherPlaces {
  std::vector<int> count, first;
  int total = 0;

  /// Collective. InputError if all values together exceed MPI's counts (2^31 - 1).
  GatherPlaces(std::int64_t own, const Comm& comm) {
    std::int64_t end = 0;
    for (const auto n : comm.all_gather(own)) {
      count.push_back(static_cast<int>(n));
      first.push_back(static_cast<int>(end));
      end += n;
      if (end > INT_MAX)
        throw InputError("the ranks have more than 2^31 values to gather; use more ranks or less data");
    }
    total = static_cast<int>(end);
  }
};

/// MPI datatype for a value of type T: sizeof(T) bytes.
template <class T>
class BytesOf {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BytesOf() {
    MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~BytesOf() { MPI_Type_free(&type_); }
  BytesOf(const BytesOf&) = delete;
  BytesOf& operator=(const BytesOf&) = delete;
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// Collective: every rank's values, one rank after the other, on every rank.
template <class T>
std::vector<T> all_gather(const std::vector<T>& own, const Comm& comm) {
  const GatherPlaces at(std::ssize(own), comm);
  const BytesOf<T> bytes;
  std::vector<T> out(static_cast<std::size_t>(at.total));
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), bytes.type(), out.data(), at.count.data(), at.first.data(),
                 bytes.type(), comm.handle());
  return out;
}

/// Collective: every rank's values, one rank after the other, on rank 0; none on the others.
template <class T>
std::vector<T> gather(const std::vector<T>& own, const Comm& comm) {
  const GatherPlaces at(std::ssize(own), comm);
  const BytesOf<T> bytes;
  std::vector<T> out(comm.root() ? static_cast<std::size_t>(at.total) : 0);
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), bytes.type(), out.data(), at.count.data(), at.first.data(),
              bytes.type(), 0, comm.handle());
  return out;
}

}  // namespace cambium
