#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/farm/farm.hpp"

namespace cambium::tasks {

/// Independent pieces of work, each of which computes some values. The same on every rank.
struct NumberPieces {
  std::int64_t count = 0;
  std::function<std::size_t(std::int64_t)> numbers;  ///< number of values of a piece
  std::function<double(std::int64_t)> cost;          ///< in any unit: the most expensive are started first
  /// Fills `out` from the index of the piece only; calls `breathe` often if it takes long.
  std::function<void(std::int64_t, std::span<double> out, const Breathe& breathe)> make;
};

/// Journal of finished pieces, which survives if the run is killed.
struct NumberJournal {
  std::string path;
  std::string key;      ///< must be the same when the work is resumed
  bool resume = false;  ///< reuse the content of the file
};

/// Collective: the concatenated values of all pieces, on every rank, for any number of ranks; none if `stop` (called on
/// rank 0, may be empty) requested to end. Pieces are scheduled dynamically. An exception of a piece is rethrown on
/// every rank, as InputError or NumericalError. The caller removes the journal's file.
std::optional<std::vector<double>> numbers_by_need(const NumberPieces& pieces, const NumberJournal& journal,
                                                   const Comm& comm, Log& log, const FarmOptions& options = {},
                                                   const std::function<bool()>& stop = {});

}  // namespace cambium::tasks
