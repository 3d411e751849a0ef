#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plugins/deepmd/datasets/frame.hpp"

namespace cambium::deepmd {

using FramePtr = std::shared_ptr<const TrainingFrame>;

/// Several frames merged into one: atoms sorted by (type, frame, index), pairs as rows sorted by (neighbour type,
/// centre type, centre). Every block of rows (neighbour type, centre type) ends with one row that represents the
/// block's empty neighbour slots, so that networks process it as one more input.
class Batch {
 public:
  void assign(std::span<const FramePtr> frames, int ntypes);

  int ntypes() const { return ntypes_; }
  int frames() const { return static_cast<int>(frames_.size()); }
  const TrainingFrame& frame(int f) const { return *frames_[f]; }
  int atoms() const { return static_cast<int>(frame_of_.size()); }
  int type_begin(int t) const { return type_begin_[t]; }
  int frame_of(int atom) const { return frame_of_[atom]; }
  int number_of(int atom) const { return number_of_[atom]; }  ///< in its frame
  /// Index in the batch of atom i of frame f.
  int place(int f, int i) const { return place_[frame_begin_[f] + i]; }

  int rows() const { return static_cast<int>(centre_.size()); }
  /// First row of a block; ntypes^2 + 1 values. The block's last row is its padding row.
  int block_begin(int neighbour, int centre) const { return block_begin_[neighbour * ntypes_ + centre]; }
  int block_end(int neighbour, int centre) const {
    return block_begin_[static_cast<std::size_t>(neighbour * ntypes_ + centre) + 1];
  }
  int row_begin(int neighbour, int atom) const { return row_begin_[neighbour * atoms() + atom]; }
  int row_count(int neighbour, int atom) const { return row_count_[neighbour * atoms() + atom]; }
  int centre(int row) const { return centre_[row]; }  ///< atom; -1 for a padding row
  int neighbour(int row) const { return neighbour_[row]; }
  const double* d(int row) const { return &d_[3 * static_cast<std::size_t>(row)]; }

 private:
  void place_atoms();
  void append_rows(int neighbour_type, int atom);

  int ntypes_ = 0;
  std::vector<FramePtr> frames_;
  std::vector<int> frame_begin_, place_, type_begin_, frame_of_, number_of_;
  std::vector<int> block_begin_, row_begin_, row_count_, centre_, neighbour_;
  std::vector<double> d_;
};

}  // namespace cambium::deepmd
