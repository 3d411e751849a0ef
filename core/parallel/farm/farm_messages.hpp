#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::tasks {

/// Work that rank 0 hands out.
struct Piece {
  std::int64_t number = 0;
  std::int32_t attempt = 1;  ///< counts attempts after failures
  std::int32_t turn = 1;     ///< how often this attempt was assigned: more than once if a rank hung
  std::vector<std::byte> what;
};

/// Outcome. A failure is a result, not an exception.
struct PieceResult {
  bool failed = false;
  double seconds = 0.0;
  std::vector<std::byte> value;
  std::string problem;    ///< of a failure
  bool of_input = false;  ///< a failure that a user's input caused: it was an InputError
};

/// Functions that an evaluation calls often: a sign of life, with which rank 0 serves the others.
using Breathe = std::function<void()>;

// Between rank 0 and the others, without spinning: a waiting rank polls every 0.2 ms.

/// Reserved piece numbers: the end; rank 0 is alive and has no work.
constexpr std::int64_t no_more = -1, nothing_yet = -2;

void send_piece(const Piece& piece, int worker, const Comm& comm);
/// Waits, for at most `limit` seconds when that is positive; nothing when none came.
std::optional<Piece> receive_piece(const Comm& comm, double limit = 0.0);

/// Sender of a message and the piece it concerns.
struct Sender {
  int worker;
  std::int64_t number;
  std::int32_t attempt, turn;
};
/// `number` -1 in `piece`: ready for work.
void send_result(const Piece& piece, const PieceResult& result, const Comm& comm);
/// A result that has arrived, if any.
std::optional<Sender> receive_result(PieceResult& result, const Comm& comm);
void send_sign(const Comm& comm);
/// The rank that gave a sign of life, if one did.
std::optional<int> receive_sign(const Comm& comm);

}  // namespace cambium::tasks
