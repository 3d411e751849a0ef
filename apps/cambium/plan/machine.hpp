#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Model of a computer for `cambium plan`: devices, one rank on each, joined level by level.
struct Machine {
  struct Level {
    std::string name;
    std::optional<int> size;  ///< units of the level before (devices, for the first) that it joins; the last takes all
    double bandwidth = 0.0;   ///< B/s that one such unit sends to the others
    double latency = 0.0;     ///< s
    static void describe(deck::Describe<Level>& d);
  };
  std::string name, source;
  double peak = 0.0;              ///< floating-point operations per second of a device, in the model's precision
  double peak_double = 0.0;       ///< the same in double precision; 0 when not known
  double memory = 0.0;            ///< B of a device
  double memory_bandwidth = 0.0;  ///< B/s
  double coding = 0.0;            ///< B/s of float32 that a device encodes or decodes; 0 if unknown: ignored
  double reached_peak = 0.4, reached_links = 0.8;
  std::vector<Level> levels;
  static void describe(deck::Describe<Machine>& d);

  /// A level and the units of the one before it that some ranks fill.
  struct Filled {
    std::string name;
    int ranks = 1;
  };
  /// The levels filled by this many ranks, the innermost first. InputError if the division is uneven.
  std::vector<Filled> filled_by(int ranks) const;
  /// Devices of one node: those that the level called node joins, else those below the last level.
  int ranks_per_node() const;
};

/// Reads a machine file, or the one of this name that came with the program, on rank 0 for all. InputError with
/// everything that is wrong with it.
Machine load_machine(const std::string& path, const Comm& comm);

/// Algorithm of a collective. ring_or_tree: in a ring (every rank passes the entire amount on to its neighbour) or by
/// recursive doubling, whichever is faster for its size; direct: every rank sends each other one its part.
enum class Pattern { ring_or_tree, direct };

/// Seconds of `calls` collectives in which each of `ranks` ranks, `stride` apart, sends `bytes` altogether, while all
/// other ranks do the same in groups of their own. The slowest level that is crossed counts: a ring crosses each unit's
/// link once per group, recursive doubling once per rank and step between units, direct messages as often as they leave
/// the unit. Latency: that of the outermost level crossed, (ranks - 1) times in a ring, log2(ranks) times in recursive
/// doubling, once else (Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19, 49 (2005)).
double seconds_of(Pattern pattern, double bytes, std::int64_t calls, std::int64_t ranks, std::int64_t stride,
                  const Machine& machine);

}  // namespace cambium
