#pragma once
#include "core/train/weights/pieces.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Files of replicated weights: each rank writes an equal part of them.
class WholePieces : public InPieces {
 public:
  /// For rank `rank` of `ranks`. The snapshot must outlive this.
  WholePieces(Snapshot& snapshot, std::span<const Optimizer::StateInfo> states, int rank, int ranks);

  std::vector<io::SharedArray> arrays(bool with_best) const override;
  std::vector<io::Extent> written() const override;
  void write(const io::SharedArray& array, const Put& put) override;
  void read(bool with_best, const std::vector<double>& grids, const Get& get) override;
  std::vector<double> steps() const override { return snapshot_.grids; }

 private:
  struct Piece {
    std::size_t tensor;
    io::Extent inside, extent;  ///< of the tensor; of the files
  };
  std::vector<Piece> pieces(io::Extent part) const;
  FlatBuffer& buffer(const io::SharedArray& array);

  Snapshot& snapshot_;
  std::vector<Optimizer::StateInfo> states_;
  io::Extent own_;
};

}  // namespace cambium::train
