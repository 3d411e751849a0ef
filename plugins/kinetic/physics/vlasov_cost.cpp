#include "plugins/kinetic/physics/vlasov_cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/numerics/width.hpp"
#include "plugins/kinetic/solver/layout.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

namespace {

using Pattern = StepMessages::Pattern;
constexpr int stages = 3;
constexpr double number = 8.0;  ///< bytes of a value of moments and fields

const BasisInfo& info_of(const CommonParams& params, const PhaseGrid& grid) {
  return find_built(grid.cdim, grid.vdim, params.basis.order, params.basis.family == BasisParams::Family::tensor).info;
}

/// Modes on a face of dimension d: those of a cell that differ in the other dimensions.
int face_modes(const BasisInfo& info, int d) {
  std::set<std::vector<int>> faces;
  for (auto exponents : info.exponents) {
    exponents.erase(exponents.begin() + d);
    faces.insert(exponents);
  }
  return static_cast<int>(faces.size());
}

int lanes_of(Precision precision) {
  return precision == Precision::float64 ? width_of<ExecSpace, double> : width_of<ExecSpace, float>;
}

/// Sides of a part in dimension d with another rank beyond them, for the part with the most.
int edges_of(const Axis& axis, bool velocity) {
  if (axis.ranks == 1) return 0;
  const bool around = !velocity && axis.low_wall == Wall::periodic;
  return around || axis.ranks > 2 ? 2 : 1;
}

/// The largest parts of the grids of all species, decomposed over `ranks` ranks.
std::vector<PhaseGrid> parts_of(std::vector<PhaseGrid> grids, int ranks, const std::vector<int>& given, double times) {
  int product = 1;
  for (int r : given) product *= r;
  for (auto& grid : grids)
    for (int d = 0; d < grid.cdim; ++d)
      grid.axis[d].cells = static_cast<int>(std::lround(grid.axis[d].cells * std::pow(times, 1.0 / grid.cdim)));
  const auto cuts = cuts_of(grids, ranks);
  for (std::size_t k = 0; k < grids.size(); ++k) {
    decompose(grids[k], 0, ranks, product == ranks ? given : cuts[k]);
    for (int d = 0; d < grids[k].dimensions(); ++d) {
      Axis& a = grids[k].axis[d];
      a.count = (a.cells + a.ranks - 1) / a.ranks;
    }
  }
  return grids;
}

/// Number of ranks with the same cells of configuration space.
int column_of(const PhaseGrid& grid) {
  int out = 1;
  for (int d = grid.cdim; d < grid.dimensions(); ++d) out *= grid.axis[d].ranks;
  return out;
}

/// True if configuration space has no walls.
bool periodic(const PhaseGrid& part) {
  bool out = true;
  for (int d = 0; d < part.cdim; ++d) out = out && part.axis[d].low_wall == Wall::periodic;
  return out;
}

/// Rows of a plane's cells, repartitioned along one side only: over all ranks of the plane, or as many as there are
/// rows. Values are those of the ranks with the most.
struct Regrouping {
  double owners;              ///< ranks that have rows
  double rows;                ///< of an owner
  double owners_of_a_brick;   ///< that have rows of it
  double bricks_of_an_owner;  ///< that have cells of its rows
  double stay;                ///< rows of its own brick

  Regrouping(const PhaseGrid& part, int along, double bricks) {
    const Axis& rows_of = part.axis[along];
    const double all = rows_of.cells, brick = rows_of.count, beside = part.axis[1 - along].ranks;
    owners = std::min(bricks, all);
    rows = std::ceil(all / owners);
    owners_of_a_brick = std::min(std::ceil(brick / rows), owners);
    bricks_of_an_owner = std::min(std::ceil(rows / brick), 1.0 * rows_of.ranks) * beside;
    // Ranks and rows are counted the same way; where there are more ranks than rows, owners' bricks are elsewhere.
    stay = bricks <= all && along == 0 ? std::min(rows, brick) : 0.0;
  }
};

std::string parts_text(const PhaseGrid& grid) {
  std::vector<int> ranks;
  for (int d = 0; d < grid.dimensions(); ++d) ranks.push_back(grid.axis[d].ranks);
  return fmt::format("{} parts", fmt::join(ranks, " x "));
}

}  // namespace

VlasovCost::VlasovCost(const CommonParams& params, Fields fields, int components)
    : params_(params), fields_(fields), components_(components) {
  for (const auto& s : params.species) grids_.push_back(make_grid(params, s));
}

std::string VlasovCost::summary() const {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < grids_.size(); ++k) {
    std::vector<int> cells;
    for (int d = 0; d < grids_[k].dimensions(); ++d) cells.push_back(grids_[k].axis[d].cells);
    all.push_back(fmt::format("{} on {} cells of {} modes", params_.species[k].name, fmt::join(cells, " x "),
                              info_of(params_, grids_[k]).modes));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

double VlasovCost::items() const {
  double sum = 0.0;
  for (const auto& g : grids_) sum += static_cast<double>(g.cells());
  return sum;
}

/// True if stages pack traces for neighbours and add inflow afterwards: velocity space is decomposed, or walls give
/// particles back.
bool VlasovCost::packs_traces(const PhaseGrid& grid) const {
  for (int d = 0; d < grid.dimensions(); ++d) {
    const Axis& a = grid.axis[d];
    if (d >= grid.cdim && a.ranks > 1) return true;
    if (d < grid.cdim && a.low_wall != Wall::periodic && (a.low_wall != Wall::absorb || a.high_wall != Wall::absorb))
      return true;
  }
  return false;
}

/// For one copy of the distribution function.
double VlasovCost::bytes_of(const PhaseGrid& grid) const {
  const Layout layout(grid, lanes_of(params_.precision), info_of(params_, grid).modes);
  return (params_.precision == Precision::float64 ? 8.0 : 4.0) * static_cast<double>(layout.size());
}

void VlasovCost::add_species(const PhaseGrid& grid, bool collides, bool fused, StepCost& out) const {
  const BasisInfo& info = info_of(params_, grid);
  const int lanes = lanes_of(params_.precision);
  const double bytes = params_.precision == Precision::float64 ? 8.0 : 4.0, f = bytes_of(grid);
  const Layout layout(grid, lanes, info.modes);
  const bool packs = packs_traces(grid);
  const double cells = static_cast<double>(grid.local_conf_cells()) * grid.local_velocity_cells();
  out.items += cells;
  out.operations += stages * cells * (info.multiplications + info.additions);
  out.moved += (fused ? 6.0 : 10.0) * bytes * cells * info.modes;  // lines that a store reads first with them
  out.memory += (fused ? 2.0 : 3.0) * f;
  // Messages of traces; if the stages store these, they are packed again after collisions.
  const double sends = stages + (collides && !packs ? 1.0 : 0.0);
  double sent = 0.0, messages = 0.0;
  int dimensions = 0;
  for (int d = 0; d < grid.dimensions(); ++d) {
    const int edges = edges_of(grid.axis[d], d >= grid.cdim), face = face_modes(info, d);
    if (edges == 0) continue;
    ++dimensions;
    if (d >= grid.cdim) {
      const double along = static_cast<double>(layout.velocity_cells) / layout.nv[d - grid.cdim];
      sent += sends * edges * bytes * lanes * layout.blocks() * along * face;
      messages += sends * edges;
      continue;
    }
    // Cells moving up leave at one side, those moving down at the other: half of velocity space each.
    const double blocks = d == 0 ? layout.others : static_cast<double>(layout.blocks()) / layout.other[d - 1] * lanes;
    sent += sends * 0.5 * edges * bytes * blocks * layout.velocity_cells * face;
    const double slabs = d == 0 ? std::ceil(0.5 * layout.slabs) : layout.slabs;
    messages += sends * edges * (packs ? 1.0 : slabs);
  }
  if (sent == 0.0) return;
  out.memory += 2.0 * sent;  // three buffers for each face, sent and received
  out.messages.push_back(
      {"traces on faces", Pattern::neighbours, sends, messages, sent, sent, std::max(dimensions, 1), 0.6});
}

/// Maxwellians of a given density, momentum and energy, corrected until they have these on all ranks; if velocity space
/// is decomposed, moments are reduced.
void VlasovCost::add_collisions(const std::vector<PhaseGrid>& parts, StepCost& out) const {
  constexpr double iterations = 3.0;  // as in most cells
  double rounds = 0.0, sums = 0.0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto& s = params_.species[k];
    if (!s.collisions) continue;
    const bool corrected = s.collisions->op == CollisionParams::Operator::bgk, cut = column_of(parts[k]) > 1;
    rounds += corrected ? 1.0 + (cut ? 3.0 : 2.0) * iterations : 1.0;
    if (corrected && cut)
      sums += iterations * parts[k].local_conf_cells() * (parts[k].vdim + 2) * info_of(params_, parts[k]).conf;
  }
  if (rounds > 0.0)
    out.messages.push_back({"moments after collisions", Pattern::reduce, rounds, 0.0, number * sums, number * sums});
}

/// The fields of Maxwell's equations in the cells that touch those of a rank.
void VlasovCost::add_halo(const PhaseGrid& part, StepCost& out) const {
  double edges = 0.0, cells = 0.0;
  int dimensions = 0;
  for (int d = 0; d < part.cdim; ++d) {
    const int sides = edges_of(part.axis[d], false);
    edges += sides;
    cells += sides * static_cast<double>(part.local_conf_cells()) / part.axis[d].count;
    dimensions += sides > 0 ? 1 : 0;
  }
  if (edges == 0.0) return;
  const double bytes = number * stages * components_ * info_of(params_, part).conf * cells;
  out.memory += 2.0 * bytes / stages;
  out.messages.push_back(
      {"fields of cells that touch", Pattern::neighbours, 1.0 * stages, stages * edges, bytes, bytes, dimensions, 0.0});
}

/// Exchange of moments and fields of cells between ranks, and their copies.
void VlasovCost::add_fields(const std::vector<PhaseGrid>& parts, int ranks, bool fused, StepCost& out) const {
  double whole = 1.0, moments = 0.0;
  for (int d = 0; d < parts.front().cdim; ++d) whole *= parts.front().axis[d].cells;
  const double own = parts.front().local_conf_cells(), modes = info_of(params_, parts.front()).conf;
  for (const auto& g : parts) moments += own * (g.vdim + 2) * info_of(params_, g).conf;
  // Moments of three stages and their buffers for sums, fields of three.
  out.memory += number * (6.0 * moments + 3.0 * own * modes * components_);
  out.moved += number * stages * (6.0 * moments + 8.0 * own * modes * components_);
  const bool divided = column_of(parts.front()) < ranks;
  if (fields_ == Fields::poisson && !divided) {
    // Charge and potential of all cells, in real and complex values, and the matrices of all waves.
    out.memory += number * whole * modes * 6.0;
    out.repeated = number * stages * 8.0 * whole * modes;
    out.moved += out.repeated;
  }
  if (ranks == 1) return;
  const double sums = fused ? 2.0 : 3.0, bytes = number * stages * moments;
  if (column_of(parts.front()) > 1)
    out.messages.push_back({"moments of a rank's cells", Pattern::reduce, sums, 0.0, bytes, bytes});
  out.messages.push_back({"frequencies", Pattern::reduce, sums, 0.0, number * stages, number * stages});
  if (fields_ == Fields::maxwell) add_halo(parts.front(), out);
  if (fields_ != Fields::poisson || !divided) return;
  // The mean, and on a line two sums of four values; none in a plane whose walls have given potentials.
  const bool line = parts.front().cdim == 1, open = periodic(parts.front());
  const double rounds = line ? 3.0 : 1.0, numbers = line ? 9.0 : 1.0;
  if (line || open)
    out.messages.push_back({"sums of charge", Pattern::reduce, stages * rounds, 0.0, number * stages * numbers,
                            number * stages * numbers});
  if (line) return;
  if (open)
    add_plane(parts.front(), ranks, out);
  else
    add_strips(parts.front(), ranks, out);
}

/// A plane's loads to strips between walls, lines between strips up and down, and potentials back: see StripPoisson.
void VlasovCost::add_strips(const PhaseGrid& part, int ranks, StepCost& out) const {
  const int along = part.axis[0].low_wall != Wall::periodic ? 0 : 1;
  const double bricks = ranks / column_of(part), across = part.axis[1 - along].cells;
  const Regrouping to(part, along, bricks);
  const double cells = to.rows * across, nodes = info_of(params_, part).conf, kinds = nodes > 4.0 ? 3.0 : 1.0;
  const double line = across * (kinds > 1 ? 2 : 1), lines = std::min(to.owners - 1.0, 2.0);
  const double band = kinds * across + 2.0, own = part.local_conf_cells(), stay = to.stay * part.axis[1 - along].count;
  const double bytes = number * stages * ((own + cells - 2.0 * stay) * nodes + lines * line);
  out.memory += number * (cells * kinds * (band + 4.0) + cells * nodes + (lines > 0.0 ? 3.0 : 0.0) * line * line);
  out.moved += number * stages * (4.0 * cells * kinds * band + (lines > 0.0 ? 3.0 : 0.0) * line * line);
  out.messages.push_back({"loads, lines and potentials between walls", Pattern::neighbours, 4.0 * stages,
                          stages * (to.owners_of_a_brick + lines + to.bricks_of_an_owner - (to.stay > 0.0 ? 2.0 : 0.0)),
                          bytes, bytes, 1, 0.0});
  // Ranks without a strip receive the walls' potentials.
  if (to.owners < bricks) out.messages.push_back({"potentials of walls", Pattern::reduce, 1.0 * stages, 0.0, 0.0, 0.0});
}

/// A periodic plane's loads to rows, waves to columns, and back: see PlanePoisson.
void VlasovCost::add_plane(const PhaseGrid& part, int ranks, StepCost& out) const {
  const double bricks = ranks / column_of(part), width = part.axis[1].cells, own = part.local_conf_cells();
  const Regrouping to(part, 0, bricks);
  const double columns = std::min(bricks, width), share = to.rows * width;
  const double nodes = info_of(params_, part).conf, kinds = nodes > 4.0 ? 3.0 : 1.0;
  // Owners of rows also need the cells below, and a brick the nodes above.
  const double owners = std::min(to.owners_of_a_brick + 1.0, to.owners),
               asking = std::min(2.0 * to.bricks_of_an_owner, bricks), stay = to.stay * part.axis[1].count;
  const double waves = kinds * (share * (columns - 1.0) / columns +
                                part.axis[0].cells * std::ceil(width / columns) * (to.owners - 1.0) / to.owners);
  const double bytes = number * stages * ((own - stay) * nodes + 2.0 * waves + (share - stay) * kinds);
  out.memory += number * share * (nodes + 6.0 * kinds + 2.0 * kinds * kinds);
  out.moved += number * stages * share * 12.0 * kinds;
  out.messages.push_back({"loads, waves and potentials of a plane", Pattern::neighbours, 4.0 * stages,
                          stages * (owners + asking - 2.0 + columns - 1.0 + to.owners - 1.0), bytes, bytes, 1, 0.0});
}

StepCost VlasovCost::of(int ranks, double times) const {
  const std::vector<PhaseGrid> parts = parts_of(grids_, ranks, params_.ranks, times);
  // Two stages are fused if the field of the second is known before the first and no cache holds f.
  bool fused = fields_ != Fields::poisson;
  for (const auto& g : parts) {
    const double copies = 3.0 * bytes_of(g);
    constexpr double cache = 12 << 20;  // B, as the solver's
    fused = fused && g.vdim > 1 && copies > cache && !packs_traces(g);
  }
  StepCost out;
  out.parts = parts_text(parts.front());
  for (std::size_t k = 0; k < parts.size(); ++k)
    add_species(parts[k], params_.species[k].collisions || params_.species[k].positivity || !params_.collisions.empty(),
                fused, out);
  add_fields(parts, ranks, fused, out);
  if (ranks > 1) add_collisions(parts, out);
  return out;
}

}  // namespace cambium::kinetic
