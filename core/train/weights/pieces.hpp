#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/io/share_files.hpp"
#include "core/train/kinds/memory.hpp"

namespace cambium::train {

struct Snapshot;

/// Interface for reading and writing weights under training without a complete copy on any rank. Arrays have one value
/// per parameter, concatenated tensors in the network's order without padding: "/weights", "/average", "/best" and
/// "/states/NAME". bf16 means 16 raw bits.
class InPieces {
 public:
  using Put = std::function<void(std::span<const std::byte> numbers)>;
  /// Fills `to` with values of an array.
  using Get = std::function<void(const io::SharedArray& array, io::Extent extent, std::byte* to)>;
  virtual ~InPieces() = default;

  virtual std::vector<io::SharedArray> arrays(bool with_best) const = 0;
  /// Parts of each array that this rank writes: every value is written by one rank.
  virtual std::vector<io::Extent> written() const = 0;
  /// Passes the values of one of arrays() in the order of written().
  virtual void write(const io::SharedArray& array, const Put& put) = 0;
  /// Fills all parts on this rank; `grids` as in Snapshot.
  virtual void read(bool with_best, const std::vector<double>& grids, const Get& get) = 0;
  /// Steps of the grids of direct weights.
  virtual std::vector<double> steps() const { return {}; }
  /// Ledger of copies of pieces; null if they are not counted.
  virtual MemoryLedger* ledger() { return nullptr; }
};

}  // namespace cambium::train
