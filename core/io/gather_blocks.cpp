#include <algorithm>
#include <exception>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {
namespace {

constexpr int tag = 72, longest = 1 << 30, most_dimensions = 6;

/// Header of a block; without dimensions and array it marks the end.
struct Head {
  std::int64_t array = -1, dtype = 0, rank = 0, start[most_dimensions] = {}, shape[most_dimensions] = {};
};

Head head_of(const Block& block) {
  if (std::ssize(block.start) != block.values.rank || block.values.rank > most_dimensions)
    throw InternalError("a block begins in as many dimensions as it has");
  Head head{block.array, static_cast<std::int64_t>(block.values.dtype), block.values.rank, {}, {}};
  std::copy(block.start.begin(), block.start.end(), head.start);
  std::copy_n(block.values.shape, block.values.rank, head.shape);
  return head;
}

Block block_of(const Head& head, std::vector<char>& bytes) {
  Block out{static_cast<int>(head.array), {head.start, head.start + head.rank}, {}};
  out.values.rank = static_cast<int>(head.rank);
  out.values.dtype = static_cast<DType>(head.dtype);
  std::int64_t stride = 1;
  for (int k = out.values.rank; k-- > 0; stride *= head.shape[k]) {
    out.values.shape[k] = head.shape[k];
    out.values.stride[k] = stride;
  }
  bytes.resize(stride * size_of(out.values.dtype));
  out.values.data = bytes.data();
  return out;
}

/// f(address, count) for ranges of bytes whose counts fit MPI's int.
template <class F>
void in_stretches(char* bytes, std::int64_t count, const F& f) {
  for (std::int64_t at = 0; at < count; at += longest)
    f(bytes + at, static_cast<int>(std::min<std::int64_t>(longest, count - at)));
}

void send(const Comm& comm, const Block& block) {
  const Head head = head_of(block);
  MPI_Send(&head, sizeof head, MPI_BYTE, 0, tag, comm.handle());
  in_stretches(static_cast<char*>(block.values.data), block.values.elements() * size_of(block.values.dtype),
               [&](char* bytes, int count) { MPI_Send(bytes, count, MPI_BYTE, 0, tag, comm.handle()); });
}

/// False when the rank has no more.
bool receive(const Comm& comm, int rank, std::vector<char>& bytes, Block& block) {
  Head head;
  MPI_Recv(&head, sizeof head, MPI_BYTE, rank, tag, comm.handle(), MPI_STATUS_IGNORE);
  if (head.array < 0) return false;
  block = block_of(head, bytes);
  in_stretches(bytes.data(), std::ssize(bytes), [&](char* part, int count) {
    MPI_Recv(part, count, MPI_BYTE, rank, tag, comm.handle(), MPI_STATUS_IGNORE);
  });
  return true;
}

}  // namespace

/// Waits for rank 0's request: otherwise small blocks of many ranks would be buffered in its memory.
static void send_all(const Comm& comm, const std::function<bool(Block&)>& next) {
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, comm.handle(), MPI_STATUS_IGNORE);
  for (Block block; next(block);) send(comm, block);
  const Head end;
  MPI_Send(&end, sizeof end, MPI_BYTE, 0, tag, comm.handle());
}

/// Error of a block, if any; the rest is let go.
static std::exception_ptr take_all(const Comm& comm, const std::function<bool(Block&)>& next,
                                   const std::function<void(const Block&)>& take) {
  Block block;
  std::exception_ptr failed;
  const auto keep = [&] {
    try {
      if (!failed) take(block);
    } catch (...) {
      failed = std::current_exception();
    }
  };
  while (next(block)) keep();
  std::vector<char> bytes;
  for (int rank = 1; rank < comm.size(); ++rank) {
    MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, comm.handle());
    while (receive(comm, rank, bytes, block)) keep();
  }
  return failed;
}

void gather_blocks(const Comm& comm, const std::function<bool(Block&)>& next,
                   const std::function<void(const Block&)>& take) {
  std::exception_ptr failed;
  if (comm.root())
    failed = take_all(comm, next, take);
  else
    send_all(comm, next);
  on_root(comm, [&] {
    if (failed) std::rethrow_exception(failed);
  });
}

}  // namespace cambium::io
