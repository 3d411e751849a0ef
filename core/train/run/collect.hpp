#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::train {

/// Collective: what all ranks hold, one after the other, on rank 0; the others keep their own.
template <class T>
void collect(std::vector<T>& values, const Comm& comm) {
  std::vector<int> counts, first(static_cast<std::size_t>(comm.size()), 0);
  for (const auto bytes : comm.all_gather(static_cast<std::int64_t>(values.size() * sizeof(T))))
    counts.push_back(static_cast<int>(bytes / static_cast<std::int64_t>(sizeof(T))));
  for (std::size_t k = 1; k < counts.size(); ++k) first[k] = first[k - 1] + counts[k - 1];
  std::vector<T> all(comm.root() ? static_cast<std::size_t>(first.back() + counts.back()) : 0);
  MPI_Datatype type;
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Gatherv(values.data(), static_cast<int>(values.size()), type, all.data(), counts.data(), first.data(), type, 0,
              comm.handle());
  MPI_Type_free(&type);
  if (comm.root()) values = std::move(all);
}

}  // namespace cambium::train
