#include "plugins/kinetic/fields/conf_ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>

namespace cambium::kinetic {

namespace {

/// A communicator of the ranks that give the same number, in the order of `comm`.
class Split {
 public:
  Split(const Comm& comm, int number) { MPI_Comm_split(comm.handle(), number, comm.rank(), &handle_); }
  ~Split() { MPI_Comm_free(&handle_); }
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;
  operator MPI_Comm() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// Number of a rank's place among the pieces of dimensions [from, to).
int piece(const PhaseGrid& grid, int from, int to) {
  int out = 0;
  for (int d = from; d < to; ++d) out = out * grid.axis[d].ranks + grid.axis[d].place;
  return out;
}

}  // namespace

ConfRanks::ConfRanks(const PhaseGrid& grid, const Comm& comm)
    : grid_(conf_grid(grid, {})), all_(comm), column_(Split(comm, piece(grid, 0, grid.cdim))),
      row_(Split(comm, piece(grid, grid.cdim, grid.dimensions()))) {
  for (int d = 0; d < grid.cdim; ++d) cuts_[d] = grid.axis[d].ranks;
}

/// Where each rank of a row has its first cell and how many, along dimension d: as decompose() cuts.
static Axis cut_of(const ConfGrid& grid, const std::array<int, 3>& cuts, int rank, int d) {
  for (int e = 2; e > d; --e) rank /= cuts[e];
  Axis axis;
  axis.cells = grid.cells[d];
  cut(axis, cuts[d], rank % cuts[d]);
  return axis;
}

ConfGrid ConfRanks::brick(int rank) const {
  ConfGrid out = grid_;
  for (int d = 0; d < 3; ++d) {
    const Axis axis = cut_of(grid_, cuts_, rank, d);
    out.first[d] = axis.first, out.part[d] = axis.count;
  }
  return out;
}

void ConfRanks::lay_out(int per_cell, std::vector<int>& count, std::vector<int>& first) const {
  first.assign(1, 0);
  for (int rank = 0; rank < row_.size(); ++rank) {
    count.push_back(per_cell * brick(rank).count());
    first.push_back(first.back() + count.back());
  }
}

std::vector<double> ConfRanks::sorted(const std::vector<double>& by_rank, int per_cell) const {
  std::vector<double> out(by_rank.size());
  auto from = by_rank.begin();
  for (int rank = 0; rank < row_.size() && from != by_rank.end(); ++rank) {
    const ConfGrid part = brick(rank);
    for (int cell = 0; cell < part.count(); ++cell, from += per_cell)
      std::copy_n(from, per_cell, out.begin() + std::ptrdiff_t{grid_.index(part.place(cell))} * per_cell);
  }
  return out;
}

std::vector<double> ConfRanks::gathered(std::span<const double> own, int per_cell) const {
  if (row_.size() == 1) return {own.begin(), own.end()};
  std::vector<int> count, first;
  lay_out(per_cell, count, first);
  std::vector<double> all(static_cast<std::size_t>(first.back()));
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), count.data(), first.data(),
                 MPI_DOUBLE, row_.handle());
  return sorted(all, per_cell);
}

std::vector<double> ConfRanks::gathered_on_root(std::span<const double> own, int per_cell) const {
  std::vector<int> count, first;
  lay_out(per_cell, count, first);
  std::vector<double> all(row_.root() ? static_cast<std::size_t>(first.back()) : 0);
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), count.data(), first.data(), MPI_DOUBLE,
              0, row_.handle());
  return all_.root() ? sorted(all, per_cell) : std::vector<double>();
}

std::vector<double> ConfRanks::own_of(std::span<const double> whole, int per_cell) const {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(grid_.count()) * static_cast<std::size_t>(per_cell));
  for (int cell = 0; cell < grid_.count(); ++cell) {
    const auto from = whole.begin() + std::ptrdiff_t{grid_.index(grid_.place(cell))} * per_cell;
    out.insert(out.end(), from, from + per_cell);
  }
  return out;
}

/// Beside those of the solver and of files.
static constexpr int halo_tag = 80;

ConfHalo::ConfHalo(const PhaseGrid& phase, const ConfGrid& grid, const Comm& comm)
    : comm_(&comm), own_(grid.count()), modes_(grid.modes()), ghosts_(grid.ghosts()) {
  for (int d = 0; d < grid.dimensions; ++d)
    for (bool high : {false, true}) {
      const int rank = high ? phase.axis[d].high_rank : phase.axis[d].low_rank;
      if (!grid.divided(d) || rank < 0) continue;
      // What goes up arrives from below.
      const std::size_t numbers = static_cast<std::size_t>(grid.face(d)) * static_cast<std::size_t>(modes_);
      links_.push_back({rank,
                        halo_tag + 2 * d + high,
                        halo_tag + 2 * d + !high,
                        grid.side(d, high),
                        grid.first_ghost(d, high),
                        {},
                        {}});
      links_.back().received.resize(numbers);
    }
}

void ConfHalo::exchange(std::span<const std::vector<double>> fields, std::span<std::vector<double>> ghosts) {
  const auto n = static_cast<std::size_t>(modes_);
  std::vector<MPI_Request> requests;
  for (auto& link : links_) {
    link.received.resize(link.cells.size() * n * fields.size());
    link.sent.clear();
    for (const auto& field : fields)
      for (int cell : link.cells) {
        const auto from = field.begin() + std::ptrdiff_t{cell} * modes_;
        link.sent.insert(link.sent.end(), from, from + modes_);
      }
    MPI_Irecv(link.received.data(), static_cast<int>(link.received.size()), MPI_DOUBLE, link.rank, link.receive_tag,
              comm_->handle(), &requests.emplace_back());
    MPI_Isend(link.sent.data(), static_cast<int>(link.sent.size()), MPI_DOUBLE, link.rank, link.send_tag,
              comm_->handle(), &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (auto& ghost : ghosts) ghost.resize(static_cast<std::size_t>(ghosts_) * n);
  for (const auto& link : links_) {
    auto from = link.received.begin();
    const auto numbers = static_cast<std::ptrdiff_t>(link.cells.size()) * modes_;
    for (auto& ghost : ghosts) {
      std::copy_n(from, numbers, ghost.begin() + std::ptrdiff_t{link.first - own_} * modes_);
      from += numbers;
    }
  }
}

}  // namespace cambium::kinetic
