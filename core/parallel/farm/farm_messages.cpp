#include "core/parallel/farm/farm_messages.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/timing.hpp"

namespace cambium::tasks {

namespace {

constexpr int piece_tag = 31, result_tag = 32, sign_tag = 33;

struct PieceHead {
  std::int64_t number;
  std::int32_t attempt, turn;
};

struct ResultHead {
  PieceHead piece;
  double seconds;
  std::int64_t value_bytes;
  std::int64_t failed;  ///< 2: by an InputError
};

template <class Head>
std::vector<std::byte> packed(const Head& head, const void* data, std::size_t bytes) {
  std::vector<std::byte> out(sizeof(Head) + bytes);
  std::memcpy(out.data(), &head, sizeof(Head));
  if (bytes > 0) std::memcpy(out.data() + sizeof(Head), data, bytes);
  return out;
}

void send(const std::vector<std::byte>& m, int to, int tag, const Comm& comm) {
  MPI_Send(m.data(), static_cast<int>(m.size()), MPI_BYTE, to, tag, comm.handle());
}

/// Message that has arrived with this tag, if any.
std::optional<std::vector<std::byte>> received(int from, int tag, const Comm& comm, int& sender) {
  MPI_Status status;
  int there = 0, bytes = 0;
  MPI_Iprobe(from, tag, comm.handle(), &there, &status);
  if (!there) return {};
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::vector<std::byte> out(bytes);
  MPI_Recv(out.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm.handle(), MPI_STATUS_IGNORE);
  sender = status.MPI_SOURCE;
  return out;
}

}  // namespace

void send_piece(const Piece& piece, int worker, const Comm& comm) {
  const PieceHead head{piece.number, piece.attempt, piece.turn};
  send(packed(head, piece.what.data(), piece.what.size()), worker, piece_tag, comm);
}

std::optional<Piece> receive_piece(const Comm& comm, double limit) {
  const double begin = wall_seconds();
  for (int from = 0;;) {
    if (const auto m = received(0, piece_tag, comm, from)) {
      PieceHead head;
      std::memcpy(&head, m->data(), sizeof(head));
      return Piece{head.number, head.attempt, head.turn, {m->begin() + sizeof(head), m->end()}};
    }
    if (limit > 0.0 && wall_seconds() - begin > limit) return {};
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void send_result(const Piece& piece, const PieceResult& result, const Comm& comm) {
  const ResultHead head{{piece.number, piece.attempt, piece.turn},
                        result.seconds,
                        std::ssize(result.value),
                        !result.failed    ? 0
                        : result.of_input ? 2
                                          : 1};
  std::vector<std::byte> tail = result.value;
  const auto* const text = reinterpret_cast<const std::byte*>(result.problem.data());
  tail.insert(tail.end(), text, text + result.problem.size());
  send(packed(head, tail.data(), tail.size()), 0, result_tag, comm);
}

std::optional<Sender> receive_result(PieceResult& result, const Comm& comm) {
  int from = 0;
  const auto m = received(MPI_ANY_SOURCE, result_tag, comm, from);
  if (!m) return {};
  ResultHead head;
  std::memcpy(&head, m->data(), sizeof(head));
  const auto value = m->begin() + sizeof(head), text = value + head.value_bytes;
  result.failed = head.failed != 0;
  result.of_input = head.failed == 2;
  result.seconds = head.seconds;
  result.value.assign(value, text);
  result.problem.assign(reinterpret_cast<const char*>(m->data()) + (text - m->begin()),
                        static_cast<std::size_t>(m->end() - text));
  return Sender{from, head.piece.number, head.piece.attempt, head.piece.turn};
}

void send_sign(const Comm& comm) { send({}, 0, sign_tag, comm); }

std::optional<int> receive_sign(const Comm& comm) {
  int from = 0;
  if (received(MPI_ANY_SOURCE, sign_tag, comm, from)) return from;
  return {};
}

}  // namespace cambium::tasks
