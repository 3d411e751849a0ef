#include "core/train/reduce/lossy_reducer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::train {

namespace {

/// Concatenated messages: bytes for each rank, and their offsets.
struct Lengths {
  std::vector<int> bytes, begin;
  explicit Lengths(std::size_t ranks) : bytes(ranks, 0), begin(ranks, 0) {}
  void line_up() { std::exclusive_scan(bytes.begin(), bytes.end(), begin.begin(), 0); }
  std::size_t all() const { return static_cast<std::size_t>(begin.back() + bytes.back()); }
};

/// Header of every piece: its size in bytes, with the highest bit set if the values are unencoded.
constexpr std::uint32_t as_they_are = 0x80000000u;

}  // namespace

LossyReducer::LossyReducer(const Mesh& mesh, const FlatLayout& layout, lowp::LossyBound bound)
    : mesh_(mesh), bound_(bound) {
  const std::int64_t ranks = mesh.world().size(), share = (layout.size() + ranks - 1) / ranks;
  shares_.resize(at(ranks));
  for (std::int64_t r = 0; r < ranks; ++r)
    for (const auto& tensor : layout.tensors()) {
      const std::int64_t begin = std::max(tensor.offset, r * share),
                         end = std::min(tensor.offset + tensor.elements, (r + 1) * share);
      if (begin < end) shares_[at(r)].push_back({begin, end});
    }
}

template <class T>
std::vector<std::byte> LossyReducer::encode(std::span<const T> values, std::size_t rank) const {
  std::vector<std::byte> out;
  for (const auto& piece : shares_[rank]) {
    const auto numbers = values.subspan(at(piece.begin), at(piece.end - piece.begin));
    const std::int64_t shape[] = {std::ssize(numbers)};
    const auto coded = lowp::lossy_encode<T>(numbers, shape, bound_);
    const auto plain = std::as_bytes(numbers);
    const bool shorter = coded.size() < plain.size();
    const auto bytes = shorter ? std::span<const std::byte>(coded) : plain;
    const auto head = static_cast<std::uint32_t>(bytes.size()) | (shorter ? 0u : as_they_are);
    const std::size_t begin = out.size();
    out.resize(begin + sizeof head + bytes.size());
    std::memcpy(out.data() + begin, &head, sizeof head);
    std::memcpy(out.data() + begin + sizeof head, bytes.data(), bytes.size());
  }
  return out;
}

template <class T>
void LossyReducer::decode(std::span<const std::byte> message, std::size_t rank, std::span<T> values) const {
  for (const auto& piece : shares_[rank]) {
    const auto numbers = values.subspan(at(piece.begin), at(piece.end - piece.begin));
    std::uint32_t head = 0;
    if (message.size() < sizeof head) throw InternalError("a message of gradients is too short");
    std::memcpy(&head, message.data(), sizeof head);
    const std::size_t bytes = head & ~as_they_are;
    const auto body = message.subspan(sizeof head, bytes);
    if (head & as_they_are)
      std::memcpy(numbers.data(), body.data(), bytes);
    else
      lowp::lossy_decode<T>(body, numbers);
    message = message.subspan(sizeof head + bytes);
  }
}

/// Adds this rank's chunk of all ranks' values, in rank order, into `own`, which has the size of all chunks.
template <class T>
void LossyReducer::scatter(std::span<T> values, std::vector<T>& own) {
  const Comm& world = mesh_.world();
  const std::size_t ranks = shares_.size(), me = at(world.rank());
  std::vector<std::byte> sent;
  Lengths to(ranks), from(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me) continue;
    const auto message = encode<T>(values, r);
    to.bytes[r] = static_cast<int>(message.size());
    sent.insert(sent.end(), message.begin(), message.end());
  }
  to.line_up();
  MPI_Alltoall(to.bytes.data(), 1, MPI_INT, from.bytes.data(), 1, MPI_INT, world.handle());
  from.line_up();
  std::vector<std::byte> received(from.all());
  MPI_Alltoallv(sent.data(), to.bytes.data(), to.begin.data(), MPI_BYTE, received.data(), from.bytes.data(),
                from.begin.data(), MPI_BYTE, world.handle());
  traffic_.count("reduce-scatter", "world", static_cast<std::int64_t>(sent.size() + sizeof(int) * (ranks - 1)));
  std::vector<T> part(values.size());
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r != me) decode<T>(std::span(received).subspan(at(from.begin[r]), at(from.bytes[r])), me, part);
    for (const auto& piece : shares_[me])
      for (std::size_t k = at(piece.begin); k < at(piece.end); ++k) own[k] += r == me ? values[k] : part[k];
  }
}

/// Distributes the sums from their owners to all ranks; the owner also uses the decoded values.
template <class T>
void LossyReducer::gather(std::span<T> values) {
  const Comm& world = mesh_.world();
  const std::size_t ranks = shares_.size(), me = at(world.rank());
  const auto message = encode<T>(values, me);
  Lengths all(ranks);
  const int bytes = static_cast<int>(message.size());
  MPI_Allgather(&bytes, 1, MPI_INT, all.bytes.data(), 1, MPI_INT, world.handle());
  all.line_up();
  std::vector<std::byte> received(all.all());
  MPI_Allgatherv(message.data(), bytes, MPI_BYTE, received.data(), all.bytes.data(), all.begin.data(), MPI_BYTE,
                 world.handle());
  traffic_.count("all-gather", "world", static_cast<std::int64_t>((message.size() + sizeof(int)) * (ranks - 1)));
  for (std::size_t r = 0; r < ranks; ++r)
    decode<T>(std::span(received).subspan(at(all.begin[r]), at(all.bytes[r])), r, values);
}

template <class T>
void LossyReducer::exchange(std::span<T> values) {
  std::vector<T> own(values.size(), T(0));
  scatter<T>(values, own);
  std::copy(own.begin(), own.end(), values.begin());
  gather<T>(values);
}

void LossyReducer::begin(FlatBuffer& gradients, int slices) {
  Reducer::begin(gradients, slices);
  gradients.zero();
}

void LossyReducer::finish() {
  if (mesh_.world().size() == 1) return;
  const double start = wall_seconds();
  with_real(gradients_->dtype(), [&]<class T>() { exchange<T>(gradients_->values<T>()); });
  exposed_ += wall_seconds() - start;
}

}  // namespace cambium::train
