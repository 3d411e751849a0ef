#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::podlstm {

/// A box of cells and the snapshots of a pass over a file in pieces.
struct ArrayPiece {
  std::vector<std::int64_t> start, count;  ///< time first
  std::int64_t values() const;
};

/// Pieces of an array (time, axes...) of this shape that hold the cells first..last-1 (flattened without time) and at
/// most `most` values each, so that no chunk lies in two of them. Where a chunk is larger than that, pieces are parts
/// of one.
std::vector<ArrayPiece> pieces_of(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                                  std::int64_t first, std::int64_t last, std::int64_t most);

/// Whether chunks are cut by the borders of these boxes of cells (without time), that is, read for more than one.
bool cuts_chunks(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                 const std::vector<ArrayPiece>& boxes);

/// Tiles of cells on disk in the order in which they are used: each (snapshots, cells) in double precision, one after
/// the other, in a file without a name that ends with this object.
class TileCopy {
 public:
  /// Tile k holds the cells first[k]..first[k+1]-1 (flattened). InputError where the folder takes no file.
  TileCopy(const std::string& folder, std::vector<std::int64_t> first, std::int64_t snapshots);
  ~TileCopy();
  TileCopy(const TileCopy&) = delete;
  TileCopy& operator=(const TileCopy&) = delete;

  /// Values (time, axes...) of a piece of an array of this shape, whose first snapshot counts as `from`. InputError
  /// when the disk is full.
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
