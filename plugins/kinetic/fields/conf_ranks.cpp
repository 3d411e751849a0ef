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

/// Index of a rank's piece among those of dimensions [from, to).
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

/// First cell and number of cells of each rank of a row along dimension d: as decompose() cuts.
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
    out.first[d] = axis.first;
    out.part[d] = axis.count;
  }
  return out;
}

/// MPI tag, distinct from those of the solver and of files.
static constexpr int halo_tag = 80;

ConfHalo::ConfHalo(const PhaseGrid& phase, const ConfGrid& grid, const Comm& comm)
    : comm_(&comm), own_(grid.count()), modes_(grid.modes()), ghosts_(grid.ghosts()) {
  for (int d = 0; d < grid.dimensions; ++d)
    for (bool high : {false, true}) {
      const int rank = high ? phase.axis[d].high_rank : phase.axis[d].low_rank;
      if (!grid.divided(d) || rank < 0) continue;
      // Upward values arrive from below.
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
