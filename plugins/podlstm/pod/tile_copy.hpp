#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::podlstm {

/// A box of cells and the range of snapshots that are read together in one pass over a file.
struct ArrayPiece {
  std::vector<std::int64_t> start, count;  ///< time first
  std::int64_t values() const;
};

/// Pieces of an array (time, axes...) of this shape that contain the cells first..last-1 (flattened without time) and
/// at most `most` values each, without splitting chunks between pieces. A chunk larger than that is split into pieces
/// of its own.
std::vector<ArrayPiece> pieces_of(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                                  std::int64_t first, std::int64_t last, std::int64_t most);

/// True if the borders of these boxes of cells (without time) split chunks, which are then read more than once.
bool cuts_chunks(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                 const std::vector<ArrayPiece>& boxes);

/// Tiles of cells on disk in the order of their use: each (snapshots, cells) in double precision, contiguous, in an
/// unnamed temporary file that is deleted with this object.
class TileCopy {
 public:
  /// Tile k holds the cells first[k]..first[k+1]-1 (flattened). InputError if the folder is not writable.
  TileCopy(const std::string& folder, std::vector<std::int64_t> first, std::int64_t snapshots);
  ~TileCopy();
  TileCopy(const TileCopy&) = delete;
  TileCopy& operator=(const TileCopy&) = delete;

  /// Writes the values (time, axes...) of a piece of an array of this shape; `from` is the index of its first snapshot.
  /// InputError if the disk is full.
  void write(const ArrayPiece& piece, const std::vector<std::int64_t>& shape, std::int64_t from, const double* values);
  void read(std::size_t tile, double* out) const;

 private:
  std::int64_t place(std::size_t tile, std::int64_t snapshot) const;
  void write_at(std::int64_t place, const double* values, std::int64_t count) const;

  std::string folder_;
  std::vector<std::int64_t> first_;
  std::int64_t snapshots_;
  int file_ = -1;
  std::vector<double> rows_;
};

}  // namespace cambium::podlstm
