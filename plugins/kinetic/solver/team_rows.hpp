#pragma once
#include "core/parallel/kokkos.hpp"
#include "plugins/kinetic/solver/edges.hpp"

namespace cambium::kinetic {

/// Scratch memory of a team whose threads take consecutive cells of one block. A cell's coefficients are contiguous, so
/// threads that read their own cells would each fetch another cache line for every value; a team copies its cells
/// together with coalesced loads, and reads them from its scratch memory.
template <class K, class P>
struct TeamRows {
  /// From a row to the next: odd, so that neighbouring threads read from different banks.
  static constexpr int stride = K::modes | 1;
  static constexpr int bytes_of(int cells) {
    return (2 * cells + 2) * stride * static_cast<int>(sizeof(P)) + 2 * cells * static_cast<int>(sizeof(int));
  }
  /// Scratch memory that every device gives to a team, less that of reductions.
  static constexpr int most_bytes = 44 << 10;
  /// Cells of a team. Those with more coefficients than fit twice read their own cell from global memory.
  static constexpr int size = device_is_host ? 1 : bytes_of(64) <= most_bytes ? 64 : 32;
  static constexpr bool keeps_own = device_is_host || bytes_of(size) <= most_bytes;
  static constexpr int rows = keeps_own ? 2 * size + 2 : size;
  static constexpr int bytes = rows * stride * static_cast<int>(sizeof(P)) + 2 * size * static_cast<int>(sizeof(int));
  /// Threads that a multiprocessor holds, which is what its registers are shared out by: as long as a cell's
  /// coefficients leave room, more of them hide more of the waiting for memory.
  static constexpr int registers = K::modes * static_cast<int>(sizeof(P)) / 4;  ///< of a cell's coefficients
  static constexpr int threads = registers <= 48 ? 512 : registers <= 72 ? 384 : 256;
  using Policy = Kokkos::TeamPolicy<ExecSpace, Kokkos::LaunchBounds<size, threads / size>>;
  using Member = typename Policy::member_type;
  static_assert(device_is_host || bytes <= most_bytes, "cells with this many coefficients need a smaller team");

  const Member& team;
  P* other;     ///< [size][stride]: of neighbours, bases and results, one after the other
  P* own;       ///< [size + 2][stride], from the cell before the first to the one after the last; null without room
  int* source;  ///< [size]: the block that a thread's row comes from

  CAMBIUM_FN explicit TeamRows(const Member& member) : team(member) {
    const std::size_t wanted = bytes;  // by reference, which a constant of a class has not on devices
    auto* const memory = static_cast<char*>(team.team_scratch(0).get_shmem_aligned(wanted, 64));
    other = reinterpret_cast<P*>(memory);
    own = keeps_own ? other + size * stride : nullptr;
    source = reinterpret_cast<int*>(other + rows * stride);
  }
  /// For `teams` teams, with room for rows.
  static Policy policy(int teams) { return Policy(teams, size).set_scratch_size(0, Kokkos::PerTeam(bytes + 64)); }

  CAMBIUM_FN int rank() const { return team.team_rank(); }
  CAMBIUM_FN P* row() const { return other + rank() * stride; }

  /// Loads the cells [from, to), counted from `cell`, into the same rows of `into`.
  CAMBIUM_FN void load(const P* cell, int from, int to, P* into) const {
    for (int k = from * K::modes + rank(); k < to * K::modes; k += size)
      into[k / K::modes * stride + k % K::modes] = cell[k];
    team.team_barrier();
  }
  /// Stores the rows to the cells [0, count), counted from `cell`. Every thread has filled its row.
  CAMBIUM_FN void store(int count, P* cell) const {
    team.team_barrier();
    for (int k = rank(); k < count * K::modes; k += size) cell[k] = other[k / K::modes * stride + k % K::modes];
  }
  /// Loads into the row of each thread its cell of block `from`, which starts at in + cell(from, first). -1: the row
  /// stays as it is.
  CAMBIUM_FN void gather(const Layout& layout, const P* in, int first, int from) const {
    source[rank()] = from;
    team.team_barrier();
    for (int k = rank(); k < size * K::modes; k += size) {
      const int r = k / K::modes;
      if (source[r] >= 0) other[r * stride + k % K::modes] = in[layout.cell(source[r], first) + k];
    }
    team.team_barrier();
  }
};

}  // namespace cambium::kinetic
