#pragma once
#include "core/train/weights/divided/whole_copies.hpp"
#include "core/train/weights/pieces.hpp"

namespace cambium::train {

/// File access of a sharded model: each rank writes one part of every group, divided among ranks with the same part,
/// and reads all parts it stores. At most one group's part is copied at a time.
class DividedPieces : public InPieces {
 public:
  /// The parts and the best weights must outlive this.
  DividedPieces(DividedParts& parts, WholeCopies& copies);

  std::vector<io::SharedArray> arrays(bool with_best) const override;
  std::vector<io::Extent> written() const override;
  void write(const io::SharedArray& array, const Put& put) override;
  void read(bool with_best, const std::vector<double>& grids, const Get& get) override;
  std::vector<double> steps() const override;
  MemoryLedger* ledger() override { return &parts_.memory; }

 private:
  struct Piece {
    std::int64_t element;  ///< of the layout
    io::Extent extent;     ///< of the files
  };
  struct Stored;
  std::vector<Piece> pieces(const DividedGroup& g, Interval part) const;
  Interval written(const DividedGroup& g) const {
    return parts_.share(g, static_cast<int>(parts_.mesh.levels().size()));
  }
  Stored stored(const io::SharedArray& array, const DividedGroup& g);
  void read(const io::SharedArray& array, const Get& get);

  DividedParts& parts_;
  WholeCopies& copies_;
  std::vector<std::int64_t> first_;  ///< index of each tensor's first element in files
};

}  // namespace cambium::train
