#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/kinds/memory.hpp"
#include "core/train/reduce/mesh.hpp"
#include "core/train/reduce/traffic.hpp"
#include "core/train/weights/divided/kept.hpp"

namespace cambium::train {

/// Elements [begin, end) of a flat buffer.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// This rank's part of `whole` when sharded over the first `depth` levels of a mesh: split by the coordinate in the
/// first level into as many parts as it has ranks, that part by the second level, and so on. A part sharded over more
/// levels is therefore contained in that over fewer.
Interval share_of(const Mesh& mesh, Interval whole, int depth);
/// Ranks in the first `depth` levels.
std::int64_t parts_of(const Mesh& mesh, int depth);

/// Communication context of exchanges.
struct Wires {
  const Mesh& mesh;
  Traffic& traffic;
  MemoryLedger& memory;
};

/// All-gather over levels [to, from): `values` begins at the first element of share_of(whole, to), in which
/// share_of(whole, from) is filled. A rank sends (p - 1) / p of each level's result.
void gather_levels(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
                   std::string_view what);

/// The same for parts of unequal lengths: `byte_of` returns the offset in bytes of an element of `whole`; bytes of this
/// rank's parts are counted.
using ByteOf = std::function<std::int64_t(std::int64_t element)>;
void gather_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of, const Wires& wires,
                   std::string_view what);

/// The same, overlapped with computation. One at a time on a mesh: ranks must call MPI's collectives in the same order.
class LevelGather {
 public:
  /// `values` must stay valid until advance() returns true.
  void start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
             std::string_view what);
  void start_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of, const Wires& wires,
                    std::string_view what);
  /// Processes messages that have arrived; with `wait`, until the end. True when the gather is complete.
  bool advance(bool wait);

 private:
  void post();
  void post_packed(const Mesh::Level& here, std::size_t level, Interval outer);

  const Wires* wires_ = nullptr;
  std::byte* values_ = nullptr;
  ByteOf byte_of_;                    ///< empty: all values are of dtype_
  std::vector<int> counts_, begins_;  ///< of the parts in flight, in bytes
  std::int64_t base_ = 0;             ///< element at which values_ begins
  Interval whole_;
  int level_ = 0, to_ = 0;  ///< levels [to, level) remain; the one before them is in flight
  DType dtype_ = DType::f64;
  std::string what_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Reduce-scatter over the ranks of levels [from, to), level by level. The parts of a level are added by one binary
/// tree in the order of coordinates, so sums over 2 x 2, 4 and 2 times 2 ranks round identically. A rank sends (p - 1)
/// / p of its data in each level. Overlaps with computation.
class LevelReduce {
 public:
  /// `values` begins at share_of(whole, from) and must stay valid until advance() returns true; `tag` distinguishes
  /// simultaneous reductions.
  void start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires, int tag);
  /// Processes messages that have arrived; with `wait`, until the end. True when share_of(whole, to) contains this
  /// rank's sum.
  bool advance(bool wait);

 private:
  void post();
  void add();
  bool arrived(bool wait);
  std::byte* at(std::int64_t element) { return values_ + (element - base_) * size_of(dtype_); }

  const Wires* wires_ = nullptr;
  std::byte* values_ = nullptr;
  std::int64_t base_ = 0;  ///< element at which values_ begins
  Interval whole_;
  int level_ = 0, to_ = 0, tag_ = 0;
  DType dtype_ = DType::f64;
  Block received_;  ///< parts by coordinate, without this rank's own
  std::vector<MPI_Request> requests_;
};

}  // namespace cambium::train
