#include "core/train/reduce/slice_tree.hpp"

#include <algorithm>
#include <bit>

#include "core/parallel/length.hpp"

namespace cambium::train {

std::vector<SliceNode> nodes_of(std::int64_t first, std::int64_t last) {
  std::vector<SliceNode> out;
  while (first < last) {
    int place = std::bit_width(static_cast<std::uint64_t>(last - first)) - 1;
    if (first > 0) place = std::min(place, std::countr_zero(static_cast<std::uint64_t>(first)));
    out.push_back({place, first >> place});
    first += std::int64_t{1} << place;
  }
  return out;
}

std::int64_t exchange_nodes(const NodeRanks& ranks, std::span<std::byte* const> own, MemoryLedger& memory,
                            const TakeNode& take) {
  constexpr int tag = 73;
  const auto& mine = ranks.peers[ranks.me];
  std::int64_t nodes = 0, sent = 0;
  for (const auto& peer : ranks.peers) nodes += std::ssize(peer.nodes);
  const std::int64_t part = mine.count * ranks.size;
  Block received(memory, Held::messages, (nodes - std::ssize(mine.nodes)) * part);
  std::vector<MPI_Request> requests;
  std::byte* at = received.data();
  for (std::size_t p = 0; p < ranks.peers.size(); ++p) {
    if (p == ranks.me) continue;
    const auto& peer = ranks.peers[p];
    for (std::size_t k = 0; k < peer.nodes.size(); ++k, at += part) {
      const MessageLength length(mine.count, ranks.type);
      MPI_Irecv(at, length.count(), length.type(), peer.rank, tag, ranks.comm, &requests.emplace_back());
    }
    for (std::byte* const values : own) {
      const MessageLength length(peer.count, ranks.type);
      MPI_Isend(values + peer.begin * ranks.size, length.count(), length.type(), peer.rank, tag, ranks.comm,
                &requests.emplace_back());
      sent += peer.count * ranks.size;
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  at = received.data();
  for (std::size_t p = 0; p < ranks.peers.size(); ++p)
    for (std::size_t k = 0; k < ranks.peers[p].nodes.size(); ++k) {
      if (p == ranks.me) {
        take(mine.nodes[k], own[k] + mine.begin * ranks.size);
      } else {
        take(ranks.peers[p].nodes[k], at);
        at += part;
      }
    }
  return sent;
}

}  // namespace cambium::train
