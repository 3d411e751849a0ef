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
  std::int32_t attempt = 1;  ///< of what failed before
  std::int32_t turn = 1;     ///< how often this attempt was handed out: more than once when a rank hung
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

// Between rank 0 and the others. Nobody spins: who waits looks every 0.2 ms.

/// Numbers of pieces that are none: the end; rank 0 lives and has nothing to do.
constexpr std::int64_t no_more = -1, nothing_yet = -2;

void send_piece(const Piece& piece, int worker, const Comm& comm);
/// Waits, for at most `limit` seconds when that is positive; nothing when none came.
std::optional<Piece> receive_piece(const Comm& comm, double limit = 0.0);

/// Who says something about which piece.
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
