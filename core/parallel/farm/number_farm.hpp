#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/farm/farm.hpp"

namespace cambium::tasks {

/// Pieces of work that need nothing of each other, each of which makes some numbers. The same on every rank.
struct NumberPieces {
  std::int64_t count = 0;
  std::function<std::size_t(std::int64_t)> numbers;  ///< that a piece makes
  std::function<double(std::int64_t)> cost;          ///< in any unit: the dearest are begun first
  /// Fills `out` from the number of the piece alone; calls `breathe` often where it takes long.
  std::function<void(std::int64_t, std::span<double> out, const Breathe& breathe)> make;
};

/// File of finished pieces that survives when the run is killed: a file of those that are finished.
struct NumberJournal {
  std::string path;
  std::string key;      ///< what must not change when the work goes on
  bool resume = false;  ///< takes up what the file holds
};

/// Collective: the numbers of all pieces one behind the other, on every rank, however many there are; nothing when
/// `stop` (asked on rank 0, may be empty) asked to end. Pieces go to ranks by need. What a piece throws comes out of it
/// on every rank, as InputError or NumericalError. The journal's file stays, for whoever made it to remove.
std::optional<std::vector<double>> numbers_by_need(const NumberPieces& pieces, const NumberJournal& journal,
                                                   const Comm& comm, Log& log, const FarmOptions& options = {},
                                                   const std::function<bool()>& stop = {});

}  // namespace cambium::tasks
