#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/io/share_files.hpp"
#include "core/train/kinds/memory.hpp"

namespace cambium::train {

struct Snapshot;

/// Interface of weights under training in files that no rank has to hold whole. Arrays are one number per parameter,
/// tensors one after the other in the network's order without padding: "/weights", "/average", "/best" and
/// "/states/NAME". bf16 stands for 16 raw bits.
class InPieces {
 public:
  using Put = std::function<void(std::span<const std::byte> numbers)>;
  /// Fills `to` with numbers of an array.
  using Get = std::function<void(const io::SharedArray& array, io::Extent extent, std::byte* to)>;
  virtual ~InPieces() = default;

  virtual std::vector<io::SharedArray> arrays(bool with_best) const = 0;
  /// What this rank writes of each array: every number is written by one rank.
  virtual std::vector<io::Extent> written() const = 0;
  /// Gives the numbers of one of arrays() in the order of written().
  virtual void write(const io::SharedArray& array, const Put& put) = 0;
  /// Fills everything that this rank holds; `grids` as in Snapshot.
  virtual void read(bool with_best, const std::vector<double>& grids, const Get& get) = 0;
  /// Steps of the grids of direct weights.
  virtual std::vector<double> steps() const { return {}; }
  /// Where copies of pieces are counted; null where nothing is.
  virtual MemoryLedger* ledger() { return nullptr; }
};

}  // namespace cambium::train
