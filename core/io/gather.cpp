#include "core/io/gather.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::io {
namespace {

using HostBytes = Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using DeviceBytes = Kokkos::View<char*, MemSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Bytes from the first to the last element of a strided array.
std::size_t span_bytes(const TensorRef& t) {
  std::int64_t last = 0;
  for (int k = 0; k < t.rank; ++k) last += (t.shape[k] - 1) * t.stride[k];
  return static_cast<std::size_t>((last + 1) * size_of(t.dtype));
}

/// Calls visit(offset in the strided array, index in packed order) for every element.
template <class Visit>
void for_elements(const TensorRef& t, Visit visit) {
  std::int64_t index[6] = {};
  const std::int64_t n = t.elements();
  for (std::int64_t packed = 0; packed < n; ++packed) {
    std::int64_t offset = 0;
    for (int k = 0; k < t.rank; ++k) offset += index[k] * t.stride[k];
    visit(offset, packed);
    for (int k = t.rank - 1; k >= 0 && ++index[k] == t.shape[k]; --k) index[k] = 0;
  }
}

}  // namespace

OnHost::OnHost(const TensorRef& source) : tensor_(source) {
  if (source.elements() == 0 || (source.space == Space::host && source.contiguous())) return;
  const Region region("copy to the host", WorkKind::movement);
  const char* from = static_cast<const char*>(source.data);
  std::vector<char> staged;
  if (source.space == Space::device) {
    staged.resize(span_bytes(source));
    Kokkos::deep_copy(HostBytes(staged.data(), staged.size()),
                      DeviceBytes(static_cast<char*>(source.data), staged.size()));
    from = staged.data();
  }
  if (source.contiguous()) {
    bytes_ = std::move(staged);
  } else {
    const std::int64_t size = size_of(source.dtype);
    bytes_.resize(source.elements() * size);
    for_elements(source, [&](std::int64_t offset, std::int64_t packed) {
      std::memcpy(bytes_.data() + packed * size, from + offset * size, size);
    });
  }
  tensor_.data = bytes_.data();
  tensor_.space = Space::host;
  for (std::int64_t k = source.rank - 1, stride = 1; k >= 0; stride *= source.shape[k--]) tensor_.stride[k] = stride;
}

void copy_from_host(const void* source, const TensorRef& target) {
  if (target.is_const) throw InternalError("a constant array cannot be filled");
  if (target.elements() == 0) return;
  const std::size_t bytes = span_bytes(target);
  if (target.space == Space::host && target.contiguous()) {
    std::memcpy(target.data, source, bytes);
    return;
  }
  const std::int64_t size = size_of(target.dtype);
  const bool device = target.space == Space::device;
  std::vector<char> staged(device ? bytes : 0);
  const DeviceBytes there(static_cast<char*>(target.data), bytes);
  // Bytes between the elements of a strided array are somebody else's and must survive.
  if (device) Kokkos::deep_copy(HostBytes(staged.data(), bytes), there);
  char* to = device ? staged.data() : static_cast<char*>(target.data);
  for_elements(target, [&](std::int64_t offset, std::int64_t packed) {
    std::memcpy(to + offset * size, static_cast<const char*>(source) + packed * size, size);
  });
  if (device) Kokkos::deep_copy(there, HostBytes(staged.data(), bytes));
}

void gather_rows(const Comm& comm, const TensorRef& rows,
                 const std::function<void(std::int64_t, const TensorRef&)>& take, std::int64_t piece_bytes) {
  if (rows.rank == 0) throw InternalError("a scalar has no rows to gather");
  const OnHost mine(rows);
  TensorRef piece = mine.tensor();
  std::int64_t row_bytes = size_of(rows.dtype);
  for (int k = 1; k < rows.rank; ++k) row_bytes *= rows.shape[k];
  const std::int64_t step = std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(row_bytes, 1));
  const auto counts = comm.all_gather(rows.shape[0]);
  constexpr int tag = 71;
  std::vector<char> buffer;
  std::int64_t first = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (std::int64_t at = 0; at < counts[rank]; at += step) {
      piece.shape[0] = std::min(step, counts[rank] - at);
      const int bytes = static_cast<int>(piece.shape[0] * row_bytes);
      char* own = static_cast<char*>(mine.tensor().data) + at * row_bytes;
      if (comm.root()) {
        if (rank > 0) {
          buffer.resize(bytes);
          MPI_Recv(buffer.data(), bytes, MPI_CHAR, rank, tag, comm.handle(), MPI_STATUS_IGNORE);
        }
        piece.data = rank > 0 ? buffer.data() : own;
        take(first, piece);
        first += piece.shape[0];
      } else if (rank == comm.rank()) {
        MPI_Send(own, bytes, MPI_CHAR, 0, tag, comm.handle());
      }
    }
}

}  // namespace cambium::io
