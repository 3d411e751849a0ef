#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/parallel/comm.hpp"

namespace cambium::io {

/// An array as contiguous host memory: itself if it is that already, else a copy owned by this object.
class OnHost {
 public:
  explicit OnHost(const TensorRef& source);
  const TensorRef& tensor() const { return tensor_; }

 private:
  std::vector<char> bytes_;
  TensorRef tensor_;
};

/// Fills an array, on host or device, from contiguous host memory of the same shape and type.
void copy_from_host(const void* source, const TensorRef& target);

/// Collective: brings the rows (dimension 0) of all ranks to rank 0 in rank order, in contiguous host pieces of at most
/// `piece_bytes` (one row at least), so that rank 0 never holds more than its own rows and one piece. `take(first,
/// piece)` is called on rank 0 only; `first` counts rows over all ranks. It must not throw.
void gather_rows(const Comm& comm, const TensorRef& rows,
                 const std::function<void(std::int64_t first, const TensorRef& piece)>& take,
                 std::int64_t piece_bytes = std::int64_t{1} << 24);

/// A piece of one of several arrays of a file.
struct Block {
  int array = 0;                    ///< its number, as caller and receiver agreed
  std::vector<std::int64_t> start;  ///< of the piece in the array
  TensorRef values;                 ///< contiguous, on the host
};

/// Collective: brings the blocks of all ranks to rank 0, rank after rank, so that rank 0 never holds more than one that
/// is not its own. `next` gives a rank's blocks, whose memory it may use again at its next call, until it returns
/// false; `take` is called on rank 0 only: when it throws InputError, every rank throws the same one, after all blocks
/// have come. A block may have any number of bytes.
void gather_blocks(const Comm& comm, const std::function<bool(Block&)>& next,
                   const std::function<void(const Block&)>& take);

}  // namespace cambium::io
