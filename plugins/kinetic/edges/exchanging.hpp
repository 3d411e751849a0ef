#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/kinetic/edges/cell_rate.hpp"
#include "plugins/kinetic/edges/exchanges.hpp"
#include "plugins/kinetic/edges/returned.hpp"
#include "plugins/kinetic/edges/volume_exchange.hpp"

namespace cambium::kinetic {

/// Kinds of flow that a balance distinguishes.
enum Kind { from_source, by_loss, by_reactions, to_walls, from_walls, kinds };
inline const char* const kind_words[] = {"source", "loss", "reactions", "to walls", "from walls"};

inline Flow& operator+=(Flow& a, const Flow& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}
inline Flow operator*(double c, Flow a) {
  for (double& value : a) value *= c;
  return a;
}

/// One species: its gains and losses, and its flows in the stages of a step, in the last step and since the start.
struct Exchanging {
  Species* species;
  VelocityTables tables;
  VolumeExchange volume;
  std::optional<CellRate> loss;
  std::optional<Formula> source, source_rate;
  double source_now = 1.0;
  struct AtWall {
    WallExchange wall;
    std::optional<Returned> returned;
    Flow stage[3], rate, total;  ///< net, to the wall
  };
  std::vector<AtWall> walls;
  Flow stage[3][kinds], total[kinds];
  double first_particles = -1.0;

  explicit Exchanging(Species& s) : species(&s), tables(s.solver()), volume(s, tables) {
    for (auto& flow : total) flow.assign(s.components(), 0.0);
    for (auto& of_stage : stage)
      for (auto& flow : of_stage) flow.assign(s.components(), 0.0);
  }
  Exchanging(const Exchanging&) = delete;
  bool gives_back() const {
    return std::any_of(walls.begin(), walls.end(), [](const AtWall& w) { return w.returned.has_value(); });
  }
  AtWall* at(int dimension, bool high) {
    for (auto& w : walls)
      if (w.wall.dimension() == dimension && w.wall.high() == high) return &w;
    return nullptr;
  }
};

struct Reaction {
  ReactionParams::Kind kind;
  int species[2];
  double temperature[2];
  CellRate rate;
};

struct Exchanges::Parts {
  const Comm& comm;
  std::vector<std::unique_ptr<Exchanging>> species;
  std::vector<Reaction> reactions;
  bool any = false, accounts = false;
  double step = 0.0;

  explicit Parts(const Comm& c) : comm(c) {}
  void add_walls(const SpeciesParams& params, Exchanging& of);
  void add_return(const WallEmissionParams& params, Exchanging& of);
  void add_reaction(const ReactionParams& params);
  std::vector<std::vector<double>> known(int slot) const;
  std::vector<std::string> names() const;
  void measure_walls(int in);
  void emit(int k, const Stage& stage, double time, std::vector<std::vector<double>>& fresh);
  double react(int k, const Stage& stage, std::vector<std::vector<double>>& fresh);
  std::vector<double> arriving(int dimension, bool high, const Returned& returned, double time) const;
};

inline const char* const axis_names[] = {"x", "y", "z"};
/// "upper_x": as decks and results name a wall.
inline std::string wall_name(int d, bool high) { return fmt::format("{}_{}", high ? "upper" : "lower", axis_names[d]); }

}  // namespace cambium::kinetic
