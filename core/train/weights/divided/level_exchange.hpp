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

/// This rank's part of `whole` when it is divided over the first `depth` levels of a mesh: by the coordinate in the
/// first level into as many parts as that has ranks, the part by the second, and so on. So what is divided over more
/// levels lies inside what is divided over fewer.
Interval share_of(const Mesh& mesh, Interval whole, int depth);
/// Ranks in the first `depth` levels.
std::int64_t parts_of(const Mesh& mesh, int depth);

/// Inputs of exchanges.
struct Wires {
  const Mesh& mesh;
  Traffic& traffic;
  MemoryLedger& memory;
};

/// Brings together what is divided over levels [to, from): `values` begins at the first element of share_of(whole, to),
/// in which share_of(whole, from) is filled. A rank sends (p - 1) / p of each level's result.
void gather_levels(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
                   std::string_view what);

/// The same for parts of unequal lengths: `byte_of` says where the elements of `whole` begin; counted are the bytes of
/// this rank's parts.
using ByteOf = std::function<std::int64_t(std::int64_t element)>;
void gather_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of, const Wires& wires,
                   std::string_view what);

/// The same while the caller computes. One at a time on a mesh: ranks must call MPI's collectives in one order.
class LevelGather {
 public:
  /// `values` must stay until advance() said true.
  void start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
             std::string_view what);
  void start_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of, const Wires& wires,
                    std::string_view what);
  /// Goes on with what has arrived; with `wait`, to the end. True when all is together.
  bool advance(bool wait);

 private:
  void post();
  void post_packed(const Mesh::Level& here, std::size_t level, Interval outer);

  const Wires* wires_ = nullptr;
  std::byte* values_ = nullptr;
  ByteOf byte_of_;                    ///< empty: all numbers are of dtype_
  std::vector<int> counts_, begins_;  ///< of the parts under way, in bytes
  std::int64_t base_ = 0;             ///< element at which values_ begins
  Interval whole_;
  int level_ = 0, to_ = 0;  ///< levels [to, level) are still to come; the one before them is under way
  DType dtype_ = DType::f64;
  std::string what_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Sum over the ranks of levels [from, to), level after level, of which every rank gets its own part. The parts of a
/// level are added by one binary tree in the order of coordinates, so that sums over 2 x 2, 4 and 2 times 2 ranks round
/// alike. A rank sends (p - 1) / p of what it has in each level. Goes on while the caller computes.
class LevelReduce {
 public:
  /// `values` begins at share_of(whole, from) and must stay until advance() said true; `tag` tells those under way
  /// apart.
  void start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires, int tag);
  /// Goes on with what has arrived; with `wait`, to the end. True when this rank's sum stands at share_of(whole, to).
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
  Block received_;  ///< parts by coordinate, the own one left out
  std::vector<MPI_Request> requests_;
};

}  // namespace cambium::train
